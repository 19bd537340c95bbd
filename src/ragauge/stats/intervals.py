"""Intervals in closed form: no draws, no seed, the same on every machine."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]


Interval = tuple[float, float]

DEFAULT_CONFIDENCE = 95.0
ROUNDING = 1e-12
"""A standard error below this is that of floating-point sums: nothing varies."""


def z_of(confidence: float) -> float:
    """The normal quantile of a two-sided level in percent.

    >>> round(z_of(95), 4)
    1.96
    """
    return NormalDist().inv_cdf(0.5 + confidence / 200)


def wilson(share: float, n: float, confidence: float = DEFAULT_CONFIDENCE) -> Interval:
    """The score interval of a share (Wilson 1927).

    It never leaves [0, 1], and does not collapse to a point at 0 or 1 as the textbook one does.

    >>> low, high = wilson(0.0, 20)
    >>> round(low, 4), round(high, 4)
    (0.0, 0.1611)
    """
    z2 = z_of(confidence) ** 2
    centre = share + z2 / (2 * n)
    half = math.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n)))
    scale = 1 + z2 / n
    low = 0.0 if share == 0 else max(0.0, (centre - half) / scale)
    high = 1.0 if share == 1 else min(1.0, (centre + half) / scale)
    return low, high


def clustered(yes: Counts, of: Counts, confidence: float = DEFAULT_CONFIDENCE) -> Interval:
    """The Wilson interval of a share whose trials come in clusters, such as runs of a question.

    Trials of one cluster resemble each other, so the number of trials is divided by the design
    effect: the variance of the ratio between clusters over that of independent trials (Kish).
    Where every trial agrees the effect cannot be seen, and each cluster counts once.
    """
    return wilson(float(yes.sum() / of.sum()), effective_n(yes, of), confidence)


def weighted_share(
    yes: Counts, of: Counts, weights: Floats, confidence: float = DEFAULT_CONFIDENCE
) -> Interval:
    """The Wilson interval of a population's share, from clusters that each stand for `weights`.

    The trials are worth as many as would vary like the linearised ratio does between clusters;
    where nothing varies, each cluster counts once, less what unequal weights cost (Kish). That
    the sample was stratified is not used: the interval is rather too wide than too narrow.
    """
    trials = math.fsum(weights * of)
    share = math.fsum(weights * yes) / trials
    there = weights[of > 0]
    n = len(there)
    spread = math.fsum((weights * (yes - share * of)) ** 2) / trials**2
    if share in (0, 1) or n == 1 or math.sqrt(spread) < ROUNDING:
        return wilson(share, math.fsum(there) ** 2 / math.fsum(there**2), confidence)
    worth = share * (1 - share) / (spread * n / (n - 1))
    return wilson(share, min(worth, float(of.sum())), confidence)


def effective_n(yes: Counts, of: Counts) -> float:
    """How many independent trials the clustered ones are worth."""
    trials = int(of.sum())
    clusters = int((of > 0).sum())
    if trials == clusters:
        return trials
    share = yes.sum() / trials
    if share in (0, 1) or clusters == 1:
        return clusters
    between = float((((yes - share * of) ** 2).sum()) * clusters / (clusters - 1))
    effect = between / (trials * share * (1 - share))
    return float(trials / max(1.0, effect))


def mean_of_shares(
    shares: Floats, confidence: float = DEFAULT_CONFIDENCE, weights: Floats | None = None
) -> Interval:
    """The interval of the mean of shares, one a unit and all units equal, or of these weights.

    Wilson's, for as many trials as would vary like these units; where they do not vary at all,
    each counts once.

    >>> low, high = mean_of_shares(np.array([1.0] * 20))
    >>> round(low, 4), high
    (0.8389, 1.0)
    """
    if weights is None:
        weights = np.ones(len(shares))
    # Rounded once, so that shares of 1 have a mean of exactly 1.
    total, squares = math.fsum(weights), math.fsum(weights**2)
    mean, n = math.fsum(weights * shares) / total, total**2 / squares
    spread = math.fsum((weights * (shares - mean)) ** 2) / total**2
    variance = spread * n / (n - 1) if n > 1 else 0.0
    worth = mean * (1 - mean) / variance if variance else n
    return wilson(mean, max(worth, n), confidence)


def jackknife(
    rows: Counts | Floats,
    finish: Callable[[Any], Floats],
    bounds: tuple[float, float | None],
    confidence: float = DEFAULT_CONFIDENCE,
) -> Interval | None:
    """A normal interval of any finished metric, leaving out one unit at a time.

    None where there are fewer than two units, or leaving one out leaves nothing to finish.
    """
    n = len(rows)
    if n < 2:
        return None
    totals = rows.sum(axis=0)
    with np.errstate(all="ignore"):  # leaving a unit out may leave 0 / 0: then there is no interval
        left_out = finish(totals - rows)
    spread = math.sqrt((n - 1) / n * float(((left_out - left_out.mean()) ** 2).sum()))
    if not math.isfinite(spread):
        return None
    value, half = float(finish(totals)), z_of(confidence) * spread
    low, high = bounds
    return max(low, value - half), (value + half if high is None else min(high, value + half))


def paired_change(
    now: tuple[Counts, Counts],
    before: tuple[Counts, Counts],
    confidence: float = DEFAULT_CONFIDENCE,
) -> Interval:
    """The interval of the change of a share between two runs over the same questions.

    Newcombe's square-and-add of the two Wilson intervals (1998, method 10), with the correlation
    of what each question adds to either share: for plain 0/1 pairs that is the phi coefficient
    with his continuity correction. It holds for shares with different denominators too, and does
    not collapse when nothing moved.
    """
    (yes_1, of_1), (yes_0, of_0) = now, before
    share_1, share_0 = float(yes_1.sum() / of_1.sum()), float(yes_0.sum() / of_0.sum())
    low_1, high_1 = wilson(share_1, effective_n(yes_1, of_1), confidence)
    low_0, high_0 = wilson(share_0, effective_n(yes_0, of_0), confidence)
    a, b = yes_1 - share_1 * of_1, yes_0 - share_0 * of_0
    norm, together = math.sqrt(float((a * a).sum()) * float((b * b).sum())), float((a * b).sum())
    # A positive correlation is drawn towards 0 by half a question: without that, two equal runs
    # with a share of one half would have a point for an interval.
    together = max(0.0, together - 0.5) if together > 0 else together
    phi = together / norm if norm else 0.0
    change = share_1 - share_0
    down = _square_and_add(share_1 - low_1, high_0 - share_0, phi)
    up = _square_and_add(high_1 - share_1, share_0 - low_0, phi)
    return max(-1.0, change - down), min(1.0, change + up)


def _square_and_add(a: float, b: float, phi: float) -> float:
    return math.sqrt(max(0.0, a * a - 2 * phi * a * b + b * b))


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
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if before(middle) else (low, middle)
    return (low + high) / 2
