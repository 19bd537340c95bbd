"""`ragauge eval retrieval`: rankings against judgements."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from ragauge.cli.evaluating import FORMS, evaluated, evaluating_options, input_format
from ragauge.cli.settings import options_of


@click.command("retrieval", short_help="Rankings: nDCG, P, R, RR, AP and more.")
@click.argument("qrels", metavar="QRELS")
@click.argument("run", metavar="RUN")
@input_format("trec", "beir", "ranx", "tsv", "json", "jsonl")
@click.option(
    "--measures", metavar="NAMES", multiple=True, help="Such as nDCG@10 or P(rel=2)@5; repeatable."
)
@click.option(
    "--baseline", "baselines", metavar="RUN", multiple=True, help="Compare with it, query by query."
)
@click.option("-k", type=click.IntRange(1), multiple=True, help="Cut-offs  [5, 10 and 20]")
@click.option("--rel", type=int, default=1, help="The grade from which on it is relevant  [1]")
@click.option(
    "--no-rel",
    type=click.Choice(["exclude", "zero"]),
    help="Queries with nothing relevant  [TREC: zero, as trec_eval; else exclude from the means]",
)
@click.option(
    "--as",
    "counted_as",
    type=click.Choice(["trec_eval"]),
    help="Count queries as trec_eval -c does  [the default for TREC judgements]",
)
@click.option("--collapse", metavar="SEP", help="Chunks to documents: what stands before SEP.")
@click.option(
    "--duplicates",
    type=click.Choice(["collapse", "error"]),
    default="collapse",
    help="A document twice for a query  [collapse: the best rank stays]",
)
@click.option("--drop-self", is_flag=True, help="Leave out documents that have the query's id.")
@click.option(
    "--test",
    type=click.Choice(["auto", "mcnemar", "randomisation", "t", "wilcoxon", "bootstrap"]),
    default="auto",
    help="The paired test with --baseline  [auto]",
)
@click.option(
    "--correction",
    type=click.Choice(["holm", "bh"]),
    default="holm",
    help="For several measures and runs  [holm]",
)
@click.option("--source-depth", type=click.IntRange(1), help="Credit sources down to this rank.")
@options_of("workers")
@evaluating_options(*FORMS)
@click.pass_context
def eval_retrieval(ctx: click.Context, /, qrels: str, run: str, **given: Any) -> None:
    """Evaluate the ranking in RUN against the graded judgements in QRELS.

    Both are TREC files, BEIR tables, ranx JSON, tables with a header, JSON or JSON Lines. Ranked
    by score, ties by document id descending, as trec_eval does; a query that RUN lacks counts 0.
    With TREC judgements, or --as trec_eval, a query with nothing relevant counts 0 too; with other
    formats it is left out of the means.

    \b
    Example:
      ragauge eval retrieval qrels.txt run.txt --measures nDCG@10 --measures 'P(rel=2)@5'
      ragauge eval retrieval qrels.txt new.txt --baseline old.txt --out per-query.csv
    """
    from ragauge.runners.components.evaluate_retrieval import evaluate_retrieval

    read = [qrels, run, *given["baselines"]]
    ctx.exit(evaluated(given, read, partial(evaluate_retrieval, qrels, run)))
