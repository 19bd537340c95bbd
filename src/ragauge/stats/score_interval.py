"""Tango's score interval of the difference of two shares over the same pairs."""

from __future__ import annotations

import math
from collections.abc import Callable

from ragauge.stats.intervals import Interval, z_of

_HALVINGS = 50


def score_interval(rose: int, fell: int, n: int, confidence: float) -> Interval:
    """The differences of shares that a score test does not reject (Tango 1998)."""
    change, z = (rose - fell) / n, z_of(confidence)
    low = _crossing(lambda at: _score(rose, fell, n, at) > z, -1.0, change)
    high = _crossing(lambda at: _score(rose, fell, n, at) >= -z, change, 1.0)
    return low, high


def _score(rose: int, fell: int, n: int, change: float) -> float:
    """How many standard errors the pairs lie above a change, were it the true one.

    The share that falls is then the likeliest under that change: the root of a square equation.
    """
    b = (2 * n - rose + fell) * change - rose - fell
    c = -fell * change * (1 - change)
    falls = (math.sqrt(max(0.0, b * b - 8 * n * c)) - b) / (4 * n)
    variance = n * (2 * falls + change * (1 - change))
    away = rose - fell - n * change
    return away / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, away)


def _crossing(before: Callable[[float], bool], low: float, high: float) -> float:
    """The place in a range up to which something holds."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if before(middle) else (low, middle)
    return (low + high) / 2
