"""`ragauge gold`: gold sets checked, and their versions compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from ragauge.cli.gold_agreement import agreement
from ragauge.cli.gold_convert import convert
from ragauge.cli.gold_plan import lint_plan
from ragauge.cli.gold_sample import sample
from ragauge.cli.gold_split import split
from ragauge.cli.settings import formats

if TYPE_CHECKING:
    from ragauge.contracts.gold_report import DiffReport, GoldReport, LintReport, Revision

PLACES_SHOWN = 3
"""Places of one code that are spelled out for a person; the JSON has more."""
QIDS_SHOWN = 8
VALUES_SHOWN = 5
WIDTH = 240
"""Room for any message; what is longer was made to be."""


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
@click.option("--plan", type=click.Choice(["heritage"]), help="Hold a dataset against a plan.")
@formats("text", "json")
@click.pass_context
def lint(
    ctx: click.Context,
    questions: str,
    sections: bool,
    strict: bool,
    plan: str | None,
    format: str | None,
) -> None:
    """Check the questions of GOLD: mix, size, duplicates, phrases, citations and strata.

    GOLD is a gold.jsonl or a JSON array; - is stdin. Exit 1 when a question must be mended.

    With --plan heritage, GOLD is a file of heritage gold entries, or a folder, and each line of
    the plan is held against it. In the folder: entries.jsonl · ner/*.ann (BRAT, the .txt beside)
    or ner/*.iob2 · typing.tsv (text, gold_type) · linking.json · qrels.txt (TREC) · qa.json ·
    metadata.json · annotators/*.tsv (id, label; one file each). A part may be in several files;
    one that is missing is an error.

    \b
    Example:
      ragauge gold lint gold.jsonl --strict
      ragauge gold lint --plan heritage dataset/
    """
    if plan is not None:
        ctx.exit(0 if lint_plan(questions, sections, strict, format) else 1)
    from ragauge.ingest.gold import read_gold
    from ragauge.runners.gold_lint import lint as run

    report = run(read_gold(questions), sections=sections, strict=strict)
    _show(report, _lint_lines(report), format)
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
    from ragauge.errors import UsageError
    from ragauge.ingest.gold import read_gold
    from ragauge.runners.gold_diff import diff as run

    if old == new == "-":
        raise UsageError("OLD and NEW cannot both be stdin; name a file for one of them")
    report = run(read_gold(old), read_gold(new), allow_removed=allow_removed)
    _show(report, _diff_lines(report), format)
    ctx.exit(0 if report.passed else 1)


def _show(report: LintReport | DiffReport, lines: Iterable[str], format: str | None) -> None:
    if format == "json":
        import msgspec

        encoded = msgspec.json.encode(report, order="sorted")
        click.echo(msgspec.json.format(encoded).decode())
        return
    from ragauge.text.visible import one_line

    for line in lines:
        indent = "  " if line.startswith("  ") else ""
        click.echo(indent + one_line(line, WIDTH))


def _lint_lines(report: LintReport) -> Iterator[str]:
    held = report.summary
    yield (
        f"{_counted(report.coverage['gold'], 'question')}: "
        f"{held.answerable:,} answerable, {held.unanswerable:,} unanswerable"
    )
    yield (
        f"with gold citations {held.with_citations:,}, with paraphrases "
        f"{held.with_paraphrases:,}, with constraints {held.with_constraints:,}"
    )
    for key, values in held.strata.items():
        yield f"by {key}: {_commonest(values)}"
    yield from _finding_lines(report)
    yield ""
    yield _lint_advice(report)


def _lint_advice(report: LintReport) -> str:
    warnings = _counted(report.warnings, "warning")
    if report.errors:
        errors = _counted(report.errors, "error")
        beside = f"; {warnings} can wait" if report.warnings else ""
        return f"Not ready: mend {errors} before scoring with this set{beside}."
    if not report.warnings:
        return "Ready: nothing to mend."
    if report.passed:
        return f"Ready: no errors. Have a look at {warnings}; --strict would fail here."
    return f"Not ready: mend {warnings}, which --strict does not let pass."


def _diff_lines(report: DiffReport) -> Iterator[str]:
    covered = report.coverage
    yield (
        f"{_counted(covered['old'], 'question')} before, {covered['gold']:,} after: "
        f"{len(report.added):,} added, {len(report.removed):,} removed, "
        f"{len(report.changed):,} changed, {len(report.edited):,} edited, "
        f"{covered['same']:,} the same"
    )
    if report.added:
        yield f"added: {_first(report.added, QIDS_SHOWN)}"
    if report.edited:
        yield f"edited: {_first(map(_revised, report.edited), QIDS_SHOWN)}"
    yield from _finding_lines(report)
    yield ""
    if report.passed:
        yield "Still the same set: every question that is left means what it meant."
    else:
        yield f"Not the same set: mend {_counted(report.errors, 'error')}, then compare again."


def _finding_lines(report: GoldReport) -> Iterator[str]:
    """The findings by code, errors first, each with its first places."""
    severities = {finding.code: finding.severity for finding in report.findings}
    for code, severity in sorted(severities.items(), key=lambda pair: (pair[1], pair[0])):
        count = report.finding_counts[code]
        yield ""
        yield f"{severity} {code}: {count:,}"
        places = [finding for finding in report.findings if finding.code == code]
        for finding in places[:PLACES_SHOWN]:
            yield f"  {finding.where}: {finding.message}"
        if count > PLACES_SHOWN:
            yield f"  and {count - PLACES_SHOWN:,} more; see --format json"


def _commonest(values: dict[str, int]) -> str:
    ranked = sorted(values.items(), key=lambda pair: (-pair[1], pair[0]))
    return _first((f"{value} {count:,}" for value, count in ranked), VALUES_SHOWN)


def _revised(revision: Revision) -> str:
    return f"{revision.qid} ({', '.join(revision.fields)})"


def _first(texts: Iterable[str], most: int) -> str:
    """The first texts, and how many there are beyond them."""
    every = list(texts)
    tail = [f"and {len(every) - most:,} more"] if len(every) > most else []
    return ", ".join([*every[:most], *tail])


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


gold.add_command(split)
gold.add_command(sample)
gold.add_command(convert)
gold.add_command(agreement)
