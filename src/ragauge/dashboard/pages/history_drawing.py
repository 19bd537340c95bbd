"""A line over runs as shapes for an SVG, for who reads the page without scripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from ragauge.contracts.comparison import HistoryPoint, HistoryReport
from ragauge.dashboard.pages.history_chart import Series, marks, seconds
from ragauge.reports import numbers
from ragauge.reports.history import story

WIDTH, HEIGHT = 880, 240
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 22, 26
TICKS = 4
"""Steps between the lowest and the highest."""
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
        words="; ".join(
            (story.title(report), story.now_words(report), *story.movement_words(report))
        ),
    )


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
        span = self._high - self._low
        steps = range(TICKS + 1) if span else (0,)
        for value in (self._low + span * step / TICKS for step in steps):
            yield f"{self.y(value):.1f}", numbers.value(value)

    def times(self) -> Iterator[tuple[str, str, str]]:
        first, last = (story.when(self._points[at]) for at in (0, -1))
        if self._first == self._last:
            yield f"{self.x(self._first):.1f}", "middle", first
        else:
            yield f"{LEFT}", "start", first
            yield f"{WIDTH - RIGHT}", "end", last


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
