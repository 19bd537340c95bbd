"""One row a disagreement, for a spreadsheet."""

from __future__ import annotations

from ragauge.contracts.consistency import ConsistencyReport
from ragauge.reports import spreadsheet
from ragauge.reports.consistency.story import COLUMNS, cells


def render(report: ConsistencyReport) -> str:
    """The disagreements with a header line; lines end with CR LF."""
    return spreadsheet.written(COLUMNS, map(cells, report.disagreements))
