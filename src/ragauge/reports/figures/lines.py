"""A metric over runs as lines: values, their intervals, and where the level changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ragauge.contracts.comparison import HistoryPoint
from ragauge.contracts.history import ID_SHOWN
from ragauge.reports import phrasing, templating
from ragauge.reports.document import Links
from ragauge.reports.figures import frame, margin, place
from ragauge.text.visible import shown

if TYPE_CHECKING:
    from markupsafe import Markup

ROWS, WIDEST_STEP = 11, 4
VALUE, INTERVAL, CUT, CHANGE, NOTHING = "●", "│", "┊", "▲", "·"
PAGE = 100  # characters of a line on a page; more where there are more runs
LONGEST_LABEL = 80


class Lines(Struct, frozen=True, kw_only=True):
    """Points over time, and the lines that join them."""

    title: str
    words: str
    """The picture in words, for a screen reader."""
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
        """What has to fit the scale: values and the ends of their intervals."""
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
        older = [f"{phrasing.pluralize(hidden, 'older run')} not drawn"] if hidden else []
        return [*frame(grid, ends, [marked, dates] if marked else [dates]), key, *older]

    def html(self, links: Links) -> Markup:
        """The numbers for the script that draws them; without scripts the characters stay."""
        from markupsafe import Markup

        seconds = [datetime.fromisoformat(point.recorded_at).timestamp() for point in self.points]
        marks = {**self.changes, **dict.fromkeys(self.cuts, "not comparable before")}

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

        chart = {
            "title": shown(self.title),
            "x": seconds,
            "x_is_time": True,
            "series": [series(name, runs) for name, runs in self.lines.items()],
            "marks": [
                {"x": seconds[at], "label": label_text} for at, label_text in sorted(marks.items())
            ],
            "gaps": sorted(self.cuts),
            "links": [links.to(("run", point.run)) for point in self.points],
            "labels": [label(point) for point in self.points],
            "joined": len(self.lines) > 1,
        }
        drawn = "\n".join(self.text(PAGE + len(self.points)))
        template = templating.report_templates().get_template("lines.html")
        return Markup(
            template.render(chart=chart, words=self.words, drawn=drawn)
        )  # escaped as made
