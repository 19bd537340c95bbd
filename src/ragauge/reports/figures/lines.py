"""A metric over runs as lines: values, their intervals, and where the level changed."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ragauge.contracts.comparison import HistoryPoint
from ragauge.contracts.history import ID_SHOWN
from ragauge.reports import numbers, templating
from ragauge.reports.document import Links
from ragauge.reports.figures import framed, margin, place
from ragauge.text.visible import shown

if TYPE_CHECKING:
    from markupsafe import Markup

ROWS, WIDEST_STEP = 11, 4
VALUE, INTERVAL, CUT, CHANGE, NOTHING = "●", "│", "┊", "▲", "·"
WIDTH, HEIGHT = 880, 240
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 22, 26
TICKS = 6
"""At most so many steps between the lowest and the highest."""
CHARACTER = 6.6
"""The width of one, about, in the labels of marks."""
LONGEST_LABEL = 80


class Lines(Struct, frozen=True, kw_only=True):
    """Points over time, and the lines that join them."""

    title: str
    words: str
    """What the picture says to who cannot see it."""
    points: Sequence[HistoryPoint]
    """All of them, the oldest first."""
    lines: Mapping[str, Collection[str]]
    """The runs of each line by its name."""
    changes: Mapping[int, str]
    """The places of points where a level changes, each with a word."""
    cuts: Collection[int]
    """The places of points from which on something else is measured."""

    @property
    def ends(self) -> list[float]:
        """What the scale has to have room for: values and the ends of their intervals."""
        known = (point for point in self.points if point.value is not None)
        ends = (end for point in known for end in (point.value, *(point.ci or ())))
        return [end for end in ends if end is not None]

    def text(self, width: int) -> list[str]:
        """Rows with a column for each run; a cut is before its run, a change below it."""
        ends, room = self.ends, width - margin(self.ends) - 1
        hidden = max(0, len(self.points) - room)
        points = self.points[hidden:]
        step = max(1, min(WIDEST_STEP, room // len(points)))
        grid = [[" "] * step * len(points) for _ in range(ROWS)]
        marks = [" "] * step * len(points)
        for at, point in enumerate(points):
            column = at * step + step // 2
            if at + hidden in self.cuts:
                for row in grid if step > 1 else [marks]:
                    row[at * step] = CUT
            if at + hidden in self.changes:
                marks[column] = CHANGE
            if point.value is None:
                grid[-1][column] = NOTHING
                continue
            low, high = point.ci or (point.value, point.value)
            top, middle, bottom = (
                ROWS - 1 - place(it, ends, ROWS) for it in (high, point.value, low)
            )
            for row in grid[top : bottom + 1]:
                row[column] = INTERVAL
            grid[middle][column] = VALUE
        first, last = (point.recorded_at[:10] for point in (points[0], points[-1]))
        gap = step * len(points) - len(first) - len(last)
        dates = f"{first}{' ' * gap}{last}" if gap > 0 else f"{first} to {last}"
        marked = "".join(marks).rstrip()
        key = f"{VALUE} value, {INTERVAL} interval"
        key += f", {CHANGE} change point" if self.changes else ""
        key += f", {CUT} line cut" if self.cuts else ""
        older = [f"{numbers.counted(hidden, 'older run')} not drawn"] if hidden else []
        return [*framed(grid, ends, [marked, dates] if marked else [dates]), key, *older]

    def svg(self, links: Links) -> Markup:
        """The picture, with its numbers for the script that draws it again."""
        from markupsafe import Markup

        seconds = [datetime.fromisoformat(point.recorded_at).timestamp() for point in self.points]
        low, high, span = min(self.ends), max(self.ends), seconds[-1] - seconds[0]

        def x(at: int) -> float:
            risen = (seconds[at] - seconds[0]) / span if span else 0.5
            return LEFT + (WIDTH - LEFT - RIGHT) * risen

        def y(value: float) -> float:
            risen = (value - low) / (high - low) if high > low else 0.5
            return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * risen

        drawn = []
        for name, runs in self.lines.items():
            path, intervals, dots, is_down = "", "", [], False
            for at, point in enumerate(self.points):
                is_down = is_down and at not in self.cuts
                if point.run not in runs:  # the line goes on to its next point
                    continue
                if point.value is None:
                    is_down = False
                    continue
                path += f"{'L' if is_down else 'M'}{x(at):.1f} {y(point.value):.1f}"
                is_down = True
                if point.ci:
                    intervals += f"M{x(at):.1f} {y(point.ci[0]):.1f}V{y(point.ci[1]):.1f}"
                words = f"{numbers.value(point.value)} {numbers.interval(point.ci)}".rstrip()
                dots.append((x(at), y(point.value), f"{_when(point)}: {words}"))
            drawn.append((name, path, intervals, dots))
        marks = {**self.changes, **dict.fromkeys(self.cuts, "not comparable before")}
        made = templating.own().get_template("lines.html")
        ticks = [(y(float(tick)), f"{tick:f}") for tick in round_ticks(low, high)]
        return Markup(  # escaped as made
            made.render(
                words=self.words,
                chart=self._numbers(seconds, marks, links),
                lines=drawn,
                ticks=ticks if high > low else [(y(low), numbers.value(low))],
                times=[_when(self.points[at]) for at in (0, -1)][: 2 if span else 1],
                marks=[
                    (x(at), label, x(at) + len(label) * CHARACTER > WIDTH)
                    for at, label in sorted(marks.items())
                ],
            )
        )

    def _numbers(
        self, seconds: Sequence[float], marks: Mapping[int, str], links: Links
    ) -> dict[str, Any]:
        """What charts.js draws."""

        def label(point: HistoryPoint) -> str:
            labels = (f"{key}={value}" for key, value in sorted(point.labels.items()))
            return shown(" ".join((point.run[:ID_SHOWN], *labels)), LONGEST_LABEL)

        def series(name: str, runs: Collection[str]) -> dict[str, Any]:
            own = [point if point.run in runs else None for point in self.points]
            ends = [point.ci if point and point.ci else (None, None) for point in own]
            return {
                "name": shown(name, LONGEST_LABEL),
                "values": [point.value if point else None for point in own],
                "low": [end[0] for end in ends],
                "high": [end[1] for end in ends],
            }

        return {
            "title": shown(self.title),
            "x": seconds,
            "x_is_time": True,
            "series": [series(name, runs) for name, runs in self.lines.items()],
            "marks": [{"x": seconds[at], "label": words} for at, words in sorted(marks.items())],
            "gaps": sorted(self.cuts),
            "links": [links.to(("run", point.run)) for point in self.points],
            "labels": [label(point) for point in self.points],
            "joined": len(self.lines) > 1,
        }


def _when(point: HistoryPoint) -> str:
    return point.recorded_at[:16].replace("T", " ")


def round_ticks(low: float, high: float) -> Iterator[Decimal]:
    """The multiples of 1, 2 or 5 times a power of ten from the one to the other, one at least.

    >>> [f"{tick:f}" for tick in round_ticks(0.455, 1.0)]
    ['0.5', '0.6', '0.7', '0.8', '0.9', '1.0']
    >>> [f"{tick:f}" for tick in round_ticks(37.2, 118.0)], [*round_ticks(1, 1)]
    (['40', '60', '80', '100'], [])
    """
    lowest, highest = Decimal(str(low)), Decimal(str(high))
    if lowest == highest:
        return
    least = (highest - lowest) / TICKS
    power = Decimal(1).scaleb(least.adjusted())
    step = next(power * times for times in (1, 2, 5, 10) if power * times >= least).normalize()
    first, last = math.ceil(lowest / step), math.floor(highest / step)
    yield from (step * times for times in range(first, last + 1))
