"""What a trace evaluation says of one question: how its runs ended, and whether they agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ragauge.contracts.audit import STATES
from ragauge.contracts.history import UnitRow
from ragauge.contracts.trace_eval import TracedQuestion, TracedRun, TraceEvalReport
from ragauge.reports.kinds.trace_eval import MEANINGS, OUTCOMES, outcome

LAMBDA = {"answer": "answers", "retrieval": "what is retrieved"}


class Outcome(Struct, frozen=True):
    """What an answer came to: the mark and the kind it is drawn as, and in words."""

    mark: str
    drawn: str
    words: str


class Agreement(Struct, frozen=True):
    """Whether the runs of a question agree, as λ calls it and in words."""

    about: str
    state: str
    means: str


def traced_outcomes(report: Any, unit: str) -> dict[str, Outcome]:
    """By run id, what each run of the question came to; empty where the report does not keep it."""
    if not isinstance(report, TraceEvalReport):
        return {}
    found = next((one for one in report.questions if one.qid == unit), None)
    return outcomes_of(found) if found else {}


def outcomes_of(question: TracedQuestion) -> dict[str, Outcome]:
    return {run.run_id: _outcome(run, question) for run in question.runs}


def _outcome(run: TracedRun, question: TracedQuestion) -> Outcome:
    name = outcome(run)
    mark, drawn, words = OUTCOMES[name]
    if name == "refusal":
        words += ", though the question has an answer" if question.answerable else ", as it should"
    if name == "code":
        words += f": {run.code}"
    return Outcome(mark, drawn, words)


def agreements_of(row: UnitRow) -> Sequence[Agreement]:
    """The states of λ that the unit is in."""
    return [
        Agreement(about, state, MEANINGS[state])
        for which, about in LAMBDA.items()
        for state in STATES
        if row.values.get(f"traceability.{which}_{state}") == 1
    ]
