"""`ragauge gold`: gold sets checked, and their versions compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ragauge.cli.command import (
    NOT_MEASURED,
    formats,
    forms_of,
    gates_option,
    group,
    report_option,
    settings,
    show,
    write_reports,
)
from ragauge.errors import UsageError


@group()
def gold() -> None:
    """Check a gold set before it is used, and keep it frozen afterwards.

    \b
    Example:
      ragauge gold lint gold.jsonl
    """


@gold.command(short_help="Say what a gold set cannot measure.")
@click.argument("questions", metavar="GOLD")
@click.option("--sections", is_flag=True, help="Also want 3 to 5 questions for each section.")
@click.option("--strict", is_flag=True, help="Let warnings fail the set as errors do.")
@click.option("--locks", is_flag=True, help="Also print the lock of each question's constraints.")
@click.option("--chunks", metavar="FILE", help="Chunks or traces: is each anchor inside one chunk?")
@click.option("--window", type=click.IntRange(1), help="Characters of a chunk; with --stride.")
@click.option("--stride", type=click.IntRange(1), help="Characters from one chunk to the next.")
@click.option("--plan", type=click.Choice(["heritage"]), help="Hold a dataset against a plan.")
@formats("text", "json", "markdown")
@click.pass_context
def lint(
    ctx: click.Context,
    questions: str,
    sections: bool,
    strict: bool,
    locks: bool,
    chunks: str | None,
    window: int | None,
    stride: int | None,
    plan: str | None,
    format: str | None,
) -> None:
    """Check the questions of GOLD: mix, size, duplicates, phrases, citations, constraints, strata.

    GOLD is a gold.jsonl or a JSON array; - is stdin. Exit 1 when a question must be fixed.

    With --plan heritage, GOLD is a file of heritage gold entries, or a folder, and each line of
    the plan is held against it. In the folder: entries.jsonl · ner/*.ann (BRAT, the .txt beside)
    or ner/*.iob2 · typing.tsv (text, gold_type) · linking.json · qrels.txt (TREC) · qa.json ·
    metadata.json · annotators/*.tsv (id, label; one file each). A part may be in several files;
    one that is missing is an error.

    \b
    Example:
      ragauge gold lint gold.jsonl --strict
      ragauge gold lint gold.jsonl --chunks chunks.jsonl --window 800 --stride 600
      ragauge gold lint --plan heritage dataset/
    """
    if (window is None) != (stride is None):
        raise click.UsageError("--window and --stride belong together; give both")
    if plan is not None:
        from ragauge.runners.gold_plan import hold_against_plan

        if sections or locks or chunks is not None or window is not None:
            raise UsageError(
                "--plan is for a dataset; drop --sections, --locks, --chunks, --window and --stride"
            )
        held = hold_against_plan(Path(questions), strict=strict)
        show(held, format)
        ctx.exit(0 if held.passed else 1)
    from ragauge.ingest.gold import read_chunks, read_gold
    from ragauge.runners.gold_lint import lint as run

    report = run(
        read_gold(questions),
        sections=sections,
        strict=strict,
        locks=locks,
        chunks=None if chunks is None else read_chunks(chunks),
        window=(window, stride) if window and stride else None,
    )
    show(report, format)
    ctx.exit(0 if report.passed else 1)


@gold.command(short_help="Say whether a gold set still means what it meant.")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--allow-removed", is_flag=True, help="Let questions leave the set.")
@formats("text", "json", "markdown")
@click.pass_context
def diff(ctx: click.Context, old: str, new: str, allow_removed: bool, format: str | None) -> None:
    """Compare the gold sets OLD and NEW: what was added, removed, changed or edited.

    Sets are frozen: exit 1 when a question was removed, or means something else under its old
    qid. One of the two may be -, which is stdin.

    \b
    Example:
      ragauge gold diff gold.v1.jsonl gold.jsonl
    """
    from ragauge.ingest.gold import read_gold
    from ragauge.runners.gold_diff import diff as run

    if old == new == "-":
        raise UsageError("OLD and NEW cannot both be stdin; name a file for one of them")
    report = run(read_gold(old), read_gold(new), allow_removed=allow_removed)
    show(report, format)
    ctx.exit(0 if report.passed else 1)


@gold.command(short_help="Split a gold set, balanced by several factors at once.")
@click.argument("questions", metavar="GOLD")
@click.option("--into", metavar="DIR", required=True, help="The folder for one .jsonl a part.")
@click.option("--shares", default="70/15/15", show_default=True, help="What each part gets.")
@click.option("--names", default="train,dev,test", show_default=True, help="What they are called.")
@click.option("--by", metavar="FACTORS", help="Strata to balance by, the most important first.")
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed, another split.")
@click.option("--force", is_flag=True, help="Replace files that hold something else.")
@formats("text", "json", "markdown")
def split(questions: str, **given: Any) -> None:
    """Split GOLD into parts, so that each part looks like the whole.

    The parts have the sizes asked for, by largest remainder. Of two or three parts, each cell
    (the questions with the same value of every factor) is less than one question from its share
    in each, and so is each value of the first factor; the others are brought as close as
    exchanges can. Which question goes where depends on its qid and the seed, not on the order of
    the file.

    answerable is always a factor. Without --by the others are all strata whose values have on
    average a question in the smallest part, fewest values first. Cells too small to reach every
    part are named.

    GOLD may hold heritage entries, too: they are balanced by their strata, and written as
    they are.

    \b
    Example:
      ragauge gold split gold.jsonl --into parts --by custodian_type,country
    """
    from ragauge.ingest.gold_forms import read_units
    from ragauge.runners.gold_parts import names_of, shares_of
    from ragauge.runners.gold_parts import split as run

    shares = shares_of(given["shares"])
    read, units = read_units(questions)
    report = run(
        read,
        Path(given["into"]),
        by=_names(given["by"]),
        shares=shares,
        names=names_of(given["names"], shares),
        seed=given["seed"],
        force=given["force"],
        units=units,
    )
    show(report, given["format"])


@gold.command(short_help="Draw questions that stand for a whole gold set.")
@click.argument("questions", metavar="GOLD")
@click.option("-n", "n", type=click.IntRange(min=1), required=True, help="How many to draw.")
@click.option("--out", metavar="FILE", required=True, help="A .jsonl, .json, .csv or .tsv.")
@click.option("--by", metavar="FACTORS", help="Strata to draw by, the most important first.")
@click.option(
    "--allocation",
    type=click.Choice(["proportional", "equal"]),
    default="proportional",
    show_default=True,
    help="By the size of cells, or as many of each as there are.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed, other draws.")
@click.option("--force", is_flag=True, help="Replace a file that holds something else.")
@formats("text", "json", "markdown")
def sample(questions: str, **given: Any) -> None:
    """Draw N questions of GOLD from all cells, each with the weight it stands for.

    A cell is the questions with the same value of every factor. A drawn question's weight is the
    size of its cell over the number drawn from it: weighted numbers of the sample are estimates
    for the whole set, plain ones are not where cells were drawn unequally. Every cell is drawn
    from where N allows; cells that were not are named, for the sample does not stand for them.

    answerable is always a factor. Without --by the others are the strata, fewest values first,
    that leave no more cells than questions to draw.

    GOLD may hold heritage entries, too: they are drawn by their strata, and written as
    they are.

    \b
    Example:
      ragauge gold sample gold.jsonl -n 50 --out sample.jsonl
    """
    from ragauge.ingest.gold_forms import read_units
    from ragauge.runners.gold_parts import sample as run

    read, units = read_units(questions)
    report = run(
        read,
        given["n"],
        Path(given["out"]),
        by=_names(given["by"]),
        allocation=given["allocation"],
        seed=given["seed"],
        force=given["force"],
        units=units,
    )
    show(report, given["format"])


@gold.command(short_help="Read a gold set in any form, and write it in ours.")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@click.option("--answerable", type=bool, help="For questions that do not say: true or false.")
@click.option("--force", is_flag=True, help="Replace a file that holds something else.")
@formats("text", "json", "markdown")
def convert(
    source: str, target: Path, answerable: bool | None, force: bool, format: str | None
) -> None:
    """Read the gold set IN, and write it to OUT in the form of its ending.

    IN is JSON Lines, a JSON array (the older form, ragas and deepeval too), CSV or TSV with a
    header, SQuAD 2.0, or heritage gold entries, whose qa_pairs become questions id#1, id#2 and so
    on; - is stdin. OUT ends in .jsonl, .json, .csv or .tsv. What is no part of a question is kept
    in keys of its own; what cannot be kept is counted and named.

    In a table, lists are joined by | or written as JSON, strata stand in columns such as
    strata.country, and an empty cell is an absent field. A text that a spreadsheet would take for
    a formula (it begins with = + - @) is written in JSON quotes and read back without them.

    \b
    Example:
      ragauge gold convert dev-v2.0.json gold.jsonl
    """
    from ragauge.runners.gold_convert import convert as run

    show(run(source, target, answerable=answerable, force=force), format)


@gold.command(short_help="Say whether annotators agree well enough.")
@click.argument("files", metavar="A B [C...]", nargs=-1, required=True)
@click.option(
    "--field",
    metavar="NAME",
    help="What to compare: a field, or a path such as a.b.  [label, ner_annotations or spans]",
)
@click.option(
    "--level",
    type=click.Choice(("nominal", "ordinal", "interval")),
    help="What labels are.  [nominal, with weights or an order: ordinal]",
)
@click.option(
    "--weights",
    type=click.Choice(("none", "linear", "quadratic")),
    default="none",
    help="Let near labels agree in part: weighted κ.",
)
@click.option("--order", metavar="a,b,c", help="The labels, lowest first, where no numbers are.")
@gates_option("In place of the default: alpha>=0.8.")
@formats("text", "json", "markdown", "csv")
@report_option("Also .json .md .csv .txt.")
@click.option("--quiet", is_flag=True, default=None, help="No remarks on stderr.")
@click.pass_context
def agreement(ctx: click.Context, /, **given: Any) -> None:
    """Compare the annotations of the same items by two annotators or more.

    Files are JSON Lines, a JSON array, CSV or TSV, an item a record: id or qid, and a label, or
    spans as [{start, end, type}]. One of them may be -, which is stdin. κ and span F1 of more
    than two annotators are means over pairs.

    Without other gates kappa>0.85 must hold; with weights, kappa_weighted>0.85; at interval level,
    alpha>0.85; for spans, span_f1>=0.85. Every item must be annotated by all.

    \b
    Example:
      ragauge gold agreement anna.jsonl ben.csv --field type --gates 'kappa>0.8'
      ragauge gold agreement a.csv b.csv c.csv --order low,middle,high --weights quadratic
    """
    from ragauge.contracts.annotation import AgreementReport
    from ragauge.runners.gold_agreement import Options
    from ragauge.runners.gold_agreement import agreement as run

    forms = forms_of(given["reports"], AgreementReport)
    order = tuple(_names(given["order"]) or ())
    report = run(
        given["files"],
        field=given["field"],
        options=Options(level=given["level"], weights=given["weights"], order=order),
        gates=",".join(given["gates"]) if given["gates"] else None,
    ).report
    write_reports(report, forms, settings(quiet=given["quiet"])["quiet"])
    show(report, given["format"])
    covered = report.coverage
    if not covered.all + covered.some:
        ctx.exit(NOT_MEASURED)
    ctx.exit(0 if report.passed else 1)


def _names(text: str | None) -> list[str] | None:
    """Names written with commas; None where nothing was written."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]
