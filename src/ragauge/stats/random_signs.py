"""Random signs: sums over subsets, all of them where they are few, else drawn ones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import numpy as np

from ragauge.stats.draws import below, coins
from ragauge.stats.intervals import Interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]

DRAWS = 10_000
_FEW_ARRANGEMENTS = 1 << 17
"""Up to so many are looked at one by one; of more, a sample is drawn."""
_AT_ONCE = 1 << 20
"""How many drawn numbers are held at a time."""
_PAIRS_A_GROUP = 12
"""Coins counted for a group of equal pairs cost about as much as those of so many single ones."""
_WORD = 32
Number = TypeVar("Number", np.int64, np.float64)


class Subsets(NamedTuple, Generic[Number]):
    """Sums of rows over subsets, each subset as likely as its weight."""

    sums: NDArray[Number]
    weights: Floats
    exact: bool


def subsets(
    distinct: NDArray[Number],
    counts: Counts,
    seed: int,
    draws: int,
    as_it_is: NDArray[Number] | int = 0,
) -> Subsets[Number]:
    """All subsets of rows, each seen so often; or drawn ones, after the subset at hand."""
    if _few_arrangements(counts):
        return _all_subsets(distinct, counts)
    sums = np.empty((draws + 1, distinct.shape[1]), dtype=distinct.dtype)
    sums[0] = as_it_is
    pairs = int(counts.sum())
    grouped = len(distinct) * _PAIRS_A_GROUP < pairs
    rows = distinct if grouped else np.repeat(distinct, counts, axis=0)
    at_once = max(1, _AT_ONCE // len(rows))
    for first in range(0, draws, at_once):
        block = sums[1 + first : 1 + first + at_once]
        if grouped:
            block[:] = coins(seed, counts, len(block), first=first) @ rows
        else:
            block[:] = _bits(seed, pairs, len(block), first).astype(rows.dtype) @ rows
    return Subsets(sums, np.ones(draws + 1), False)


def _few_arrangements(counts: Counts) -> bool:
    within = len(counts) < _FEW_ARRANGEMENTS.bit_length()
    return within and math.prod(count + 1 for count in counts.tolist()) <= _FEW_ARRANGEMENTS


def _all_subsets(distinct: NDArray[Number], counts: Counts) -> Subsets[Number]:
    sums = np.zeros((1, distinct.shape[1]), dtype=distinct.dtype)
    weights = np.ones(1)
    for row, count in zip(distinct, counts.tolist(), strict=True):
        taken = np.arange(count + 1)[:, None] * row
        sums = (sums[:, None] + taken).reshape(-1, len(row))
        weights = np.outer(weights, _binomial(count)).ravel()
    return Subsets(sums, weights, True)


def _binomial(of: int) -> Floats:
    """How likely 0, 1, ... of so many coins are heads: outwards from the middle, by the ratio of
    neighbours, because the numbers themselves would overflow."""
    middle = of // 2
    heads = np.arange(middle, of)
    above = np.cumprod(np.append(1.0, (of - heads) / (heads + 1)))
    weights = np.concatenate([above[: of % 2 : -1], above])
    return weights / math.fsum(weights)


def _bits(seed: int, pairs: int, draws: int, first: int) -> NDArray[np.uint8]:
    """A fair coin for each pair, (draws, pairs): what `coins` gives, at a bit a coin."""
    words = below(seed, 1 << _WORD, (draws, -(-pairs // _WORD)), first=first)
    return np.unpackbits(words.astype("<u4").view(np.uint8), axis=1, count=pairs)


def by_all_signs(whole: Counts) -> float | None:
    """The share of all choices of signs that come as far; None where there are too many."""
    sizes = np.abs(whole[whole != 0])
    distinct, counts = np.unique(sizes, return_counts=True)
    if not _few_arrangements(counts):
        return None
    up = _all_subsets(distinct[:, None], counts)
    return share_as_far(2 * up.sums[:, 0] - sizes.sum(), up.weights, whole)


def share_as_far(totals: Counts, weights: Floats, whole: Counts) -> float:
    """The share of totals at least as far from 0 as the total at hand.

    A step is rounded by up to a half, so totals as many steps apart as there are pairs are tied.
    """
    far = np.abs(totals) >= abs(int(whole.sum())) - len(whole)
    return ratio(weights[far], weights)


def ratio(some: Floats, whole: Floats) -> float:
    """The share that some of the weights have in the whole."""
    return min(1.0, math.fsum(some.tolist()) / math.fsum(whole.tolist()))


def subset_means(flipped: Subsets[np.int64], whole: Counts, confidence: float) -> Interval | None:
    """The least and the greatest change that a sign test of the differences less it allows.

    The sum of the differences less a change rises by flipping a subset just where the subset's
    mean lies below that change; flipping the rest instead is as likely.
    """
    rest = np.array([whole.sum(), len(whole)]) - flipped.sums
    sums = np.concatenate([flipped.sums, rest])
    weights = np.concatenate([flipped.weights, flipped.weights])
    empty = sums[:, 1] == 0
    means = sums[~empty, 0] / sums[~empty, 1]
    order = np.argsort(means, kind="stable")
    tail = (0.5 - confidence / 200) * math.fsum(weights) - math.fsum(weights[empty])
    if tail < 0:
        return None
    ordered, likely = means[order], weights[~empty][order]
    low = np.searchsorted(np.cumsum(likely), tail, side="right")
    high = np.searchsorted(np.cumsum(likely[::-1]), tail, side="right")
    return float(ordered[low]), float(ordered[::-1][high])
