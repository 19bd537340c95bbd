"""Two runs of a metric made from summed rows, such as micro-F1: is its change more than chance?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragauge.stats.decision import ALPHA
from ragauge.stats.differences import Paired, reach, too_few, turned
from ragauge.stats.intervals import DEFAULT_CONFIDENCE, Interval, interval_of_change
from ragauge.stats.random_signs import DRAWS, Number, ratio, subsets

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
    unlike numbers come to by chance (`studentised`). The change of any other metric is taken
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
    few = None
    run, rows = min((("after", after), ("before", before)), key=lambda run: _worth(run[1]))
    if (after != before).any() and (worth := _worth(rows)) < FEWEST:
        scored = int(rows.any(axis=1).sum())
        few = f"the run {run} scored only {scored} {'unit' if scored == 1 else 'units'}"
        if scored >= FEWEST:
            uneven = f"are so unequal that they count as {worth:.0f}"
            few = f"the {scored:,} units of the run {run} {uneven}"
        few += ": too few for an interval"
    change = float(finish(after.sum(axis=0)) - finish(before.sum(axis=0)))
    if not span:
        # From the lowest of 0 and all finished values, of units and of runs, to the highest.
        rows = np.vstack([after, before, after.sum(axis=0), before.sum(axis=0)])
        with np.errstate(all="ignore"):
            values = finish(rows)
        span = reach(values[np.isfinite(values)])
    span = max(span, abs(change))
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
        both = upper.sum(axis=0) + lower.sum(axis=0)

        def change(sums: Sums) -> Floats:
            """Of the metric, from the sums of the rows that stand after."""
            with np.errstate(all="ignore"):
                found = finish(sums) - finish(both - sums)
                return np.where(np.isfinite(found), found, np.nan)

        return _arranged(upper, lower, up, change, seed, draws)
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


def _worth(rows: Counts) -> float:
    """How many units of one size a run's rows are worth (Kish); those of zeros are none."""
    sizes = np.abs(rows).max(axis=1, initial=0).astype(np.float64)
    total = math.fsum(sizes.tolist())
    return total * total / math.fsum((sizes * sizes).tolist()) if total else 0.0


def _rows(rows: Counts) -> Counts:
    checked = np.asarray(rows)
    if checked.ndim != 2 or (checked.size and checked.dtype.kind not in "biu"):
        raise ValueError(
            f"rows must be whole numbers, (units, columns), not {checked.dtype} of "
            f"shape {checked.shape}"
        )
    return checked.astype(np.int64)


_PROBES = np.array([[1, 1], [1, 2], [2, 1], [3, 7], [0, 5]])
_CANCELLED = 1e-13
"""What is left of sums that cancel, as a part of them."""


def is_share(finish: Finish, columns: int) -> bool:
    """Whether a metric is its first column over its second, in whatever unit of measure."""
    if columns != 2:
        return False
    with np.errstate(all="ignore"):
        made = finish(_PROBES)
    return bool(made[0] != 0 and np.allclose(made, made[0] * _PROBES[:, 0] / _PROBES[:, 1]))


def extended(rows: Counts, others: Counts) -> Floats:
    """Rows of yes and of with their products: yes², yes·of, of², and yes by the other run's of."""
    yes, of = rows.T.astype(np.float64)
    return np.column_stack([yes, of, yes * yes, yes * of, of * of, yes * others[:, 1]])


def studentised(after: Counts, before: Counts) -> Callable[[Floats], Floats]:
    """The change over its standard error, from the sums of the extended rows that stand after.

    Without an error it is infinite where there is a change, and 0 where there is none. NaN where
    one of the runs has nothing to divide by.
    """
    both = (extended(after, before) + extended(before, after)).sum(axis=0)
    crossed = (after.astype(np.float64) * before).sum(axis=0)

    def in_errors(sums: Floats) -> Floats:
        now, then = sums.T, (both - sums).T
        with np.errstate(all="ignore"):
            shares = now[0] / now[1], then[0] / then[1]
            change = _cleared(shares[0] - shares[1], np.abs(shares[0]) + np.abs(shares[1]))
            error = np.sqrt(_variance(now, then, shares, crossed))
            return np.where((change == 0) & (error == 0), 0.0, change / error)

    return in_errors


def p_of_unlike_counts(after: Counts, before: Counts) -> float:
    """How likely so large a change is, were what only one run counted like all the rest.

    Eight right answers that become refusals move a share, and always the same way: each swap moves
    it back, and they have no spread of their own. So what one run counted more of a unit, or what
    weighs more in it, is given the spread of all units about the common share; what both counted
    keeps its own. The test is the normal one. 0 where the runs counted alike.
    """
    (yes, of), (yes_before, of_before) = after.T.astype(np.float64), before.T.astype(np.float64)
    total, total_before = math.fsum(of), math.fsum(of_before)
    if (of == of_before).all() or min(of.min(), of_before.min()) < 0 or not total * total_before:
        return 0.0
    common = (math.fsum(yes) + math.fsum(yes_before)) / (total + total_before)
    away, away_before = yes - common * of, yes_before - common * of_before
    spread = (_squared(away) + _squared(away_before)) / (_squared(of) + _squared(of_before))
    fewer, more = np.minimum(of, of_before), np.maximum(of, of_before)
    moved = fewer * (_share(yes, of) - _share(yes_before, of_before))
    largest = np.where(of > of_before, 1 / total, 1 / total_before)
    variance = _squared(moved) / total / total_before + spread * (
        _squared(fewer * (1 / total - 1 / total_before))
        + math.fsum(largest * largest * more * (more - fewer))
    )
    change = math.fsum(away) / total - math.fsum(away_before) / total_before
    return math.erfc(abs(change) / math.sqrt(2 * variance)) if variance else 0.0


def _variance(now: Floats, then: Floats, shares: tuple[Floats, Floats], crossed: Floats) -> Floats:
    """The squared error of the change, linearised: the sum of what each unit does to it, squared.

    The runs stand in it alike, to the last digit: turned round, it is the same number.
    """
    parts, sizes = [], []
    for (_, of, yes_yes, yes_of, of_of, _), share in zip((now, then), shares, strict=True):
        squares = yes_yes + share * share * of_of
        parts.append((squares - 2 * share * yes_of) / of / of)
        sizes.append(squares / of / of)
    yes_crossed, of_crossed = crossed
    together = yes_crossed + shares[0] * shares[1] * of_crossed
    across = together - (shares[1] * now[5] + shares[0] * then[5])
    variance = (parts[0] + parts[1]) - 2 * across / (now[1] * then[1])
    return _cleared(variance, sizes[0] + sizes[1])


def _cleared(values: Floats, sizes: Floats) -> Floats:
    """Values with 0 for what is only rounding, in numbers of these sizes."""
    return np.where(np.abs(values) <= _CANCELLED * sizes, 0.0, values)


def _share(yes: Floats, of: Floats) -> Floats:
    """0 where there is nothing to divide by."""
    return np.divide(yes, of, out=np.zeros_like(yes), where=of != 0)


def _squared(values: Floats) -> float:
    return math.fsum(values * values)
