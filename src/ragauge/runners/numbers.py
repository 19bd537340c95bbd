"""Scores from sums: the value, how much it covers, and how sure it is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ragauge.contracts.gold import Gold
from ragauge.contracts.metric import Absent, Metric, NotApplicable
from ragauge.contracts.score import Measured, Score
from ragauge.metrics.sums import QuestionSums
from ragauge.stats.bootstrap import Bootstrap, metric_interval
from ragauge.stats.intervals import (
    DEFAULT_CONFIDENCE,
    Interval,
    clustered,
    jackknife,
    weighted_share,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]
    Floats = NDArray[np.float64]


def weights_of(gold: Sequence[Gold]) -> Floats | None:
    """How many questions of the population each one stands for; None where each is one."""
    if all(question.weight is None for question in gold):
        return None
    return np.array([1.0 if question.weight is None else question.weight for question in gold])


def scored(
    sums: QuestionSums,
    signature: str,
    mask: Mask | None = None,
    confidence: float | None = None,
    weights: Floats | None = None,
    intervals: bool = True,
) -> Score:
    """The score of a metric over all questions, or those of a mask.

    With weights it is the population's score, as far as the sample tells. A plain count has no
    interval: it grows with the set.
    """
    rows, hits, units = sums.sums, sums.scored, sums.units
    if mask is not None:
        rows, hits, units = rows[mask], hits[mask], units[mask]
        weights = None if weights is None else weights[mask]
    n, of = int(hits.sum()), int(units.sum())
    if n == 0:
        whole = mask is None or bool(mask.all())
        reason = why_absent(sums) if whole else "nothing here can be scored"
        return Score(value=None, n=0, of=of, reason=reason, signature=f"{signature}|n:0")
    totals, columns = _totals(rows, weights), sums.metric.columns
    value = float(sums.metric.finish(totals))
    if not math.isfinite(value):
        reason = "the metric's total is not a finite number"
        if len(columns) == 2 and not totals[1]:
            reason = f"nothing to divide by: {columns[1]} is 0"
        return Score(value=None, n=n, of=of, reason=reason, signature=f"{signature}|n:{n}")
    level = confidence or DEFAULT_CONFIDENCE
    interval: Interval | None
    if not intervals or len(sums.metric.columns) == 1:
        interval, how = None, ""
    elif sums.metric.rate and rows[:, 1].any():
        interval, how = _share_interval(rows, level, weights), ""
    else:
        there = hits > 0
        heavy = None if weights is None else weights[there]
        interval, how = _metric_interval(sums.metric, rows[there], level, heavy)
    return Score(value=value, n=n, of=of, ci=interval, signature=f"{signature}|n:{n}{how}")


def values_of(sums: QuestionSums) -> NDArray[np.float64]:
    """The metric's value for each question, NaN where it is absent."""
    values = np.full(len(sums.scored), np.nan)
    present = sums.scored > 0
    values[present] = sums.metric.finish(sums.sums[present])
    return values


def each_value(
    sums: QuestionSums, ids: Sequence[str], mask: Mask | None = None
) -> list[tuple[str, float | None, bool]]:
    """Each unit of a mask with the metric's value, and whether it should have one."""
    values, due = values_of(sums).tolist(), (sums.units > 0).tolist()
    kept = range(len(ids)) if mask is None else np.flatnonzero(mask).tolist()
    return [(ids[at], None if values[at] != values[at] else values[at], due[at]) for at in kept]


def measured(sums: QuestionSums, total: Literal["sums", "mean"]) -> Measured:
    """The metric question by question, as an outcome hands it over."""
    metric = sums.metric
    return Measured(
        version=metric.version,
        better=metric.better,
        values=values_of(sums),
        counts=sums.sums,
        total=total,
    )


def _totals(rows: NDArray[Any], weights: Floats | None) -> NDArray[Any]:
    """The columns' sums; weighted ones are rounded once, whatever the order of the questions."""
    if weights is None:
        totals: NDArray[Any] = rows.sum(axis=0)
        return totals
    return np.array([math.fsum(column) for column in (rows * weights[:, None]).T])


def _share_interval(rows: NDArray[Any], confidence: float, weights: Floats | None) -> Interval:
    if weights is None:
        return clustered(rows[:, 0], rows[:, 1], confidence)
    return weighted_share(rows[:, 0], rows[:, 1], weights, confidence)


def _metric_interval(
    metric: Metric, rows: NDArray[Any], confidence: float, weights: Floats | None
) -> tuple[Interval | None, str]:
    """A metric's interval by resampling its questions, and how it was made.

    Weighted rows and those beyond 64 bits are not resampled, but left out one by one.
    """
    if weights is not None or rows.dtype == object:
        weighted = rows if weights is None else rows * weights[:, None]
        return jackknife(weighted, metric.finish, metric.bounds, confidence), "|ci:jackknife"
    made = metric_interval(rows, metric.finish, confidence)
    if made.ci is not None and made.ci[0] == made.ci[1]:
        # A point would let a gate on the interval pass, however few the questions are.
        return None, f"|ci:none,{made.reason or 'nothing varies'}"
    if made.ci is None:
        return None, f"|ci:none,{made.reason}"
    return within(made.ci, metric.bounds), how_made(made)


def within(ends: Interval | None, bounds: tuple[float, float | None]) -> Interval | None:
    """The interval, no further than a metric's values go."""
    if ends is None:
        return None
    least, most = bounds
    low, high = max(float(least), ends[0]), ends[1]
    return low, high if most is None else min(float(most), high)


def how_made(made: Bootstrap) -> str:
    """The part of a signature that tells how an interval was resampled."""
    seed = "" if made.seed is None else f",seed:{made.seed},draws:{made.draws}"
    return f"|ci:{made.kind} bootstrap,{made.method}{seed}"


def why_absent(sums: QuestionSums) -> str:
    """The reasons no unit was scored, the most frequent first."""
    reasons = _ranked(sums.absent)
    return f"nothing to score: {reasons}" if reasons else "nothing to score"


def why_missing(sums: QuestionSums) -> str:
    """The reasons why units that should have a value have none, the most frequent first."""
    return _ranked({a: n for a, n in sums.absent.items() if not isinstance(a, NotApplicable)})


def _ranked(absent: Mapping[Absent, int]) -> str:
    ranked = sorted(absent.items(), key=lambda pair: (-pair[1], pair[0].reason))
    return ", ".join(f"{why.reason} ({times})" for why, times in ranked)


def grouped(sums: QuestionSums, groups: Sequence[str], mask: Mask | None = None) -> QuestionSums:
    """The sums of each group of units, by the groups' names; of those in the mask alone.

    Whoever resamples them then resamples groups, as it must be where units of one group are
    alike: about one source, or in one conversation.
    """
    kept = np.flatnonzero(np.ones(len(groups), dtype=bool) if mask is None else mask)
    names = np.array([groups[place] for place in kept.tolist()], dtype=object)
    known, group = np.unique(names, return_inverse=True) if len(names) else (names, kept)

    def added(column: NDArray[Any]) -> NDArray[Any]:
        total = np.zeros((len(known), *column.shape[1:]), dtype=column.dtype)
        np.add.at(total, group, column[kept])
        return total

    return QuestionSums(
        sums.metric, added(sums.sums), added(sums.scored), added(sums.units), sums.absent
    )
