"""`ragauge eval answers`: finished answers, with or without contexts, references and a judge."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from ragauge.cli.answering import answering_options, evaluated_answers
from ragauge.cli.evaluating import FORMS, evaluating_options, input_format


@click.command("answers", short_help="Answers: groundedness, numbers, overlap, judged metrics.")
@click.argument("rows", metavar="ROWS")
@input_format("json", "jsonl", "csv", "tsv", "parquet")
@answering_options
@evaluating_options(*FORMS)
@click.pass_context
def eval_answers(ctx: click.Context, /, rows: str, **given: Any) -> None:
    """Evaluate the answers of ROWS: how far their contexts support them, and what else is known.

    ROWS are JSON Lines, JSON, CSV, TSV or Parquet of id, question, answer, contexts and
    reference; or the samples of ragas, or the test cases of deepeval. What a row does not have is
    not measured, and the report says so. --out FILE.jsonl has the scores of every row with their
    reasons and evidence, in the order of ROWS. From 2,000 rows on, --workers share them.

    \b
    Example:
      ragauge eval answers answers.jsonl --out scores.jsonl
      ragauge eval answers answers.jsonl --judge lexical --gates 'groundedness>=0.7'
    """
    from ragauge.runners.answers.evaluate_answers import evaluate_answers

    ctx.exit(evaluated_answers(given, [rows], partial(evaluate_answers, rows)))
