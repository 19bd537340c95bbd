"""`ragauge eval types`: labels against gold."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from ragauge.cli.evaluating import FORMS, evaluated, evaluating_options, input_format


@click.command("types", short_help="Types: accuracy, macro F1, confusion matrix, categories.")
@click.argument("gold", metavar="GOLD")
@click.argument("predicted", metavar="PRED")
@input_format("json", "jsonl", "tsv", "csv")
@click.option(
    "--labels",
    metavar="SET",
    help="The labels there are: heritage, a TOML file, or A,B,…  [those met]",
)
@click.option("--field", metavar="NAME", help="Where records have their label.")
@click.option("--predicted-field", metavar="NAME", help="Where PRED has it, if elsewhere.")
@evaluating_options(*FORMS)
@click.pass_context
def eval_types(ctx: click.Context, /, gold: str, predicted: str, **given: Any) -> None:
    """Evaluate the types of PRED against those of GOLD, joined on id, or on text where it is one.

    Both are tables (id, label; or text, gold_type, secondary_types), JSON, JSON Lines or heritage
    entries. An item without a prediction is MISSING, and wrong; a label outside the set is OTHER.

    \b
    Example:
      ragauge eval types gold.tsv predicted.tsv --labels heritage --report types.html
    """
    from ragauge.runners.components.evaluate_types import evaluate_types

    ctx.exit(evaluated(given, [gold, predicted], partial(evaluate_types, gold, predicted)))
