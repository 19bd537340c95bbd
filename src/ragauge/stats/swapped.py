"""Two runs of a metric made from summed rows, such as micro-F1: is its change more than chance?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ragauge.stats.bootstrap import metric_interval
from ragauge.stats.differences import Paired, few_for_bootstrap, reach, too_few, unseen
from ragauge.stats.intervals import DEFAULT_CONFIDENCE
from ragauge.stats.random_signs import DRAWS, ratio, subsets

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]
    Sums = Counts | Floats
    Finish = Callable[[Sums], Floats]

_ROUNDING = 1e-14
"""What leaving a unit out may seem to change where it changes nothing."""


def swapped(
    after_rows: Counts,
    before_rows: Counts,
    finish: Finish,
    *,
    seed: int = 0,
    draws: int = DRAWS,
    confidence: float = DEFAULT_CONFIDENCE,
) -> Paired:
    """Fisher's randomisation of any metric: how often swapping runs changes it as much.

    Each unit has a row of whole numbers in either run, zeros where a run does not score it; units
    are swapped whole. An arrangement whose metric cannot be finished is left out. The interval is
    the percentile bootstrap of the units, a little narrow with few of them or near the metric's
    bounds. d_z is by the jackknife, which is the plain d_z where the metric is a mean.
    """
    after, before = _rows(after_rows), _rows(before_rows)
    if after.shape != before.shape:
        raise ValueError(f"the runs differ in shape: {after.shape} and {before.shape}")
    moved = after - before
    n, differing = len(moved), int(moved.any(axis=1).sum())
    change = _finisher(finish, after.sum(axis=0) + before.sum(axis=0))
    estimate = float(change(after.sum(axis=0)))
    if not math.isfinite(estimate):
        return _unfinished(n, differing)
    p, exact = _by_swaps(after, moved, change, seed, draws)
    sd = spread_of_rows(after, before, finish)
    made = metric_interval(
        np.hstack([after, before]), _side_by_side(finish), confidence, seed=seed, draws=draws
    )
    ci = made.ci if differing else unseen(n, _reach_of_units(after, finish), confidence)
    return Paired(
        estimate=estimate,
        ci=ci,
        p=p,
        n=n,
        n_zero=n - differing,
        method=f"randomisation of units, {'exact' if exact else f'{draws:,} draws'}",
        seed=made.seed if exact else seed,
        effect=estimate / sd if sd else None,
        reason=too_few(differing, n, "randomisation") or made.reason or few_for_bootstrap(n),
    )


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


def _by_swaps(
    after: Counts, moved: Counts, change: Finish, seed: int, draws: int
) -> tuple[float, bool]:
    """How often the metric changes as much, and whether all arrangements were looked at."""
    lead = moved[np.arange(len(moved)), (moved != 0).argmax(axis=1)]
    up, differing = lead > 0, lead != 0
    # Units that moved by the same, whichever way, are interchangeable.
    alike = np.where(up[:, None], moved, -moved)[differing]
    distinct, counts = np.unique(alike, axis=0, return_counts=True)
    swaps = subsets(distinct, counts, seed, draws, as_it_is=moved[up].sum(axis=0))
    lowest = after.sum(axis=0) - moved[up].sum(axis=0)
    changes = change(lowest + swaps.sums)
    defined = np.isfinite(changes)
    observed = abs(float(change(after.sum(axis=0))))
    far = defined & (np.abs(changes) >= observed - 1e-9 * observed)
    return ratio(swaps.weights[far], swaps.weights[defined]), swaps.exact


def _finisher(finish: Finish, both: Counts) -> Finish:
    """The change of the metric, from the sums of the rows that stand after."""

    def change(after: Sums) -> Floats:
        with np.errstate(all="ignore"):
            return finish(after) - finish(both - after)

    return change


def _reach_of_units(rows: Counts, finish: Finish) -> float:
    """From the lowest of 0 and each unit's own finished value to the highest."""
    with np.errstate(all="ignore"):
        values = finish(rows)
    return reach(values[np.isfinite(values)])


def _side_by_side(finish: Finish) -> Finish:
    """The change of the metric, from sums of both runs' rows beside each other."""

    def change(sums: Sums) -> Floats:
        columns = sums.shape[-1] // 2
        return finish(sums[..., :columns]) - finish(sums[..., columns:])

    return change


def _rows(rows: Counts) -> Counts:
    checked = np.asarray(rows)
    if checked.ndim != 2 or (checked.size and checked.dtype.kind not in "biu"):
        raise ValueError(
            f"rows must be whole numbers, (units, columns), not {checked.dtype} of "
            f"shape {checked.shape}"
        )
    return checked.astype(np.int64)
