"""`ragauge gold`: gold sets checked, and their versions compared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import click
from msgspec import Meta, Struct

from ragauge.cli.command import group
from ragauge.contracts.annotation import AgreementReport
from ragauge.contracts.gold_parts import ConvertReport, SampleReport, SplitReport
from ragauge.contracts.gold_report import DiffReport, GoldReport
from ragauge.contracts.opt import Opt
from ragauge.contracts.options import Mapped, MappedGold, Output, Printed
from ragauge.errors import UsageError

FORMS = ("text", "json", "markdown")


@group()
def gold() -> None:
    """Check a gold set before it is used, and keep it frozen afterwards.

    \b
    Example:
      ragauge gold lint gold.jsonl
    """


class Lint(Struct, frozen=True, kw_only=True):
    """What is checked."""

    sections: Annotated[bool, Opt("Also want 3 to 5 questions for each section.")] = False
    strict: Annotated[bool, Opt("Let warnings fail the set as errors do.")] = False
    locks: Annotated[bool, Opt("Also print the lock of each question's constraints.")] = False
    chunks: Annotated[
        str | None, Opt("Chunks or traces: is each anchor inside one chunk?", metavar="FILE")
    ] = None
    window: Annotated[
        Annotated[int, Meta(ge=1)] | None, Opt("Characters of a chunk; with --stride.")
    ] = None
    stride: Annotated[
        Annotated[int, Meta(ge=1)] | None, Opt("Characters from one chunk to the next.")
    ] = None
    plan: Annotated[Literal["heritage"] | None, Opt("Hold a dataset against a plan.")] = None


@gold.verb(*FORMS, short="Say what a gold set cannot measure.")
def lint(
    questions: Annotated[str, "GOLD"], options: Lint, mapped: MappedGold, output: Printed
) -> GoldReport:
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
    if (options.window is None) != (options.stride is None):
        raise click.UsageError("--window and --stride belong together; give both")
    if options.plan is not None:
        from ragauge.runners.gold_plan import hold_against_plan

        if options != Lint(plan=options.plan, strict=options.strict) or mapped.columns:
            raise UsageError(
                "--plan is for a dataset; drop --sections, --locks, --chunks, --window, --stride "
                "and --map"
            )
        return hold_against_plan(Path(questions), strict=options.strict)
    from ragauge.ingest.gold import CHUNK, GOLD, read_chunks, read_gold
    from ragauge.ingest.records import columns_for
    from ragauge.runners.gold_lint import lint as run

    columns = columns_for(mapped.columns, gold=GOLD, chunks=CHUNK)
    window, stride, chunks = options.window, options.stride, options.chunks
    return run(
        read_gold(questions, columns["gold"]),
        sections=options.sections,
        strict=options.strict,
        locks=options.locks,
        chunks=None if chunks is None else read_chunks(chunks, columns["chunks"]),
        window=(window, stride) if window and stride else None,
    )


class Diff(Struct, frozen=True, kw_only=True):
    """What a new version may do."""

    allow_removed: Annotated[bool, Opt("Let questions leave the set.")] = False


@gold.verb(*FORMS, short="Say whether a gold set still means what it meant.")
def diff(old: str, new: str, options: Diff, mapped: MappedGold, output: Printed) -> DiffReport:
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
    before, after = (read_gold(one, mapped.columns) for one in (old, new))
    return run(before, after, allow_removed=options.allow_removed)


class Split(Struct, frozen=True, kw_only=True):
    """Which parts there are."""

    into: Annotated[str, Opt("The folder for one .jsonl a part.", metavar="DIR")]
    shares: Annotated[str, Opt("What each part gets.")] = "70/15/15"
    names: Annotated[str, Opt("What they are called.")] = "train,dev,test"
    by: Annotated[
        tuple[str, ...],
        Opt("Strata to balance by, the most important first.", metavar="FACTORS", commas=True),
    ] = ()
    seed: Annotated[int, Opt("Another seed, another split.", shown="0")] = 0
    force: Annotated[bool, Opt("Replace files that hold something else.")] = False


@gold.verb(*FORMS, short="Split a gold set, balanced by several factors at once.")
def split(
    questions: Annotated[str, "GOLD"], options: Split, mapped: MappedGold, output: Printed
) -> SplitReport:
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

    shares = shares_of(options.shares)
    read, units = read_units(questions, mapped.columns)
    return run(
        read,
        Path(options.into),
        by=options.by or None,
        shares=shares,
        names=names_of(options.names, shares),
        seed=options.seed,
        force=options.force,
        units=units,
    )


class Sample(Struct, frozen=True, kw_only=True):
    """What is drawn."""

    n: Annotated[int, Meta(ge=1), Opt("How many to draw.", flag="-n")]
    out: Annotated[str, Opt("A .jsonl, .json, .csv or .tsv.", metavar="FILE")]
    by: Annotated[
        tuple[str, ...],
        Opt("Strata to draw by, the most important first.", metavar="FACTORS", commas=True),
    ] = ()
    allocation: Annotated[
        Literal["proportional", "equal"],
        Opt("By the size of cells, or as many of each as there are."),
    ] = "proportional"
    seed: Annotated[int, Opt("Another seed, other draws.", shown="0")] = 0
    force: Annotated[bool, Opt("Replace a file that holds something else.")] = False


@gold.verb(*FORMS, short="Draw questions that stand for a whole gold set.")
def sample(
    questions: Annotated[str, "GOLD"], options: Sample, mapped: MappedGold, output: Printed
) -> SampleReport:
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

    read, units = read_units(questions, mapped.columns)
    return run(
        read,
        options.n,
        Path(options.out),
        by=options.by or None,
        allocation=options.allocation,
        seed=options.seed,
        force=options.force,
        units=units,
    )


class Convert(Struct, frozen=True, kw_only=True):
    """What the questions do not say themselves."""

    answerable: Annotated[
        Literal["true", "false"] | None, Opt("For questions that do not say it.")
    ] = None
    force: Annotated[bool, Opt("Replace a file that holds something else.")] = False


@gold.verb(*FORMS, short="Read a gold set in any form, and write it in ours.")
def convert(
    source: Annotated[str, "IN"],
    target: Annotated[str, "OUT"],
    options: Convert,
    mapped: MappedGold,
    output: Printed,
) -> ConvertReport:
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

    said = options.answerable
    answerable = None if said is None else said == "true"
    columns = mapped.columns
    return run(source, Path(target), answerable=answerable, force=options.force, columns=columns)


class Agreement(Struct, frozen=True, kw_only=True):
    """How annotations are compared."""

    field: Annotated[
        str | None,
        Opt(
            "What to compare: a field, or a path such as a.b.",
            metavar="NAME",
            shown="label, ner_annotations or spans",
        ),
    ] = None
    level: Annotated[
        Literal["nominal", "ordinal", "interval"] | None,
        Opt("What labels are.", shown="nominal, with weights or an order: ordinal"),
    ] = None
    weights: Annotated[
        Literal["none", "linear", "quadratic"], Opt("Let near labels agree in part: weighted κ.")
    ] = "none"
    order: Annotated[
        tuple[str, ...],
        Opt("The labels, lowest first, where no numbers are.", metavar="a,b,c", commas=True),
    ] = ()
    gates: Annotated[
        str | None, Opt("In place of the default: alpha>=0.8.", metavar="RULES", joined=True)
    ] = None


@gold.verb(*FORMS, "csv", short="Say whether annotators agree well enough.")
def agreement(
    files: Annotated[tuple[str, ...], "A B [C...]"],
    options: Agreement,
    mapped: Mapped,
    output: Output,
) -> AgreementReport:
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
    from ragauge.runners.annotators import Options
    from ragauge.runners.gold_agreement import agreement as run

    return run(
        files,
        field=options.field,
        columns=mapped.columns,
        options=Options(level=options.level, weights=options.weights, order=options.order),
        gates=options.gates,
    ).report
