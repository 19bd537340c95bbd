"""One row a metric, over all questions and in each slice, for a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.comparison import Compared, ComparisonReport
from ragauge.reports import spreadsheet
from ragauge.reports.comparison import story

LAST = ("statistic", "significant")
FIELDS = tuple(name for name in Compared.__struct_fields__ if name not in LAST)
COLUMNS = (
    *("stratum", "value", "metric"),
    *(column for name in FIELDS for column in (("low", "high") if name == "ci" else (name,))),
    "note",
    *LAST,
    "alpha",
)
"""The fields of a comparison in their order, its interval as two columns, and what both p and the
interval are corrected for: in slices they are not corrected alike. Then what later versions added,
so that a column keeps its place."""


def render(report: ComparisonReport) -> str:
    """The comparisons with a header line; lines end with CR LF."""
    return spreadsheet.written(COLUMNS, [*metric_rows(report), *slice_rows(report)])


def metric_rows(report: ComparisonReport) -> list[list[object]]:
    """Each metric over all questions, under COLUMNS."""
    note = story.CORRECTIONS[report.correction]
    return [
        [None, None, id, *_cells(one), note, *_last(one, report)]
        for id, one in report.compared.items()
    ]


def slice_rows(report: ComparisonReport) -> list[list[object]]:
    """Each metric in each slice, under COLUMNS."""
    note = story.slices_words(report)
    return [
        [c.stratum, c.value, c.metric, *_cells(c.compared), note, *_last(c.compared, report)]
        for c in report.slices
    ]


def _last(one: Compared, report: ComparisonReport) -> Iterator[object]:
    yield from (getattr(one, name) for name in LAST)
    yield report.alpha


def _cells(one: Compared) -> Iterator[object]:
    for name in FIELDS:
        if name == "ci":
            yield from one.ci or (None, None)
        else:
            yield getattr(one, name)
