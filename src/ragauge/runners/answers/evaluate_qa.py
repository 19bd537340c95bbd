"""The evaluation of answers to the questions of a gold set, by type of question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct, structs

from ragauge.contracts.answers import AnswerRow
from ragauge.contracts.opt import takes
from ragauge.contracts.options import AnswerOptions
from ragauge.contracts.report import Finding, Findings
from ragauge.errors import InputRejected
from ragauge.ingest.answers import Answered, read_answers
from ragauge.ingest.fields import Columns, quoted
from ragauge.ingest.questions import PHRASES, read_questions
from ragauge.ingest.records import Source
from ragauge.runners.answers.evaluation import ReadAnswers, outcome_of_answers
from ragauge.runners.answers.gathering import Asking
from ragauge.runners.answers.options import check_options
from ragauge.runners.answers.scores import AnswersOutcome
from ragauge.runners.components.options import refuse_bad
from ragauge.text.canonical import same_question

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
        unread=tuple(dict.fromkeys((*questions.unread, *answered.unread))),
    )
    return outcome_of_answers(read, options, asking or Asking())


class Joined(Struct, frozen=True, kw_only=True):
    """Every question of gold with its prediction, in the order of gold."""

    rows: list[AnswerRow]
    missing: int
    unknown: int
    surplus: int
    """Predictions beyond the one that counts, the last of a question."""


def joined_answers(gold: Mapping[str, AnswerRow], predicted: Answered, found: Findings) -> Joined:
    """The questions with their predictions: by id, else by the question's words.

    What belongs to no question is a finding, and so is a question without a prediction.
    """
    by_question = _by_question(gold)
    last: dict[str, AnswerRow] = {}
    unknown = surplus = 0
    for row, given in zip(predicted.rows, predicted.given, strict=True):
        id = _place(row, given, gold, by_question)
        if id is None:
            unknown += 1
            found.add(Finding("unknown_question", row.where, _stray(row, given, by_question)))
            continue
        if id in last:
            surplus += 1
            fact = f"{quoted(id)} is answered at {last[id].where} already; the last one counts"
            found.add(Finding("surplus_answer", row.where, fact))
        last[id] = row
    rows = list(_answered(gold, last, found))
    return Joined(rows=rows, missing=len(gold) - len(last), unknown=unknown, surplus=surplus)


def _by_question(gold: Mapping[str, AnswerRow]) -> dict[str, str | None]:
    """By its words the id of a question; None where two questions read alike."""
    known: dict[str, str | None] = {}
    for id, question in gold.items():
        words = same_question(question.question or "")
        known[words] = None if words in known else id
    return known


def _place(
    row: AnswerRow,
    given: str | int | None,
    gold: Mapping[str, AnswerRow],
    by_question: Mapping[str, str | None],
) -> str | None:
    if given is not None and str(given) in gold:
        return str(given)
    return by_question.get(same_question(row.question)) if row.question else None


def _stray(row: AnswerRow, given: str | int | None, by_question: Mapping[str, str | None]) -> str:
    """Why a prediction belongs to no question."""
    if row.question and same_question(row.question) in by_question:
        return f"{quoted(row.question)} stands twice in the gold; give the prediction its qid"
    name = str(given) if given is not None else row.question
    return f"gold has no question {quoted(name)}" if name else "has neither an id nor a question"


def _answered(
    gold: Mapping[str, AnswerRow], last: Mapping[str, AnswerRow], found: Findings
) -> Iterator[AnswerRow]:
    for id, question in gold.items():
        row = last.get(id)
        if row is None:
            fact = f"{quoted(id)} has no prediction: no number has it but coverage"
            found.add(Finding("missing_prediction", question.where, fact))
            yield question
            continue
        yield structs.replace(
            question,
            answer=row.answer,
            contexts=row.contexts if row.contexts is not None else question.contexts,
            cited=row.cited,
            claims=row.claims,
            kind=row.kind or question.kind,
            strata={**row.strata, **question.strata},
            where=row.where,
        )
