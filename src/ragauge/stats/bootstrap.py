"""Bootstrap intervals of a mean, and of any metric finished from summed count vectors.

Units are drawn with replacement, by seed, and the same on every machine: what is summed is whole
numbers. Where an expansion of the bootstrap distribution comes nearer to it than the draws are
likely to, nothing is drawn. The order of the units never changes a result.
"""

from __future__ import annotations

import math
from functools import partial
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from msgspec import Struct

from ragauge.stats.draws import below, multinomials
from ragauge.stats.intervals import DEFAULT_CONFIDENCE, Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]
    Sums = Counts | Floats
    Finish = Callable[[Sums], Floats]
    from collections.abc import Callable

    from ragauge.stats.intervals import Interval

    Matrix = list[list[float]]


Kind = Literal["percentile", "bca"]
Method = Literal["closed form", "distinct draws", "draws"]

DRAWS = 10_000
LARGEST = 1e300
FEW = 256
"""More distinct values than this are not few, however many the units."""
UNITS_A_VALUE = 8
"""A drawn count of one value costs about as much as this many drawn units."""
WIDE = 8
"""From this many columns on, a row's hash is cheaper to compare than the row."""
BLOCK = 1 << 20
"""How many drawn numbers are held at once."""
_SUM_BITS = 62
_GOLDEN = 0x9E3779B97F4A7C15
"""The golden ratio in 64 bits: odd multiples of it spread what they multiply."""


class Bootstrap(Struct, frozen=True):
    """A value with its bootstrap interval, and how that was made."""

    value: float | None
    ci: Interval | None
    method: Method
    kind: Kind
    seed: int | None = None
    """None where nothing was drawn."""
    draws: int | None = None
    reason: str | None = None
    """Why there is no interval, why it says little, or which draws are left out."""


def mean_interval(
    values: Sequence[float] | Floats,
    confidence: float = DEFAULT_CONFIDENCE,
    *,
    kind: Kind = "percentile",
    seed: int = 0,
    draws: int = DRAWS,
) -> Bootstrap:
    """The mean of values, one a unit, and its interval.

    In closed form where that is nearer to the bootstrap distribution than so many draws would
    be; over distinct values where they are few; unit by unit otherwise.

    >>> made = mean_interval([0, 0, 1, 1, 1, 0, 1, 1] * 2)
    >>> made.value, made.ci, made.method
    (0.625, (0.375, 0.875), 'distinct draws')
    """
    _check(confidence, kind, draws)
    numbers = np.asarray(values, dtype=np.float64) + 0.0  # -0.0 and 0.0 are one value
    if numbers.ndim != 1:
        raise ValueError(f"values must be a plain list of numbers, not of shape {numbers.shape}")
    if not (np.abs(numbers) < LARGEST).all():
        raise ValueError(f"every value must be a number below {LARGEST:g}: leave out absent ones")
    n = len(numbers)
    distinct, counts = np.unique(numbers, return_counts=True)
    if len(distinct) < 2:
        return _undrawn(float(distinct[0]) if n else None, n, "value", kind)
    value = math.fsum(numbers.tolist()) / n
    away, exponent = scaled(distinct - value)
    spread = spread_of(away, counts)
    closed = mean_ends(spread, confidence, draws, bca=kind == "bca")
    if closed is not None:
        low, high = (value + math.ldexp(end * spread.error, exponent) for end in closed)
        return Bootstrap(value, (low, high), "closed form", kind)
    bits = _SUM_BITS - n.bit_length()
    # In whole steps of 2^-bits, whose sums are the same in any order.
    whole = np.rint(np.ldexp(away, bits)).astype(np.int64)[:, None]
    totals, method = _resampled(whole, counts, seed, draws)
    means = value + np.ldexp(totals[:, 0] / n, exponent - bits)
    ends, reason = _ends(means, value, confidence, kind, spread.skewness / 6)
    return Bootstrap(value, ends, method, kind, seed, draws, reason)


def metric_interval(
    rows: Counts,
    finish: Finish,
    confidence: float = DEFAULT_CONFIDENCE,
    *,
    times: Counts | None = None,
    kind: Kind = "percentile",
    seed: int = 0,
    draws: int = DRAWS,
) -> Bootstrap:
    """A metric finished from the sums of its units' rows, and its interval.

    `rows` are whole numbers, (units, columns); of units that are alike one row will do, where
    `times` says how many they are. The difference of two runs is a row with the columns of both,
    and a finish that subtracts. Drawn sums are exact; where 64 bits cannot hold them, `finish`
    gets floats within a rounding of them. A draw that cannot be finished is left out, and the
    reason counts such draws. Where distinct rows are many, a percentile interval is in closed
    form if the metric is smooth enough for that; `finish` then gets floats too.

    >>> made = metric_interval(np.array([[1, 2], [2, 2], [0, 1]]), lambda sums: sums[..., 0] / 5)
    >>> made.value, made.ci, made.method
    (0.6, (0.0, 1.2), 'draws')
    """
    _check(confidence, kind, draws)
    rows = np.asarray(rows)
    if rows.ndim != 2:
        raise ValueError(f"rows must be of shape (units, columns), not {rows.shape}")
    if rows.dtype.kind not in "biu" and rows.size:
        raise ValueError(f"rows must be whole numbers, not {rows.dtype}")
    distinct, counts = _distinct(rows.astype(np.int64), times)
    n, columns = int(counts.sum()), distinct.shape[1]
    if not n:
        return _undrawn(None, n, "row", kind)
    halves = _halved(distinct, n)
    whole = _joined((counts[:, None] * halves).sum(axis=0), columns)
    value = float(_finished(finish, whole))
    if math.isnan(value):
        return Bootstrap(None, None, "closed form", kind, reason="the sums have no finished value")
    if len(distinct) < 2:
        return _undrawn(value, n, "row", kind)
    if kind == "percentile" and not _few(counts):
        closed = metric_ends(
            distinct.astype(np.float64), counts, partial(_finished, finish), confidence, draws
        )
        if closed is not None:
            return Bootstrap(value, closed, "closed form", kind)
    totals, method = _resampled(halves, counts, seed, draws)
    finished = _finished(finish, _joined(totals, columns))
    left_out = _finished(finish, whole - _joined(halves, columns))
    ends, reason = _ends(finished, value, confidence, kind, _acceleration(left_out, counts))
    return Bootstrap(value, ends, method, kind, seed, draws, reason)


def _check(confidence: float, kind: Kind, draws: int) -> None:
    if not 0 < confidence < 100:
        raise ValueError(f"the confidence must be between 0 and 100 percent, not {confidence}")
    if kind not in get_args(Kind):
        raise ValueError(f"the kind must be one of {', '.join(get_args(Kind))}, not {kind!r}")
    if draws < 1:
        raise ValueError(f"there must be at least one draw, not {draws}")


def _distinct(rows: Counts, times: Counts | None = None) -> tuple[Counts, Counts]:
    """The different rows in order, and how often each is met.

    Where rows are wide, few of them differ: they are told apart by one hash each, and only the
    different ones are compared column by column.
    """
    times = np.ones(len(rows), dtype=np.int64) if times is None else times
    varying = np.flatnonzero((rows != rows[:1]).any(axis=0))
    if len(varying) >= WIDE:
        odd = np.arange(1, 2 * rows.shape[1], 2, dtype=np.uint64) * np.uint64(_GOLDEN)
        hashed = rows.astype(np.uint64) @ (odd ^ (odd >> np.uint64(29)))
        _, first, which = np.unique(hashed, return_index=True, return_inverse=True)
        if (rows[first][which] == rows).all():
            rows, times = rows[first], np.bincount(which, weights=times).astype(np.int64)
    if len(varying):
        order = np.lexsort(rows.T[varying[::-1]])
        rows, times = rows[order], times[order]
    unlike = np.ones(len(rows), dtype=bool)
    unlike[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    begins = np.flatnonzero(unlike)
    return rows[begins], np.add.reduceat(times, begins)


def _undrawn(value: float | None, n: int, what: str, kind: Kind) -> Bootstrap:
    """What is to be said of units that do not vary."""
    if value is None or n < 2:
        reason = f"one {what} has no interval" if n else f"no {what}s"
        return Bootstrap(value, None, "closed form", kind, reason=reason)
    reason = f"all {n:,} {what}s are equal: the interval says nothing"
    return Bootstrap(value, (value, value), "closed form", kind, reason=reason)


def _few(counts: Counts) -> bool:
    """Whether it is cheaper to draw counts of distinct values than units."""
    return len(counts) <= min(FEW, int(counts.sum()) // UNITS_A_VALUE)


def _resampled(
    rows: Counts, counts: Counts, seed: int, draws: int
) -> tuple[Counts, Literal["distinct draws", "draws"]]:
    """Sums of rows drawn with replacement, each seen so often, (draws, columns)."""
    n = int(counts.sum())
    totals = np.empty((draws, rows.shape[1]), dtype=np.int64)
    if _few(counts):
        at_once = max(1, BLOCK // len(rows))
        for first in range(0, draws, at_once):
            block = totals[first : first + at_once]
            block[:] = multinomials(seed, counts, len(block), first=first) @ rows
        return totals, "distinct draws"
    units = np.repeat(rows.T, counts, axis=1)
    at_once = max(1, BLOCK // n)
    for first in range(0, draws, at_once):
        block = totals[first : first + at_once]
        places = below(seed, n, (len(block), n), first=first)
        for column, unit in enumerate(units):
            block[:, column] = unit[places].sum(axis=1)
    return totals, "draws"


def _halved(rows: Counts, n: int) -> Counts:
    """The rows; or their upper and lower halves side by side, where n of them could overflow."""
    largest = max(int(rows.max(initial=0)), -int(rows.min(initial=0)))
    if largest * n < 1 << 63:
        return rows
    return np.hstack([rows >> 32, rows & 0xFFFFFFFF])


def _joined(sums: Counts, columns: int) -> Sums:
    """Sums of rows from what `_halved` made of the rows."""
    if sums.shape[-1] == columns:
        return sums
    upper, lower = sums[..., :columns].astype(np.float64), sums[..., columns:]
    return upper * 2.0**32 + lower


def _finished(finish: Finish, sums: Sums) -> Floats:
    """The finished values, NaN where there is none."""
    with np.errstate(all="ignore"):
        values = np.asarray(finish(sums), dtype=np.float64)
    return np.where(np.isfinite(values), values, np.nan)


def _ends(
    finished: Floats, value: float, confidence: float, kind: Kind, acceleration: float | None
) -> tuple[Interval | None, str | None]:
    """The interval of drawn values, and what is to be said about it."""
    ordered = np.sort(finished[~np.isnan(finished)])
    if not len(ordered):
        return None, f"none of {len(finished):,} draws has a finished value"
    lost = len(finished) - len(ordered)
    told = f"{lost:,} of {len(finished):,} draws have no finished value and are left out"
    if ordered[0] == ordered[-1]:
        same = "every draw gives the same value: the interval says nothing"
        return (value, value), f"{same}; {told}" if lost else same
    bias = _bias(ordered, value) if kind == "bca" else 0.0
    acceleration = acceleration if kind == "bca" else 0.0
    if bias is None:
        return None, "no BCa interval: every draw lies on one side of the value"
    if acceleration is None:
        return None, "no BCa interval: leaving out a unit can leave no finished value"
    low, high = (_quantile(ordered, z) for z in tails(confidence, bias, acceleration))
    return (low, high), told if lost else None


def _quantile(ordered: Floats, z: float) -> float:
    """The draw at a place of the normal scale; an infinite one is an end of the draws.

    Between two draws it is interpolated linearly, as numpy does by default.
    """
    share = round(NormalDist().cdf(z), 12) if math.isfinite(z) else float(z > 0)
    whole, part = divmod(share * (len(ordered) - 1), 1)
    low = float(ordered[int(whole)])
    high = float(ordered[min(int(whole) + 1, len(ordered) - 1)])
    return low + (high - low) * part


def _bias(ordered: Floats, value: float) -> float | None:
    """How far the median of the draws lies off the value, on the normal scale.

    A draw that is equal but for rounding counts half on either side. None where all lie on one.
    """
    rounding = 1e-12 * float(ordered[-1] - ordered[0])
    under = int(np.searchsorted(ordered, value - rounding, side="left"))
    up_to = int(np.searchsorted(ordered, value + rounding, side="right"))
    share = (under + up_to) / (2 * len(ordered))
    return round(NormalDist().inv_cdf(share), 12) if 0 < share < 1 else None


def _acceleration(left_out: Floats, counts: Counts) -> float | None:
    """A sixth of the skewness of the values with one unit left out; None where one has no value."""
    if np.isnan(left_out).any():
        return None
    mean = math.fsum((counts * left_out).tolist()) / int(counts.sum())
    away = mean - left_out
    squares = math.fsum((counts * away * away).tolist())
    cubes = math.fsum((counts * away * away * away).tolist())
    return cubes / (6 * squares * math.sqrt(squares)) if squares else 0.0


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
    # Half a quadratic form of the sums: what the bend adds, in standard errors.
    product = _times(shape.bends, together)
    bias = _total((shape.bends * together).ravel()) / 2 / error
    skewness = 3 * _total(pull * _times(shape.bends, pull)) / error
    rest = math.sqrt(max(0.0, _total((product * product.T).ravel()) / 2)) / error
    larger = max(abs(bias), abs(skewness), rest)
    ends = []
    for z in tails(confidence):
        doubt = next_terms(z, spread) + spread.lumps + larger * (larger + abs(spread.skewness))
        place = pull * z
        straight = _total(shape.slopes * place)
        bent = _total(place * _times(shape.bends, place)) / 2
        doubt += abs(float(shape.at(place)) - shape.value - straight - bent) / error
        if not doubt <= drawn_error(z, draws):  # NaN is no better than too much
            return None
        end = expanded(z, spread) + bias + skewness * (z * z - 1) / 6
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


def _times(left: Floats, right: Floats) -> Floats:
    """The product of matrices, summed in order; a product of BLAS is each machine's own."""
    if right.ndim == 1:
        return _times(left, right[:, None])[:, 0]
    product = np.zeros((len(left), right.shape[1]))
    for column, row in zip(left.T, right, strict=True):
        product += column[:, None] * row
    return product
