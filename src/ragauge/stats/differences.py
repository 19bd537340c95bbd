"""The differences of two runs on the same items, and what a test finds in them.

No test trusts the last bits of a score: differences are counted in whole steps, far smaller than
the largest of them and far larger than rounding, so that .9 - .8 ties with .7 - .6 and sums are
exact in any order.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from msgspec import Struct

from ragauge.stats.decision import ALPHA
from ragauge.stats.intervals import Interval, wilson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]
    Scores = Sequence[float] | Floats

LARGEST = 1e100
"""Squares of greater scores would overflow."""
_STEP_BITS = 48
"""A step is so many bits below the largest score: sixteen times as much as rounding, or more."""
_SUM_BITS = 60
_ENOUGH = 20
"""Pairs from which on a bootstrap is not far off."""
_COUNT = ("no", "one", "two", "three", "four", "five")


class Paired(Struct, frozen=True, kw_only=True):
    """What a paired test found. Each number is finite or None, and None has its reason."""

    estimate: float | None
    """The mean of after − before; for Wilcoxon its Hodges–Lehmann centre."""
    ci: Interval | None
    p: float | None
    """Two-sided; 1 where no pair differs, and never 0."""
    n: int
    n_zero: int
    """Pairs without a difference."""
    method: str
    seed: int | None
    """None where nothing was drawn."""
    effect: float | None
    """Cohen's g for McNemar: of the pairs that differ the share that rose, less a half. For the
    others d_z: the mean difference over the standard deviation of the differences."""
    leans: int = 0
    """1 where the test's own statistic points up, −1 where it points down. An estimate may be 0
    where it does: most pairs of a median do not differ."""
    reason: str | None = None
    statistic: float | None = None
    """What the test looks up: t; for Wilcoxon the smaller sum of signed ranks; for McNemar the
    smaller count of pairs that rose or fell; for randomisation and bootstrap the mean difference;
    for a share of counts its change in standard errors. As in scipy and statsmodels."""
    ci_of: Literal["mean", "median"] = "mean"
    """What the interval is of: the mean change, or that of a metric's total; for Wilcoxon the
    median change, which says nothing of how far the mean may have fallen."""
    least_p: float | None = None
    """The smallest p that the test could have found, whichever way these pairs had gone: where it
    exceeds alpha, nothing could have been found. None where that is not known."""


class Pairs(NamedTuple):
    """The differences of two runs, as they are and in whole steps of a power of two."""

    differences: Floats
    whole: Counts
    exponent: int
    reach: float
    """From the lowest of the scores and 0 to the highest."""

    @classmethod
    def of(cls, after: Scores, before: Scores) -> Pairs:
        now, then = _scores(after), _scores(before)
        if len(now) != len(then):
            raise ValueError(f"the runs differ in length: {len(now)} and {len(then)} scores")
        differences = now - then
        largest = float(np.abs(differences).max(initial=0))
        scale = float(max(np.abs(now).max(initial=0), np.abs(then).max(initial=0)))
        bits = min(_STEP_BITS, _SUM_BITS - len(now).bit_length())
        exponent = max(math.frexp(largest)[1] - bits, math.frexp(scale)[1] - _STEP_BITS)
        whole = np.rint(np.ldexp(differences, -exponent)).astype(np.int64)
        scores = np.append(now, then)
        return cls(np.where(whole == 0, 0.0, differences), whole, exponent, reach(scores))

    @property
    def n(self) -> int:
        return len(self.whole)

    @property
    def differing(self) -> int:
        return int((self.whole != 0).sum())

    @property
    def total(self) -> int:
        return int(self.whole.sum())

    @property
    def faces(self) -> int:
        """1 or −1, and the other where the runs are turned round; 0 where that changes nothing."""
        ordered = np.sort(self.differences)
        unlike = ordered + ordered[::-1]
        return int(np.sign(unlike[np.flatnonzero(unlike)[:1]]).sum())

    @property
    def facing(self) -> Pairs:
        """The pairs, or the pairs of the runs turned round: draws from them do not depend on
        which run stands first, and `turned` turns the interval back."""
        if self.faces >= 0:
            return self
        return self._replace(differences=0.0 - self.differences, whole=-self.whole)

    @property
    def mean(self) -> float:
        return math.fsum(self.differences.tolist()) / self.n

    @property
    def sd(self) -> float | None:
        if self.n < 2:
            return None
        if (self.whole == self.whole[0]).all():
            return 0.0
        away = self.differences - self.mean
        return math.sqrt(math.fsum((away * away).tolist()) / (self.n - 1))

    @property
    def effect(self) -> float | None:
        return self.mean / self.sd if self.sd else None

    def interval(self, ends: Interval | None) -> Interval | None:
        """Ends in steps as ends in scores."""
        return None if ends is None else (self.score(ends[0]), self.score(ends[1]))

    def score(self, steps: float) -> float:
        """So many steps as a difference of scores, to the digits that steps can carry."""
        return float(f"{math.ldexp(steps, self.exponent):.10g}")

    def unmoved(self, method: str, confidence: float) -> Paired:
        """What is to be said of runs that differ in no pair."""
        if not self.n:
            return self.found(method, None, None)
        ci = unseen(self.n, self.reach, confidence)
        return self.found(method, 1.0, ci, too_few(0, 0, ""), least_p=1.0, statistic=0.0)

    def found(
        self,
        method: str,
        p: float | None,
        ci: Interval | None,
        reason: str | None = None,
        seed: int | None = None,
        estimate: float | None = None,
        leans: int | None = None,
        least_p: float | None = None,
        statistic: float | None = None,
    ) -> Paired:
        if estimate is None and self.n:
            estimate = self.mean
        return Paired(
            estimate=estimate,
            ci=ci,
            p=_above_0(p),
            n=self.n,
            n_zero=self.n - self.differing,
            method=method,
            seed=seed,
            effect=self.effect,
            leans=int(np.sign(self.total)) if leans is None else leans,
            reason=reason if self.n else "no pairs",
            least_p=_above_0(least_p),
            statistic=statistic,
        )


def _above_0(p: float | None) -> float | None:
    return None if p is None else max(p, sys.float_info.min)


def _scores(scores: Scores) -> Floats:
    checked = np.asarray(scores, dtype=np.float64)
    if checked.ndim != 1:
        raise ValueError(f"scores must be a plain list of numbers, not of shape {checked.shape}")
    if not (np.abs(checked) < LARGEST).all():
        raise ValueError(f"every score must be a number below {LARGEST:g}: leave out absent ones")
    return checked


def reach(scores: Floats) -> float:
    """From the lowest of the scores and 0 to the highest."""
    return float(scores.max(initial=0) - scores.min(initial=0))


def unseen(n: int, reach: float, confidence: float) -> Interval | None:
    """How far apart runs may be that differ in none of n pairs; None where it cannot be said.

    A point for an interval would call three equal pairs proof. So many pairs without a difference
    leave a share that may differ (Wilson), and none differs by more than scores reach. For 0/1
    scores that is Tango's interval.
    """
    far = wilson(0.0, n, confidence)[1] * reach
    return (-far, far) if far else None


def turned(ci: Interval | None, faces: int) -> Interval | None:
    """The interval of the change, from that of the change as it faces up: even about 0 where it
    faces neither way."""
    if ci is None or faces > 0:
        return ci
    low, high = ci
    if faces < 0:
        return 0.0 - high, 0.0 - low
    return (low - high) / 2, (high - low) / 2


def too_few(differing: int, n: int, test: str, alpha: float = ALPHA) -> str | None:
    """Why a test of signs can say nothing: m pairs give no probability below 2 / 2^m.

    >>> too_few(5, 5, "Wilcoxon"), too_few(5, 5, "Wilcoxon", 0.1)
    ('five pairs can never reach .05 by Wilcoxon', None)
    >>> too_few(7, 80, "McNemar", 0.01)
    'only 7 of 80 pairs differ: 7 pairs can never reach .01 by McNemar'
    """
    if not differing:
        return "no pair differs"
    if least_of_signs(differing) < alpha:
        return None
    number = _COUNT[differing] if differing < len(_COUNT) else f"{differing}"
    few = f"{number} {'pair' if differing == 1 else 'pairs'}"
    level = f"{alpha:g}".removeprefix("0")
    if differing == n:
        return f"{few} can never reach {level} by {test}"
    verb = "differs" if differing == 1 else "differ"
    return f"only {number} of {n:,} pairs {verb}: {few} can never reach {level} by {test}"


def least_of_signs(differing: int) -> float:
    """The smallest p of a test of signs: all pairs that differ go one way, or all the other."""
    return min(1.0, math.ldexp(1.0, 1 - differing))


def no_interval(ci: Interval | None, n: int, confidence: float) -> str | None:
    """Why there is no interval, where there is none."""
    return None if ci else f"{n} pairs are too few for a {confidence:g} % interval"


def few_for_bootstrap(n: int) -> str | None:
    """Why a bootstrap of n pairs says little, where it does."""
    return f"{n} pairs are few: a bootstrap interval is too narrow" if n < _ENOUGH else None


def no_spread(n: int) -> str:
    """Why differences that are all the same cannot be judged."""
    if n == 1:
        return "one pair has no spread to judge by"
    return f"all {n:,} pairs differ by the same: no spread to judge by"
