"""Precision over P95, in characters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from ragauge.contracts.latency import Cell, shown_ms
from ragauge.reports.figures import frame, margin, place

HEIGHT, NARROWEST, WIDEST = 9, 20, 60
STEP = "·"
SHORTEST_MS = 0.001


def draw_scatter(
    cells: Sequence[Cell], marks: Mapping[str, str], front: Sequence[str], width: int
) -> list[str]:
    """Lines with the P95 across and the precision upwards; the front's steps are dotted.

    `marks` has a letter for each configuration. The P95 is on a logarithmic scale: twice as slow is
    as far from one second as from ten.
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
    for config, (column, row) in places.items():
        # Two points may fall on one place: the nearest one that is free.
        order = sorted(range(columns), key=lambda at: (abs(at - column), at))
        free = (at for at in order if grid[row][at] in (" ", STEP))
        grid[row][next(free, column)] = marks[config]
    left, right = (shown_ms(math.exp(end)) for end in (min(across), max(across)))
    ends = left + right.rjust(columns - len(left))
    return frame(grid, up, [ends if max(across) > min(across) else left.center(columns)])
