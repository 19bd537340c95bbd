"""Sparklines: a metric over the runs that led to one, small enough for a cell."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct

from ragauge.contracts.paging import MetricLine, Point
from ragauge.reports import numbers
from ragauge.reports.kinds.runs import TREND_RUNS

WIDTH, HEIGHT = 96, 20
ROOM = 3
"""Free on every side, so that a point at the edge is whole."""
OUTSIDE = ", outside the interval of the run before"
"""Said without a colour: only a paired test tells better from worse."""
LONGEST = 20
"""Runs of a sparkline: the one it stands beside, and those before it."""


class Spark(Struct, frozen=True):
    """The shapes of a sparkline, and what they say."""

    line: str
    band: str
    """Around the line, the intervals; empty where there are none."""
    last: tuple[str, str]
    words: str


def sparks(lines: Sequence[MetricLine], runs: Collection[str]) -> dict[tuple[str, str], Spark]:
    """A sparkline for each of these runs and each metric, where enough runs led to it.

    It begins where the gold set or the metric's version last changed: what was measured before
    does not compare.
    """
    made = {}
    for line in lines:
        begins = 0
        for place, point in enumerate(line.points):
            if not _compare(line.points[begins], point):
                begins = place
            if point.run not in runs or point.value is None:
                continue
            led = line.points[max(begins, place + 1 - LONGEST) : place + 1]
            if sum(one.value is not None for one in led) >= TREND_RUNS:
                made[point.run, line.metric] = spark(led)
    return made


def spark(points: Sequence[Point]) -> Spark:
    """The points, oldest first, of which the last has a value."""
    told = [point for point in points if point.value is not None]
    scale = _Scale(points)
    return Spark(
        line=scale.line(),
        band=scale.band(),
        last=scale.place(len(points) - 1, told[-1].value or 0.0),
        words=_words(told) + (OUTSIDE if _is_outside(points) else ""),
    )


class _Scale:
    """Where points stand: evenly from left to right, the lowest end of an interval lowest."""

    def __init__(self, points: Sequence[Point]) -> None:
        self._points = points
        ends = [end for point in points for end in (point.value, *_ends(point)) if end is not None]
        self._low, self._high = min(ends), max(ends)

    def place(self, at: int, value: float) -> tuple[str, str]:
        steps, spread = len(self._points) - 1, self._high - self._low
        x = ROOM + (WIDTH - 2 * ROOM) * (at / steps if steps else 1.0)
        risen = (value - self._low) / spread if spread else 0.5
        return f"{x:.1f}", f"{HEIGHT - ROOM - (HEIGHT - 2 * ROOM) * risen:.1f}"

    def line(self) -> str:
        """A path that is broken where a run has no value."""
        drawn, is_down = [], False
        for at, point in enumerate(self._points):
            if point.value is not None:
                x, y = self.place(at, point.value)
                drawn.append(f"{'L' if is_down else 'M'}{x} {y}")
            is_down = point.value is not None
        return "".join(drawn)

    def band(self) -> str:
        """The upper ends there and the lower ends back, over each stretch that has intervals."""
        return "".join(
            "M" + "L".join(" ".join(self.place(*end)) for end in stretch) + "Z"
            for stretch in self._stretches()
        )

    def _stretches(self) -> list[list[tuple[int, float]]]:
        found: list[list[tuple[int, Point]]] = [[]]
        for at, point in enumerate(self._points):
            if point.low is None or point.high is None:
                found.append([])
            else:
                found[-1].append((at, point))
        return [
            [(at, point.high or 0.0) for at, point in stretch]
            + [(at, point.low or 0.0) for at, point in reversed(stretch)]
            for stretch in found
            if len(stretch) > 1
        ]


def _ends(point: Point) -> tuple[float | None, float | None]:
    return point.low, point.high


def _compare(before: Point, after: Point) -> bool:
    return (before.gold_sha256, before.version) == (after.gold_sha256, after.version)


def _is_outside(points: Sequence[Point]) -> bool:
    before, last = points[-2], points[-1].value or 0.0
    if before.low is None or before.high is None:
        return False
    return not before.low <= last <= before.high


def _words(told: Sequence[Point]) -> str:
    values = [point.value for point in told if point.value is not None]
    first, low, high = (numbers.value(one) for one in (values[0], min(values), max(values)))
    return (
        f"over {len(told)} runs up to this one: first {first}, now {numbers.value(values[-1])}, "
        f"lowest {low}, highest {high}"
    )
