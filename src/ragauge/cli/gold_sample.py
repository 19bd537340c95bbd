"""`ragauge gold sample`: a few questions of a gold set that stand for all of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ragauge.cli.gold_split import names_in
from ragauge.cli.settings import formats


@click.command(short_help="Draw questions that stand for a whole gold set.")
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
@formats("text", "json")
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
    from ragauge.cli.score import show
    from ragauge.ingest.gold_forms import read_units
    from ragauge.runners.gold_sample import sample as run

    gold, units = read_units(questions)
    report = run(
        gold,
        given["n"],
        Path(given["out"]),
        by=names_in(given["by"]),
        allocation=given["allocation"],
        seed=given["seed"],
        force=given["force"],
        units=units,
    )
    show(report, given["format"] or "text")
