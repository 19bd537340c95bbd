"""A straight line through points, how sure its slope is, and the percentiles of a sample."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct


class Trend(Struct, frozen=True):
    """The slope of a line fitted by least squares, and its standard error."""

    slope: float
    error: float


def trend(at: Sequence[float], values: Sequence[float]) -> Trend | None:
    """The line through the values; None under three points, or if all are at one place.

    >>> trend([0, 1, 2, 3], [5, 7, 9, 11])
    Trend(slope=2.0, error=0.0)
    """
    n = len(at)
    if n < 3:
        return None
    centre, mean = math.fsum(at) / n, math.fsum(values) / n
    spread = math.fsum((x - centre) ** 2 for x in at)
    if spread == 0:
        return None
    pairs = list(zip(at, values, strict=True))
    slope = math.fsum((x - centre) * (y - mean) for x, y in pairs) / spread
    left = math.fsum((y - mean - slope * (x - centre)) ** 2 for x, y in pairs)
    return Trend(slope, math.sqrt(left / (n - 2) / spread))


def slope_interval(line: Trend, n: int, percent: float) -> tuple[float, float]:
    """The confidence interval of the slope of a line through n points, by Student's t."""
    from scipy.special import stdtrit  # type: ignore[import-untyped]

    reach = line.error * float(stdtrit(n - 2, (1 + percent / 100) / 2))
    return line.slope - reach, line.slope + reach


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
