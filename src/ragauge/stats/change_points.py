"""Where the level of a series of values changes, and how much the values vary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from ragauge.stats.draws import below

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ALPHA = 0.01
SHORTEST = 3
"""Values that a level is made of: one or two may be an accident."""

_VALUES_DRAWN = 1_000_000
"""Short series are cheap to put in order, and their probabilities come close to alpha."""
_FEWEST_DRAWS = 9_999
_AT_ONCE = 1 << 15
"""How many drawn values are held at a time."""


class Shift(Struct, frozen=True):
    """A place from which on the level is another."""

    at: int
    """The first value of the new level, from 0."""
    before: float
    """The mean since the shift before this one."""
    after: float
    """The mean until the next."""
    p: float


def shifts(values: Sequence[float] | Floats, *, alpha: float = ALPHA, seed: int = 0) -> list[Shift]:
    """The places where the level changes, in order.

    The place that divides a series best is the one with the greatest difference of means, in
    standard errors. It counts where at most alpha of the orders the values could have come in
    have a place as good; then either part is looked at in the same way.

    Values around one level, in any distribution but independent of each other, are given a shift
    with a chance of at most alpha. Values that drift, or that follow each other, have levels in
    this sense, and will be given some. A level has at least three values, and among fewer than
    `fewest(alpha)` nothing can be found.

    >>> [shift.at for shift in shifts([0.8, 0.81, 0.79, 0.8, 0.8, 0.7, 0.71, 0.7, 0.69, 0.7])]
    [5]
    """
    series = _series(values)
    found: dict[int, float] = {}
    parts = [(0, len(series))]
    while parts:
        start, end = parts.pop()
        place = _divided(series[start:end], alpha, seed, start)
        if place is not None:
            at = start + place[0]
            found[at] = place[1]
            parts += [(start, at), (at, end)]
    places = sorted(found)
    means = [_mean(series[a:b]) for a, b in pairwise([0, *places, len(series)])]
    return [
        Shift(at, before, after, found[at])
        for at, (before, after) in zip(places, pairwise(means), strict=True)
    ]


def fewest(alpha: float = ALPHA) -> int:
    """How many values it takes for a change, however clear, to be told from chance.

    Of all the orders of two levels in one series, two are as clear as can be.

    >>> fewest(0.01), fewest(0.05)
    (10, 8)
    """
    n = 2 * SHORTEST
    while 2 / math.comb(n, n // 2) > alpha:
        n += 1
    return n


def variation(values: Sequence[float] | Floats) -> float | None:
    """σ / μ: the standard deviation over the size of the mean.

    None where the mean is 0, or under two values.

    >>> variation([1.0, 2.0, 3.0]), variation([1.0]), variation([-1.0, 1.0])
    (0.5, None, None)
    """
    series = _series(values)
    mean = _mean(series)
    if len(series) < 2 or not mean:
        return None
    away = math.fsum(((series - mean) ** 2).tolist())
    return math.sqrt(away / (len(series) - 1)) / abs(mean)


def _divided(part: Floats, alpha: float, seed: int, stream: int) -> tuple[int, float] | None:
    """Where a part is best divided, and its p; None where other orders of it often are as well."""
    n = len(part)
    if n < 2 * SHORTEST or (part == part[0]).all():
        return None
    # Values less their mean, in whole steps, so that sums are the same in any order.
    away = part - _mean(part)
    centred = np.rint(np.ldexp(away, 40 - math.frexp(float(np.abs(away).max()))[1]))
    clear = _clearness(centred[None])[0]
    bar = float(clear.max()) * (1 - 1e-9)  # as clear but for rounding is as clear
    draws, at_once = max(_FEWEST_DRAWS, _VALUES_DRAWN // n - 1), max(1, _AT_ONCE // n)
    as_clear = 1  # the order at hand is one of them
    for first in range(0, draws, at_once):
        keys = below(seed, 1 << 32, (min(at_once, draws - first), n), stream, first=first)
        orders = centred[np.argsort(keys, kind="stable")]
        as_clear += int((_clearness(orders).max(axis=1) >= bar).sum())
        if as_clear > alpha * (draws + 1):
            return None
    return SHORTEST + int(clear.argmax()), as_clear / (draws + 1)


def _clearness(orders: Floats) -> Floats:
    """For each order and place, the squared difference of means in standard errors.

    But for a factor: the variance of all the values, which no order changes.
    """
    n = orders.shape[1]
    sizes = np.arange(SHORTEST, n - SHORTEST + 1)
    sums = np.cumsum(orders, axis=1)
    away = sums[:, SHORTEST - 1 : n - SHORTEST] - sums[:, -1:] * sizes / n
    clearness: Floats = away**2 / (sizes * (n - sizes))
    return clearness


def _mean(values: Floats) -> float:
    return math.fsum(values.tolist()) / len(values) if len(values) else 0.0


def _series(values: Sequence[float] | Floats) -> Floats:
    series = np.asarray(values, dtype=np.float64)
    if series.ndim != 1 or not (np.abs(series) < 1e100).all():
        raise ValueError("every value must be a number below 1e100: leave out absent ones")
    return series
