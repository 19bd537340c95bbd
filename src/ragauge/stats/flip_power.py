"""The smallest change that a paired test of so many units finds, for graded and for 0/1 scores."""

from __future__ import annotations

from ragauge.stats.power import ALPHA, POWER, detectable


def smallest_seen(
    sd: float, n: int, *, flips: bool, power: float = POWER, alpha: float = ALPHA
) -> float | None:
    """The smallest true change that n units find with this power, where they vary as they do now.

    Scores of 0 and 1 change by flips, and a spread that was seen among few of them promises too
    much: McNemar's test needs so many flips one way however little else moves. None where n units
    have not that many.

    >>> round(smallest_seen(0.3, 24, flips=False), 3), round(smallest_seen(0.3, 24, flips=True), 3)
    (0.179, 0.309)
    """
    graded = detectable(sd, n, power=power, alpha=alpha)
    if graded is None or not flips:
        return graded
    fewest = fewest_flips(alpha)
    if fewest > n:
        return None
    from scipy.special import betaincinv  # type: ignore[import-untyped]

    # So many flips of n are seen with this power, if each unit flips with this chance.
    return max(graded, float(betaincinv(fewest, n - fewest + 1, power)))


def fewest_flips(alpha: float = ALPHA) -> int:
    """How many units must flip one way, and none the other, for McNemar's exact test to see it.

    >>> fewest_flips(0.05), fewest_flips(0.01)
    (6, 8)
    """
    flips = 1
    while 2 * 0.5**flips >= alpha:
        flips += 1
    return flips
