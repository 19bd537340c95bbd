"""Two runs on the same items: how large is the change, and is it more than chance?

Every test takes the scores after and before, item by item, and gives a `Paired`. None trusts the
last bits of a score: differences are counted in whole steps, far smaller than the largest of them
and far larger than rounding, so that .9 - .8 ties with .7 - .6 and sums are exact in any order.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from ragauge.stats.bootstrap import mean_interval, metric_interval
from ragauge.stats.draws import below, coins
from ragauge.stats.intervals import DEFAULT_CONFIDENCE, Interval, wilson, z_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]
    Scores = Sequence[float] | Floats
    Sums = Counts | Floats
    Finish = Callable[[Sums], Floats]

Method = Literal["mcnemar", "randomisation", "wilcoxon", "t", "bootstrap"]

DRAWS = 10_000
LARGEST = 1e100
"""Squares of greater scores would overflow."""

_FEW_ARRANGEMENTS = 1 << 17
"""Up to so many are looked at one by one; of more, a sample is drawn."""
_COUNTED_RANKS = 50
"""Up to so many pairs Wilcoxon's distribution is counted out, as in scipy."""
_AT_ONCE = 1 << 20
"""How many drawn numbers are held at a time."""
_PAIRS_A_GROUP = 12
"""Coins counted for a group of equal pairs cost about as much as those of so many single ones."""
_WORD = 32
_STEP_BITS = 48
"""A step is so many bits below the largest score: sixteen times as much as rounding, or more."""
_SUM_BITS = 60
_HALVINGS = 50
_ROUNDING = 1e-14
"""What leaving a unit out may seem to change where it changes nothing."""
_ENOUGH = 20
"""Pairs from which on a bootstrap is not far off."""


class Paired(Struct, frozen=True, kw_only=True):
    """What a paired test found. Each number is finite or None, and None has its reason."""

    estimate: float | None
    """The mean of after − before; for Wilcoxon its Hodges–Lehmann centre."""
    ci: Interval | None
    p: float | None
    """Two-sided; 1 where no pair differs, and never 0."""
    n: int
    n_zero: int
    """Pairs without a difference."""
    method: str
    seed: int | None
    """None where nothing was drawn."""
    effect: float | None
    """Cohen's g for McNemar: of the pairs that differ the share that rose, less a half. For the
    others d_z: the mean difference over the standard deviation of the differences."""
    reason: str | None = None


def compared(
    after: Scores,
    before: Scores,
    *,
    method: Method | None = None,
    seed: int = 0,
    draws: int = DRAWS,
    confidence: float = DEFAULT_CONFIDENCE,
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
    if method in ("randomisation", "bootstrap"):
        drawn = randomisation if method == "randomisation" else paired_bootstrap
        return drawn(after, before, seed=seed, draws=draws, confidence=confidence)
    return _UNDRAWN[method](after, before, confidence=confidence)


def spread(after: Scores, before: Scores) -> float | None:
    """The standard deviation of the differences, as `stats.power` asks for it.

    None under two pairs; 0 where every pair differs by the same.
    """
    return _Pairs.of(after, before).sd


def paired_t(after: Scores, before: Scores, *, confidence: float = DEFAULT_CONFIDENCE) -> Paired:
    """Student's test and interval of the mean difference.

    Where every pair differs by the same there is no spread to judge by: no interval, and no
    probability.

    >>> found = paired_t([0.9, 0.8, 0.7, 0.6, 0.95], [0.8, 0.69, 0.58, 0.47, 0.81])
    >>> round(found.p, 7), round(found.effect, 4)
    (7.07e-05, 7.5895)
    """
    from scipy.special import stdtr, stdtrit  # type: ignore[import-untyped]

    pairs = _Pairs.of(after, before)
    if not pairs.differing:
        return pairs.unmoved("paired t", confidence)
    if not pairs.sd or pairs.effect is None:
        return pairs.found("paired t", None, None, _no_spread(pairs.n))
    t, df, error = pairs.effect * math.sqrt(pairs.n), pairs.n - 1, pairs.sd / math.sqrt(pairs.n)
    half = float(stdtrit(df, 0.5 + confidence / 200)) * error
    ci = (pairs.mean - half, pairs.mean + half)
    return pairs.found("paired t", 2 * float(stdtr(df, -abs(t))), ci)


def wilcoxon(after: Scores, before: Scores, *, confidence: float = DEFAULT_CONFIDENCE) -> Paired:
    """Wilcoxon's signed-rank test, with the Hodges–Lehmann centre of the differences.

    Pairs without a difference are dropped from the test, as Wilcoxon did, and tied differences
    share their ranks; the distribution is counted out, ties and all, up to 50 pairs, and normal
    beyond. Centre and interval are of the means of any two differences, and keep all pairs.

    >>> wilcoxon([0.9, 0.8, 0.7, 0.6, 0.95], [0.8, 0.69, 0.58, 0.47, 0.81]).p
    0.0625
    """
    pairs = _Pairs.of(after, before)
    if not pairs.differing:
        return pairs.unmoved("Wilcoxon, exact", confidence)
    exact = pairs.differing <= _COUNTED_RANKS
    centre, ci = _hodges_lehmann(pairs, confidence)
    method = "Wilcoxon, exact" if exact else "Wilcoxon, normal"
    reason = _too_few(pairs.differing, pairs.n, "Wilcoxon") or _no_interval(ci, pairs.n, confidence)
    return pairs.found(method, _signed_ranks(pairs.whole), ci, reason, estimate=centre)


def randomisation(
    after: Scores,
    before: Scores,
    *,
    seed: int = 0,
    draws: int = DRAWS,
    confidence: float = DEFAULT_CONFIDENCE,
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
    pairs = _Pairs.of(after, before)
    if not pairs.differing:
        return pairs.unmoved("randomisation, exact", confidence)
    distinct, counts = np.unique(pairs.whole, return_counts=True)
    flipped = _subsets(np.column_stack([distinct, np.ones_like(distinct)]), counts, seed, draws)
    p = _by_all_signs(pairs.whole)
    method = "randomisation, exact"
    if p is None:
        p = _share_as_far(pairs.total - 2 * flipped.sums[:, 0], flipped.weights, pairs.whole)
        method = f"randomisation, {draws:,} draws"
    ci = pairs.interval(_subset_means(flipped, pairs.whole, confidence))
    reason = _too_few(pairs.differing, pairs.n, "randomisation")
    seed_used = None if flipped.exact else seed
    return pairs.found(method, p, ci, reason or _no_interval(ci, pairs.n, confidence), seed_used)


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
    pairs = _Pairs.of(after, before)
    if not pairs.differing:
        return pairs.unmoved("paired bootstrap", confidence)
    if not pairs.sd:
        return pairs.found("paired bootstrap", None, None, _no_spread(pairs.n))

    def interval(level: float) -> Interval | None:
        return mean_interval(pairs.differences, 100 * (1 - level), seed=seed, draws=draws).ci

    made = mean_interval(pairs.differences, confidence, seed=seed, draws=draws)
    method = f"paired bootstrap, {'closed form' if made.draws is None else f'{draws:,} draws'}"
    p = _level_at_0(interval, draws)
    return pairs.found(method, p, made.ci, _few_for_bootstrap(pairs.n), made.seed)


def mcnemar(after: Scores, before: Scores, *, confidence: float = DEFAULT_CONFIDENCE) -> Paired:
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
    pairs = _Pairs.of(after, before)
    if not pairs.n:
        return pairs.found("McNemar, exact", None, None)
    rose, differing = int((pairs.whole > 0).sum()), pairs.differing
    p = min(1.0, 2 * float(bdtr(min(rose, differing - rose), differing, 0.5)))
    ci = _score_interval(rose, differing - rose, pairs.n, confidence)
    effect = rose / differing - 0.5 if differing else None
    found = pairs.found("McNemar, exact", p, ci, _too_few(differing, pairs.n, "McNemar"))
    return replace(found, effect=effect)


def _score_interval(rose: int, fell: int, n: int, confidence: float) -> Interval:
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


METHODS: tuple[Method, ...] = get_args(Method)
_UNDRAWN: Mapping[str, Callable[..., Paired]] = MappingProxyType(
    {"mcnemar": mcnemar, "wilcoxon": wilcoxon, "t": paired_t}
)


# Metrics that are finished from summed rows, such as micro-F1 or precision over what was answered.


def swapped(
    after_rows: Counts,
    before_rows: Counts,
    finish: Finish,
    *,
    seed: int = 0,
    draws: int = DRAWS,
    confidence: float = DEFAULT_CONFIDENCE,
) -> Paired:
    """Fisher's randomisation of any metric: how often swapping runs changes it as much.

    Each unit has a row of whole numbers in either run, zeros where a run does not score it; units
    are swapped whole. An arrangement whose metric cannot be finished is left out. The interval is
    the percentile bootstrap of the units, a little narrow with few of them or near the metric's
    bounds. d_z is by the jackknife, which is the plain d_z where the metric is a mean.
    """
    after, before = _rows(after_rows), _rows(before_rows)
    if after.shape != before.shape:
        raise ValueError(f"the runs differ in shape: {after.shape} and {before.shape}")
    moved = after - before
    n, differing = len(moved), int(moved.any(axis=1).sum())
    change = _finisher(finish, after.sum(axis=0) + before.sum(axis=0))
    estimate = float(change(after.sum(axis=0)))
    if not math.isfinite(estimate):
        return Paired(
            estimate=None,
            ci=None,
            p=None,
            n=n,
            n_zero=n - differing,
            method="randomisation of units",
            seed=None,
            effect=None,
            reason="one of the runs has nothing to score" if n else "no pairs",
        )
    p, exact = _by_swaps(after, moved, change, seed, draws)
    sd = spread_of_rows(after, before, finish)
    made = metric_interval(
        np.hstack([after, before]), _side_by_side(finish), confidence, seed=seed, draws=draws
    )
    ci = made.ci if differing else _unseen(n, _reach_of_units(after, finish), confidence)
    return Paired(
        estimate=estimate,
        ci=ci,
        p=p,
        n=n,
        n_zero=n - differing,
        method=f"randomisation of units, {'exact' if exact else f'{draws:,} draws'}",
        seed=made.seed if exact else seed,
        effect=estimate / sd if sd else None,
        reason=_too_few(differing, n, "randomisation") or made.reason or _few_for_bootstrap(n),
    )


def spread_of_rows(after_rows: Counts, before_rows: Counts, finish: Finish) -> float | None:
    """The standard deviation, a unit, of the change of a metric finished from summed rows.

    By the jackknife: for a mean of one value a unit it is that of the differences. None under
    two units, and where leaving one out leaves nothing to finish.
    """
    after, before = _rows(after_rows), _rows(before_rows)
    n = len(after)
    if n < 2:
        return None
    with np.errstate(all="ignore"):
        left_out = finish(after.sum(axis=0) - after) - finish(before.sum(axis=0) - before)
    if not np.isfinite(left_out).all():
        return None
    away = left_out - math.fsum(left_out.tolist()) / n
    if np.abs(away).max() < _ROUNDING:
        return 0.0
    return math.sqrt((n - 1) * math.fsum((away * away).tolist()))


def _by_swaps(
    after: Counts, moved: Counts, change: Finish, seed: int, draws: int
) -> tuple[float, bool]:
    """How often the metric changes as much, and whether all arrangements were looked at."""
    lead = moved[np.arange(len(moved)), (moved != 0).argmax(axis=1)]
    up, differing = lead > 0, lead != 0
    # Units that moved by the same, whichever way, are interchangeable.
    alike = np.where(up[:, None], moved, -moved)[differing]
    distinct, counts = np.unique(alike, axis=0, return_counts=True)
    swaps = _subsets(distinct, counts, seed, draws, as_it_is=moved[up].sum(axis=0))
    lowest = after.sum(axis=0) - moved[up].sum(axis=0)
    changes = change(lowest + swaps.sums)
    defined = np.isfinite(changes)
    observed = abs(float(change(after.sum(axis=0))))
    far = defined & (np.abs(changes) >= observed - 1e-9 * observed)
    return _ratio(swaps.weights[far], swaps.weights[defined]), swaps.exact


def _finisher(finish: Finish, both: Counts) -> Finish:
    """The change of the metric, from the sums of the rows that stand after."""

    def change(after: Sums) -> Floats:
        with np.errstate(all="ignore"):
            return finish(after) - finish(both - after)

    return change


def _reach_of_units(rows: Counts, finish: Finish) -> float:
    """From the lowest of 0 and each unit's own finished value to the highest."""
    with np.errstate(all="ignore"):
        values = finish(rows)
    return _reach(values[np.isfinite(values)])


def _side_by_side(finish: Finish) -> Finish:
    """The change of the metric, from sums of both runs' rows beside each other."""

    def change(sums: Sums) -> Floats:
        columns = sums.shape[-1] // 2
        return finish(sums[..., :columns]) - finish(sums[..., columns:])

    return change


def _rows(rows: Counts) -> Counts:
    checked = np.asarray(rows)
    if checked.ndim != 2 or (checked.size and checked.dtype.kind not in "biu"):
        raise ValueError(
            f"rows must be whole numbers, (units, columns), not {checked.dtype} of "
            f"shape {checked.shape}"
        )
    return checked.astype(np.int64)


# Differences in whole steps.


class _Pairs(NamedTuple):
    """The differences of two runs, as they are and in whole steps of a power of two."""

    differences: Floats
    whole: Counts
    exponent: int
    reach: float
    """From the lowest of the scores and 0 to the highest."""

    @classmethod
    def of(cls, after: Scores, before: Scores) -> _Pairs:
        now, then = _scores(after), _scores(before)
        if len(now) != len(then):
            raise ValueError(f"the runs differ in length: {len(now)} and {len(then)} scores")
        differences = now - then
        largest = float(np.abs(differences).max(initial=0))
        scale = float(max(np.abs(now).max(initial=0), np.abs(then).max(initial=0)))
        bits = min(_STEP_BITS, _SUM_BITS - len(now).bit_length())
        exponent = max(math.frexp(largest)[1] - bits, math.frexp(scale)[1] - _STEP_BITS)
        whole = np.rint(np.ldexp(differences, -exponent)).astype(np.int64)
        reach = _reach(np.append(now, then))
        return cls(np.where(whole == 0, 0.0, differences), whole, exponent, reach)

    @property
    def n(self) -> int:
        return len(self.whole)

    @property
    def differing(self) -> int:
        return int((self.whole != 0).sum())

    @property
    def total(self) -> int:
        return int(self.whole.sum())

    @property
    def mean(self) -> float:
        return math.fsum(self.differences.tolist()) / self.n

    @property
    def sd(self) -> float | None:
        if self.n < 2:
            return None
        if (self.whole == self.whole[0]).all():
            return 0.0
        away = self.differences - self.mean
        return math.sqrt(math.fsum((away * away).tolist()) / (self.n - 1))

    @property
    def effect(self) -> float | None:
        return self.mean / self.sd if self.sd else None

    def interval(self, ends: Interval | None) -> Interval | None:
        """Ends in steps as ends in scores."""
        return None if ends is None else (self.score(ends[0]), self.score(ends[1]))

    def score(self, steps: float) -> float:
        """So many steps as a difference of scores, to the digits that steps can carry."""
        return float(f"{math.ldexp(steps, self.exponent):.10g}")

    def unmoved(self, method: str, confidence: float) -> Paired:
        """What is to be said of runs that differ in no pair."""
        if not self.n:
            return self.found(method, None, None)
        return self.found(method, 1.0, _unseen(self.n, self.reach, confidence), _too_few(0, 0, ""))

    def found(
        self,
        method: str,
        p: float | None,
        ci: Interval | None,
        reason: str | None = None,
        seed: int | None = None,
        estimate: float | None = None,
    ) -> Paired:
        if estimate is None and self.n:
            estimate = self.mean
        return Paired(
            estimate=estimate,
            ci=ci,
            p=None if p is None else max(p, sys.float_info.min),
            n=self.n,
            n_zero=self.n - self.differing,
            method=method,
            seed=seed,
            effect=self.effect,
            reason=reason if self.n else "no pairs",
        )


def _scores(scores: Scores) -> Floats:
    checked = np.asarray(scores, dtype=np.float64)
    if checked.ndim != 1:
        raise ValueError(f"scores must be a plain list of numbers, not of shape {checked.shape}")
    if not (np.abs(checked) < LARGEST).all():
        raise ValueError(f"every score must be a number below {LARGEST:g}: leave out absent ones")
    return checked


def _zero_or_one(scores: Scores) -> bool:
    return bool(np.isin(np.asarray(scores, dtype=np.float64), (0, 1)).all())


def _reach(scores: Floats) -> float:
    return float(scores.max(initial=0) - scores.min(initial=0))


def _unseen(n: int, reach: float, confidence: float) -> Interval | None:
    """How far apart runs may be that differ in none of n pairs; None where it cannot be said.

    A point for an interval would call three equal pairs proof. So many pairs without a difference
    leave a share that may differ (Wilson), and none differs by more than scores reach. For 0/1
    scores that is Tango's interval.
    """
    far = wilson(0.0, n, confidence)[1] * reach
    return (-far, far) if far else None


# Reasons.

_COUNT = ("no", "one", "two", "three", "four", "five")


def _too_few(differing: int, n: int, test: str) -> str | None:
    """Why a test of signs can say nothing: m pairs give no probability below 2 / 2^m."""
    if not differing:
        return "no pair differs"
    if differing >= len(_COUNT):
        return None
    few = f"{_COUNT[differing]} {'pair' if differing == 1 else 'pairs'}"
    if differing == n:
        return f"{few} can never reach .05 by {test}"
    verb = "differs" if differing == 1 else "differ"
    return f"only {_COUNT[differing]} of {n:,} pairs {verb}: {few} can never reach .05 by {test}"


def _no_interval(ci: Interval | None, n: int, confidence: float) -> str | None:
    return None if ci else f"{n} pairs are too few for a {confidence:g} % interval"


def _few_for_bootstrap(n: int) -> str | None:
    return f"{n} pairs are few: a bootstrap interval is too narrow" if n < _ENOUGH else None


def _no_spread(n: int) -> str:
    if n == 1:
        return "one pair has no spread to judge by"
    return f"all {n:,} pairs differ by the same: no spread to judge by"


# Random signs.


class _Subsets(NamedTuple):
    """Sums of rows over subsets, each subset as likely as its weight."""

    sums: Counts
    weights: Floats
    exact: bool


def _subsets(
    distinct: Counts, counts: Counts, seed: int, draws: int, as_it_is: Counts | int = 0
) -> _Subsets:
    """All subsets of rows, each seen so often; or drawn ones, after the subset at hand."""
    if _few_arrangements(counts):
        return _all_subsets(distinct, counts)
    sums = np.empty((draws + 1, distinct.shape[1]), dtype=np.int64)
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
            block[:] = _bits(seed, pairs, len(block), first) @ rows
    return _Subsets(sums, np.ones(draws + 1), False)


def _few_arrangements(counts: Counts) -> bool:
    within = len(counts) < _FEW_ARRANGEMENTS.bit_length()
    return within and math.prod(count + 1 for count in counts.tolist()) <= _FEW_ARRANGEMENTS


def _all_subsets(distinct: Counts, counts: Counts) -> _Subsets:
    sums = np.zeros((1, distinct.shape[1]), dtype=np.int64)
    weights = np.ones(1)
    for row, count in zip(distinct, counts.tolist(), strict=True):
        taken = np.arange(count + 1)[:, None] * row
        sums = (sums[:, None] + taken).reshape(-1, len(row))
        weights = np.outer(weights, _binomial(count)).ravel()
    return _Subsets(sums, weights, True)


def _binomial(of: int) -> Floats:
    """How likely 0, 1, ... of so many coins are heads: outwards from the middle, by the ratio of
    neighbours, because the numbers themselves would overflow."""
    middle = of // 2
    heads = np.arange(middle, of)
    above = np.cumprod(np.append(1.0, (of - heads) / (heads + 1)))
    weights = np.concatenate([above[: of % 2 : -1], above])
    return weights / math.fsum(weights)


def _bits(seed: int, pairs: int, draws: int, first: int) -> Counts:
    """A fair coin for each pair, (draws, pairs): what `coins` gives, at a bit a coin."""
    words = below(seed, 1 << _WORD, (draws, -(-pairs // _WORD)), first=first)
    bits = np.unpackbits(words.astype("<u4").view(np.uint8), axis=1, count=pairs)
    return bits.astype(np.int64)


def _by_all_signs(whole: Counts) -> float | None:
    """The share of all choices of signs that come as far; None where there are too many."""
    sizes = np.abs(whole[whole != 0])
    distinct, counts = np.unique(sizes, return_counts=True)
    if not _few_arrangements(counts):
        return None
    up = _all_subsets(distinct[:, None], counts)
    return _share_as_far(2 * up.sums[:, 0] - sizes.sum(), up.weights, whole)


def _share_as_far(totals: Counts, weights: Floats, whole: Counts) -> float:
    """The share of totals at least as far from 0 as the total at hand.

    A step is rounded by up to a half, so totals as many steps apart as there are pairs are tied.
    """
    far = np.abs(totals) >= abs(int(whole.sum())) - len(whole)
    return _ratio(weights[far], weights)


def _ratio(some: Floats, whole: Floats) -> float:
    return min(1.0, math.fsum(some.tolist()) / math.fsum(whole.tolist()))


def _subset_means(flipped: _Subsets, whole: Counts, confidence: float) -> Interval | None:
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


# Ranks.


def _signed_ranks(whole: Counts) -> float:
    """The two-sided probability of the signed ranks."""
    moved = whole[whole != 0]
    if not len(moved):
        return 1.0
    _, place, ties = np.unique(np.abs(moved), return_inverse=True, return_counts=True)
    doubled = (2 * np.cumsum(ties) - ties + 1)[place]  # ranks in halves, so that ties are whole
    up, both = int(doubled[moved > 0].sum()), int(doubled.sum())
    if len(moved) <= _COUNTED_RANKS:
        ways = _ways(doubled)
        extreme = int(ways[max(up, both - up) :].sum())
        return min(1.0, math.ldexp(extreme, 1 - len(moved)))
    z = abs(2 * up - both) / math.sqrt(math.fsum(doubled.astype(np.float64) ** 2))
    return math.erfc(z / math.sqrt(2))


def _ways(ranks: Counts) -> Counts:
    """How many subsets of ranks have each sum."""
    ways = np.zeros(int(ranks.sum()) + 1, dtype=np.int64)
    ways[0] = 1
    for rank in ranks.tolist():
        ways[rank:] += ways[:-rank].copy()
    return ways


def _hodges_lehmann(pairs: _Pairs, confidence: float) -> tuple[float, Interval | None]:
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
    if n <= _COUNTED_RANKS:
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


def _level_at_0(interval: Callable[[float], Interval | None], draws: int) -> float:
    """The level at which an interval just excludes 0, no finer than the draws allow."""
    low, high = 1 / (draws + 1), 1.0
    while high - low > 0.5 / (draws + 1):
        middle = (low + high) / 2
        ends = interval(middle)
        if ends is None or ends[0] <= 0 <= ends[1]:
            low = middle
        else:
            high = middle
    return high
