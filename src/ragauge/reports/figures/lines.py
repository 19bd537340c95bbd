"""A line over runs, drawn in characters: values, their intervals, and where the level changed."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ragauge.contracts.comparison import HistoryPoint
from ragauge.reports.figures import HEIGHTS, framed, margin, place

HEIGHT = 11
WIDEST_STEP = 4
VALUE, INTERVAL, CUT, CHANGE = "●", "│", "┊", "▲"
NOTHING = "·"


def sparkline(values: Sequence[float | None]) -> str:
    """The values as blocks of eight heights, the lowest to the highest; a dot where there is none.

    >>> sparkline([0.1, None, 0.5, 0.9]), sparkline([0.5, 0.5])
    ('▁·▅█', '▅▅')
    """
    known = [value for value in values if value is not None]
    return "".join(
        NOTHING if value is None else HEIGHTS[place(value, known, len(HEIGHTS))] for value in values
    )


def fitting(points: Sequence[HistoryPoint], width: int) -> int:
    """How many of the last points a plot of this width has room for."""
    return min(len(points), width - margin(_ends(points)) - 1)


def drawn(
    points: Sequence[HistoryPoint], cuts: Collection[int], changes: Collection[int], width: int
) -> list[str]:
    """Lines with a column a run, oldest first; `cuts` and `changes` are places of points.

    A cut is before its run, where what is measured became another; a change is below it.
    """
    ends = _ends(points)
    if not ends:
        return []
    step = max(1, min(WIDEST_STEP, (width - margin(ends) - 1) // len(points)))
    columns = step * len(points)
    grid = [[" "] * columns for _ in range(HEIGHT)]
    marks = [" "] * columns
    for at, point in enumerate(points):
        column = at * step + step // 2
        if at in cuts:
            for line in grid if step > 1 else [marks]:
                line[at * step] = CUT
        if at in changes:
            marks[column] = CHANGE
        if point.value is None:
            grid[-1][column] = NOTHING
            continue
        ci = point.ci or (point.value, point.value)
        # Rows are counted from the top.
        low, middle, high = (
            HEIGHT - 1 - place(end, ends, HEIGHT) for end in (ci[0], point.value, ci[1])
        )
        for row in range(high, low + 1):
            grid[row][column] = INTERVAL
        grid[middle][column] = VALUE
    first, last = (point.recorded_at[:10] for point in (points[0], points[-1]))
    gap = columns - len(first) - len(last)
    dates = f"{first}{' ' * gap}{last}" if gap > 0 else f"{first} to {last}"
    marked = "".join(marks).rstrip()
    return framed(grid, ends, [marked, dates] if marked else [dates])


def _ends(points: Sequence[HistoryPoint]) -> list[float]:
    """What a scale has to have room for: values and the ends of their intervals."""
    known = (point for point in points if point.value is not None)
    return [end for point in known for end in (point.value, *(point.ci or ())) if end is not None]
