"""The evaluation of answers to the questions of a gold set, by type of question."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import structs

from ragauge.contracts.answers import AnswerRow
from ragauge.contracts.opt import takes
from ragauge.contracts.options import AnswerOptions
from ragauge.contracts.report import Finding, Findings
from ragauge.errors import InputRejected
from ragauge.ingest.answers import Answered, read_answers
from ragauge.ingest.fields import Columns, quoted
from ragauge.ingest.questions import PHRASES, read_questions
from ragauge.ingest.records import Source
from ragauge.runners.answers.evaluation import outcome_of_answers
from ragauge.runners.answers.gathering import Asking
from ragauge.runners.answers.options import check_options
from ragauge.runners.answers.scores import AnswersOutcome
from ragauge.runners.components.options import refuse_bad
from ragauge.text.canonical import same_question

_NAMELESS = "has neither an id nor a question"
GOLD_FIELDS = ("references", "facts", "answerable", PHRASES)


@takes(AnswerOptions, "eval qa")
def evaluate_qa(
    gold: Source,
    predicted: Source,
    *,
    asking: Asking | None = None,
    columns: Columns | None = None,
    options: AnswerOptions,
) -> AnswersOutcome:
    """The report on answers to gold questions: overlap with correct answers, and support.

    `gold` is a gold set, a list of questions with answers, or heritage entries; `predicted` rows
    as `evaluate_answers` takes them, or traces. Each is a file, records or a data frame. `columns`
    says where fields are: references, facts and phrases in the gold, all others in the predictions.
    Whether refusals are right is what `ragauge score` measures; here one is an answer.
    """
    check_options("qa", options)
    problems: list[str] = []
    findings = Findings()
    of_gold = {name: one for name, one in (columns or {}).items() if name in GOLD_FIELDS}
    others = {name: one for name, one in (columns or {}).items() if name not in GOLD_FIELDS}
    form = options.input_format
    questions = read_questions(gold, problems, form, findings, of_gold)
    answered = read_answers(
        predicted, problems, findings, form, "predicted", joined=True, columns=others
    )
    refuse_bad(problems, len(questions) + answered.records, options)
    if not questions:
        raise InputRejected("the gold holds no question; nothing can be evaluated")
    rows, coverage = _joined(questions, answered, findings)
    return outcome_of_answers(
        "qa",
        rows,
        options,
        asking or Asking(),
        findings,
        coverage=coverage,
        problems=problems,
        unread=tuple(dict.fromkeys((*questions.unread, *answered.unread))),
    )


def _joined(
    gold: Mapping[str, AnswerRow], predicted: Answered, found: Findings
) -> tuple[list[AnswerRow], dict[str, int]]:
    """Every question with its prediction, in the order of gold: by id, else by its words.

    What belongs to no question is a finding, and so is a question without a prediction; both are
    counted. Of several predictions the last one counts.
    """
    by_words: dict[str, str | None] = {}
    for qid, question in gold.items():
        words = same_question(question.question or "")
        by_words[words] = None if words in by_words else qid
    last: dict[str, AnswerRow] = {}
    unknown = surplus = 0
    for row, given in zip(predicted.rows, predicted.given, strict=True):
        words = same_question(row.question or "")
        meant = by_words.get(words) if row.question else None
        id = str(given) if given is not None and str(given) in gold else meant
        if id is None:
            unknown += 1
            name = str(given) if given is not None else row.question
            fact = f"gold has no question {quoted(name)}" if name else _NAMELESS
            if row.question and words in by_words:
                fact = (
                    f"{quoted(row.question)} stands twice in the gold; give the prediction its qid"
                )
            found.add(Finding("unknown_question", row.where, fact))
            continue
        if id in last:
            surplus += 1
            fact = f"{quoted(id)} is answered at {last[id].where} already; the last one counts"
            found.add(Finding("surplus_answer", row.where, fact))
        last[id] = row
    rows: list[AnswerRow] = []
    for qid, question in gold.items():
        answer = last.get(qid)
        if answer is None:
            fact = f"{quoted(qid)} has no prediction: no number has it but coverage"
            found.add(Finding("missing_prediction", question.where, fact))
            rows.append(question)
            continue
        rows.append(
            structs.replace(
                question,
                answer=answer.answer,
                contexts=question.contexts if answer.contexts is None else answer.contexts,
                cited=answer.cited,
                claims=answer.claims,
                kind=answer.kind or question.kind,
                strata={**answer.strata, **question.strata},
                where=answer.where,
            )
        )
    missing = len(gold) - len(last)
    counts = {"missing": missing, "unknown": unknown, "surplus": surplus}
    return rows, {"questions": len(rows), **counts}
