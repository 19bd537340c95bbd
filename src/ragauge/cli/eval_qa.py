"""`ragauge eval qa`: answers to the questions of a gold set."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from ragauge.cli.answering import answering_options, evaluated_answers
from ragauge.cli.evaluating import FORMS, evaluating_options, input_format


@click.command("qa", short_help="Answers against gold, by type of question.")
@click.argument("gold", metavar="GOLD")
@click.argument("predicted", metavar="PRED")
@input_format("json", "jsonl", "csv", "tsv", "parquet")
@answering_options
@evaluating_options(*FORMS)
@click.pass_context
def eval_qa(ctx: click.Context, /, gold: str, predicted: str, **given: Any) -> None:
    """Evaluate the answers of PRED against the questions of GOLD, joined on qid, or on question.

    GOLD is a gold set, a list of question, gold_answer and answer_type, or heritage entries with
    qa_pairs; PRED rows as `ragauge eval answers` takes them, or traces. A question without an
    answer is missing, and fails the gate on coverage. Whether a system refuses when it should is
    measured by `ragauge score`.

    \b
    Example:
      ragauge eval qa gold.jsonl answers.jsonl --by question_type --report qa.html
    """
    from ragauge.runners.answers.evaluate_qa import evaluate_qa

    ctx.exit(evaluated_answers(given, [gold, predicted], partial(evaluate_qa, gold, predicted)))
