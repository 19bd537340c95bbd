"""`ragauge eval linking`: links to knowledge bases against gold."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from ragauge.cli.evaluating import FORMS, evaluated, evaluating_options, input_format


@click.command("linking", short_help="Links: hits, MRR, NIL, end to end, consistency.")
@click.argument("gold", metavar="GOLD")
@click.argument("predicted", metavar="PRED")
@input_format("json", "jsonl", "tsv", "neleval", "hipe")
@click.option("--kb", metavar="NAME", help="The knowledge base that decides  [any id in common]")
@click.option("-k", type=click.IntRange(1), multiple=True, help="Ranks of hits@k  [1, 5 and 10]")
@click.option("--equivalents", metavar="FILE", help="Ids that are one: for the relaxed numbers.")
@click.option("--crosswalk", metavar="FILE", help="Ids across knowledge bases: id, id, relation.")
@click.option(
    "--layer",
    type=click.Choice(["NEL-LIT", "NEL-METO"]),
    default="NEL-LIT",
    help="The column of links of HIPE files  [NEL-LIT]",
)
@click.option(
    "--duplicates",
    type=click.Choice(["error", "best"]),
    default="error",
    help="Several predictions for a mention  [error]",
)
@evaluating_options(*FORMS)
@click.pass_context
def eval_linking(ctx: click.Context, /, gold: str, predicted: str, **given: Any) -> None:
    """Evaluate the links of PRED against those of GOLD, joined on document and span, or on id.

    Hits@k and MRR are over all gold mentions that are in a knowledge base; those that are in none
    are NIL, and have numbers of their own. Nothing is looked up on the network: what belongs
    together across knowledge bases is read from --crosswalk. HIPE files have their scorer's numbers
    as well: hipe_f1@1, @3 and @5, where NIL is an id like any other.

    \b
    Example:
      ragauge eval linking gold.jsonl predicted.jsonl --crosswalk wikidata-viaf.tsv
    """
    from ragauge.runners.components.evaluate_linking import evaluate_linking

    given["k"] = given["k"] or (1, 5, 10)
    read = [gold, predicted, *filter(None, (given["equivalents"], given["crosswalk"]))]
    ctx.exit(evaluated(given, read, partial(evaluate_linking, gold, predicted)))
