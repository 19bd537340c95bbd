"""`ragauge eval ner`: entities against gold."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from ragauge.cli.evaluating import FORMS, evaluated, evaluating_options, input_format

ENTITY_FORMATS = (
    *("json", "jsonl", "brat", "iob1", "iob2", "iobes", "bioes", "bilou", "conll2003", "conllu"),
    *("hipe", "tsv", "neleval"),
)


@click.command("ner", short_help="Entities: strict, exact, partial and by token.")
@click.argument("gold", metavar="GOLD")
@click.argument("predicted", metavar="PRED")
@input_format(*ENTITY_FORMATS)
@click.option(
    "--matching",
    type=click.Choice(["best", "hipe", "nervaluate"]),
    default="best",
    help="How predictions meet gold  [best]",
)
@click.option("--level", type=click.IntRange(1), help="Compare types by their first N parts.")
@click.option("--layer", metavar="NAME", help="Only this layer, such as NE-COARSE-LIT.")
@click.option("--types", metavar="A,B,…", help="The types there are  [those met]")
@click.option("--min-overlap", type=click.FloatRange(0, 1), help="Share of gold to overlap.")
@click.option(
    "--empty",
    type=click.Choice(["null", "zero", "gerbil"]),
    default="null",
    help="A document with nothing to find and nothing found  [null: absent]",
)
@click.option(
    "--offsets",
    type=click.Choice(["characters", "tokens"]),
    help="What start and end count  [tokens where a record has them]",
)
@click.option(
    "--scheme",
    type=click.Choice(["repair", "strict"]),
    help="Tags out of order: as conlleval, or no entity  [repair]",
)
@click.option("--column", type=int, help="The column of the tags, from 1  [the last]")
@click.option(
    "--token-rule",
    type=click.Choice(["overlap", "brief"]),
    default="overlap",
    help="A token is in an entity if they overlap, or its first character is  [overlap]",
)
@click.option("--reanchor", is_flag=True, help="Move misplaced spans to where their text is.")
@evaluating_options(*FORMS)
@click.pass_context
def eval_ner(ctx: click.Context, /, gold: str, predicted: str, **given: Any) -> None:
    """Evaluate the entities of PRED against those of GOLD, document by document.

    Both are JSON or JSON Lines, a folder of BRAT files, IOB, BIOES, CoNLL-2003, CoNLL-U, HIPE TSV
    or a table of spans; what they are is seen from their content. f1_partial is the fuzzy match of
    HIPE: any overlap, the same type. SemEval's half credit is f1_semeval_partial.

    \b
    Example:
      ragauge eval ner gold.jsonl predicted.jsonl --by language --report ner.html
      ragauge eval ner gold.tsv predicted.tsv --matching hipe --format json
    """
    from ragauge.runners.components.evaluate_ner import evaluate_ner

    types = given.pop("types")
    given["types"] = tuple(filter(None, (one.strip() for one in (types or "").split(","))))
    ctx.exit(evaluated(given, [gold, predicted], partial(evaluate_ner, gold, predicted)))
