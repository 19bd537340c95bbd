"""The lines that a label divides a history into, each with a movement of its own.

Slope, variation and levels of all lines together would tell how often each was run, and not how
any of them moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct, structs

from ragauge.contracts.comparison import ChangePoint, HistoryPoint, HistoryReport
from ragauge.dashboard.pages.history_chart import Series
from ragauge.reports import numbers
from ragauge.reports.kinds import history as story
from ragauge.stats.change_points import fewest, shifts, variation
from ragauge.stats.trend import Trend, trend

SEVERAL = "several values share this line"


class Level(Struct, frozen=True, kw_only=True):
    """A value of the label: what the metric was under it, and how it moved."""

    series: Series
    newest: HistoryPoint | None
    last: tuple[float, ...]
    """The values since the line was last cut, which compare with each other."""
    is_old: bool
    """Whether the whole history was cut once more after them: they do not compare with others'."""
    trend: Trend | None
    variation: float | None
    changes: tuple[ChangePoint, ...]
    longest: int
    """Runs with a value in the longest stretch that was measured in one way."""
    is_one: bool
    """Whether its runs share one value; of several, no movement is told."""

    @property
    def mean(self) -> float | None:
        return sum(self.last) / len(self.last) if self.last else None

    @property
    def low(self) -> float | None:
        return min(self.last, default=None)

    @property
    def high(self) -> float | None:
        return max(self.last, default=None)

    @property
    def runs(self) -> str:
        """How many the mean is of, and of how many where the line is cut."""
        valued = len(self.series.told)
        if len(self.last) == valued:
            return numbers.count(valued)
        return numbers.n_of(len(self.last), valued)

    @property
    def slope(self) -> str:
        if self.trend is None:
            return ""
        return f"{self.trend.slope:+.4f} ± {self.trend.error:.4f}"

    @property
    def told(self) -> str:
        """Whether the level changed, or why that is not told."""
        if not self.is_one:
            return SEVERAL
        if self.changes:
            return numbers.counted(len(self.changes), "change point")
        return "too few runs" if self.longest < fewest() else "no change of level"


def levels(report: HistoryReport, drawn: Sequence[Series], by: str) -> list[Level]:
    """Each line with its movement since it was last cut."""
    return [_level(report, one, by) for one in drawn]


def divided(report: HistoryReport, made: Sequence[Level]) -> HistoryReport:
    """The report with the change points of each line, and without a movement of all together."""
    changes = sorted((one for level in made for one in level.changes), key=lambda one: one.at)
    return structs.replace(
        report, change_points=tuple(changes), slope=None, slope_error=None, variation=None
    )


def changes_in_lines(report: HistoryReport, drawn: Sequence[Series]) -> list[str]:
    """By place, the change since the run before it on the same line and in the same stretch."""
    told = [""] * len(report.points)
    for one in drawn:
        for stretch in _stretches(report, one):
            for (_, before), (at, after) in pairwise(stretch):
                told[at] = numbers.signed(after - before)
    return told


def _level(report: HistoryReport, one: Series, by: str) -> Level:
    told = one.told
    stretches = _stretches(report, one)
    is_one = len({point.labels.get(by) for point in one.points if point}) <= 1
    last = [value for _, value in stretches[-1]]
    moved = last if is_one else []
    return Level(
        series=one,
        newest=told[-1] if told else None,
        last=tuple(last),
        is_old=_is_old(report, stretches[-1]),
        trend=trend([float(place) for place in range(len(moved))], moved),
        variation=variation(moved),
        changes=tuple(_changes(report, stretches)) if is_one else (),
        longest=max(map(len, stretches)),
        is_one=is_one,
    )


def _stretches(report: HistoryReport, one: Series) -> list[list[tuple[int, float]]]:
    """Places and values of the line, between the cuts of the whole history."""
    cuts = set(story.cuts(report))
    found: list[list[tuple[int, float]]] = [[]]
    for at, point in enumerate(one.points):
        if at in cuts:
            found.append([])
        if point is not None and point.value is not None:
            found[-1].append((at, point.value))
    return [stretch for stretch in found if stretch] or [[]]


def _is_old(report: HistoryReport, stretch: Sequence[tuple[int, float]]) -> bool:
    cuts = story.cuts(report)
    return bool(cuts and stretch) and stretch[-1][0] < cuts[-1]


def _changes(
    report: HistoryReport, stretches: Sequence[Sequence[tuple[int, float]]]
) -> list[ChangePoint]:
    return [
        ChangePoint(
            run=report.points[stretch[found.at][0]].run,
            at=stretch[found.at][0],
            before=found.before,
            after=found.after,
            p=found.p,
        )
        for stretch in stretches
        for found in shifts([value for _, value in stretch])
    ]
