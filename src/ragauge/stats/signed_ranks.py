"""Wilcoxon's signed ranks, and the Hodges–Lehmann centre that goes with them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragauge.stats.differences import Pairs
from ragauge.stats.intervals import Interval, z_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]

COUNTED_RANKS = 50
"""Up to so many pairs Wilcoxon's distribution is counted out, as in scipy."""


class SignedRanks(NamedTuple):
    """Wilcoxon's test of differences."""

    p: float
    """Two-sided."""
    leans: int
    """1 where the ranks point up, −1 where they point down, else 0."""
    statistic: float
    """The smaller of the sums of ranks of the pairs that rose and of those that fell."""


def signed_ranks(whole: Counts) -> SignedRanks:
    """The test of differences in whole steps; pairs without a difference are dropped."""
    moved = whole[whole != 0]
    if not len(moved):
        return SignedRanks(1.0, 0, 0.0)
    _, place, ties = np.unique(np.abs(moved), return_inverse=True, return_counts=True)
    doubled = (2 * np.cumsum(ties) - ties + 1)[place]  # ranks in halves, so that ties are whole
    up, both = int(doubled[moved > 0].sum()), int(doubled.sum())
    leans, smaller = (2 * up > both) - (2 * up < both), min(up, both - up) / 2
    if len(moved) <= COUNTED_RANKS:
        ways = _ways(doubled)
        extreme = int(ways[max(up, both - up) :].sum())
        return SignedRanks(min(1.0, math.ldexp(extreme, 1 - len(moved))), leans, smaller)
    z = abs(2 * up - both) / math.sqrt(math.fsum(doubled.astype(np.float64) ** 2))
    return SignedRanks(math.erfc(z / math.sqrt(2)), leans, smaller)


def _ways(ranks: Counts) -> Counts:
    """How many subsets of ranks have each sum."""
    ways = np.zeros(int(ranks.sum()) + 1, dtype=np.int64)
    ways[0] = 1
    for rank in ranks.tolist():
        ways[rank:] += ways[:-rank].copy()
    return ways


def hodges_lehmann(pairs: Pairs, confidence: float) -> tuple[float, Interval | None]:
    """The median of the means of any two differences, and the interval Wilcoxon's test gives it."""
    means = pairs.n * (pairs.n + 1) // 2
    end = _outermost(pairs.n, confidence)
    places = [(means + 1) // 2, means // 2 + 1, max(1, end), means + 1 - max(1, end)]
    left, right, low, high = _pair_sums(np.sort(pairs.whole), places)
    centre = pairs.score((left + right) / 4)
    return centre, pairs.interval((low / 2, high / 2)) if end else None


def _outermost(n: int, confidence: float) -> int:
    """Which of the ordered means of two bounds the interval; 0 where none does."""
    tail = 0.5 - confidence / 200
    if n <= COUNTED_RANKS:
        ways = _ways(np.arange(1, n + 1))
        return int(np.searchsorted(np.cumsum(ways), tail * 2**n, side="right"))
    sd = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    return max(0, math.floor(n * (n + 1) / 4 - z_of(confidence) * sd))


def _pair_sums(ordered: Counts, places: Sequence[int]) -> list[int]:
    """The sums, at these places in order from 1, of any two of the numbers, each itself twice too.

    By halving the ranges they lie in: the sums are too many to be listed.
    """
    wanted = np.array(places)
    low, high = (np.full(len(places), 2 * ordered[end]) for end in (0, -1))
    while (low < high).any():
        middle = (low + high) >> 1
        either_way = np.searchsorted(ordered, middle[:, None] - ordered, side="right").sum(axis=1)
        twice = np.searchsorted(ordered, middle >> 1, side="right")
        enough = either_way + twice >= 2 * wanted
        low, high = np.where(enough, low, middle + 1), np.where(enough, middle, high)
    sums: list[int] = low.tolist()
    return sums
