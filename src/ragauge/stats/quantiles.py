"""Quantiles of a sample, and how large it must be for one to mean something."""

from __future__ import annotations

from collections.abc import Sequence


def percentile(ordered: Sequence[float], percent: int) -> float | None:
    """The value below which a percentage of an ascending sample lies; None for an empty one.

    Between two values it is interpolated linearly, as numpy does by default (Hyndman and Fan's
    seventh definition).

    >>> percentile([10, 20, 30, 40], 50), percentile([10, 20], 95), percentile([], 50)
    (25.0, 19.5, None)
    """
    if not ordered:
        return None
    whole, hundredths = divmod(percent * (len(ordered) - 1), 100)
    low = ordered[whole]
    high = ordered[min(whole + 1, len(ordered) - 1)]
    return low + (high - low) * hundredths / 100


def sample_needed(percent: int) -> int:
    """How many values it takes until one is expected to lie beyond the percentile.

    In a smaller sample the percentile is little more than its largest value.

    >>> sample_needed(50), sample_needed(95), sample_needed(99)
    (2, 20, 100)
    """
    return -(-100 // (100 - percent))
