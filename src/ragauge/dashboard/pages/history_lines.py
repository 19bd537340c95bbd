"""The line of a metric over runs: its series, how each moved, and its chart and drawing.

A label divides a history into lines, each with a movement of its own: slope, variation and levels
of all lines together would say how often each was run, and not how any of them moved.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any

from msgspec import Struct, structs

from ragauge.contracts.comparison import ChangePoint, HistoryPoint, HistoryReport
from ragauge.contracts.history import ID_SHOWN
from ragauge.dashboard.links import Links
from ragauge.reports import numbers
from ragauge.reports.foreign import shown
from ragauge.reports.kinds import history as story
from ragauge.reports.kinds.comparison import p_value
from ragauge.stats.change_points import fewest, shifts, variation
from ragauge.stats.trend import Trend, trend

MOST_SERIES = 6
"""As many as there are colours; the values of a label that were met last, and all others as one."""
LONGEST_LABEL = 80
CUT = "not comparable before"
WIDTH, HEIGHT = 880, 240
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 22, 26
TICKS = 6
"""At most so many steps between the lowest and the highest."""
CHARACTER = 6.6
"""The width of one, about, in the labels of marks."""
SEVERAL = "several values share this line"


class Series(Struct, frozen=True):
    """The points of one value of a label, or all of them; the others' places are empty."""

    name: str
    points: tuple[HistoryPoint | None, ...]

    @property
    def told(self) -> list[HistoryPoint]:
        """Those with a value."""
        return [point for point in self.points if point and point.value is not None]


def seconds(recorded_at: str) -> float:
    """
    >>> seconds("2026-11-15T21:45:44.500000Z")
    1794779144.5
    """
    return datetime.fromisoformat(recorded_at).timestamp()


def series(report: HistoryReport, by: str | None) -> list[Series]:
    """The points by the values of a label, in the order they were first met, or all of them."""
    if by is None:
        return [Series(report.metric, report.points)]
    named = [_value(point, by) for point in report.points]
    last_met = list(dict.fromkeys(reversed(named)))
    if len(last_met) > MOST_SERIES:
        kept = set(last_met[: MOST_SERIES - 1])
        others = f"{len(last_met) - len(kept)} others"
        named = [name if name in kept else others for name in named]
    return [
        Series(name, tuple(point if its == name else None for its, point in _pairs(named, report)))
        for name in dict.fromkeys(named)
    ]


def chart(report: HistoryReport, drawn: Sequence[Series], links: Links) -> dict[str, Any]:
    """What charts.js draws: values and intervals over time, change points and cuts as marks."""
    return {
        "title": shown(story.title(report)),
        "x": [seconds(point.recorded_at) for point in report.points],
        "x_is_time": True,
        "series": [_series(one) for one in drawn],
        "marks": marks(report),
        "gaps": story.cuts(report),
        "links": [links.run(point.run) for point in report.points],
        "labels": [_label(point) for point in report.points],
        "better": report.better,
        "joined": len(drawn) > 1,
    }


def marks(report: HistoryReport) -> list[dict[str, Any]]:
    """Where the level changes and where something else is measured, each with a word."""
    changed = {one.at: change_words(one.before, one.after) for one in report.change_points}
    cut = dict.fromkeys(story.cuts(report), CUT)
    return [
        {"x": seconds(report.points[at].recorded_at), "label": label}
        for at, label in sorted((changed | cut).items())
    ]


def change_words(before: float, after: float) -> str:
    return f"{numbers.value(before)} → {numbers.value(after)}"


def changes(report: HistoryReport, by: str | None) -> list[tuple[HistoryPoint, str, str]]:
    """Each change point's run, the change in a sentence, and whether it is `good` or `bad`."""
    found: list[tuple[HistoryPoint, str, str]] = []
    for one in report.change_points:
        change = one.after - one.before
        of = f" of {_value(report.points[one.at], by)}" if by else ""
        words = (
            f"the level{of} goes from {numbers.value(one.before)} to {numbers.value(one.after)} "
            f"({numbers.signed(change)}), p {p_value(one.p)}"
        )
        found.append((report.points[one.at], words, story.tone(report, change)))
    return found


def _pairs(named: Sequence[str], report: HistoryReport) -> Sequence[tuple[str, HistoryPoint]]:
    return list(zip(named, report.points, strict=True))


def _value(point: HistoryPoint, by: str) -> str:
    return point.labels.get(by, f"no {by}")


def _series(one: Series) -> dict[str, Any]:
    cis = [point.ci if point else None for point in one.points]
    return {
        "name": shown(one.name, LONGEST_LABEL),
        "values": [point.value if point else None for point in one.points],
        "low": [ci[0] if ci else None for ci in cis],
        "high": [ci[1] if ci else None for ci in cis],
    }


def _label(point: HistoryPoint) -> str:
    labels = " ".join(f"{key}={value}" for key, value in sorted(point.labels.items()))
    parts = (point.run[:ID_SHOWN], story.commit(point), labels)
    return shown(" ".join(part for part in parts if part), LONGEST_LABEL)


# How lines moved


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


def changes_in_lines(report: HistoryReport, drawn: Sequence[Series]) -> list[float | None]:
    """By place, the change since the run before it on the same line and in the same stretch."""
    told: list[float | None] = [None] * len(report.points)
    for one in drawn:
        for stretch in _stretches(report, one):
            for (_, before), (at, after) in pairwise(stretch):
                told[at] = after - before
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


# The drawing, for who reads the page without scripts


class Dot(Struct, frozen=True):
    x: str
    y: str
    title: str


class Drawn(Struct, frozen=True):
    """One series."""

    name: str
    line: str
    intervals: str
    dots: tuple[Dot, ...]


class Mark(Struct, frozen=True):
    x: str
    label: str
    anchor: str


class Drawing(Struct, frozen=True):
    """The picture of a line."""

    series: tuple[Drawn, ...]
    ticks: tuple[tuple[str, str], ...]
    """Where each stands from the top, and what it says."""
    times: tuple[tuple[str, str, str], ...]
    """The first and the last time: where, how it is anchored, what it says."""
    marks: tuple[Mark, ...]
    words: str


def draw(report: HistoryReport, drawn: Sequence[Series]) -> Drawing | None:
    """The picture; None where no run has a value."""
    if not any(one.told for one in drawn):
        return None
    plane = _Plane(report.points)
    cuts = set(story.cuts(report))
    return Drawing(
        series=tuple(_drawn(one, plane, cuts) for one in drawn),
        ticks=tuple(plane.ticks()),
        times=tuple(plane.times()),
        marks=tuple(_mark(plane, mark["x"], mark["label"]) for mark in marks(report)),
        words="; ".join(_words(report, drawn)),
    )


def _words(report: HistoryReport, drawn: Sequence[Series]) -> Iterator[str]:
    yield story.title(report)
    yield story.now_words(report)
    if len(drawn) == 1:
        yield from story.movement_words(report)
    else:
        yield f"in {len(drawn)} lines: {', '.join(one.name for one in drawn)}"


class _Plane:
    """Where a time and a value stand."""

    def __init__(self, points: Sequence[HistoryPoint]) -> None:
        told = [point for point in points if point.value is not None]
        ends = [end for point in told for end in (point.value or 0.0, *(point.ci or ()))]
        self._low, self._high = min(ends), max(ends)
        self._points = points
        self._first, self._last = (seconds(points[at].recorded_at) for at in (0, -1))

    def x(self, at: float) -> float:
        span = self._last - self._first
        return LEFT + (WIDTH - LEFT - RIGHT) * ((at - self._first) / span if span else 0.5)

    def y(self, value: float) -> float:
        span = self._high - self._low
        risen = (value - self._low) / span if span else 0.5
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * risen

    def ticks(self) -> Iterator[tuple[str, str]]:
        if self._low == self._high:
            yield f"{self.y(self._low):.1f}", numbers.value(self._low)
            return
        for tick in round_ticks(self._low, self._high):
            yield f"{self.y(float(tick)):.1f}", f"{tick:f}"

    def times(self) -> Iterator[tuple[str, str, str]]:
        first, last = (story.when(self._points[at]) for at in (0, -1))
        if self._first == self._last:
            yield f"{self.x(self._first):.1f}", "middle", first
        else:
            yield f"{LEFT}", "start", first
            yield f"{WIDTH - RIGHT}", "end", last


def round_ticks(low: float, high: float) -> Iterator[Decimal]:
    """The multiples of 1, 2 or 5 times a power of ten from the one to the other, one at least.

    >>> [f"{tick:f}" for tick in round_ticks(0.455, 1.0)]
    ['0.5', '0.6', '0.7', '0.8', '0.9', '1.0']
    >>> [f"{tick:f}" for tick in round_ticks(37.2, 118.0)]
    ['40', '60', '80', '100']
    """
    lowest, highest = Decimal(str(low)), Decimal(str(high))
    least = (highest - lowest) / TICKS
    power = Decimal(1).scaleb(least.adjusted())
    step = next(power * times for times in (1, 2, 5, 10) if power * times >= least).normalize()
    first, last = math.ceil(lowest / step), math.floor(highest / step)
    yield from (step * times for times in range(first, last + 1))


def _drawn(one: Series, plane: _Plane, cuts: set[int]) -> Drawn:
    line, intervals, dots = [], [], []
    is_down = False
    for at, point in enumerate(one.points):
        is_down = is_down and at not in cuts
        if point is None:  # another series': the line goes on to the next of its own
            continue
        if point.value is None:
            is_down = False
            continue
        x, y = plane.x(seconds(point.recorded_at)), plane.y(point.value)
        line.append(f"{'L' if is_down else 'M'}{x:.1f} {y:.1f}")
        is_down = True
        if point.ci:
            intervals.append(f"M{x:.1f} {plane.y(point.ci[0]):.1f}V{plane.y(point.ci[1]):.1f}")
        dots.append(Dot(f"{x:.1f}", f"{y:.1f}", _title(point)))
    return Drawn(one.name, "".join(line), "".join(intervals), tuple(dots))


def _title(point: HistoryPoint) -> str:
    told = f"{numbers.value(point.value)} {numbers.interval(point.ci)}".rstrip()
    return f"{story.when(point)}: {told}"


def _mark(plane: _Plane, at: float, label: str) -> Mark:
    x = plane.x(at)
    is_left = x + len(label) * CHARACTER > WIDTH
    return Mark(f"{x:.1f}", label, "end" if is_left else "start")
