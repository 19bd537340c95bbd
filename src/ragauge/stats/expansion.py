"""The ends of a bootstrap distribution without a draw, where that is near enough.

Cornish and Fisher's expansion with the sample's own cumulants, and an estimate of its error: what
it says of a sample is used only where that error is below the one that draws would have.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ragauge.stats.intervals import Interval

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]
    Matrix = list[list[float]]


FARTHEST = 8.0
"""Beyond this place of the normal scale no expansion is trusted, and hardly a draw lies."""


ENOUGH_DRAWS = 10_000
BINS = 64
"""The most bins tried where lumps are looked for: a power of two."""


class Spread(NamedTuple):
    """The bootstrap distribution of a mean: its cumulants, and how lumpy it may be."""

    error: float
    """The standard error; what follows is in units of it."""
    skewness: float
    kurtosis: float
    fifth: float
    lumps: float


class Bend(NamedTuple):
    """What the curvature of a metric adds to the distribution of its straight part."""

    bias: float
    skewness: float
    rest: float
    """The standard deviation of the bent part. All three in standard errors."""


def tails(confidence: float, bias: float = 0.0, acceleration: float = 0.0) -> tuple[float, float]:
    """Where the ends lie on the normal scale: the percentiles, moved as BCa asks (Efron 1987).

    Rounded, because the last bits of a logarithm are the platform's own.
    """

    def moved(z: float) -> float:
        slowed = 1 - acceleration * (bias + z)
        return bias + (bias + z) / slowed if slowed > 0 else math.copysign(math.inf, z)

    z = round(NormalDist().inv_cdf(0.5 + confidence / 200), 12)
    return moved(-z), moved(z)


def scaled(numbers: Floats) -> tuple[Floats, int]:
    """Numbers over a power of two that brings them into [-1, 1], and its exponent: both exact."""
    exponent = math.frexp(float(np.abs(numbers).max()))[1]
    return np.ldexp(numbers, -exponent), exponent


def spread_of(away: Floats, counts: Counts) -> Spread:
    """The distribution of a mean of draws, from distances to the mean, each seen so often."""
    n = int(counts.sum())
    power, moments = counts.astype(np.float64), []
    for _ in range(5):
        power = power * away
        moments.append(_total(power) / n)
    _, second, third, fourth, fifth = moments
    deviation, root = math.sqrt(second), math.sqrt(n)
    skewness = third / (second * deviation)
    return Spread(
        error=deviation / root,
        skewness=skewness / root,
        kurtosis=(fourth / (second * second) - 3) / n,
        fifth=(fifth / (second * second * deviation) - 10 * skewness) / (n * root),
        lumps=_lumps(away, counts, deviation / root),
    )


def _total(numbers: Floats) -> float:
    """The sum in the order given, which is the same on every machine; `sum` chooses its own."""
    return float(np.cumsum(numbers)[-1])


def _lumps(away: Floats, counts: Counts, error: float) -> float:
    """How far, in standard errors, lumps in the values can keep a quantile from a smooth one.

    A sum of draws may move in steps, at worst as wide as the range of the values (two values do
    that), and a quantile is then half a step off. Cut the range into bins: steps from bin to bin
    are smeared by what varies inside the bins, with the standard deviation s of its sum, and of
    half a step h no more than the share exp(-2π²s²/h²) is left: that of the first harmonic of a
    sawtooth. Steps inside a bin are no wider than the bin. The best number of bins counts.
    """
    n, lowest = int(counts.sum()), float(away.min())
    width = float(away.max()) - lowest
    step, squares = width / n / error, (n * error) ** 2
    inside = np.minimum((away - lowest) / width * BINS, BINS - 1).astype(np.int64)
    seen = np.bincount(inside, counts, BINS)
    totals = np.bincount(inside, counts * away, BINS)
    best = math.inf
    while True:
        smear = squares - _total(totals * totals / np.maximum(seen, 1))
        left = math.exp(-2 * math.pi**2 * max(0.0, smear) / width**2)
        best = min(best, step * (1 / len(seen) + left) / 2)
        if len(seen) == 1:
            return best
        seen, totals = seen[::2] + seen[1::2], totals[::2] + totals[1::2]


def mean_ends(
    spread: Spread, confidence: float, draws: int, *, bca: bool = False
) -> tuple[float, float] | None:
    """The ends in standard errors from the mean; None where so many draws would come nearer.

    The error is taken to be the sum of the expansion's next terms, signs aside, and of the lumps.
    For a mean, BCa's bias and acceleration are both a sixth of the skewness.
    """
    slant = spread.skewness / 6 if bca else 0.0
    low, high = tails(confidence, slant, slant)
    # BCa reads the bias off the same distribution, and moves an end by twice its error.
    times = 3 if bca else 1
    for z in (low, high):
        if abs(z) > FARTHEST:
            return None
        if times * (next_terms(z, spread) + spread.lumps) > drawn_error(z, draws):
            return None
    return expanded(low, spread), expanded(high, spread)


def expanded(z: float, spread: Spread) -> float:
    """A quantile of the distribution, from the one of the normal distribution."""
    return (
        z
        + (z * z - 1) * spread.skewness / 6
        + (z * z - 3) * z * spread.kurtosis / 24
        - (2 * z * z - 5) * z * spread.skewness * spread.skewness / 36
    )


def next_terms(z: float, spread: Spread) -> float:
    """The size of the terms that `expanded` leaves out first."""
    z2 = z * z
    return (
        abs((z2 * z2 - 6 * z2 + 3) * spread.fifth) / 120
        + abs((z2 * z2 - 5 * z2 + 2) * spread.skewness * spread.kurtosis) / 24
        + abs((12 * z2 * z2 - 53 * z2 + 17) * spread.skewness**3) / 324
    )


def drawn_error(z: float, draws: int) -> float:
    """The standard error of a quantile of so many normal draws, or of 10,000 if they are fewer.

    Who asks for few draws wants it quick, not rough.
    """
    normal = NormalDist()
    share = normal.cdf(z)
    return math.sqrt(share * (1 - share) / max(draws, ENOUGH_DRAWS)) / normal.pdf(z)


# Metrics of several sums. A place is given by how far each sum lies off, in its standard errors.


class Shape(NamedTuple):
    """A metric around its value: its slope along each sum, and its bend along each two."""

    at: Callable[[Floats], Floats]
    value: float
    slopes: Floats
    bends: Floats


def metric_ends(
    rows: Floats,
    counts: Counts,
    finish: Callable[[Floats], Floats],
    confidence: float,
    draws: int,
) -> Interval | None:
    """The percentile interval of a smooth metric of sums; None where draws would come nearer.

    The metric is taken as a straight line over the units' rows, which has the expansion of a
    mean, and a bend, which adds a bias and a skewness. The error is taken to be that of the
    line, the products of what the bend adds, and what the metric has at either end beyond line
    and bend: one with an edge betrays itself there.
    """
    units, shape = _shape(rows, counts, finish)
    along = _times(units, shape.slopes)
    if not np.isfinite(along).all() or not np.ptp(along):
        return None
    away, exponent = scaled(along)
    spread = spread_of(away, counts)
    error = math.ldexp(spread.error * int(counts.sum()), exponent)
    together = np.array([[_total(counts * one * other) for other in units.T] for one in units.T])
    pull = _times(together, shape.slopes) / error
    bend = _bend(shape, together, pull, error)
    larger = max(abs(bend.bias), abs(bend.skewness), bend.rest)
    ends = []
    for z in tails(confidence):
        doubt = next_terms(z, spread) + spread.lumps + larger * (larger + abs(spread.skewness))
        doubt += _beyond(shape, pull * z) / error
        if not doubt <= drawn_error(z, draws):  # NaN is no better than too much
            return None
        end = expanded(z, spread) + bend.bias + bend.skewness * (z * z - 1) / 6
        ends.append(shape.value + error * end)
    return ends[0], ends[1]


def _shape(
    rows: Floats, counts: Counts, finish: Callable[[Floats], Floats]
) -> tuple[Floats, Shape]:
    """The units as places, and the shape of the metric, by differences as wide as draws go."""
    sums = np.array([_total(counts * column) for column in rows.T])
    away = rows - sums / int(counts.sum())
    steps = np.sqrt([_total(counts * column * column) for column in away.T])

    def at(place: Floats) -> Floats:
        return finish(sums + place * steps)

    one = np.eye(len(steps))
    left, right = one[:, None], one[None]
    value, up, down = float(at(0 * sums)), at(one), at(-one)
    bends = (at(left + right) - at(left - right) - at(right - left) + at(-left - right)) / 4
    np.fill_diagonal(bends, up - 2 * value + down)
    units = np.divide(away, steps, out=np.zeros_like(away), where=steps > 0)
    return units, Shape(at, value, (up - down) / 2, bends)


def _bend(shape: Shape, together: Floats, pull: Floats, error: float) -> Bend:
    """Bias, skewness and deviation of half a quadratic form of the sums."""
    product = _times(shape.bends, together)
    return Bend(
        bias=_total((shape.bends * together).ravel()) / 2 / error,
        skewness=3 * _total(pull * _times(shape.bends, pull)) / error,
        rest=math.sqrt(max(0.0, _total((product * product.T).ravel()) / 2)) / error,
    )


def _beyond(shape: Shape, place: Floats) -> float:
    """What the metric has at a place beyond its line and its bend."""
    straight = _total(shape.slopes * place)
    bent = _total(place * _times(shape.bends, place)) / 2
    return abs(float(shape.at(place)) - shape.value - straight - bent)


def _times(left: Floats, right: Floats) -> Floats:
    """The product of matrices, summed in order; a product of BLAS is each machine's own."""
    if right.ndim == 1:
        return _times(left, right[:, None])[:, 0]
    product = np.zeros((len(left), right.shape[1]))
    for column, row in zip(left.T, right, strict=True):
        product += column[:, None] * row
    return product
