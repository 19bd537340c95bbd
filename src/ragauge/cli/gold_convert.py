"""`ragauge gold convert`: a gold set in another form."""

from __future__ import annotations

from pathlib import Path

import click

from ragauge.cli.settings import formats


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
    from ragauge.cli.score import show
    from ragauge.runners.gold_convert import convert as run

    show(run(source, target, answerable=answerable, force=force), format or "text")
