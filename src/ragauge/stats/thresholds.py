"""The threshold that parts good from bad best, and log-odds that are as sure as they should be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragauge.stats.discrimination import scores_of
from ragauge.stats.group_draws import times_drawn
from ragauge.stats.logistic import chance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

DRAWS = 100
AS_GOOD = 0.01
"""Thresholds whose rates sum to within this of the best are as good: the middle one is steadier."""


def best_threshold(scores: Sequence[float] | Floats, right: Sequence[bool] | Flags) -> float | None:
    """The score from which on rows are best called good: the most good above, and bad below.

    Half way between two scores that are there. Of those that are as good but for noise the middle
    one, as the very best place in a sample jumps about. None where none beats chance.

    >>> best_threshold([0.1, 0.2, 0.8, 0.9], [False, False, True, True])
    0.5
    """
    numbers, good = scores_of(scores), np.asarray(right, dtype=bool)
    if good.all() or not good.any():
        return None
    values, place = np.unique(numbers, return_inverse=True)
    goods, bads = (np.bincount(place[rows], minlength=len(values)) for rows in (good, ~good))
    kept = 1 - np.cumsum(goods)[:-1] / goods.sum()
    gained = kept + np.cumsum(bads)[:-1] / bads.sum()
    if not len(gained) or gained.max() <= 1 + 1e-12:
        return None
    cuts = (values[1:] + values[:-1]) / 2
    return float(np.median(cuts[gained >= gained.max() - AS_GOOD]))


def steady_threshold(
    scores: Sequence[float] | Floats,
    right: Sequence[bool] | Flags,
    groups: Sequence[str],
    *,
    seed: int = 0,
    draws: int = DRAWS,
) -> float | None:
    """The median of the best thresholds when groups are drawn again, by seed.

    The best threshold in a sample leans on the few rows beside it; this one parts rows that were
    not in the sample as well or better. None where the sample itself has none.
    """
    numbers, good = scores_of(scores), np.asarray(right, dtype=bool)
    best = best_threshold(numbers, good)
    if best is None:
        return None
    names, place = np.unique(np.asarray(groups), return_inverse=True)
    # Which rows a group has must not depend on their order.
    rows = np.lexsort((good, numbers, place))
    numbers, good, place = numbers[rows], good[rows], place[rows]
    found = []
    for times in times_drawn(len(names), seed, 0, draws):
        weights = times[place]
        drawn = best_threshold(np.repeat(numbers, weights), np.repeat(good, weights))
        found += [] if drawn is None else [drawn]
    return float(np.median(found)) if found else best


def matching_shift(log_odds: Sequence[float] | Floats, right: Sequence[bool] | Flags) -> float:
    """What to add to the log-odds so that their mean probability is the share of good rows.

    By bisection, for the mean only rises. Both labels must be there.

    >>> round(matching_shift([0.0, 0.0, 0.0, 0.0], [True, True, True, False]), 6)
    1.098612
    """
    odds, good = scores_of(log_odds), np.asarray(right, dtype=bool)
    if good.all() or not good.any():
        raise ValueError("rows of one label alone have no shift")
    low, high = -odds.max() - 50.0, -odds.min() + 50.0
    for _ in range(200):
        middle = (low + high) / 2
        if float(chance(odds + middle).mean()) < float(good.mean()):
            low = middle
        else:
            high = middle
    return float((low + high) / 2)
