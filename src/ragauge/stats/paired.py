"""Two runs on the same items: how large is the change, and is it more than chance?

Every test takes the scores after and before, item by item, and gives a `Paired`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from msgspec.structs import replace

from ragauge.stats.bootstrap import mean_interval
from ragauge.stats.decision import ALPHA
from ragauge.stats.differences import (
    Paired,
    Pairs,
    few_for_bootstrap,
    least_of_signs,
    no_interval,
    no_spread,
    too_few,
    turned,
)
from ragauge.stats.intervals import DEFAULT_CONFIDENCE, Interval, score_interval, z_of
from ragauge.stats.random_signs import DRAWS, by_all_signs, share_as_far, subset_means, subsets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]
    Scores = Sequence[float] | Floats

Method = Literal["mcnemar", "randomisation", "wilcoxon", "t", "bootstrap"]


def compared(
    after: Scores,
    before: Scores,
    *,
    method: Method | None = None,
    seed: int = 0,
    draws: int = DRAWS,
    confidence: float = DEFAULT_CONFIDENCE,
    alpha: float = ALPHA,
) -> Paired:
    """The test that was asked for; by default McNemar for 0/1 scores, randomisation else.

    >>> compared([1, 1, 1, 0], [1, 0, 1, 1]).method
    'McNemar, exact'
    """
    if method is None:
        plain = _zero_or_one(after) and _zero_or_one(before)
        method = "mcnemar" if plain else "randomisation"
    if method not in METHODS:
        raise ValueError(f"no test {method!r}: it is one of {', '.join(METHODS)}")
    drawing = {"seed": seed, "draws": draws}
    match method:
        case "randomisation":
            return randomisation(after, before, **drawing, confidence=confidence, alpha=alpha)
        case "bootstrap":
            return paired_bootstrap(after, before, **drawing, confidence=confidence)
        case "t":
            return paired_t(after, before, confidence=confidence)
        case "wilcoxon":
            return wilcoxon(after, before, confidence=confidence, alpha=alpha)
        case "mcnemar":
            return mcnemar(after, before, confidence=confidence, alpha=alpha)


def spread(after: Scores, before: Scores) -> float | None:
    """The standard deviation of the differences, as `stats.power` asks for it.

    None under two pairs; 0 where every pair differs by the same.
    """
    return Pairs.of(after, before).sd


def paired_t(after: Scores, before: Scores, *, confidence: float = DEFAULT_CONFIDENCE) -> Paired:
    """Student's test and interval of the mean difference.

    Where every pair differs by the same there is no spread to judge by: no interval, and no
    probability.

    >>> found = paired_t([0.9, 0.8, 0.7, 0.6, 0.95], [0.8, 0.69, 0.58, 0.47, 0.81])
    >>> round(found.p, 7), round(found.statistic, 4), round(found.effect, 4)
    (7.07e-05, 16.9706, 7.5895)
    """
    from scipy.special import stdtr, stdtrit  # type: ignore[import-untyped]

    pairs = Pairs.of(after, before)
    if not pairs.differing:
        return pairs.unmoved("paired t", confidence)
    if not pairs.sd or pairs.effect is None:
        return pairs.found("paired t", None, None, no_spread(pairs.n))
    t, df, error = pairs.effect * math.sqrt(pairs.n), pairs.n - 1, pairs.sd / math.sqrt(pairs.n)
    half = float(stdtrit(df, 0.5 + confidence / 200)) * error
    ci = (pairs.mean - half, pairs.mean + half)
    return pairs.found("paired t", 2 * float(stdtr(df, -abs(t))), ci, statistic=t)


def wilcoxon(
    after: Scores,
    before: Scores,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    alpha: float = ALPHA,
) -> Paired:
    """Wilcoxon's signed-rank test, with the Hodges–Lehmann centre of the differences.

    Pairs without a difference are dropped from the test, as Wilcoxon did, and tied differences
    share their ranks; the distribution is counted out, ties and all, up to 50 pairs, and normal
    beyond. Centre and interval are of the means of any two differences, and keep all pairs.

    >>> wilcoxon([0.9, 0.8, 0.7, 0.6, 0.95], [0.8, 0.69, 0.58, 0.47, 0.81]).p
    0.0625
    """
    pairs = Pairs.of(after, before)
    if not pairs.differing:
        return pairs.unmoved("Wilcoxon, exact", confidence)
    exact = pairs.differing <= COUNTED_RANKS
    centre, ci = hodges_lehmann(pairs, confidence)
    method = "Wilcoxon, exact" if exact else "Wilcoxon, normal"
    few = too_few(pairs.differing, pairs.n, "Wilcoxon", alpha)
    reason = few or no_interval(ci, pairs.n, confidence)
    ranks, least = signed_ranks(pairs.whole), signed_ranks(np.abs(pairs.whole)).p
    found = pairs.found(
        method,
        ranks.p,
        ci,
        reason,
        estimate=centre,
        leans=ranks.leans,
        least_p=least,
        statistic=ranks.statistic,
    )
    return replace(found, ci_of="median")


def randomisation(
    after: Scores,
    before: Scores,
    *,
    seed: int = 0,
    draws: int = DRAWS,
    confidence: float = DEFAULT_CONFIDENCE,
    alpha: float = ALPHA,
) -> Paired:
    """Fisher's randomisation: how often random signs make the mean difference as large.

    All choices of signs where there are few, else drawn ones; the pairs as they are count among
    these, so that no probability is 0. The interval holds every change that the same test does
    not reject: its ends are means of random subsets of the differences (Hartigan 1969), and it
    excludes 0 just where p says so, but for draws. Both are exact if differences scatter evenly
    about a centre.

    >>> randomisation([0.9, 0.8, 0.7, 0.6, 0.95, 0.5], [0.8, 0.69, 0.58, 0.47, 0.81, 0.42]).p
    0.03125
    """
    pairs = Pairs.of(after, before)
    if not pairs.differing:
        return pairs.unmoved("randomisation, exact", confidence)
    facing = pairs.facing
    distinct, counts = np.unique(facing.whole, return_counts=True)
    flipped = subsets(np.column_stack([distinct, np.ones_like(distinct)]), counts, seed, draws)
    p = by_all_signs(pairs.whole)
    method, least = "randomisation, exact", least_of_signs(pairs.differing)
    if p is None:
        p = share_as_far(facing.total - 2 * flipped.sums[:, 0], flipped.weights, facing.whole)
        method, least = f"randomisation, {draws:,} draws", 1 / (draws + 1)
    ends = turned(subset_means(flipped, facing.whole, confidence), pairs.faces)
    ci = pairs.interval(ends)
    few = too_few(pairs.differing, pairs.n, "randomisation", alpha)
    reason = few or no_interval(ci, pairs.n, confidence)
    drawn = None if flipped.exact else seed
    return pairs.found(method, p, ci, reason, drawn, least_p=least, statistic=pairs.mean)


def paired_bootstrap(
    after: Scores,
    before: Scores,
    *,
    seed: int = 0,
    draws: int = DRAWS,
    confidence: float = DEFAULT_CONFIDENCE,
) -> Paired:
    """The mean difference with its percentile bootstrap interval.

    p is the level whose interval just reaches 0. With few pairs both are too sure of themselves:
    a resample cannot vary more than the pairs do.
    """
    pairs = Pairs.of(after, before)
    if not pairs.differing:
        return pairs.unmoved("paired bootstrap", confidence)
    if not pairs.sd:
        return pairs.found("paired bootstrap", None, None, no_spread(pairs.n))

    facing = pairs.facing

    made = mean_interval(facing.differences, confidence, seed=seed, draws=draws)
    method = f"paired bootstrap, {'closed form' if made.draws is None else f'{draws:,} draws'}"
    # The level at which an interval just excludes 0, no finer than the draws allow.
    low, p = 1 / (draws + 1), 1.0
    while p - low > 0.5 / (draws + 1):
        level = (low + p) / 2
        ends = mean_interval(facing.differences, 100 * (1 - level), seed=seed, draws=draws).ci
        if ends is None or ends[0] <= 0 <= ends[1]:
            low = level
        else:
            p = level
    ci = turned(made.ci, pairs.faces)
    few = few_for_bootstrap(pairs.n)
    return pairs.found(method, p, ci, few, made.seed, statistic=pairs.mean)


def mcnemar(
    after: Scores,
    before: Scores,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    alpha: float = ALPHA,
) -> Paired:
    """McNemar's exact test of 0/1 scores: did as many pairs rise as fall?

    The interval is Tango's score interval of the difference of two shares (1998). Newcombe's does
    not keep its level on either side, and a margin needs that: where most pairs that differ fell,
    it would call a loss of the whole margin not worse far too often.

    >>> found = mcnemar([1, 1, 1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0, 1, 1])
    >>> found.p, found.estimate, round(found.effect, 4)
    (0.125, 0.625, 0.3571)
    """
    from scipy.special import bdtr

    if not (_zero_or_one(after) and _zero_or_one(before)):
        raise ValueError("McNemar's test is of scores that are 0 or 1: choose randomisation")
    pairs = Pairs.of(after, before)
    if not pairs.n:
        return pairs.found("McNemar, exact", None, None)
    rose, differing = int((pairs.whole > 0).sum()), pairs.differing
    p = min(1.0, 2 * float(bdtr(min(rose, differing - rose), differing, 0.5)))
    most, least = max(rose, differing - rose), min(rose, differing - rose)
    ci = turned(score_interval(most, least, pairs.n, confidence), int(np.sign(pairs.total)))
    effect = rose / differing - 0.5 if differing else None
    few, least_p = too_few(differing, pairs.n, "McNemar", alpha), least_of_signs(differing)
    found = pairs.found("McNemar, exact", p, ci, few, least_p=least_p, statistic=float(least))
    return replace(found, effect=effect)


def _zero_or_one(scores: Scores) -> bool:
    return bool(np.isin(np.asarray(scores, dtype=np.float64), (0, 1)).all())


METHODS: tuple[Method, ...] = get_args(Method)

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
