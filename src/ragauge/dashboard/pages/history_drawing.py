"""A line over runs as shapes for an SVG, for who reads the page without scripts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal

from msgspec import Struct

from ragauge.contracts.comparison import HistoryPoint, HistoryReport
from ragauge.dashboard.pages.history_chart import Series, marks, seconds
from ragauge.reports import numbers
from ragauge.reports.kinds import history as story

WIDTH, HEIGHT = 880, 240
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 22, 26
TICKS = 6
"""At most so many steps between the lowest and the highest."""
CHARACTER = 6.6
"""The width of one, about, in the labels of marks."""


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
