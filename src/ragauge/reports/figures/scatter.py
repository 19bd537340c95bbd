"""A small plot of P95 and precision, in characters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from string import ascii_lowercase

from ragauge.contracts.latency import Cell, shown_ms
from ragauge.reports.figures import framed, margin, place

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
    across = [math.log(max(cell.p95_ms or 0.0, SHORTEST_MS)) for cell in cells]
    up = [cell.precision.value or 0.0 for cell in cells]
    columns = max(NARROWEST, min(WIDEST, width - margin(up) - 1))
    places = {
        cell.config: (place(x, across, columns), HEIGHT - 1 - place(y, up, HEIGHT))
        for cell, x, y in zip(cells, across, up, strict=True)
    }
    grid = [[" "] * columns for _ in range(HEIGHT)]
    # From each point of the front to the right, then up to the next.
    for (column, row), (next_column, next_row) in pairwise(places[config] for config in front):
        for at in range(column, next_column + 1):
            grid[row][at] = STEP
        for at in range(next_row, row + 1):
            grid[at][next_column] = STEP
    for config, mark in marks(cells, front).items():
        column, row = places[config]
        # Two points may fall on one place: the nearest one that is free.
        order = sorted(range(columns), key=lambda at: (abs(at - column), at))
        free = (at for at in order if grid[row][at] in (" ", STEP))
        grid[row][next(free, column)] = mark
    left, right = (shown_ms(math.exp(end)) for end in (min(across), max(across)))
    ends = left + " " * max(1, columns - len(left) - len(right)) + right
    return framed(grid, up, [ends if max(across) > min(across) else left.center(columns)])
