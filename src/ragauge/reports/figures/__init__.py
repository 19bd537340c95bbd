"""Pictures of reports: in characters for a terminal and Markdown, and drawn otherwise for pages.

Plots in characters share their scale and their frame.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.reports import phrasing


def place(value: float, ends: Sequence[float], room: int) -> int:
    """Where a value is between the smallest and the largest; in the middle if they are equal.

    >>> [place(value, (10, 20), 11) for value in (10, 12, 20)], place(3, (3, 3), 11)
    ([0, 2, 10], 5)
    """
    low, high = min(ends), max(ends)
    return round((value - low) / (high - low) * (room - 1)) if high > low else room // 2


def margin(ends: Sequence[float]) -> int:
    """The columns to the left of a frame, for the labels of its ends."""
    return max((len(phrasing.value(end)) for end in ends), default=5) + 2


def frame(grid: Sequence[Sequence[str]], ends: Sequence[float], below: Sequence[str]) -> list[str]:
    """Rows of characters with an axis on the left, one below, and lines below that."""
    left = margin(ends)
    ticks = {0: phrasing.value(max(ends)), len(grid) - 1: phrasing.value(min(ends))}
    rows = [f"{ticks.get(at, ''):>{left - 2}} ┤{''.join(row)}" for at, row in enumerate(grid)]
    rows.append(" " * (left - 1) + "└" + "─" * len(grid[0]))
    return [line.rstrip() for line in (*rows, *(" " * left + line for line in below))]
