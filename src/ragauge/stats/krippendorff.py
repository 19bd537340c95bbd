"""Krippendorff's α: the reliability of any number of raters, with ratings missing.

α = 1 - observed / expected disagreement, over the ratings that have another one in their unit
(Krippendorff, "Computing Krippendorff's Alpha-Reliability", 2011). The coincidence matrix of the
textbook is never built: for nominal labels its diagonal is enough, for numbers the disagreement
is a sum of squares, and ordinal labels are numbers too, namely their mid-ranks. Units are read a
block at a time, so the memory needed grows with the number of labels alone.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from msgspec import Struct

from ragauge.stats.intervals import DEFAULT_CONFIDENCE, Interval, wilson, z_of

if TYPE_CHECKING:
    from ragauge.stats.intervals import Counts, Floats

Level = Literal["nominal", "ordinal", "interval"]

BLOCK = 1 << 13
"""Units looked at together: small enough to stay in the processor's cache."""
MOST_LABELS = 1 << 24
"""Labels are counted by their place; a larger one is a mistake, not a label."""
MOST_PATTERNS = 1 << 15
"""Ways of rating a unit that are worth a counter each."""
_LARGEST = 2.0**31
_STEEPEST = 1000
"""A power of two beyond this would overflow; numbers that small are multiplied enough by it."""

NOTHING_PAIRED = "no unit was rated twice"
ONE_VALUE = "every rating is the same, so there is no disagreement to expect"


class Alpha(Struct, frozen=True, kw_only=True):
    """α, or None with a reason."""

    value: float | None
    units: int
    """Rated at least twice: what is rated once says nothing about agreement."""
    ratings: int
    """Of those units."""
    reason: str | None = None


def alpha(ratings: Floats, level: Level = "nominal") -> Alpha:
    """α of ratings with a row a rater and a column a unit, NaN where a rater gave none.

    Nominal and ordinal ratings are the places of labels, 0, 1, 2 …, ordinal ones in their order;
    at interval level any number is one. None where no unit has two ratings, or all are the same.

    >>> raters = np.array([[0, 0, 1, 1, np.nan], [0, 0, 1, 0, 1]])
    >>> alpha(raters)
    Alpha(value=0.5333333333333333, units=4, ratings=8, reason=None)
    """
    return _SCALES[level](ratings).alpha()


def alpha_interval(
    ratings: Floats, level: Level = "nominal", confidence: float = DEFAULT_CONFIDENCE
) -> Interval | None:
    """The interval of α over units, inside [-1, 1]; None under two units, and where α is None.

    Normal on the scale of log(1 - α), by the infinitesimal jackknife: how much a little more
    weight on each unit would move it. Where no unit moves it, as in full agreement, the interval
    would be a point; there it is Wilson's, of an agreement over as many units, with a disagreement
    taken to be what two different ratings mean on the average.
    """
    scale = _SCALES[level](ratings)
    found = scale.alpha()
    if found.value is None or found.units < 2:
        return None
    variance = scale.log_variance() if found.value < 1 else 0.0
    different = 1.0 if variance else scale.different()
    return alpha_ends(found.value, variance, different, found.units, confidence)


_NO_SPREAD = 1e-12
"""A variance this small beside its parts is all rounding error."""


def alpha_ends(
    value: float, variance: float, different: float, units: int, confidence: float
) -> Interval:
    """The interval of α from the variance of log(1 - α), or Wilson's where that is 0.

    `different` is the chance that two ratings differ, whichever units they are from.
    """
    if variance:
        reach = math.exp(z_of(confidence) * math.sqrt(variance))
        return max(-1.0, 1 - (1 - value) * reach), 1 - (1 - value) / reach
    agreed = min(1.0, max(0.0, 1 - (1 - value) * different))
    low, high = (1 - (1 - end) / different for end in wilson(agreed, units, confidence))
    return max(-1.0, min(low, value)), min(1.0, max(high, value))


class _Block(NamedTuple):
    """Some of the units that have two ratings or more."""

    ratings: Floats
    given: Counts
    """How many ratings each unit has."""
    times: Counts
    """How many units are rated like it."""


class _Scale(ABC):
    """Disagreement at one level of measurement, summed over ordered pairs of ratings.

    α = 1 - (n - 1) · within / overall, where `within` adds the disagreement in each unit over one
    less than its ratings, and `overall` that of all ratings, whichever units they are from.
    """

    _at_once = True
    """Whether disagreement can be told before all ratings are counted."""

    def __init__(self, ratings: Floats) -> None:
        given = np.asarray(ratings, dtype=np.float64)
        if given.ndim != 2:
            raise ValueError("ratings need a row a rater and a column a unit")
        self._low, self._high = _ends(given)
        self._ratings, self._times = _distinct(given, self._low, self._high)
        self._units = self._n = 0
        self._within = 0.0
        for block in self._blocks():
            self._units += int(block.times.sum())
            self._n += int((block.times * block.given).sum())
            self._count(block)
            if self._at_once:
                self._within += _total(block, self._apart(block))
        self._overall = self._expected() if self._n else 0.0
        if self._overall and not self._at_once:
            self._within = sum(_total(block, self._apart(block)) for block in self._blocks())

    def alpha(self) -> Alpha:
        value = reason = None
        if not self._units:
            reason = NOTHING_PAIRED
        elif not self._overall:
            reason = ONE_VALUE
        else:
            value = 1 - (self._n - 1) * self._within / self._overall
        return Alpha(value=value, units=self._units, ratings=self._n, reason=reason)

    def log_variance(self) -> float:
        """The variance of log(1 - α) over draws of as many units; 0 where no unit moves it."""
        total = squares = parts = 0.0
        for block in self._blocks():
            share = block.given / (self._n - 1)
            pull = share + self._apart(block) / self._within + self._pull(block)
            total += _total(block, pull)
            squares += _total(block, pull**2)
            parts += _total(block, share**2)
        spread = squares - total**2 / self._units
        return spread * self._units / (self._units - 1) if spread > _NO_SPREAD * parts else 0.0

    def different(self) -> float:
        """The chance that two of the ratings differ, whichever units they are from."""
        given = [_given(block) for block in self._blocks()]
        every, times = (np.concatenate(parts) for parts in zip(*given, strict=True))
        _, places = np.unique(every, return_inverse=True)
        same = float(sum(each * (each - 1) for each in np.bincount(places, times).tolist()))
        return 1 - same / (self._n * (self._n - 1))

    def _blocks(self) -> Iterator[_Block]:
        for start in range(0, self._ratings.shape[1], BLOCK):
            ratings = self._ratings[:, start : start + BLOCK]
            times = self._times[start : start + BLOCK]
            given = (~np.isnan(ratings)).sum(axis=0)
            paired = given > 1
            if not paired.all():
                ratings = np.compress(paired, ratings, axis=1)
                given, times = given[paired], times[paired]
            if given.size:
                yield _Block(ratings, given, times)

    @abstractmethod
    def _count(self, block: _Block) -> None:
        """Take in what the expected disagreement is made of."""

    @abstractmethod
    def _expected(self) -> float:
        """The disagreement of all ratings, once they are all counted."""

    @abstractmethod
    def _apart(self, block: _Block) -> Floats:
        """The disagreement within each unit."""

    @abstractmethod
    def _pull(self, block: _Block) -> Floats:
        """How log(1 - α) moves with the ratings of each unit, by what is expected then."""


class _Labels(_Scale):
    """Ratings that are the places of labels."""

    def __init__(self, ratings: Floats) -> None:
        self._seen = np.zeros(0)
        super().__init__(ratings)

    def _count(self, block: _Block) -> None:
        """How often each label was given; whole numbers, however they are kept."""
        given, times = _given(block)
        if self._low < 0 or self._high >= MOST_LABELS or (given % 1).any():
            raise ValueError("a label is given by its place: 0, 1, 2 …")
        seen = np.bincount(given.astype(np.intp), times, len(self._seen)).astype(np.float64)
        seen[: len(self._seen)] += self._seen
        self._seen = seen

    def _looked_up(self, block: _Block, of_label: Floats, missing: float) -> Floats:
        """What stands for the label of each rating."""
        places = np.where(np.isnan(block.ratings), len(of_label), block.ratings).astype(np.intp)
        return np.append(of_label, missing)[places]


class _Nominal(_Labels):
    """Two labels agree or they do not."""

    def _expected(self) -> float:
        return float(self._n**2 - sum(int(times) ** 2 for times in self._seen))

    def _apart(self, block: _Block) -> Floats:
        agreed = np.zeros(block.given.size)
        for one, other in combinations(block.ratings, 2):
            agreed += one == other
        return block.given - 2 * agreed / (block.given - 1)

    def _pull(self, block: _Block) -> Floats:
        slopes = 2 * (self._n - self._seen) / self._overall
        return -_sums(self._looked_up(block, slopes, 0.0))


class _Interval(_Scale):
    """Two numbers disagree by the square of their difference."""

    def __init__(self, ratings: Floats) -> None:
        self._mean = self._squares = 0.0
        super().__init__(ratings)

    @cached_property
    def _unit(self) -> float:
        """α does not depend on the unit of the numbers; in this one their squares stay finite."""
        exponent = math.frexp(max(abs(self._low), abs(self._high)))[1]
        return float(2.0 ** min(-exponent, _STEEPEST))

    def _below_highest(self, block: _Block) -> Floats:
        """How far each number lies below the highest of all: equal ones have no squares at all."""
        return self._high * self._unit - block.ratings * self._unit

    def _count(self, block: _Block) -> None:
        """Mean and squares around it, block by block (Chan, Golub and LeVeque 1983)."""
        off = np.fmax(self._below_highest(block), 0)  # 0 where there is none
        n = float((block.times * block.given).sum())
        mean = _total(block, off.sum(axis=0)) / n
        absent = float(block.times.sum() * len(off)) - n
        squares = _total(block, ((off - mean) ** 2).sum(axis=0)) - absent * mean**2
        moved = mean - self._mean
        self._squares += max(0.0, squares) + moved**2 * n * (1 - n / self._n)
        self._mean += moved * n / self._n

    def _expected(self) -> float:
        return 2 * self._n * self._squares

    def _apart(self, block: _Block) -> Floats:
        return _squares_apart(block.ratings * self._unit, block.given)

    def _pull(self, block: _Block) -> Floats:
        off = self._below_highest(block) - self._mean
        return -(block.given / self._n + _sums(off**2) / self._squares)


class _Ordinal(_Labels):
    """Two labels disagree by the square of the ratings between them: interval, over mid-ranks."""

    _at_once = False

    def _expected(self) -> float:
        self._ranks = np.cumsum(self._seen) - self._seen / 2
        return self._n * (self._n**3 - sum(int(times) ** 3 for times in self._seen)) / 6

    def _apart(self, block: _Block) -> Floats:
        return _squares_apart(self._looked_up(block, self._ranks, np.nan), block.given)

    def _pull(self, block: _Block) -> Floats:
        return _sums(self._looked_up(block, self._slopes, 0.0))

    @cached_property
    def _slopes(self) -> Floats:
        """By label; one more rating of it also moves its own rank and all those above."""
        n = float(self._n)
        expected = (4 * n**3 - (self._seen**3).sum() - 3 * n * self._seen**2) / 6
        # How the disagreement within units moves with the rank of each label.
        labels = np.arange(len(self._seen), dtype=np.float64)
        slopes = np.zeros(len(labels) + 1)
        for block in self._blocks():
            ranks = self._looked_up(block, self._ranks, np.nan)
            slope = 4 * block.times * block.given / (block.given - 1)
            slope = np.nan_to_num((ranks - _sums(ranks) / block.given) * slope)
            places = self._looked_up(block, labels, len(labels)).astype(np.intp)
            slopes += np.bincount(places.ravel(), slope.ravel(), slopes.size)
        by_rank = slopes[:-1]
        above = by_rank.sum() - np.cumsum(by_rank) + by_rank / 2
        return np.asarray(above / self._within - expected / self._overall)


_SCALES: dict[Level, type[_Scale]] = {
    "nominal": _Nominal,
    "ordinal": _Ordinal,
    "interval": _Interval,
}


def _ends(ratings: Floats) -> tuple[float, float]:
    """The smallest and the largest rating; 0 and 0 where there is none."""
    if not ratings.size:
        return 0.0, 0.0
    low, high = float(np.fmin.reduce(ratings, None)), float(np.fmax.reduce(ratings, None))
    if math.isinf(low) or math.isinf(high):
        raise ValueError("a rating is infinite")
    return (0.0, 0.0) if math.isnan(low) else (low, high)


def _distinct(ratings: Floats, low: float, high: float) -> tuple[Floats, Counts]:
    """The units, those that are rated alike put together, and how many each stands for.

    Few whole numbers by few raters can only come together in few ways, which are counted; else
    each unit stands for itself.
    """
    raters, units = ratings.shape
    apart = ratings, np.broadcast_to(np.int64(1), units)
    # A rating is a digit, 0 for none, and a unit the number that its digits make.
    base = high - low + 2
    if low % 1 or high % 1 or max(-low, high) > _LARGEST:
        return apart
    if raters * math.log(base) > math.log(MOST_PATTERNS):
        return apart
    times = np.zeros(round(base**raters), dtype=np.int64)
    for start in range(0, units, BLOCK):
        block = ratings[:, start : start + BLOCK]
        if np.fmax.reduce(block - np.floor(block), None) > 0:
            return apart
        number = np.zeros(block.shape[1])
        for digits in np.fmax(block - (low - 1), 0):
            number = number * base + digits
        times += np.bincount(number.astype(np.intp), minlength=times.size)
    (met,) = times.nonzero()
    digits = met // base ** np.arange(raters)[::-1, None] % base
    return np.where(digits == 0, np.nan, digits + (low - 1)), times[met]


def _squares_apart(numbers: Floats, given: Counts) -> Floats:
    """The squared differences within each unit, over one less than its numbers.

    They are taken from the largest of the unit, so that equal ones are no distance apart.
    """
    off = np.fmax(np.fmax.reduce(numbers) - numbers, 0)
    squares = (off * off).sum(axis=0) - off.sum(axis=0) ** 2 / given
    return np.asarray(2 * given * np.maximum(squares, 0.0) / (given - 1))


def _total(block: _Block, of_units: Floats) -> float:
    """The sum over units; not a dot product, whose last digits depend on the machine."""
    return float((block.times * of_units).sum())


def _sums(of_ratings: Floats) -> Floats:
    """The sum over each unit, what is missing left out."""
    return np.asarray(np.nansum(of_ratings, axis=0))


def _given(block: _Block) -> tuple[Floats, Counts]:
    """The ratings that are there, and how many each stands for."""
    there = ~np.isnan(block.ratings)
    return block.ratings[there], np.broadcast_to(block.times, there.shape)[there]
