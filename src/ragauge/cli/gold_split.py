"""`ragauge gold split`: a gold set in parts that each look like the whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ragauge.cli.settings import formats


@click.command(short_help="Split a gold set, balanced by several factors at once.")
@click.argument("questions", metavar="GOLD")
@click.option("--into", metavar="DIR", required=True, help="The folder for one .jsonl a part.")
@click.option("--shares", default="70/15/15", show_default=True, help="What each part gets.")
@click.option("--names", default="train,dev,test", show_default=True, help="What they are called.")
@click.option("--by", metavar="FACTORS", help="Strata to balance by, the most important first.")
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed, another split.")
@click.option("--force", is_flag=True, help="Replace files that hold something else.")
@formats("text", "json")
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
    from ragauge.cli.score import show
    from ragauge.ingest.gold_forms import read_units
    from ragauge.runners.gold_split import names_of, shares_of
    from ragauge.runners.gold_split import split as run

    shares = shares_of(given["shares"])
    gold, units = read_units(questions)
    report = run(
        gold,
        Path(given["into"]),
        by=names_in(given["by"]),
        shares=shares,
        names=names_of(given["names"], shares),
        seed=given["seed"],
        force=given["force"],
        units=units,
    )
    show(report, given["format"] or "text")


def names_in(text: str | None) -> list[str] | None:
    """Names written with commas; None where nothing was written."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]
