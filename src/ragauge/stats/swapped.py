"""Two runs of a metric made from summed rows, such as micro-F1: is its change more than chance?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragauge.stats.decision import ALPHA
from ragauge.stats.differences import Paired, reach, too_few, turned
from ragauge.stats.intervals import DEFAULT_CONFIDENCE, Interval
from ragauge.stats.random_signs import DRAWS, Number, ratio, subsets
from ragauge.stats.score_interval import interval_of_change
from ragauge.stats.studentised import extended, is_share, p_of_unlike_counts, studentised

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]
    Sums = Counts | Floats
    Finish = Callable[[Sums], Floats]

FEWEST = 10
"""Units that either run must have scored for an interval: with fewer it would be too narrow."""
_ROUNDING = 1e-14
"""What leaving a unit out may seem to change where it changes nothing."""
_TIED = 1e-8
"""Arrangements that differ by a smaller part of what they come to are as far."""


def swapped(
    after_rows: Counts,
    before_rows: Counts,
    finish: Finish,
    *,
    seed: int = 0,
    draws: int = DRAWS,
    confidence: float = DEFAULT_CONFIDENCE,
    span: float | None = None,
    alpha: float = ALPHA,
) -> Paired:
    """Fisher's randomisation of any metric: how often swapping runs changes it as much.

    Each unit has a row of whole numbers in either run, zeros where a run does not score it; units
    are swapped whole. An arrangement whose metric cannot be finished is left out. The change of a
    share is taken in units of its standard error, and p is no smaller than what runs that counted
    unlike numbers come to by chance (`stats.studentised`). The change of any other metric is taken
    as it is: for it, runs that are alike in this metric only are called different too often.

    d_z is by the jackknife, which is the plain d_z where the metric is a mean. The interval is
    that of `interval_of_rows`.
    """
    after, before = _rows(after_rows), _rows(before_rows)
    if after.shape != before.shape:
        raise ValueError(f"the runs differ in shape: {after.shape} and {before.shape}")
    moved = after - before
    n, differing = len(moved), int(moved.any(axis=1).sum())
    with np.errstate(all="ignore"):
        estimate = float(finish(after.sum(axis=0)) - finish(before.sum(axis=0)))
    if not math.isfinite(estimate):
        return _unfinished(n, differing)
    found = _by_swaps(after, before, finish, seed, draws)
    sd = spread_of_rows(after, before, finish)
    ci, scored = interval_of_rows(after, before, finish, confidence=confidence, span=span)
    few = too_few(differing, n, "randomisation", alpha)
    return Paired(
        estimate=estimate,
        ci=ci,
        p=found.p,
        n=n,
        n_zero=n - differing,
        method=found.method,
        seed=None if found.exact else seed,
        effect=estimate / sd if sd else None,
        leans=(estimate > 0) - (estimate < 0),
        reason="; ".join(filter(None, (few, scored))) or None,
        statistic=found.statistic,
        least_p=found.least_p,
    )


def interval_of_rows(
    after: Counts,
    before: Counts,
    finish: Finish,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    span: float | None = None,
) -> tuple[Interval | None, str | None]:
    """The interval of the change of a metric finished from summed rows, and why there is none.

    The score interval of as many pairs as the run with fewer units is worth, with the jackknife's
    variance: a resample would be too sure of itself, and a point where the units that were scored
    all agree. `span` is how far apart the metric's values can lie, where that is known; else it is
    as far as they do, and where that is nowhere nothing says how far a change could go.
    """
    few = _too_few_scored(after, before) if (after != before).any() else None
    change = float(finish(after.sum(axis=0)) - finish(before.sum(axis=0)))
    span = max(span or _span(after, before, finish), abs(change))
    if few or not span:
        return None, few
    sd = spread_of_rows(after, before, finish)
    n, variance = min(_worth(after), _worth(before)), (sd or 0.0) ** 2 / len(after)
    ci = interval_of_change(abs(change), variance, n, span, confidence)
    return turned(ci, (change > 0) - (change < 0)), None


def spread_of_rows(after_rows: Counts, before_rows: Counts, finish: Finish) -> float | None:
    """The standard deviation, a unit, of the change of a metric finished from summed rows.

    By the jackknife: for a mean of one value a unit it is that of the differences. None under
    two units, and where leaving one out leaves nothing to finish.
    """
    after, before = _rows(after_rows), _rows(before_rows)
    n = len(after)
    if n < 2:
        return None
    with np.errstate(all="ignore"):
        left_out = finish(after.sum(axis=0) - after) - finish(before.sum(axis=0) - before)
    if not np.isfinite(left_out).all():
        return None
    away = left_out - math.fsum(left_out.tolist()) / n
    if np.abs(away).max() < _ROUNDING:
        return 0.0
    return math.sqrt((n - 1) * math.fsum((away * away).tolist()))


def _unfinished(n: int, differing: int) -> Paired:
    """What is to be said of runs whose metric cannot be finished."""
    return Paired(
        estimate=None,
        ci=None,
        p=None,
        n=n,
        n_zero=n - differing,
        method="randomisation of units",
        seed=None,
        effect=None,
        reason="one of the runs has nothing to score" if n else "no pairs",
    )


class _Swaps(NamedTuple):
    """What the arrangements say of the one at hand."""

    p: float
    least_p: float
    method: str
    exact: bool
    statistic: float | None


def _by_swaps(after: Counts, before: Counts, finish: Finish, seed: int, draws: int) -> _Swaps:
    """How often the metric changes as much, and how seldom it could have.

    Each unit has an upper and a lower row, whichever run they are of: the draws are the same when
    the runs are turned round.
    """
    moved = after - before
    up = moved[np.arange(len(moved)), (moved != 0).argmax(axis=1)] > 0
    upper, lower = np.where(up[:, None], (after, before), (before, after))
    if not is_share(finish, after.shape[1]):
        return _arranged(upper, lower, up, _changer(finish, upper, lower), seed, draws)
    rows = extended(upper, lower), extended(lower, upper)
    found = _arranged(*rows, up, studentised(upper, lower), seed, draws)
    unlike = p_of_unlike_counts(after, before)
    if unlike <= found.p:
        return found
    return found._replace(p=unlike, method=f"{found.method}, raised by the normal test")


def _arranged(
    upper: NDArray[Number],
    lower: NDArray[Number],
    up: NDArray[np.bool_],
    statistic: Callable[[NDArray[Number]], Floats],
    seed: int,
    draws: int,
) -> _Swaps:
    """The arrangements in which a statistic comes as far from 0 as where these units stand up."""
    gains, lowest = upper - lower, lower.sum(axis=0)
    at_hand = gains[up].sum(axis=0)
    # Units that moved by the same, whichever way, are interchangeable.
    distinct, counts = np.unique(gains[gains.any(axis=1)], axis=0, return_counts=True)
    swaps = subsets(distinct, counts, seed, draws, as_it_is=at_hand)
    sizes = np.abs(statistic(lowest + swaps.sums))
    defined = ~np.isnan(sizes)
    sizes, weights = sizes[defined], swaps.weights[defined]
    seen = float(statistic(lowest + at_hand))
    observed = abs(seen)
    p, least_p = (
        ratio(weights[sizes >= far * (1 - _TIED)], weights) for far in (observed, sizes.max())
    )
    method = f"randomisation of units, {'exact' if swaps.exact else f'{draws:,} draws'}"
    return _Swaps(p, least_p, method, swaps.exact, seen if math.isfinite(seen) else None)


def _changer(finish: Finish, upper: Counts, lower: Counts) -> Finish:
    """The change of the metric, from the sums of the rows that stand after."""
    both = upper.sum(axis=0) + lower.sum(axis=0)

    def change(after: Sums) -> Floats:
        with np.errstate(all="ignore"):
            found = finish(after) - finish(both - after)
            return np.where(np.isfinite(found), found, np.nan)

    return change


def _worth(rows: Counts) -> float:
    """How many units of one size a run's rows are worth (Kish); those of zeros are none."""
    sizes = np.abs(rows).max(axis=1, initial=0).astype(np.float64)
    total = math.fsum(sizes.tolist())
    return total * total / math.fsum((sizes * sizes).tolist()) if total else 0.0


def _too_few_scored(after: Counts, before: Counts) -> str | None:
    """Why there is no interval, where a run scored too few units for one."""
    run, rows = min((("after", after), ("before", before)), key=lambda run: _worth(run[1]))
    worth = _worth(rows)
    if worth >= FEWEST:
        return None
    scored = int(rows.any(axis=1).sum())
    told = f"the run {run} scored only {scored} {'unit' if scored == 1 else 'units'}"
    if scored >= FEWEST:
        told = (
            f"the {scored:,} units of the run {run} are so unequal that they count as {worth:.0f}"
        )
    return f"{told}: too few for an interval"


def _span(after: Counts, before: Counts, finish: Finish) -> float:
    """From the lowest of 0 and all finished values, of units and of runs, to the highest."""
    rows = np.vstack([after, before, after.sum(axis=0), before.sum(axis=0)])
    with np.errstate(all="ignore"):
        values = finish(rows)
    return reach(values[np.isfinite(values)])


def _rows(rows: Counts) -> Counts:
    checked = np.asarray(rows)
    if checked.ndim != 2 or (checked.size and checked.dtype.kind not in "biu"):
        raise ValueError(
            f"rows must be whole numbers, (units, columns), not {checked.dtype} of "
            f"shape {checked.shape}"
        )
    return checked.astype(np.int64)
