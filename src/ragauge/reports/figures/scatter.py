"""A small plot of P95 and precision, in characters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from string import ascii_lowercase

from ragauge.contracts.latency import Cell, shown_ms

HEIGHT = 9
NARROWEST = 20
WIDEST = 60
BEYOND = "*"
"""The mark of a configuration past the letters."""
STEP = "·"
SHORTEST_MS = 0.001


def marks(cells: Sequence[Cell], front: Sequence[str]) -> dict[str, str]:
    """A letter for each configuration: a capital where it is on the front."""
    letters = [*ascii_lowercase, *BEYOND * len(cells)]
    return {
        cell.config: mark.upper() if cell.config in front else mark
        for cell, mark in zip(cells, letters, strict=False)
    }


def drawn(cells: Sequence[Cell], front: Sequence[str], width: int) -> list[str]:
    """Lines with the P95 across and the precision upwards; the front's steps are dotted.

    The P95 is on a logarithmic scale: twice as slow is as far from one second as from ten.
    """
    placed = {c.config: (_log(c.p95_ms), c.precision.value or 0.0) for c in cells}
    across, up = zip(*placed.values(), strict=True)
    margin = len(_precision(0.0)) + 2
    columns = max(NARROWEST, min(WIDEST, width - margin - 1))
    places = {
        config: (_place(x, across, columns), HEIGHT - 1 - _place(y, up, HEIGHT))
        for config, (x, y) in placed.items()
    }
    grid = [[" "] * columns for _ in range(HEIGHT)]
    _draw_steps(grid, [places[config] for config in front])
    for config, mark in marks(cells, front).items():
        column, row = places[config]
        grid[row][_free(grid[row], column)] = mark
    ticks = {0: max(up), HEIGHT - 1: min(up)}
    lines = [_line(ticks.get(row), margin, "".join(line)) for row, line in enumerate(grid)]
    return [*lines, *_foot(math.exp(min(across)), math.exp(max(across)), margin, columns)]


def _log(latency_ms: float | None) -> float:
    return math.log(max(latency_ms or 0.0, SHORTEST_MS))


def _place(value: float, values: Sequence[float], room: int) -> int:
    """Where a value stands between the smallest and the largest; in the middle where all are one.

    >>> [_place(value, (10, 20), 11) for value in (10, 12, 20)], _place(3, (3, 3), 11)
    ([0, 2, 10], 5)
    """
    low, high = min(values), max(values)
    return round((value - low) / (high - low) * (room - 1)) if high > low else room // 2


def _draw_steps(grid: list[list[str]], front: Sequence[tuple[int, int]]) -> None:
    """From each point of the front to the right, then up to the next."""
    for (column, row), (next_column, next_row) in pairwise(front):
        for at in range(column, next_column + 1):
            grid[row][at] = STEP
        for at in range(next_row, row + 1):
            grid[at][next_column] = STEP


def _free(row: list[str], column: int) -> int:
    """The nearest place for a mark: two points may fall on one."""
    order = sorted(range(len(row)), key=lambda at: (abs(at - column), at))
    return next((at for at in order if row[at] in (" ", STEP)), column)


def _line(tick: float | None, margin: int, content: str) -> str:
    label = "" if tick is None else _precision(tick)
    return f"{label:>{margin - 2}} │{content}".rstrip()


def _foot(low: float, high: float, margin: int, columns: int) -> list[str]:
    left, right = shown_ms(low), shown_ms(high)
    gap = " " * max(1, columns - len(left) - len(right))
    axis = " " * (margin - 1) + "└" + "─" * columns
    ends = left + gap + right if high > low else left.center(columns).rstrip()
    return [axis, " " * margin + ends]


def _precision(value: float) -> str:
    return f"{value:.3f}"
