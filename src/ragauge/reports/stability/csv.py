"""One row a question, for a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.run import FACTORS
from ragauge.contracts.stability import QuestionStability, StabilityReport
from ragauge.metrics.stability import METRICS
from ragauge.reports import spreadsheet
from ragauge.reports.stability.heat import right_of
from ragauge.reports.stability.story import NUMBERS

COUNTS = ("verdict", "answerable", "planned", "runs", "errors", "missing", "saved")
ONE_TRIAL = frozenset({"scu_cons"})
"""Rates with a single trial a question, which give no interval."""
RATES = tuple(metric.name for metric in METRICS if metric.rate and metric.name not in ONE_TRIAL)
"""The numbers that may have an interval."""
COLUMNS = (
    "qid",
    *COUNTS,
    "right",
    *NUMBERS,
    *(f"{name}_{end}" for name in RATES for end in ("low", "high")),
    "failed",
    "explained_by",
    "explanation",
    *(f"{factor}_disagreement" for factor in FACTORS),
    "prompts",
    "noop",
    "cells",
    "question",
    "retrieval",
)


def render(report: StabilityReport) -> str:
    """The questions with a header line; lines end with CR LF."""
    rows = (_row(qid, one, report.cells[qid]) for qid, one in report.details.items())
    return spreadsheet.written(COLUMNS, rows)


def _row(qid: str, one: QuestionStability, cells: str) -> Iterator[object]:
    yield qid
    yield from (getattr(one, name) for name in COUNTS)
    yield right_of(cells)[0]
    yield from (getattr(one, name) for name in NUMBERS)
    for name in RATES:
        yield from one.ci.get(name, (None, None))
    yield "; ".join(one.failed)
    yield one.explained_by and one.explained_by.factor
    yield one.explained_by and one.explained_by.words
    for factor in FACTORS:
        effect = one.factors.get(factor)
        yield effect and effect.rate
    yield from (one.prompts, one.noop, cells, one.question, one.retrieval)
