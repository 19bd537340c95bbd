"""Two samples of ΔS as bars in columns, one above the other, with the threshold below them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

WIDEST_TENTH, NARROWEST_TENTH = 5, 2
"""Columns to a tenth. Of a few dozen questions, finer ones would show mostly holes."""
TICK = 3
"""Characters of a tick's label, which stands below its first one."""
THRESHOLD = "▲"
_LEVELS = "▁▂▃▄▅▆▇█"


class _Axis(Struct, frozen=True):
    """Columns over whole tenths: `tenth` columns each, from `first` up to `last`."""

    first: int
    last: int
    tenth: int

    @property
    def columns(self) -> int:
        return (self.last - self.first) * self.tenth

    def column(self, value: float) -> int:
        at = math.floor(round((10 * value - self.first) * self.tenth, 6))
        return min(self.columns - 1, max(0, at))


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
    axis = _axis([value for sample in samples.values() for value in sample], width - margin)
    counts = {name: _counts(sample, axis) for name, sample in samples.items()}
    most = max(max(row) for row in counts.values())
    rows = [f"{name:<{margin}}{_bars(row, most)}".rstrip() for name, row in counts.items()]
    below = [_rule(axis), _ticks(axis)]
    if threshold is not None:
        below.append(_mark(axis, threshold, ends))
    return [*rows, *(" " * margin + line for line in below)]


def _axis(values: Sequence[float], room: int) -> _Axis:
    first = math.floor(round(10 * min(values), 6))
    last = max(first + 1, math.ceil(round(10 * max(values), 6)))
    tenth = (room - TICK) // (last - first)
    return _Axis(first, last, max(NARROWEST_TENTH, min(WIDEST_TENTH, tenth)))


def _counts(sample: Sequence[float], axis: _Axis) -> list[int]:
    counts = [0] * axis.columns
    for value in sample:
        counts[axis.column(value)] += 1
    return counts


def _bars(counts: Sequence[int], most: int) -> str:
    """The highest bar is whole; what is there at all shows."""
    return "".join(
        _LEVELS[max(0, math.ceil(8 * count / most) - 1)] if count else " " for count in counts
    )


def _rule(axis: _Axis) -> str:
    return ("┼" + "─" * (axis.tenth - 1)) * (axis.last - axis.first) + "┼"


def _ticks(axis: _Axis) -> str:
    """The labels; every other one where they would touch."""
    step = 1 if axis.tenth > TICK else 2
    shown = [
        f"{at / 10:.1f}" if (at - axis.first) % step == 0 else ""
        for at in range(axis.first, axis.last + 1)
    ]
    return "".join(label.ljust(axis.tenth) for label in shown).rstrip()


def _mark(axis: _Axis, threshold: float, ends: tuple[float, float] | None) -> str:
    line = [" "] * axis.columns
    at = axis.column(threshold)
    if ends is not None:
        low, high = axis.column(ends[0]), axis.column(ends[1])
        line[low : high + 1] = "─" * (high + 1 - low)
        line[low], line[high] = "├", "┤"
    line[at] = THRESHOLD
    return "".join(line).rstrip()
