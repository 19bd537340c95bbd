"""How well a number tells two samples apart, and the threshold that does it best.

Each unit, such as a question, has one value that should be low and one that should be high. The
two belong together: it is units that are counted and drawn, never single values.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from ragauge.stats.bootstrap import BLOCK, DRAWS
from ragauge.stats.draws import below
from ragauge.stats.intervals import DEFAULT_CONFIDENCE, Interval, wilson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]

TRIALS_A_PAIR = 2
SAME_GAP = 12
"""Decimals in which two gaps are compared: 0.3 - 0.2 is as wide as 0.2 - 0.1."""


class Cut(Struct, frozen=True, kw_only=True):
    """A threshold and what it does: lows at or below it and highs above it, of so many pairs."""

    threshold: float
    low: int
    high: int
    pairs: int

    @property
    def sensitivity(self) -> float:
        return self.low / self.pairs

    @property
    def specificity(self) -> float:
        return self.high / self.pairs


class Range(Struct, frozen=True, kw_only=True):
    """How far a fitted threshold varies, and a reason for caution."""

    ci: Interval | None
    reason: str | None = None


def auc(low: Sequence[float], high: Sequence[float]) -> float | None:
    """The chance that a value of `low` is below one of `high`; a tie counts half (Mann-Whitney).

    None where a sample is empty. It is counted in whole numbers, whatever the order.

    >>> auc([0.1, 0.2, 0.5], [0.5, 0.9])
    0.9166666666666666
    """
    if not len(low) or not len(high):
        return None
    first, second = _numbers(low), _numbers(high)
    return int(_below(first, second).sum()) / (2 * len(first) * len(second))


def auc_interval(
    low: Sequence[float], high: Sequence[float], confidence: float = DEFAULT_CONFIDENCE
) -> Interval | None:
    """The interval of the AUC of pairs, one a unit; None where there are fewer than two.

    Wilson's, for as many trials as would vary like the AUC does between units (DeLong's variance
    with Obuchowski's clusters, 1997). Near 1 the spread that is seen says too little, and draws
    collapse to a point; so a pair is worth two trials at most, which is what the variance of
    Hanley and McNeil (1982) tends to there.

    >>> lowest, highest = auc_interval([0.1] * 20, [0.9] * 20)
    >>> round(lowest, 3), highest
    (0.912, 1.0)
    """
    first, second = _pairs(low, high)
    n = len(first)
    if n < 2:
        return None
    lows = _below(first, second)
    total = int(lows.sum())
    away = (lows + _below(-second, -first)) * n - 2 * total
    variance = math.fsum((away / (2 * n * n)) ** 2) / (n * (n - 1))
    value = total / (2 * n * n)
    worth = value * (1 - value) / variance if variance else math.inf
    return wilson(value, min(worth, TRIALS_A_PAIR * n), confidence)


def cut_at(threshold: float, low: Sequence[float], high: Sequence[float]) -> Cut:
    """What a threshold does to the pairs.

    >>> cut_at(0.5, [0.1, 0.5, 0.6], [0.5, 0.7, 0.9])
    Cut(threshold=0.5, low=2, high=2, pairs=3)
    """
    first, second = _pairs(low, high)
    return Cut(
        threshold=threshold,
        low=int((first <= threshold).sum()),
        high=int((second > threshold).sum()),
        pairs=len(first),
    )


def best_threshold(low: Sequence[float], high: Sequence[float]) -> float | None:
    """The threshold with the most lows at or below it and highs above it (Youden, 1950).

    Half way between two neighbouring values; of equally good ones that in the widest gap, then
    the lowest. None where none does better than chance.

    >>> best_threshold([0.1, 0.2], [0.4, 0.9]), best_threshold([0.9], [0.1])
    (0.30000000000000004, None)
    """
    first, second = _pairs(low, high)
    values, at = np.unique(np.concatenate([first, second]), return_inverse=True)
    return _best(values, at[: len(first)], at[len(first) :])


def threshold_range(
    low: Sequence[float],
    high: Sequence[float],
    confidence: float = DEFAULT_CONFIDENCE,
    *,
    seed: int = 0,
    draws: int = DRAWS,
) -> Range:
    """Where the best threshold lies in so many percent of samples of units, drawn by seed.

    It shows how far the threshold wanders; its level is a rough one, as a best place in a sample
    jumps from value to value.
    """
    first, second = _pairs(low, high)
    if len(first) < 2:
        return Range(ci=None, reason="one pair has no interval" if len(first) else "no pairs")
    n, order = len(first), np.lexsort((second, first))  # the units' own order changes nothing
    values, at = np.unique(np.concatenate([first[order], second[order]]), return_inverse=True)
    lows, highs, at_once = at[:n], at[n:], max(1, BLOCK // n)
    found = [
        _best(values, lows[units], highs[units])
        for start in range(0, draws, at_once)
        for units in below(seed, n, (min(at_once, draws - start), n), first=start)
    ]
    drawn = [threshold for threshold in found if threshold is not None]
    if not drawn:
        return Range(ci=None, reason=f"none of {draws:,} draws has a threshold better than chance")
    outside = (100 - confidence) / 200
    lowest, highest = np.quantile(drawn, [outside, 1 - outside]).tolist()
    said = []
    if lowest == highest:
        said.append("every draw gives the same threshold: the interval says nothing")
    if len(drawn) < draws:
        lost = draws - len(drawn)
        said.append(f"{lost:,} of {draws:,} draws have no threshold better than chance")
    return Range(ci=(lowest, highest), reason="; ".join(said) or None)


def _best(values: Floats, lows: Counts, highs: Counts) -> float | None:
    """The best threshold between the values that are there, given by their places."""
    size = len(values)
    counted_lows = np.bincount(lows, minlength=size)
    counted_highs = np.bincount(highs, minlength=size)
    there = np.flatnonzero(counted_lows + counted_highs)
    gained = np.cumsum((counted_lows - counted_highs)[there])[:-1]
    most = int(gained.max(initial=0))
    if most <= 0:
        return None
    places = np.flatnonzero(gained == most)
    starts, ends = values[there[places]], values[there[places + 1]]
    widest = int(np.argmax(np.round(ends - starts, SAME_GAP)))
    return float(starts[widest] + ends[widest]) / 2


def _below(low: Floats, high: Floats) -> Counts:
    """For each of `low`, twice the values of `high` above it, and once those equal to it."""
    ordered = np.sort(high)
    up_to = np.searchsorted(ordered, low, side="right")
    under = np.searchsorted(ordered, low, side="left")
    return np.asarray(2 * len(ordered) - up_to - under, dtype=np.int64)


def _pairs(low: Sequence[float], high: Sequence[float]) -> tuple[Floats, Floats]:
    first, second = _numbers(low), _numbers(high)
    if len(first) != len(second):
        raise ValueError(f"{len(first)} lows and {len(second)} highs are no pairs")
    return first, second


def _numbers(values: Sequence[float]) -> Floats:
    numbers = np.asarray(values, dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError("every value must be a finite number: leave out absent ones")
    return numbers + 0.0  # -0.0 and 0.0 are one value
