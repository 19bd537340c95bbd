"""Two samples of ΔS as bars in columns, one above the other, with the threshold below them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from ragauge.reports.figures import HEIGHTS

WIDEST_TENTH, NARROWEST_TENTH = 5, 2
"""Columns to a tenth. Of a few dozen questions, finer ones would show mostly holes."""
TICK = 3
"""Characters of a tick's label, which begins below its tick."""
THRESHOLD = "▲"


def drawn(
    samples: dict[str, Sequence[float]],
    threshold: float | None,
    ends: tuple[float, float] | None,
    width: int,
) -> list[str]:
    """Lines no wider than the width: a row of bars a sample, the axis, and the threshold.

    All samples have one scale, so that a bar twice as high is twice as many questions.

    >>> for line in drawn({"low": [0.1, 0.1, 0.12], "high": [0.18]}, 0.15, None, 20):
    ...     print(line)
    low   █▄
    high      ▄
          ┼────┼
          0.1  0.2
            ▲
    """
    margin = max(map(len, samples)) + 2
    values = [value for sample in samples.values() for value in sample]
    first = math.floor(round(10 * min(values), 6))
    last = max(first + 1, math.ceil(round(10 * max(values), 6)))
    tenth = (width - margin - TICK) // (last - first)
    tenth = max(NARROWEST_TENTH, min(WIDEST_TENTH, tenth))
    columns = (last - first) * tenth

    def column(value: float) -> int:
        at = math.floor(round((10 * value - first) * tenth, 6))
        return min(columns - 1, max(0, at))

    counts = {name: Counter(map(column, sample)) for name, sample in samples.items()}
    most = max(times for row in counts.values() for times in row.values())
    lines = []
    for name, row in counts.items():
        # The highest bar is complete; what is there at all shows.
        bars = (
            HEIGHTS[math.ceil(8 * row[at] / most) - 1] if row[at] else " " for at in range(columns)
        )
        lines.append(f"{name:<{margin}}{''.join(bars)}")
    # Every other label where they would touch.
    named = range(first, last + 1, 1 if tenth > TICK else 2)
    ticks = (f"{at / 10:.1f}" if at in named else "" for at in range(first, last + 1))
    below = [
        "┼".ljust(tenth, "─") * (last - first) + "┼",
        "".join(one.ljust(tenth) for one in ticks),
    ]
    if threshold is not None:
        mark = [" "] * columns
        if ends is not None:
            low, high = map(column, ends)
            mark[low : high + 1] = "─" * (high + 1 - low)
            mark[low], mark[high] = "├", "┤"
        mark[column(threshold)] = THRESHOLD
        below.append("".join(mark))
    return [line.rstrip() for line in (*lines, *(" " * margin + line for line in below))]
