"""How the queries of an evaluation are spread over the values of their metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from ragauge.contracts.evaluation import EvalReport, RankingDetail
from ragauge.dashboard.page import Figures
from ragauge.dashboard.pages.opened_run import OpenedRun
from ragauge.reports.figures import histogram
from ragauge.reports.figures.histogram import Tenth, tenths_of
from ragauge.reports.formats.html import written
from ragauge.reports.kinds.evaluation_rankings import FAMILY, Ranking, ranking, tenths

if TYPE_CHECKING:
    from markupsafe import Markup

LOOK_AGAIN_S = 2


class Spread(Struct, frozen=True, kw_only=True):
    """A histogram; without tenths while they are counted."""

    ranked_by: str
    tenths: Sequence[Tenth] = ()
    refresh_s: int | None = None

    @property
    def figure(self) -> Markup:
        return written([histogram.figure(self.ranked_by, self.tenths)])

    def figures(self) -> Figures:
        rows = [(one.low, one.high, one.queries) for one in self.tenths]
        return Figures(("from", "to", "queries"), rows)


def spread(opened: OpenedRun, report: EvalReport, before: str) -> Spread | None:
    """The spread over all queries, also of those that the summary of the report has cut.

    None where the task has none. Of many queries it is counted in the background, once.
    """
    detail, by = report.detail, ranking(report)
    if not isinstance(detail, RankingDetail) or by is None:
        return None
    id = f"{FAMILY}{by.name}"
    score = report.metrics.get(id)
    if score is None or score.of <= len(detail.queries):
        return Spread(ranked_by=by.title, tenths=tenths(detail, by))
    key = ("spread", opened.run.id, before, id)
    found = opened.material.jobs.get(key, lambda: tenths_of(_values(opened, before, id)))
    return _counted(by, found)


def _counted(by: Ranking, found: list[Tenth] | None) -> Spread:
    if found is None:
        return Spread(ranked_by=by.title, refresh_s=LOOK_AGAIN_S)
    return Spread(ranked_by=by.title, tenths=found)


def _values(opened: OpenedRun, before: str, id: str) -> Iterator[float]:
    for row in opened.material.history.units(opened.run.id):
        if row.unit.startswith(before) and id in row.values:
            yield row.values[id]
