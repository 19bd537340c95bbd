"""The evaluation of answers to the questions of a gold set, by type of question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragauge.contracts.finding import Findings
from ragauge.errors import InputRejected
from ragauge.ingest.answered.questions import read_questions
from ragauge.ingest.answered.rows import read_answers
from ragauge.runners.answers.evaluation import ReadAnswers, outcome_of_answers
from ragauge.runners.answers.gathering import Asking
from ragauge.runners.answers.joined import joined_answers
from ragauge.runners.answers.metric_names import with_metric_names
from ragauge.runners.answers.options import chosen_answer_options
from ragauge.runners.answers.scores import AnswersOutcome
from ragauge.runners.components.options import refuse_bad

if TYPE_CHECKING:
    from ragauge.ingest.answered.records import Source


def evaluate_qa(
    gold: Source, predicted: Source, *, asking: Asking | None = None, **options: Any
) -> AnswersOutcome:
    """The report on answers to gold questions: overlap with the right answers, and their support.

    `gold` is a gold set, a list of questions with answers, or heritage entries; `predicted` rows
    as `evaluate_answers` takes them, or traces. Each is a file, a sequence of records or a frame.
    Whether refusals are right is what `ragauge score` measures; here one is an answer.
    """
    chosen = chosen_answer_options("qa", with_metric_names(options))
    problems: list[str] = []
    findings = Findings()
    questions = read_questions(gold, problems, chosen.input_format)
    answered = read_answers(
        predicted, problems, findings, chosen.input_format, "predicted", joined=True
    )
    refuse_bad(problems, len(questions) + answered.records, chosen)
    if not questions:
        raise InputRejected("the gold holds no question; nothing can be evaluated")
    joined = joined_answers(questions, answered, findings)
    read = ReadAnswers(
        task="qa",
        rows=joined.rows,
        given=[row.id for row in joined.rows],
        findings=findings,
        problems=problems,
        coverage={
            "questions": len(joined.rows),
            "missing": joined.missing,
            "unknown": joined.unknown,
            "surplus": joined.surplus,
        },
    )
    return outcome_of_answers(read, chosen, asking or Asking())
