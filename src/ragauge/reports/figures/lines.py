"""A line over runs, drawn in characters: values, their intervals, and where the level changed."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ragauge.contracts.comparison import HistoryPoint

HEIGHT = 11
WIDEST_STEP = 4
VALUE, INTERVAL, CUT, CHANGE = "●", "│", "┊", "▲"
_LEVELS = "▁▂▃▄▅▆▇█"
NOTHING = "·"


def sparkline(values: Sequence[float | None]) -> str:
    """The values as blocks of eight heights, the lowest to the highest; a dot where there is none.

    >>> sparkline([0.1, None, 0.5, 0.9]), sparkline([0.5, 0.5])
    ('▁·▅█', '▅▅')
    """
    known = [value for value in values if value is not None]
    return "".join(
        NOTHING if value is None else _LEVELS[_place(value, min(known), max(known), len(_LEVELS))]
        for value in values
    )


def fitting(points: Sequence[HistoryPoint], width: int) -> int:
    """How many of the last points a plot of this width has room for."""
    return min(len(points), width - _margin(points) - 1)


def drawn(
    points: Sequence[HistoryPoint], cuts: Collection[int], changes: Collection[int], width: int
) -> list[str]:
    """Lines with a column a run, oldest first; `cuts` and `changes` are places of points.

    A cut stands before its run, where what is measured became another; a change stands below it.
    """
    values = [point.value for point in points if point.value is not None]
    if not values:
        return []
    ends = [end for point in points if point.value is not None for end in point.ci or ()]
    low, high = min([*values, *ends]), max([*values, *ends])
    margin = _margin(points)
    step = max(1, min(WIDEST_STEP, (width - margin - 1) // len(points)))
    grid = [[" "] * (step * len(points)) for _ in range(HEIGHT)]
    for at, point in enumerate(points):
        column = at * step + step // 2
        if at in cuts and step > 1:
            _stroke(grid, at * step, 0, HEIGHT - 1, CUT)
        if point.value is None:
            grid[HEIGHT - 1][column] = NOTHING
            continue
        if point.ci is not None:
            bottom, top = (_row(end, low, high) for end in point.ci)
            _stroke(grid, column, top, bottom, INTERVAL)
        grid[_row(point.value, low, high)][column] = VALUE
    ticks = {0: high, HEIGHT - 1: low}
    lines = [_line(ticks.get(row), margin, cells) for row, cells in enumerate(grid)]
    return [*lines, *_foot(points, cuts, changes, step, margin)]


def _stroke(grid: list[list[str]], column: int, top: int, bottom: int, mark: str) -> None:
    for row in range(top, bottom + 1):
        grid[row][column] = mark


def _row(value: float, low: float, high: float) -> int:
    return HEIGHT - 1 - _place(value, low, high, HEIGHT)


def _place(value: float, low: float, high: float, room: int) -> int:
    """Where a value stands between the lowest and the highest; in the middle where all are one."""
    return round((value - low) / (high - low) * (room - 1)) if high > low else room // 2


def _line(tick: float | None, margin: int, cells: Sequence[str]) -> str:
    label = "" if tick is None else _tick(tick)
    return f"{label:>{margin - 2}} ┤{''.join(cells)}".rstrip()


def _foot(
    points: Sequence[HistoryPoint],
    cuts: Collection[int],
    changes: Collection[int],
    step: int,
    margin: int,
) -> list[str]:
    columns = step * len(points)
    axis = " " * (margin - 1) + "└" + "─" * columns
    marks = [" "] * columns
    for at in changes:
        marks[at * step + step // 2] = CHANGE
    if step == 1:
        for at in cuts:
            marks[at] = marks[at].strip() or CUT
    first, last = (point.recorded_at[:10] for point in (points[0], points[-1]))
    gap = columns - len(first) - len(last)
    ends = f"{first}{' ' * gap}{last}" if gap > 0 else f"{first} to {last}"
    marked = [" " * margin + "".join(marks).rstrip()] if "".join(marks).strip() else []
    return [axis, *marked, " " * margin + ends]


def _margin(points: Sequence[HistoryPoint]) -> int:
    ends = [
        end
        for point in points
        if point.value is not None
        for end in (point.value, *(point.ci or ()))
    ]
    return max((len(_tick(end)) for end in ends), default=5) + 2


def _tick(value: float) -> str:
    """
    >>> _tick(0.91489), _tick(1234.5)
    ('0.915', '1234.500')
    """
    return f"{value:.3f}"
