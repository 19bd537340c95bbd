"""κ and α over labels that come in clusters, such as the tokens of texts.

Tokens of one text resemble each other, so intervals are over the texts: how much a little more
weight on each would move the value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from ragauge.stats.intervals import DEFAULT_CONFIDENCE, Interval, wilson, z_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragauge.stats.intervals import Counts, Floats

    Codes = NDArray[np.int64]

_NO_SPREAD = 1e-24
"""A variance of rounding errors alone."""


class PairCounts(Struct, frozen=True):
    """What κ of two judges is made of, a row a cluster."""

    same: Counts
    """How often both gave the same label."""
    first: Counts
    """(clusters, labels): how often the first judge gave each."""
    second: Counts

    @property
    def n(self) -> Counts:
        """How many labels both gave."""
        return np.asarray(self.first.sum(axis=1))


def pair_counts(one: Codes, other: Codes, clusters: Codes, shape: tuple[int, int]) -> PairCounts:
    """The counts of two judges' labels, given by their places, each with the place of its cluster.

    `shape` is how many clusters and labels there are.

    >>> made = pair_counts(np.array([0, 1, 1]), np.array([0, 1, 0]), np.array([0, 0, 1]), (2, 2))
    >>> made.same.tolist(), made.first.tolist(), made.second.tolist()
    ([2, 0], [[1, 1], [0, 1]], [[1, 1], [1, 0]])
    """
    same = np.bincount(clusters[one == other], minlength=shape[0])
    return PairCounts(same, _by_label(one, clusters, shape), _by_label(other, clusters, shape))


def clustered_kappa(pair: PairCounts) -> float | None:
    """Cohen's κ over all clusters together; None without a label, and where both gave one alone.

    >>> clustered_kappa(PairCounts(np.array([35]), np.array([[25, 25]]), np.array([[30, 20]])))
    0.4
    """
    n, chance = int(pair.n.sum()), _chance(pair)
    if not n or chance == n**2:
        return None
    return (n * int(pair.same.sum()) - chance) / (n**2 - chance)


def clustered_kappa_interval(
    pairs: Sequence[PairCounts], confidence: float = DEFAULT_CONFIDENCE
) -> Interval | None:
    """The interval of the mean κ of pairs of judges over the same clusters, inside [-1, 1].

    Normal, by the delta method. Where no cluster moves it, as in full agreement, the interval
    would be a point; there it is Wilson's of an agreement over as many clusters, set against the
    chance agreement as it was found. None under two clusters, and where no pair has a κ.
    """
    known = [pair for pair in pairs if clustered_kappa(pair) is not None]
    clusters = int(np.sum([pair.n for pair in known], axis=0).astype(bool).sum()) if known else 0
    if clusters < 2:
        return None
    pulls = np.mean([_kappa_pulls(pair) for pair in known], axis=0)
    variance = float((pulls**2).sum()) * clusters / (clusters - 1)
    value = float(np.mean([clustered_kappa(pair) for pair in known]))
    if variance > _NO_SPREAD:
        half = z_of(confidence) * math.sqrt(variance)
        return max(-1.0, value - half), min(1.0, value + half)
    observed = float(np.mean([pair.same.sum() / pair.n.sum() for pair in known]))
    chance = float(np.mean([_chance(pair) / int(pair.n.sum()) ** 2 for pair in known]))
    low, high = ((end - chance) / (1 - chance) for end in wilson(observed, clusters, confidence))
    return max(-1.0, min(low, value)), min(1.0, max(high, value))


def clustered_alpha_interval(
    codes: Codes,
    clusters: Codes,
    shape: tuple[int, int],
    confidence: float = DEFAULT_CONFIDENCE,
) -> Interval | None:
    """The interval of nominal α over clusters, inside [-1, 1].

    `codes` has a row a judge and a column a unit: the place of the label, -1 where there is none;
    `shape` is how many clusters and labels there are. Made as `krippendorff.alpha_interval` makes
    it, with each cluster in the place of a unit. None under two clusters, and where there is no α.
    """
    given = (codes >= 0).sum(axis=0)
    codes, clusters, given = codes[:, given > 1], clusters[given > 1], given[given > 1]
    if len({*clusters.tolist()}) < 2:
        return None
    by_judge = [_by_label(row[row >= 0], clusters[row >= 0], shape) for row in codes]
    seen = np.sum(by_judge, axis=0)
    apart = np.bincount(clusters, _apart(codes, given), len(seen))
    n, of_label, within = int(seen.sum()), seen.sum(axis=0), float(apart.sum())
    overall = float(n**2 - sum(times**2 for times in of_label.tolist()))
    if not overall:
        return None
    there = seen.any(axis=1)
    value, different = 1 - (n - 1) * within / overall, overall / (n * (n - 1))
    variance = 0.0
    if within:
        slopes = 2 * (n - of_label) / overall
        moved = seen.sum(axis=1) / (n - 1) + apart / within - (seen * slopes).sum(axis=1)
        variance = float(moved[there].var(ddof=1)) * int(there.sum())
    if variance > _NO_SPREAD:
        reach = math.exp(z_of(confidence) * math.sqrt(variance))
        return max(-1.0, 1 - (1 - value) * reach), 1 - (1 - value) / reach
    agreed = min(1.0, max(0.0, 1 - (1 - value) * different))
    ends = wilson(agreed, int(there.sum()), confidence)
    low, high = (1 - (1 - end) / different for end in ends)
    return max(-1.0, min(low, value)), min(1.0, max(high, value))


def _by_label(codes: Codes, clusters: Codes, shape: tuple[int, int]) -> Counts:
    """(clusters, labels): how often each label was given."""
    met = np.bincount(clusters * shape[1] + codes, minlength=shape[0] * shape[1])
    return met.reshape(shape)


def _chance(pair: PairCounts) -> int:
    """The agreement by chance, times the labels squared: whole, and so exact."""
    given = zip(pair.first.sum(axis=0).tolist(), pair.second.sum(axis=0).tolist(), strict=True)
    return sum(one * other for one, other in given)


def _kappa_pulls(pair: PairCounts) -> Floats:
    """How a little more weight on each cluster moves κ; they add up to nothing."""
    n, chance = int(pair.n.sum()), _chance(pair) / int(pair.n.sum()) ** 2
    observed = int(pair.same.sum()) / n
    first, second = pair.first.sum(axis=0) / n, pair.second.sum(axis=0) / n
    of_observed = (pair.same - observed * pair.n) / n
    met = (pair.first * second + pair.second * first).sum(axis=1)
    of_chance = (met - 2 * chance * pair.n) / n
    moved = of_observed * (1 - chance) - of_chance * (1 - observed)
    return np.asarray(moved / (1 - chance) ** 2)


def _apart(codes: Codes, given: Counts) -> Floats:
    """The disagreement within each unit, over one less than its labels."""
    agreed = np.zeros(given.size)
    for one, other in combinations(codes, 2):
        agreed += (one == other) & (one >= 0)
    return np.asarray(given - 2 * agreed / (given - 1))
