"""Exact tests: Fisher's of many fourfold tables at once, and one that may stop at any moment.

A table is told by four numbers: how many samples there are (`of`), how many of them went wrong
(`wrong`), how many lie in a part (`inside`), and how many did both (`both`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

import numpy as np
from msgspec import Struct

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


_NEGLIGIBLE = 1e-17
"""Of a sum: what is smaller changes no digit of it."""


def fisher_log_p(both: ArrayLike, inside: ArrayLike, wrong: ArrayLike, of: ArrayLike) -> Floats:
    """The logarithm of the chance that a part has so many wrong samples, or more (Fisher, one way).

    Of each table, with its margins as they are. Logarithms, because in a large set the chance is
    often smaller than any number.

    >>> np.exp(fisher_log_p([3, 0], 4, 4, 8)).round(6).tolist()
    [0.242857, 1.0]
    """
    numbers = (np.asarray(one, dtype=np.float64) for one in (both, inside, wrong, of))
    both_, inside_, wrong_, of_ = np.broadcast_arrays(*numbers)
    # Up to what is expected the tail is nearly everything: it is told by that on the other side.
    low = both_ * of_ <= inside_ * wrong_
    counted = np.where(low, inside_ - both_ + 1, both_)
    tail = _log_tail(counted, inside_, np.where(low, of_ - wrong_, wrong_), of_)
    return np.where(low, np.log1p(-np.exp(tail)), tail)


def _log_tail(both: Floats, inside: Floats, wrong: Floats, of: Floats) -> Floats:
    """The same of more samples than are expected, from where on the terms only fall."""
    most = np.minimum(inside, wrong)
    at = np.minimum(both, most)
    first = _log_ways(wrong, at) + _log_ways(of - wrong, inside - at) - _log_ways(of, inside)
    apart = of - wrong - inside
    term = np.ones_like(first)
    total = np.ones_like(first)
    while (term > _NEGLIGIBLE * total).any():
        term = term * ((wrong - at) * (inside - at) / ((at + 1) * (apart + at + 1)))
        total += term
        at = np.minimum(at + 1, most)
    return np.where(both > most, -np.inf, first + np.log(total))


def _log_ways(of: Floats, chosen: Floats) -> Floats:
    """The logarithm of the number of ways to choose."""
    from scipy.special import gammaln  # type: ignore[import-untyped]

    ways: Floats = gammaln(of + 1) - gammaln(chosen + 1) - gammaln(of - chosen + 1)
    return ways


def counted_level(least: Floats, alpha: float) -> float:
    """The level that the clearest outcome of a test must be below for the test to count.

    Where k tests count, each has to reach alpha / k at the strictest; a test that cannot, whatever
    it were to find, need not be among the k. This is alpha over the smallest k that agrees with
    itself (Tarone 1990); `stats.decision.that_could_find` leaves out the others. Which those
    are follows from the margins alone, so what was found does not choose what is counted.

    >>> counted_level(np.array([1e-6, 0.03, 0.2]), 0.05)
    0.025
    """
    tests = np.arange(1, max(2, len(least) + 1))
    able = np.searchsorted(np.sort(least), alpha / tests, side="left")
    return alpha / int(tests[np.argmax(able <= tests)])


Decision = Literal["pass", "fail"]

ALPHA = 0.05
PERFECT = 0.5
"""The prior weight of a grid without a failure; the rest is spread evenly. Any prior keeps the
promise: this one is quick for what is common, a system that is always right or often wrong."""


class ShareTest(Struct, frozen=True):
    """Does a grid of `of` runs, made in random order, hold at least `needed` successes?

    The prior-posterior ratio of Waudby-Smith and Ramdas (2020), for draws without replacement:
    a number of successes is ruled out once the data make it 1/alpha times less credible than the
    prior did. The true number is ever ruled out with a chance of at most alpha (Ville), however
    often one looks. So a decision is wrong with at most that chance, over the order of the runs.
    """

    of: int
    needed: int
    alpha: float = ALPHA

    def decide(self, outcomes: Iterable[bool]) -> Decision | None:
        """The decision at the first of these outcomes, in the order drawn, that allows one.

        >>> ShareTest(50, 48).decide([True] * 20), ShareTest(50, 48).decide([False] * 3)
        (None, 'fail')
        """
        totals = np.arange(self.of + 1)
        prior = np.full(self.of + 1, (1 - PERFECT) / (self.of + 1))
        prior[-1] += PERFECT
        likelihood = np.ones(self.of + 1)
        possible = np.ones(self.of + 1, dtype=np.bool_)
        successes = failures = 0
        for outcome in outcomes:
            if outcome:
                likelihood *= np.maximum(totals - successes, 0)
                successes += 1
            else:
                likelihood *= np.maximum(self.of - totals - failures, 0)
                failures += 1
            likelihood /= likelihood.max()  # only ratios count, and products would vanish
            possible &= likelihood > self.alpha * (prior @ likelihood)
            if not possible[self.needed :].any():
                return "fail"
            if not possible[: self.needed].any():
                return "pass"
        return None
