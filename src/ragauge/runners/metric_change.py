"""A metric in two runs: its change over the units they share, how sure it is, and its verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, structs

from ragauge.contracts.comparison import Compared, Correction, Outlook
from ragauge.contracts.history import RecordedMetric
from ragauge.contracts.metric import Better, Metric, ratio
from ragauge.contracts.options import CompareOptions
from ragauge.errors import UsageError
from ragauge.metrics.table import find
from ragauge.runners.comparability import how_made
from ragauge.runners.paired_units import Columns, Comparable
from ragauge.stats.decision import adjusted, gain, level_of, outlook, that_could_find
from ragauge.stats.differences import Paired
from ragauge.stats.paired import compared, spread
from ragauge.stats.power import (
    fewest_to_find,
    fewest_to_rule_out,
    needed,
    needed_for_margin,
    smallest_seen,
)
from ragauge.stats.swapped import spread_of_rows, swapped

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragauge.contracts.metric import Array

    Floats = NDArray[np.float64]
    Finish = Callable[[Array], Array]
    Ints = NDArray[np.int64]


BY_UNITS = ("auto", "randomisation")
"""Methods that exchange what two runs counted for a unit; the others pair values one by one."""

NEITHER = "nothing to score in either run"
NOT_BEFORE = "nothing to score in the run before"
NOT_AFTER = "nothing to score in the run after"
UNLIKE_TYPES = "the runs have different types: name them with --types or --labels in both"
NOT_FINITE = "the metric's total is not a finite number"
BEYOND = "a loss, but whether it is beyond the margin cannot be told"
ALIKE = 1e-12
"""Two totals closer than this are one: sums of floats differ in their last digits."""
SUM_BITS = 60
"""Sums of rows stay below 2^60: two runs of them are added, and 64 bits hold that."""
VALUE_BITS = 24
"""A value that is no count keeps so many bits."""
WEIGHT_BITS = 30
"""More bits of a weight no result would show."""


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


def comparable(id: str, recorded: RecordedMetric) -> tuple[Comparable, str | None]:
    """How a recorded metric is compared, and what a reader should know about that."""
    weighted = "weighted" in how_made(recorded.signature)
    try:
        metric: Metric | None = find(id)
    except UsageError:  # a run outlives the plug-in that made its numbers
        metric = None
    if metric is not None and metric.id == id and metric.version == recorded.version:
        low, high = metric.bounds
        span = None if high is None else high - low
        if recorded.total == "mean":
            return Comparable(id, None, 0, weighted, span), None
        return Comparable(id, metric.finish, len(metric.columns), weighted, span), None
    mean = Comparable(id, None, 0, weighted)
    if recorded.total == "mean":
        return mean, None
    if metric is None or metric.id != id:
        fact = "is not in this installation's table; a plug-in may be missing"
    else:
        fact = f"was recorded as version {recorded.version}, and here it is {metric.version}"
    return mean, f"{fact}: the mean over units is compared, not its total"


def change_of(
    metric: Comparable,
    before: Columns,
    after: Columns,
    options: CompareOptions,
    open_ends: float | None = None,
) -> Change:
    """The change of a metric with its paired test; `open_ends` is what the interval leaves open.

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
    confidence = 100 * (1 - (options.alpha if open_ends is None else open_ends))
    if not weighted and (metric.finish is None or options.method not in BY_UNITS):
        return _of_values(metric, before, after, options, confidence)
    was, now = before.of(either), after.of(either)
    totals = _total(metric.finish, was), _total(metric.finish, now)
    if not all(math.isfinite(total) for total in totals):
        return Change(n=int(either.sum()), reason=NOT_FINITE)
    if not weighted and _is_mean(totals[0], was) and _is_mean(totals[1], now):
        return _paired(was.values, now.values, options, confidence)
    # What the two runs counted for a unit is exchanged.
    before_rows, after_rows, finish = was.counts, now.counts, metric.finish
    if now.weights is not None:
        before_rows, after_rows, finish = _weighted_rows(finish, was, now, now.weights)
    assert finish is not None  # means of unweighted values are compared above
    test = swapped(
        after_rows,
        before_rows,
        finish,
        seed=options.seed,
        confidence=confidence,
        span=metric.span,
        alpha=options.alpha,
    )
    return Change(
        before=totals[0],
        after=totals[1],
        test=test,
        sd=spread_of_rows(after_rows, before_rows, finish),
        n=test.n,
        reason=test.reason,
    )


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
    total = _total(metric.finish, columns)
    return total if math.isfinite(total) else None


def _of_values(
    metric: Comparable, before: Columns, after: Columns, options: CompareOptions, confidence: float
) -> Change:
    """The change of the mean, over the units that both runs scored."""
    both = before.scored & after.scored
    left_out = int((before.scored ^ after.scored).sum())
    if not both.any():
        return untested(metric, before, after, "no unit was scored in both runs")
    found = _paired(before.values[both], after.values[both], options, confidence)
    notes = [found.reason or ""]
    if left_out:
        notes.append(f"{left_out:,} units that only one run scored are left out")
    if options.method == "wilcoxon":
        notes.append("change and interval are of the median change (Hodges-Lehmann)")
    if metric.finish is not None:
        notes.append(f"the mean over units is compared, as --method {options.method} pairs values")
    return structs.replace(found, reason="; ".join(filter(None, notes)) or None)


def _paired(before: Floats, after: Floats, options: CompareOptions, confidence: float) -> Change:
    test = compared(
        after,
        before,
        method=None if options.method == "auto" else options.method,
        seed=options.seed,
        confidence=confidence,
        alpha=options.alpha,
    )
    return Change(
        before=float(before.mean()),
        after=float(after.mean()),
        test=test,
        sd=spread(after, before),
        n=test.n,
        reason=test.reason,
    )


def _total(finish: Finish | None, columns: Columns) -> float:
    """The value of a run, of the population where units have weights: just as it is recorded.

    Without a finish it is the mean of the values. Weighted sums are rounded once, whatever the
    order of the units.
    """
    weights = columns.weights
    if weights is None:
        if finish is None:
            return float(np.nanmean(columns.values))
        return float(finish(columns.counts.sum(axis=0)))
    if finish is None:
        scored = columns.scored
        return _fsum(weights[scored] * columns.values[scored]) / _fsum(weights[scored])
    sums = [_fsum(column) for column in (columns.counts * weights[:, None]).T]
    return float(finish(np.array(sums)))


def _fsum(numbers: Array) -> float:
    return math.fsum(numbers.tolist())


def _weighted_rows(
    finish: Finish | None, before: Columns, after: Columns, weights: Floats
) -> tuple[Ints, Ints, Finish]:
    """The rows of both runs, each unit's times its weight, and what finishes their sums.

    Where a total is the mean of the values, these are weighted rather than the counts, which may
    be so large that few bits would be left for weights.
    """
    runs = (before, after)
    rows = [run.counts for run in runs]
    if finish is None or all(abs(_total(finish, run) - _total(None, run)) <= ALIKE for run in runs):
        # Rows of value and 1, in steps of a power of two far below the largest value.
        largest = float(np.nanmax(np.abs([run.values for run in runs])))
        step = math.frexp(largest)[1] - VALUE_BITS
        rows = [
            np.column_stack(
                [np.rint(np.ldexp(np.nan_to_num(run.values), -step)), run.scored]
            ).astype(np.int64)
            for run in runs
        ]

        def finish(sums: Array) -> Array:
            return np.ldexp(ratio(sums), step)

    # Weights become whole numbers, so that sums do not depend on the order of the units: as they
    # are where they are such, else in steps of a power of two, with as many bits as there is room
    # for next to rows of these sizes.
    sizes = np.maximum(*(np.abs(run).max(axis=1) for run in rows))
    divisor = math.gcd(*map(int, weights)) if (weights == np.rint(weights)).all() else 0
    room = SUM_BITS - math.frexp(_fsum(weights * sizes))[1]
    if divisor and room + math.frexp(divisor)[1] > 0:
        whole = (weights / divisor).astype(np.int64)
    else:
        bits = min(room, WEIGHT_BITS - math.frexp(float(weights.min()))[1])
        whole = np.maximum(1, np.rint(np.ldexp(weights, bits))).astype(np.int64)
    return rows[0] * whole[:, None], rows[1] * whole[:, None], finish


def _is_mean(total: float, columns: Columns) -> bool:
    """Whether every unit was scored and the total is the mean of the values."""
    return bool(columns.scored.all()) and abs(float(columns.values.mean()) - total) <= ALIKE


def all_0_or_1(before: Columns, after: Columns) -> bool:
    """Whether all values of the units that both runs scored are 0 or 1."""
    both = before.scored & after.scored
    values = np.concatenate((before.values[both], after.values[both]))
    return bool(np.isin(values, (0.0, 1.0)).all())


def judged(
    family: Sequence[tuple[Change, Better, float | None]],
    correction: Correction,
    alpha: float,
    interval_alpha: float | None = None,
) -> list[Compared]:
    """The verdict on each change, with its direction and its margin, among all of the family.

    `interval_alpha` is what the intervals leave open, where that is not alpha.
    """
    least = [one.test.least_p if one.test else None for one, _, _ in family]
    ps = that_could_find([one.p for one, _, _ in family], least, alpha)
    tests = len(ps) - ps.count(None)
    open_ends = alpha if interval_alpha is None else interval_alpha
    verdicts = []
    for (one, better, margin), corrected in zip(family, adjusted(ps, correction), strict=True):
        p = one.p if corrected is None else corrected
        significant = None if p is None else p < alpha
        # What a single test must reach, whatever the others come to; one that could find
        # something would be a test more.
        level = level_of(alpha, correction, tests + (corrected is None))
        verdict: Outlook = "cannot_tell"
        if one.before is None or one.after is None:
            verdict = "not_comparable"
        elif one.test is not None:
            # The margin is a loss of the mean: the interval of a median says nothing of it.
            ends = one.test.ci if one.test.ci_of == "mean" else None
            change = one.after - one.before
            verdict = outlook(change, ends, p, better, margin, alpha, one.test.leans)
        reasons, nearest = [one.reason], None
        if verdict == "cannot_tell":
            # With so small a p, a margin is all that kept the change from being called worse.
            reasons.insert(0, BEYOND if margin and significant else None)
            # Units for the nearest decision, if the change stayed what it is: more than there
            # are, for these do not decide.
            enough = (
                _to_find(one, better, margin, level),
                _to_rule_out(one, better, margin, open_ends),
            )
            nearest = min(filter(None, enough), default=None)
        verdicts.append(
            structs.replace(
                unjudged(one, better, verdict),
                p_adjusted=p,
                significant=significant,
                margin=margin,
                detectable=(
                    smallest_seen(one.sd, one.n, flips=one.flips, alpha=level) if one.sd else None
                ),
                needed=nearest,
                tested=corrected is not None,
                reason="; ".join(filter(None, reasons)) or None,
            )
        )
    return verdicts


def unjudged(one: Change, better: Better, verdict: Outlook = "not_tested") -> Compared:
    """A change that is shown and not held against others: it is in no family of tests."""
    test = one.test
    return Compared(
        verdict=verdict,
        better=better,
        before=one.before,
        after=one.after,
        change=one.change,
        ci=test.ci if test else None,
        p=one.p,
        p_adjusted=None,
        n=one.n,
        n_zero=test.n_zero if test else 0,
        method=test.method if test else "",
        seed=test.seed if test else None,
        effect=test.effect if test else None,
        margin=None,
        sd=one.sd,
        detectable=None,
        needed=None,
        tested=False,
        reason=one.reason,
        statistic=test.statistic if test else None,
    )


def _to_find(one: Change, better: Better, margin: float | None, level: float) -> int | None:
    """Units that would show a gain, or a loss greater than the margin.

    No fewer than a test that goes in steps can use.
    """
    if not one.sd or not one.change or one.test is None:
        return None
    way = gain(one.change, better)
    if way < 0 and margin and -way <= margin:
        return None
    enough = needed(one.sd, abs(one.change), alpha=level)
    fewest = fewest_to_find(one.n, one.n - one.test.n_zero, level)
    return None if enough is None else max(enough, fewest)


def _to_rule_out(one: Change, better: Better, margin: float | None, open_ends: float) -> int | None:
    """Units that would show a change to be no loss past the margin."""
    if not margin or one.change is None or one.test is None or one.test.ci_of != "mean":
        return None
    fewest = fewest_to_rule_out(one.n, margin, open_ends) if one.flips else one.n + 1
    if one.flips and not one.differs:
        return fewest
    way = gain(one.change, better)
    enough = needed_for_margin(one.sd, margin, way, alpha=open_ends) if one.sd else None
    return None if enough is None else max(enough, fewest)
