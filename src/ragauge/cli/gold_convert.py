"""`ragauge gold convert`: a gold set in another form."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragauge.cli.gold_page import finding_lines, questions, show, told
from ragauge.cli.settings import formats

if TYPE_CHECKING:
    from ragauge.contracts.gold_parts import ConvertReport


@click.command(short_help="Read a gold set in any form, and write it in ours.")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@click.option("--answerable", type=bool, help="For questions that do not say: true or false.")
@click.option("--force", is_flag=True, help="Replace a file that holds something else.")
@formats("text", "json")
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

    report = run(source, target, answerable=answerable, force=force)
    show(report, _lines(report), format)


def _lines(report: ConvertReport) -> Iterator[str]:
    covered = report.coverage
    unanswerable = covered["gold"] - covered["answerable"]
    yield (
        f"{questions(covered['gold'])} from {report.read}: {covered['answerable']:,} answerable, "
        f"{unanswerable:,} unanswerable"
    )
    if report.extra:
        kept = ", ".join(f"{key} ({count:,})" for key, count in report.extra.items())
        yield told(f"carried along as they are: {kept}")
    yield from finding_lines(report)
    yield ""
    yield told(f"{report.file}: {covered['gold']:,}")
