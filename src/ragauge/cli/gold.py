"""`ragauge gold`: gold sets checked, and their versions compared."""

from __future__ import annotations

import click

from ragauge.cli.gold_agreement import agreement
from ragauge.cli.gold_convert import convert
from ragauge.cli.gold_plan import lint_plan
from ragauge.cli.gold_sample import sample
from ragauge.cli.gold_split import split
from ragauge.cli.settings import formats


@click.group(
    short_help="Check a gold set, or compare two versions of one.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
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
@formats("text", "json")
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

    GOLD is a gold.jsonl or a JSON array; - is stdin. Exit 1 when a question must be mended.

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
    aligned = chunks is not None or window is not None
    if plan is not None:
        ctx.exit(0 if lint_plan(questions, sections or locks or aligned, strict, format) else 1)
    from ragauge.cli.score import show
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
    show(report, format or "text")
    ctx.exit(0 if report.passed else 1)


@gold.command(short_help="Say whether a gold set still means what it meant.")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--allow-removed", is_flag=True, help="Let questions leave the set.")
@formats("text", "json")
@click.pass_context
def diff(ctx: click.Context, old: str, new: str, allow_removed: bool, format: str | None) -> None:
    """Compare the gold sets OLD and NEW: what was added, removed, changed or edited.

    Sets are frozen: exit 1 when a question was removed, or means something else under its old
    qid. One of the two may be -, which is stdin.

    \b
    Example:
      ragauge gold diff gold.v1.jsonl gold.jsonl
    """
    from ragauge.cli.score import show
    from ragauge.errors import UsageError
    from ragauge.ingest.gold import read_gold
    from ragauge.runners.gold_diff import diff as run

    if old == new == "-":
        raise UsageError("OLD and NEW cannot both be stdin; name a file for one of them")
    report = run(read_gold(old), read_gold(new), allow_removed=allow_removed)
    show(report, format or "text")
    ctx.exit(0 if report.passed else 1)


gold.add_command(split)
gold.add_command(sample)
gold.add_command(convert)
gold.add_command(agreement)
