"""Statistics when groups of rows are drawn again: it is groups that vary, never single rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from ragauge.stats.bootstrap import BLOCK
from ragauge.stats.draws import below
from ragauge.stats.intervals import DEFAULT_CONFIDENCE, Interval, wilson

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]

    Statistic = Callable[[Counts], Floats]
    """Values, one a draw, of weights, (draws, rows); NaN where a draw has none."""

DRAWS = 2_000


class Spread(Struct, frozen=True, kw_only=True):
    """Where a value lies when groups are drawn again, and what is to be said about it."""

    ci: Interval | None
    reason: str | None = None


def interval_over_groups(
    statistic: Statistic,
    groups: Sequence[str],
    confidence: float = DEFAULT_CONFIDENCE,
    *,
    share: bool = True,
    seed: int = 0,
    draws: int = DRAWS,
) -> Spread:
    """The percentile interval of a statistic when groups are drawn with replacement, by seed.

    A share at its end does not vary with what is drawn, and a point would say that it is certain;
    there the interval is Wilson's, with a trial for each group. Anything else that does not vary
    has none.
    """
    names, place = np.unique(np.asarray(groups), return_inverse=True)
    if len(names) < 2:
        return Spread(ci=None, reason="one source has no interval" if len(names) else "no rows")
    drawn = np.concatenate(list(_drawn(statistic, place, len(names), seed, draws)))
    there = drawn[np.isfinite(drawn)]
    if not len(there):
        return Spread(ci=None, reason=f"none of {draws:,} draws has a value")
    lost = draws - len(there)
    told = f"{lost:,} of {draws:,} draws have no value and are left out" if lost else None
    if there.min() == there.max():
        ends = wilson(float(there[0]), len(names), confidence) if share else None
        return Spread(ci=ends, reason=told if share else "every draw gives the same value")
    outside = (100 - confidence) / 200
    low, high = np.quantile(there, [outside, 1 - outside]).tolist()
    return Spread(ci=(low, high), reason=told)


def _drawn(
    statistic: Statistic, place: Counts, groups: int, seed: int, draws: int
) -> Iterator[Floats]:
    """The statistic of draw after draw, some at a time."""
    at_once = max(1, BLOCK // max(groups, len(place)))
    for first in range(0, draws, at_once):
        size = min(at_once, draws - first)
        yield statistic(times_drawn(groups, seed, first, size)[:, place])


def times_drawn(groups: int, seed: int, first: int, draws: int) -> Counts:
    """How often each group was drawn, (draws, groups)."""
    chosen = below(seed, groups, (draws, groups), first=first)
    flat = chosen + groups * np.arange(draws)[:, None]
    counted: Counts = np.bincount(flat.ravel(), minlength=draws * groups)
    return counted.reshape(draws, groups)
