"""How well a score tells good from bad, over groups of rows that belong together.

Rows of one source resemble each other, so it is sources that are drawn again for an interval,
never rows. Each statistic is a function of whole weights, a row of them a draw: with a weight of
one for every row it gives the value itself, and the interval can be of nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from ragauge.stats.bootstrap import BLOCK
from ragauge.stats.draws import below
from ragauge.stats.intervals import DEFAULT_CONFIDENCE, Interval, wilson
from ragauge.stats.logistic import chance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]
    Flags = NDArray[np.bool_]
    Statistic = Callable[[Counts], Floats]
    """Values, one a draw, of weights, (draws, rows); NaN where a draw has none."""


BINS = 10
"""Of equal width, from 0 to 1."""


def value_of(statistic: Statistic, rows: int) -> float | None:
    """The value with every row once; None where there is none."""
    if not rows:
        return None
    value = float(statistic(np.ones((1, rows), dtype=np.int64))[0])
    return value if np.isfinite(value) else None


def auroc(
    scores: Sequence[float] | Floats,
    right: Sequence[bool] | Flags,
    within: Sequence[str] | None = None,
) -> Statistic:
    """The chance that a good row scores above a bad one; a tie counts half.

    `within` names a stratum for each row: then only pairs of one stratum are compared, which
    shows what is left when the stratum alone would tell.

    >>> value_of(auroc([0.9, 0.5, 0.5, 0.1], [True, True, False, False]), 4)
    0.875
    """
    numbers, good = scores_of(scores), np.asarray(right, dtype=bool)
    names = np.asarray(["" for _ in good] if within is None else within)
    parts = [np.flatnonzero(names == name) for name in np.unique(names)]
    ranked = [_Ranked(numbers[rows], good[rows]) for rows in parts]

    def weighed(weights: Counts) -> Floats:
        above = np.zeros(len(weights), dtype=np.float64)
        pairs = np.zeros(len(weights), dtype=np.float64)
        for rows, one in zip(parts, ranked, strict=True):
            found, of = one.pairs(weights[:, rows])
            above += found
            pairs += of
        return _ratio(above, 2 * pairs)

    return weighed


def difference(one: Statistic, other: Statistic) -> Statistic:
    """How far the first lies above the second, on the same draws."""
    return lambda weights: one(weights) - other(weights)


def balanced_accuracy(said: Sequence[bool] | Flags, right: Sequence[bool] | Flags) -> Statistic:
    """The mean of the shares of good and of bad rows that are called so.

    >>> value_of(balanced_accuracy([True, True, False, True], [True, True, False, False]), 4)
    0.75
    """
    cells = _cells(said, right)

    def weighed(weights: Counts) -> Floats:
        table = (weights @ cells).astype(np.float64)
        good = _ratio(table[:, 0], table[:, 0] + table[:, 1])
        return (good + _ratio(table[:, 3], table[:, 2] + table[:, 3])) / 2

    return weighed


def kappa(said: Sequence[bool] | Flags, right: Sequence[bool] | Flags) -> Statistic:
    """Cohen's κ of what a score says and what people say; none where both say one thing only.

    >>> value_of(kappa([True, True, False, True], [True, True, False, False]), 4)
    0.5
    """
    cells = _cells(said, right)

    def weighed(weights: Counts) -> Floats:
        table = (weights @ cells).astype(np.float64)
        n = table.sum(axis=1)
        yes = (table[:, 0] + table[:, 1]) * (table[:, 0] + table[:, 2])
        no = (table[:, 3] + table[:, 1]) * (table[:, 3] + table[:, 2])
        return _ratio(n * (table[:, 0] + table[:, 3]) - yes - no, n * n - yes - no)

    return weighed


def rank_correlation(one: Sequence[float] | Floats, other: Sequence[float] | Floats) -> Statistic:
    """Spearman's ρ; none where one of the two never varies.

    >>> value_of(rank_correlation([1.0, 2.0, 3.0], [0.1, 0.4, 0.2]), 3)
    0.5
    """
    first, second = _places(scores_of(one)), _places(scores_of(other))

    def weighed(weights: Counts) -> Floats:
        n = weights.sum(axis=1, keepdims=True)
        a = _midranks(first, weights) - (n + 1) / 2
        b = _midranks(second, weights) - (n + 1) / 2
        squares = (weights * a * a).sum(axis=1) * (weights * b * b).sum(axis=1)
        return _ratio((weights * a * b).sum(axis=1), np.sqrt(squares))

    return weighed


def calibration_error(
    probabilities: Sequence[float] | Floats, right: Sequence[bool] | Flags, bins: int = BINS
) -> float | None:
    """The expected calibration error: how far a score lies from the share of good rows.

    Rows are sorted into bins of equal width from 0 to 1, the upper end outside but for the last;
    the gaps between mean score and share count by their rows. None without rows.

    >>> round(calibration_error([0.95, 0.91, 0.15], [True, False, False]), 6)
    0.336667
    """
    chances, good = scores_of(probabilities), np.asarray(right, dtype=bool)
    if not len(chances):
        return None
    if chances.min() < 0 or chances.max() > 1:
        raise ValueError("a calibration error is of scores from 0 to 1")
    bin_of = np.minimum((chances * bins).astype(np.int64), bins - 1)
    said = np.bincount(bin_of, chances, bins)
    was = np.bincount(bin_of, good.astype(np.float64), bins)
    return float(np.abs(said - was).sum() / len(chances))


class _Ranked:
    """Rows by their scores, equal ones together."""

    def __init__(self, scores: Floats, good: Flags) -> None:
        self._order, self._starts = _places(scores)
        self._good = good[self._order]

    def pairs(self, weights: Counts) -> tuple[Counts, Counts]:
        """Twice the pairs of a good row above a bad one, ties once; and all pairs."""
        ordered = weights[:, self._order]
        good = np.add.reduceat(ordered * self._good, self._starts, axis=1)
        bad = np.add.reduceat(ordered * ~self._good, self._starts, axis=1)
        under = np.cumsum(bad, axis=1) - bad
        return (good * (2 * under + bad)).sum(axis=1), good.sum(axis=1) * bad.sum(axis=1)


def _places(numbers: Floats) -> tuple[Counts, Counts]:
    """The rows in order of their numbers, and where each new number begins."""
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    return order, np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])


def _midranks(places: tuple[Counts, Counts], weights: Counts) -> Floats:
    """The mean rank of each row among those that were drawn, in the rows' own order."""
    order, starts = places
    together = np.add.reduceat(weights[:, order], starts, axis=1)
    ranks = np.cumsum(together, axis=1) - together + (together + 1) / 2
    sizes = np.diff(np.r_[starts, len(order)])
    found = np.empty(weights.shape)
    found[:, order] = np.repeat(ranks, sizes, axis=1)
    return found


def _cells(said: Sequence[bool] | Flags, right: Sequence[bool] | Flags) -> Counts:
    """For each row a one in its cell: good called good, good called bad, bad called good, bad."""
    called, good = np.asarray(said, dtype=bool), np.asarray(right, dtype=bool)
    columns = [good & called, good & ~called, ~good & called, ~good & ~called]
    return np.stack(columns, axis=1).astype(np.int64)


def _ratio(part: Counts | Floats, whole: Counts | Floats) -> Floats:
    """NaN where there is nothing to divide by."""
    result = np.full(np.shape(whole), np.nan)
    np.divide(part, whole, out=result, where=np.asarray(whole) > 0)
    return result


def scores_of(values: Sequence[float] | Floats) -> Floats:
    """The scores as numbers; raises ValueError where one is absent."""
    numbers = np.asarray(values, dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError("every score must be a finite number: leave out absent ones")
    return numbers + 0.0  # -0.0 and 0.0 are one score


DRAWS = 2_000


class Spread(Struct, frozen=True, kw_only=True):
    """Where a value lies when groups are drawn again, and what is to be said about it."""

    ci: Interval | None
    reason: str | None = None


def interval_over_groups(
    statistic: Statistic,
    groups: Sequence[str],
    confidence: float = DEFAULT_CONFIDENCE,
    *,
    share: bool = True,
    seed: int = 0,
    draws: int = DRAWS,
) -> Spread:
    """The percentile interval of a statistic when groups are drawn with replacement, by seed.

    A share at its end does not vary with what is drawn, and a point would say that it is certain;
    there the interval is Wilson's, with a trial for each group. Anything else that does not vary
    has none.
    """
    names, place = np.unique(np.asarray(groups), return_inverse=True)
    if len(names) < 2:
        return Spread(ci=None, reason="one source has no interval" if len(names) else "no rows")
    at_once = max(1, BLOCK // max(len(names), len(place)))
    drawn = np.concatenate(
        [
            statistic(times_drawn(len(names), seed, first, min(at_once, draws - first))[:, place])
            for first in range(0, draws, at_once)
        ]
    )
    there = drawn[np.isfinite(drawn)]
    if not len(there):
        return Spread(ci=None, reason=f"none of {draws:,} draws has a value")
    lost = draws - len(there)
    told = f"{lost:,} of {draws:,} draws have no value and are left out" if lost else None
    if there.min() == there.max():
        ends = wilson(float(there[0]), len(names), confidence) if share else None
        return Spread(ci=ends, reason=told if share else "every draw gives the same value")
    outside = (100 - confidence) / 200
    low, high = np.quantile(there, [outside, 1 - outside]).tolist()
    return Spread(ci=(low, high), reason=told)


def times_drawn(groups: int, seed: int, first: int, draws: int) -> Counts:
    """How often each group was drawn, (draws, groups)."""
    chosen = below(seed, groups, (draws, groups), first=first)
    flat = chosen + groups * np.arange(draws)[:, None]
    counted: Counts = np.bincount(flat.ravel(), minlength=draws * groups)
    return counted.reshape(draws, groups)


THRESHOLD_DRAWS = 100
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
    draws: int = THRESHOLD_DRAWS,
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
