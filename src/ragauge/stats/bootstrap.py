"""Bootstrap intervals of a mean, and of any metric finished from summed count vectors.

Units are drawn with replacement, by seed, and the same on every machine: what is summed is whole
numbers. Where an expansion of the bootstrap distribution comes nearer to it than the draws are
likely to, nothing is drawn. The order of the units never changes a result.
"""

from __future__ import annotations

import math
from functools import partial
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from msgspec import Struct

from ragauge.stats.draws import below, multinomials
from ragauge.stats.expansion import mean_ends, metric_ends, scaled, spread_of, tails
from ragauge.stats.intervals import DEFAULT_CONFIDENCE, Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]
    Sums = Counts | Floats
    Finish = Callable[[Sums], Floats]

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


class Bootstrap(Struct, frozen=True, kw_only=True):
    """A value with its bootstrap interval, and how that was made."""

    value: float | None
    ci: Interval | None
    method: Method
    kind: Kind
    seed: int | None
    """None where nothing was drawn."""
    draws: int | None
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
    numbers = _numbers(values)
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
        return _made(value, (low, high), "closed form", kind)
    bits = _SUM_BITS - n.bit_length()
    totals, method = _resampled(_whole(away, bits), counts, seed, draws)
    means = value + np.ldexp(totals[:, 0] / n, exponent - bits)
    ends, reason = _ends(means, value, confidence, kind, spread.skewness / 6)
    return _made(value, ends, method, kind, seed, draws, reason)


def metric_interval(
    rows: Counts,
    finish: Finish,
    confidence: float = DEFAULT_CONFIDENCE,
    *,
    kind: Kind = "percentile",
    seed: int = 0,
    draws: int = DRAWS,
) -> Bootstrap:
    """A metric finished from the sums of its units' rows, and its interval.

    `rows` are whole numbers, (units, columns); the difference of two runs is a row with the
    columns of both, and a finish that subtracts. Drawn sums are exact; where 64 bits cannot hold
    them, `finish` gets floats within a rounding of them. A draw that cannot be finished is left
    out, and the reason counts such draws. Where distinct rows are many, a percentile interval is
    in closed form if the metric is smooth enough for that; `finish` then gets floats too.

    >>> made = metric_interval(np.array([[1, 2], [2, 2], [0, 1]]), lambda sums: sums[..., 0] / 5)
    >>> made.value, made.ci, made.method
    (0.6, (0.0, 1.2), 'draws')
    """
    _check(confidence, kind, draws)
    distinct, counts = _distinct(_checked_rows(rows))
    n, columns = int(counts.sum()), distinct.shape[1]
    if not n:
        return _undrawn(None, n, "row", kind)
    halves = _halved(distinct, n)
    whole = _joined((counts[:, None] * halves).sum(axis=0), columns)
    value = float(_finished(finish, whole))
    if math.isnan(value):
        return _made(None, None, "closed form", kind, reason="the sums have no finished value")
    if len(distinct) < 2:
        return _undrawn(value, n, "row", kind)
    if kind == "percentile" and not _few(counts):
        closed = metric_ends(
            distinct.astype(np.float64), counts, partial(_finished, finish), confidence, draws
        )
        if closed is not None:
            return _made(value, closed, "closed form", kind)
    totals, method = _resampled(halves, counts, seed, draws)
    finished = _finished(finish, _joined(totals, columns))
    left_out = _finished(finish, whole - _joined(halves, columns))
    ends, reason = _ends(finished, value, confidence, kind, _acceleration(left_out, counts))
    return _made(value, ends, method, kind, seed, draws, reason)


def _check(confidence: float, kind: Kind, draws: int) -> None:
    if not 0 < confidence < 100:
        raise ValueError(f"the confidence must be between 0 and 100 percent, not {confidence}")
    if kind not in get_args(Kind):
        raise ValueError(f"the kind must be one of {', '.join(get_args(Kind))}, not {kind!r}")
    if draws < 1:
        raise ValueError(f"there must be at least one draw, not {draws}")


def _numbers(values: Sequence[float] | Floats) -> Floats:
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1:
        raise ValueError(f"values must be a plain list of numbers, not of shape {numbers.shape}")
    if not (np.abs(numbers) < LARGEST).all():
        raise ValueError(f"every value must be a number below {LARGEST:g}: leave out absent ones")
    return numbers + 0.0  # -0.0 and 0.0 are one value


def _checked_rows(rows: Counts) -> Counts:
    checked = np.asarray(rows)
    if checked.ndim != 2:
        raise ValueError(f"rows must be of shape (units, columns), not {checked.shape}")
    if checked.dtype.kind not in "biu" and checked.size:
        raise ValueError(f"rows must be whole numbers, not {checked.dtype}")
    return checked.astype(np.int64)


def _distinct(rows: Counts) -> tuple[Counts, Counts]:
    """The different rows in order, and how often each is met.

    Where rows are wide, few of them differ: they are told apart by one hash each, and only the
    different ones are compared column by column.
    """
    varying = np.flatnonzero((rows != rows[:1]).any(axis=0))
    if len(varying) == 1:
        _, first, counts = np.unique(rows[:, varying[0]], return_index=True, return_counts=True)
        return rows[first], counts
    if len(varying) < WIDE:
        return np.unique(rows, axis=0, return_counts=True)
    odd = np.arange(1, 2 * rows.shape[1], 2, dtype=np.uint64) * np.uint64(_GOLDEN)
    hashed = rows.astype(np.uint64) @ (odd ^ (odd >> np.uint64(29)))
    _, first, which = np.unique(hashed, return_index=True, return_inverse=True)
    if not (rows[first][which] == rows).all():
        return np.unique(rows, axis=0, return_counts=True)
    distinct, place = np.unique(rows[first], axis=0, return_inverse=True)
    return distinct, np.bincount(place.ravel()[which], minlength=len(distinct))


def _made(
    value: float | None,
    ci: Interval | None,
    method: Method,
    kind: Kind,
    seed: int | None = None,
    draws: int | None = None,
    reason: str | None = None,
) -> Bootstrap:
    return Bootstrap(
        value=value, ci=ci, method=method, kind=kind, seed=seed, draws=draws, reason=reason
    )


def _undrawn(value: float | None, n: int, what: str, kind: Kind) -> Bootstrap:
    """What is to be said of units that do not vary."""
    if value is None or n < 2:
        reason = f"one {what} has no interval" if n else f"no {what}s"
        return _made(value, None, "closed form", kind, reason=reason)
    reason = f"all {n:,} {what}s are equal: the interval says nothing"
    return _made(value, (value, value), "closed form", kind, reason=reason)


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


def _whole(away: Floats, bits: int) -> Counts:
    """A column of whole numbers, in steps of 2^-bits: sums of them are the same in any order."""
    return np.rint(np.ldexp(away, bits)).astype(np.int64)[:, None]


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
    low, high = (_quantile(ordered, _share(z)) for z in tails(confidence, bias, acceleration))
    return (low, high), told if lost else None


def _share(z: float) -> float:
    """The share of a normal distribution below a place; an infinite one is an end of the draws."""
    return round(NormalDist().cdf(z), 12) if math.isfinite(z) else float(z > 0)


def _quantile(ordered: Floats, share: float) -> float:
    """Between two draws it is interpolated linearly, as numpy does by default."""
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
