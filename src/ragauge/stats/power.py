"""How many pairs it takes to find a difference, and what a number of pairs can find."""

from __future__ import annotations

import math
from collections.abc import Callable

from ragauge.stats.intervals import z_of

POWER = 0.8
ALPHA = 0.05

_MOST = 1 << 40
"""Beyond this many pairs a number would be no advice."""

_NO_WRONG_WAY = 6.0
"""So many standard errors away, a finding in the wrong direction has a chance under 1e-9, and
scipy's distribution may answer NaN there."""

_FAR = 1e6
"""So many standard errors away, everything is found; further out scipy answers NaN."""


def power_at(n: int, sd: float, difference: float, *, alpha: float = ALPHA) -> float:
    """The chance that a two-sided paired t test of n pairs finds a true difference.

    By the noncentral t distribution. The sign-flip randomisation comes to the same within a
    hundredth from some twenty pairs on; McNemar's exact test finds a little less, because its
    probabilities come in steps.

    >>> round(power_at(34, sd=1.0, difference=0.5), 3)
    0.808
    """
    away = abs(difference) / sd * math.sqrt(n)
    bound = _bound(n, alpha)
    wrong_way = _under(-bound, n, away) if away < _NO_WRONG_WAY else 0.0
    return 1 - _under(bound, n, away) + wrong_way


def margin_power_at(
    n: int, sd: float, margin: float, change: float = 0.0, *, alpha: float = ALPHA
) -> float:
    """The chance that n pairs show a change, a gain if positive, to be no loss past the margin.

    That is the chance of a two-sided interval, by t, wholly above −margin: a one-sided test at
    half of alpha.
    """
    away = (change + margin) / sd * math.sqrt(n)
    return 1 - _under(_bound(n, alpha), n, away)


def needed(
    sd: float, difference: float, *, power: float = POWER, alpha: float = ALPHA
) -> int | None:
    """The fewest pairs that find a difference with this power, by a two-sided paired t test.

    `sd` is the standard deviation of the pairs' differences. None where there is no difference
    to find, or no spread to find it in.

    >>> needed(sd=1.0, difference=0.5)
    34
    """
    if not _usable(sd) or difference == 0:
        return None
    return _fewest(lambda n: power_at(n, sd, difference, alpha=alpha) >= power)


def needed_for_margin(
    sd: float, margin: float, change: float = 0.0, *, power: float = POWER, alpha: float = ALPHA
) -> int | None:
    """The fewest pairs that show a change to be no loss past the margin, with this power.

    `change` is the true one, a loss if negative. None where it is a loss of the margin or more:
    then no number of pairs should.

    >>> needed_for_margin(sd=0.3, margin=0.05), needed_for_margin(sd=0.3, margin=0.05, change=-0.05)
    (285, None)
    """
    if not _usable(sd) or change + margin <= 0:
        return None
    return _fewest(lambda n: margin_power_at(n, sd, margin, change, alpha=alpha) >= power)


def detectable(sd: float, n: int, *, power: float = POWER, alpha: float = ALPHA) -> float | None:
    """The smallest true difference that n pairs find with this power.

    None under two pairs, or where there is no spread.

    >>> round(detectable(sd=1.0, n=34), 4)
    0.495
    """
    if not _usable(sd) or n < 2:
        return None
    low, high = 0.0, sd
    while power_at(n, sd, high, alpha=alpha) < power:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if power_at(n, sd, middle, alpha=alpha) < power:
            low = middle
        else:
            high = middle
    return high


def _bound(n: int, alpha: float) -> float:
    """What |t| of n pairs must pass."""
    from scipy.special import stdtrit  # type: ignore[import-untyped]

    return float(stdtrit(n - 1, 1 - alpha / 2))


def _under(bound: float, n: int, away: float) -> float:
    """The chance that t of n pairs stays under a bound, if the truth lies so far away."""
    from scipy.special import nctdtr

    return float(nctdtr(n - 1, max(-_FAR, min(away, _FAR)), bound))


def _usable(sd: float) -> bool:
    return math.isfinite(sd) and sd > 0


def _fewest(enough: Callable[[int], bool]) -> int | None:
    """The smallest number of pairs from two on that is enough; more pairs never find less."""
    high = 2
    while not enough(high):
        high *= 2
        if high > _MOST:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle
    return high


def smallest_seen(
    sd: float, n: int, *, flips: bool, power: float = POWER, alpha: float = ALPHA
) -> float | None:
    """The smallest true change that n units find with this power, where they vary as they do now.

    None where n units find nothing, whatever they come to: no signs of n pairs are rarer than
    2 / 2^n. Scores of 0 and 1 change by flips, and a spread that was seen among few of them
    promises too much: McNemar's test needs so many flips one way however little else moves.

    >>> round(smallest_seen(0.3, 24, flips=False), 3), round(smallest_seen(0.3, 24, flips=True), 3)
    (0.179, 0.309)
    >>> smallest_seen(0.3, 5, flips=False) is None
    True
    """
    fewest = fewest_flips(alpha)
    graded = detectable(sd, n, power=power, alpha=alpha) if n >= fewest else None
    if graded is None or not flips:
        return graded
    from scipy.special import betaincinv

    # So many flips of n are seen with this power, if each unit flips with this chance.
    return max(graded, float(betaincinv(fewest, n - fewest + 1, power)))


def fewest_flips(alpha: float = ALPHA) -> int:
    """How many units must move one way, and none the other, for a test of signs to see it.

    >>> fewest_flips(0.05), fewest_flips(0.01)
    (6, 8)
    """
    flips = 1
    while 2 * 0.5**flips >= alpha:
        flips += 1
    return flips


def fewest_to_find(n: int, differing: int, alpha: float = ALPHA) -> int:
    """The fewest units, more than n, among which a test of signs could find anything.

    As large a share of them as now is taken to differ.

    >>> fewest_to_find(6, 5), fewest_to_find(80, 8)
    (8, 81)
    """
    return max(n + 1, math.ceil(fewest_flips(alpha) * n / differing))


def fewest_to_rule_out(n: int, margin: float, alpha: float = ALPHA) -> int:
    """The fewest units, more than n, that could rule out a loss of this share of 0/1 scores.

    So many without a single loss leave less than the margin open, by the score interval.

    >>> fewest_to_rule_out(10, 0.05), fewest_to_rule_out(500, 0.05)
    (73, 501)
    """
    return max(n + 1, math.floor(z_of(100 * (1 - alpha)) ** 2 * (1 / margin - 1)) + 1)
