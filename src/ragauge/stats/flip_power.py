"""What so many units can show at all: tests of signs and of flips go in steps."""

from __future__ import annotations

import math

from ragauge.stats.intervals import z_of
from ragauge.stats.power import ALPHA, POWER, detectable


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
    from scipy.special import betaincinv  # type: ignore[import-untyped]

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
