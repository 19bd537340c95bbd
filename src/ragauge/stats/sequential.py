"""A test that may stop at any moment: the share of successes in a finite grid of runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np
from msgspec import Struct

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
