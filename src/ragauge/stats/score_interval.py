"""Tango's score interval of the difference of two shares over the same pairs, and its like.

The spread is that of the change that is tested, not that of the pairs seen: so the interval does
not shrink to a point where few or none differ, and keeps its level on either side.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ragauge.stats.intervals import Interval, z_of

_HALVINGS = 50


def score_interval(rose: float, fell: float, n: float, confidence: float) -> Interval:
    """The differences of shares that a score test does not reject (Tango 1998)."""
    change, z = (rose - fell) / n, z_of(confidence)
    low = _crossing(lambda at: _score(rose, fell, n, at) > z, -1.0, change)
    high = _crossing(lambda at: _score(rose, fell, n, at) >= -z, change, 1.0)
    return low, high


def interval_of_change(
    change: float, variance: float, n: float, reach: float, confidence: float
) -> Interval:
    """The score interval of n pairs with as many flips as have this change and this variance.

    For any metric whose units lie no further apart than `reach`: of all that have this change a
    unit, flips from end to end vary most. For 0/1 pairs it is their own score interval.
    """
    moved = max(-1.0, min(1.0, change / reach)) * n
    flips = max(abs(moved), n * n * variance / reach**2 + moved * moved / n)
    flips = min(flips, n)
    low, high = score_interval((flips + moved) / 2, (flips - moved) / 2, n, confidence)
    return low * reach, high * reach


def _score(rose: float, fell: float, n: float, change: float) -> float:
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
