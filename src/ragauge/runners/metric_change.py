"""A metric in two runs: its change over the units they share, and how sure it is."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from ragauge.contracts.history import RecordedMetric
from ragauge.contracts.metric import Metric
from ragauge.contracts.options import Method
from ragauge.errors import UsageError
from ragauge.metrics.table import find
from ragauge.runners.comparability import how_made
from ragauge.runners.paired_units import Columns
from ragauge.runners.weighted_rows import weighted_rows, weighted_total
from ragauge.stats.decision import ALPHA
from ragauge.stats.differences import Paired
from ragauge.stats.intervals import DEFAULT_CONFIDENCE
from ragauge.stats.paired import compared, spread
from ragauge.stats.swapped import spread_of_rows, swapped

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragauge.contracts.metric import Array

    Floats = NDArray[np.float64]

BY_UNITS = ("auto", "randomisation")
"""Methods that exchange what two runs counted for a unit; the others pair values one by one."""

NEITHER = "nothing to score in either run"
NOT_BEFORE = "nothing to score in the run before"
NOT_AFTER = "nothing to score in the run after"
UNLIKE_TYPES = "the runs have different types: name them with --types or --labels in both"
NOT_FINITE = "the metric's total is not a finite number"
ALIKE = 1e-12
"""Two totals closer than this are one: sums of floats differ in their last digits."""


class How(Struct, frozen=True, kw_only=True):
    """How changes are tested."""

    method: Method = "auto"
    seed: int = 0
    confidence: float = DEFAULT_CONFIDENCE
    """Of the intervals, in percent."""
    alpha: float = ALPHA
    """From which probability on a change is more than chance."""


class Change(Struct, frozen=True, kw_only=True):
    """What a metric came to in both runs, before it is judged among others."""

    before: float | None = None
    after: float | None = None
    test: Paired | None = None
    sd: float | None = None
    n: int = 0
    reason: str | None = None

    @property
    def p(self) -> float | None:
        return self.test.p if self.test else None

    @property
    def flips(self) -> bool:
        """Whether its units are 0 or 1, and were tested as such."""
        return self.test is not None and self.test.method.startswith("McNemar")

    @property
    def differs(self) -> bool:
        """Whether any unit does."""
        return self.test is not None and self.test.n_zero < self.test.n

    @property
    def change(self) -> float | None:
        """after − before; of Wilcoxon's test its own centre, which may go the other way."""
        if self.test is None or self.before is None or self.after is None:
            return None
        by_ranks = self.test.method.startswith("Wilcoxon")
        return self.test.estimate if by_ranks else self.after - self.before


class Comparable(Struct, frozen=True):
    """A metric that both runs have, and how to come from its units to its total."""

    id: str
    finish: Callable[[Array], Array] | None
    """None where a total is the mean of the units' values."""
    width: int
    weighted: bool = False
    """Whether units count as often as they stand for others."""
    span: float | None = None
    """How far apart its values can lie, where that is known."""


def comparable(id: str, recorded: RecordedMetric) -> tuple[Comparable, str | None]:
    """How a recorded metric is compared, and what a reader should know about that."""
    metric, weighted = _installed(id), "weighted" in how_made(recorded.signature)
    if metric is not None and metric.version == recorded.version:
        low, high = metric.bounds
        span = None if high is None else high - low
        if recorded.total == "mean":
            return Comparable(id, None, 0, weighted, span), None
        return Comparable(id, metric.finish, len(metric.columns), weighted, span), None
    if recorded.total == "mean":
        return Comparable(id, None, 0, weighted), None
    fact = (
        "is not in this installation's table; a plug-in may be missing"
        if metric is None
        else f"was recorded as version {recorded.version}, and here it is {metric.version}"
    )
    told = f"{fact}: the mean over units is compared, not its total"
    return Comparable(id, None, 0, weighted), told


def _installed(id: str) -> Metric | None:
    try:
        found = find(id)
    except UsageError:  # a run outlives the plug-in that made its numbers
        return None
    return found if found.id == id else None


def change_of(metric: Comparable, before: Columns, after: Columns, how: How) -> Change:
    """The change of a metric with its paired test.

    Totals of sums are compared as totals: a unit that only one run scored counts in that run, and
    the test exchanges what the two runs counted. So it does with totals of weighted units. Where
    the same units were scored and the total is the mean of their values, the values are paired
    one by one.
    """
    either = before.scored | after.scored
    for reason, scored in (
        (NEITHER, either),
        (NOT_BEFORE, before.scored),
        (NOT_AFTER, after.scored),
    ):
        if not scored.any():
            return untested(metric, before, after, reason)
    if before.counts.shape != after.counts.shape:
        return untested(metric, before, after, UNLIKE_TYPES)
    weighted = after.weights is not None
    if not weighted and (metric.finish is None or how.method not in BY_UNITS):
        return _of_values(metric, before, after, how)
    was, now = before.of(either), after.of(either)
    totals = _total(metric, was), _total(metric, now)
    if not all(math.isfinite(total) for total in totals):
        return Change(n=int(either.sum()), reason=NOT_FINITE)
    if not weighted and _is_mean(totals[0], was) and _is_mean(totals[1], now):
        return _paired(was.values, now.values, how)
    return _of_rows(metric, was, now, totals, how)


def untested(metric: Comparable, before: Columns, after: Columns, reason: str) -> Change:
    """What the runs came to, where that is all that can be said."""
    return Change(
        before=_value(metric, before),
        after=_value(metric, after),
        n=int((before.scored | after.scored).sum()),
        reason=reason,
    )


def _value(metric: Comparable, columns: Columns) -> float | None:
    """The total of one run alone; None where it scored nothing."""
    if not columns.scored.any():
        return None
    total = _total(metric, columns)
    return total if math.isfinite(total) else None


def _of_rows(
    metric: Comparable, was: Columns, now: Columns, totals: tuple[float, float], how: How
) -> Change:
    """The change of a total, by exchanging what the two runs counted for a unit."""
    if now.weights is None and metric.finish is not None:
        before_rows, after_rows, finish = was.counts, now.counts, metric.finish
    else:
        before_rows, after_rows, finish = weighted_rows(metric.finish, was, now)
    test = swapped(
        after_rows,
        before_rows,
        finish,
        seed=how.seed,
        confidence=how.confidence,
        span=metric.span,
        alpha=how.alpha,
    )
    return Change(
        before=totals[0],
        after=totals[1],
        test=test,
        sd=spread_of_rows(after_rows, before_rows, finish),
        n=test.n,
        reason=test.reason,
    )


def _of_values(metric: Comparable, before: Columns, after: Columns, how: How) -> Change:
    """The change of the mean, over the units that both runs scored."""
    both = before.scored & after.scored
    left_out = int((before.scored ^ after.scored).sum())
    if not both.any():
        return untested(metric, before, after, "no unit was scored in both runs")
    found = _paired(before.values[both], after.values[both], how)
    notes = [found.reason or ""]
    if left_out:
        notes.append(f"{left_out:,} units that only one run scored are left out")
    if how.method == "wilcoxon":
        notes.append("change and interval are of the median change (Hodges-Lehmann)")
    if metric.finish is not None:
        notes.append(f"the mean over units is compared, as --method {how.method} pairs values")
    return Change(
        before=found.before,
        after=found.after,
        test=found.test,
        sd=found.sd,
        n=found.n,
        reason="; ".join(filter(None, notes)) or None,
    )


def _paired(before: Floats, after: Floats, how: How) -> Change:
    method = None if how.method == "auto" else how.method
    test = compared(
        after,
        before,
        method=method,
        seed=how.seed,
        confidence=how.confidence,
        alpha=how.alpha,
    )
    return Change(
        before=float(before.mean()),
        after=float(after.mean()),
        test=test,
        sd=spread(after, before),
        n=test.n,
        reason=test.reason,
    )


def _total(metric: Comparable, columns: Columns) -> float:
    if columns.weights is not None:
        return weighted_total(metric.finish, columns)
    if metric.finish is None:
        return float(np.nanmean(columns.values))
    return float(metric.finish(columns.counts.sum(axis=0)))


def _is_mean(total: float, columns: Columns) -> bool:
    """Whether every unit was scored and the total is the mean of the values."""
    return bool(columns.scored.all()) and abs(float(columns.values.mean()) - total) <= ALIKE


def all_0_or_1(before: Columns, after: Columns) -> bool:
    """Whether all values of the units that both runs scored are 0 or 1."""
    both = before.scored & after.scored
    values = np.concatenate((before.values[both], after.values[both]))
    return bool(np.isin(values, (0.0, 1.0)).all())
