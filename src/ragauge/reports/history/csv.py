"""One row a run, oldest first, for a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.comparison import ChangePoint, HistoryPoint, HistoryReport
from ragauge.reports import spreadsheet

COLUMNS = (
    "run",
    "recorded_at",
    "metric",
    "value",
    "low",
    "high",
    "n",
    "passed",
    "commit",
    "dirty",
    "labels",
    "gold_sha256",
    "version",
    "change_point",
    "level_before",
    "level_after",
    "p",
    "reason",
    "gates",
)


def render(report: HistoryReport) -> str:
    """The points with a header line; lines end with CR LF. The newest run has the gates."""
    changes = {one.at: one for one in report.change_points}
    newest = len(report.points) - 1
    gates = tuple(f"{gate.rule}: {gate.verdict}" for gate in report.gates)
    rows = (
        (*_row(report.metric, point, changes.get(at)), gates if at == newest else ())
        for at, point in enumerate(report.points)
    )
    return spreadsheet.written(COLUMNS, rows)


def _row(metric: str, point: HistoryPoint, change: ChangePoint | None) -> Iterator[object]:
    yield from (point.run, point.recorded_at, metric, point.value)
    yield from point.ci or (None, None)
    yield from (point.n, point.passed, point.commit, point.dirty)
    yield tuple(f"{name}={value}" for name, value in sorted(point.labels.items()))
    yield from (point.gold_sha256, point.version, change is not None)
    yield from (change.before, change.after, change.p) if change else (None, None, None)
    yield point.reason
