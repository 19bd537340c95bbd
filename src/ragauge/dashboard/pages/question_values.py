"""Every metric of a run for one unit: its value, its counts, what it means; absent, why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from ragauge.contracts.evaluation import AnswerDetail, EvalReport
from ragauge.contracts.facts import Facts
from ragauge.contracts.history import Run, UnitRow
from ragauge.contracts.metric import Absent, Metric
from ragauge.contracts.stability import StabilityReport
from ragauge.dashboard.pages.question_errors import of_its_task
from ragauge.metrics.table import table

SHOWN_APART = frozenset(
    ("claim", "cited", "error", "explained_by", "failed", "cells", "triage", "question", "broken")
)
"""Details that have a place of their own on the page."""
UNKNOWN = "it does not apply to this one"
NOT_KEPT = "not kept in the summary"


class UnitValue(Struct, frozen=True, kw_only=True):
    """A metric of the unit."""

    id: str
    value: float | None
    counts: str
    meaning: str
    reason: str
    better: str


def values_of(
    run: Run, row: UnitRow, report: Any, unit: str, facts: Facts | None
) -> list[UnitValue]:
    """The metrics of the run in the order of their ids, those that do not apply with the reason."""
    known, told = table(), _reasons(report, unit)
    otherwise = UNKNOWN if told is not None else NOT_KEPT
    return [
        _value(id, row, known.get(id), told or {}, facts, run.record.metrics[id].better, otherwise)
        for id in _of_its_families(run, row)
    ]


def _of_its_families(run: Run, row: UnitRow) -> list[str]:
    """The metrics that could apply: where several tasks share a run, those of the unit's own."""
    families = {family_of(id) for id in row.values}
    every = sorted(run.record.metrics)
    return [id for id in every if family_of(id) in families] or every


def family_of(id: str) -> str:
    return id.partition(".")[0]


def details_of(row: UnitRow) -> list[tuple[str, str]]:
    """What else the row says, in words."""
    told = ((name, _words(value)) for name, value in sorted(row.detail.items()))
    return [(name, words) for name, words in told if words and name not in SHOWN_APART]


def _words(value: Any) -> str:
    if value is None or value == "":
        return ""
    if isinstance(value, list | tuple):
        return ", ".join(filter(None, map(_words, value)))
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _value(
    id: str,
    row: UnitRow,
    metric: Metric | None,
    told: Mapping[str, str],
    facts: Facts | None,
    better: str,
    otherwise: str,
) -> UnitValue:
    value, reason = row.values.get(id), told.get(id) or told.get(id.partition(".")[2], "")
    if not reason and metric is not None and facts is not None:
        reason = _measured_reason(metric, facts)
    return UnitValue(
        id=id,
        value=value,
        counts=_counts(metric, row.counts.get(id, ())),
        meaning=metric.summary if metric else "",
        reason=reason or (otherwise if value is None else ""),
        better=better,
    )


def _measured_reason(metric: Metric, facts: Facts) -> str:
    """What the metric says of the answer, for one that reads an answer's facts."""
    if metric.reads != "facts" or not _is_own(metric):
        return ""
    found = metric(facts)
    return found.reason if isinstance(found, Absent) else found.reason or ""


def _is_own(metric: Metric) -> bool:
    """Whether it comes with Ragauge: a package's own is not called to make a page."""
    return metric.measure.__module__.startswith("ragauge.")


def _reasons(report: Any, unit: str) -> dict[str, str] | None:
    """Why numbers are absent; None where the report tells of others and the unit was cut."""
    report, unit = of_its_task(report, unit)
    if isinstance(report, StabilityReport):
        one = report.details.get(unit)
        return dict(one.reasons) if one else None
    if isinstance(report, EvalReport) and isinstance(report.detail, AnswerDetail):
        return next((dict(one.reasons) for one in report.detail.answers if one.id == unit), None)
    return {}


def _counts(metric: Metric | None, counts: tuple[int, ...]) -> str:
    """The counts of a share, such as `17 of 18`; of scaled values nothing."""
    if metric is None or not metric.rate or len(counts) != 2:
        return ""
    return f"{counts[0]:,} of {counts[1]:,}"
