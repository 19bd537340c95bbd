"""Summaries: a report with its long lists cut, for who wants its first page and not its megabytes.

A summary is the same record. Its metrics, gates, totals, counts and coverage are the whole
report's; of questions, answers, queries and errors it has the worst. A reader knows that it is cut
by the seals of the run: where nothing is, both files have the same. How many there are in all
stands in the report's own counts, never in the length of a list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, TypeVar

from msgspec import structs

from ragauge.contracts.audit import OK, AuditReport
from ragauge.contracts.evaluation import (
    AnswerDetail,
    EntityDetail,
    EvalAllReport,
    EvalReport,
    LabelDetail,
    LinkDetail,
    RankingDetail,
)
from ragauge.contracts.history import canonical
from ragauge.contracts.report import Report
from ragauge.contracts.score import ScoreReport
from ragauge.contracts.stability import StabilityReport
from ragauge.contracts.trace_eval import TraceEvalReport
from ragauge.metrics.quality import GOOD_LABELS
from ragauge.metrics.worst_first import (
    by_kind,
    changed_labels,
    ranked_queries,
    some_of_each,
    traced_questions,
    worst_of_each,
    wrong_answers,
    wrong_questions,
)

Kind = TypeVar("Kind", bound=Report)
Member = TypeVar("Member")
Fields = dict[str, Any]

SUMMARY_ROWS = 200
"""Rows of a list that a summary has."""
SUMMARY_BYTES = 1 << 20
"""What it may grow to: where rows are long, there are fewer of them."""
FEWEST = 5


def summary(report: Kind) -> Kind:
    """The report with its long lists cut to the worst; one of a kind without lists as it is."""
    shortened = _SHORTENED.get(type(report))
    if shortened is None:
        return report
    rows = SUMMARY_ROWS
    made = structs.replace(report, **shortened(report, rows))
    while len(canonical(made)) > SUMMARY_BYTES and rows > FEWEST:
        rows //= 2
        made = structs.replace(report, **shortened(report, rows))
    return made


def _cut(members: tuple[Member, ...], ranked: Sequence[Member], rows: int) -> tuple[Member, ...]:
    """The first of the ranked members; all as they stand, where there is room for them."""
    return members if len(members) <= rows else tuple(ranked[:rows])


def _score(report: ScoreReport, rows: int) -> Fields:
    right = [row for row in report.questions if row.label in GOOD_LABELS]
    compared = report.baseline
    if compared:
        changed = _cut(compared.changed, changed_labels(compared), rows)
        compared = structs.replace(compared, changed=changed)
    questions = _cut(report.questions, [*wrong_questions(report, rows), *right], rows)
    return {"questions": questions, "baseline": compared}


def _stability(report: StabilityReport, rows: int) -> Fields:
    kept = _cut(tuple(report.details), worst_of_each(report, rows), rows)
    return {
        "over_questions": report.counted(),
        "details": {qid: report.details[qid] for qid in kept},
        "cells": {qid: report.cells[qid] for qid in kept},
    }


def _audit(report: AuditReport, rows: int) -> Fields:
    right = [row for row in report.answers if row.code == OK]
    return {"answers": _cut(report.answers, [*wrong_answers(report, rows), *right], rows)}


def _trace_eval(report: TraceEvalReport, rows: int) -> Fields:
    questions = _cut(report.questions, traced_questions(report), rows)
    return {"questions": questions, "over_questions": report.counted()}


def _evaluation(report: EvalReport, rows: int) -> Fields:
    detail = report.detail
    match detail:
        case EntityDetail() | LinkDetail():
            kinds: Any = by_kind(detail.errors, attrgetter("kind")).values()
            errors = _cut(detail.errors, some_of_each(kinds, rows), rows)
            detail = structs.replace(detail, errors=errors)
        case LabelDetail():
            detail = structs.replace(detail, confusions=detail.confusions[:rows])
        case RankingDetail():
            queries = _cut(detail.queries, ranked_queries(report, detail), rows)
            detail = structs.replace(detail, queries=queries)
        case AnswerDetail():
            # Wrong answers, those of which nobody can say, right ones; each by id.
            order: tuple[bool | None, ...] = (False, None, True)
            ranked = sorted(detail.answers, key=lambda one: order.index(one.right))
            answers = _cut(detail.answers, ranked, rows)
            detail = structs.replace(detail, answers=answers, worst=detail.worst[:rows])
    return {"detail": detail}


def _all_tasks(report: EvalAllReport, rows: int) -> Fields:
    tasks = report.tasks.items()
    return {"tasks": {task: structs.replace(one, **_evaluation(one, rows)) for task, one in tasks}}


_SHORTENED: dict[type, Callable[[Any, int], Fields]] = {
    ScoreReport: _score,
    StabilityReport: _stability,
    AuditReport: _audit,
    TraceEvalReport: _trace_eval,
    EvalReport: _evaluation,
    EvalAllReport: _all_tasks,
}
"""By kind of report, the fields that a summary has in another form."""
