"""One row a cell, for a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.latency import Cell, LatencyReport
from ragauge.reports import spreadsheet

PLAIN = (
    "config",
    "rate",
    "planned",
    "sent",
    "answered",
    "errors",
    "complete",
    "p50_ms",
    "p90_ms",
    "p95_ms",
    "p99_ms",
    "tail_ratio",
    "achieved_rate",
    "kept_up",
    "growth",
    "open_at_end",
    "late_ms",
)
SCORES = ("precision", "under_refusal")
COLUMNS = (
    *PLAIN,
    *(f"{name}{part}" for name in SCORES for part in ("", "_low", "_high", "_n")),
    "on_front",
    "unsure",
    "error_kinds",
    "reason",
)


def render(report: LatencyReport) -> str:
    """The cells with a header line; lines end with CR LF."""
    fronts = {front.rate: front.configs for front in report.fronts}
    rows = (_row(cell, cell.config in fronts.get(cell.rate, ())) for cell in report.cells)
    return spreadsheet.written(COLUMNS, rows)


def _row(cell: Cell, on_front: bool) -> Iterator[object]:
    for name in PLAIN:
        yield getattr(cell, name)
    for score in (cell.precision, cell.under_refusal):
        yield score.value
        yield from score.ci or (None, None)
        yield score.n
    yield on_front
    yield tuple(cell.unsure)
    yield "; ".join(f"{kind} {times}" for kind, times in cell.error_kinds.items())
    yield cell.reason
