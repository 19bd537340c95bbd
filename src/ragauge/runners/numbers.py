"""Scores from sums: the value, how much it covers, and how sure it is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from ragauge.contracts.score import Measured, Score
from ragauge.metrics.sums import QuestionSums
from ragauge.stats.intervals import DEFAULT_CONFIDENCE, Interval, clustered, jackknife

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]


def scored(
    sums: QuestionSums, signature: str, mask: Mask | None = None, confidence: float | None = None
) -> Score:
    """The score of a metric over all questions, or those of a mask."""
    rows, hits, units = sums.sums, sums.scored, sums.units
    if mask is not None:
        rows, hits, units = rows[mask], hits[mask], units[mask]
    n, of = int(hits.sum()), int(units.sum())
    if n == 0:
        whole = mask is None or bool(mask.all())
        reason = why_absent(sums) if whole else "no question here can be scored"
        return Score(value=None, n=0, of=of, reason=reason, signature=f"{signature}|n:0")
    value = float(sums.metric.finish(rows.sum(axis=0)))
    if not math.isfinite(value):
        reason = "the metric's total is not a finite number"
        return Score(value=None, n=n, of=of, reason=reason, signature=f"{signature}|n:{n}")
    interval = _interval(sums, rows, hits, confidence or DEFAULT_CONFIDENCE)
    return Score(value=value, n=n, of=of, ci=interval, signature=f"{signature}|n:{n}")


def values_of(sums: QuestionSums) -> NDArray[np.float64]:
    """The metric's value for each question, NaN where it is absent."""
    values = np.full(len(sums.scored), np.nan)
    present = sums.scored > 0
    values[present] = sums.metric.finish(sums.sums[present])
    return values


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


def _interval(
    sums: QuestionSums, rows: NDArray[np.int64], hits: NDArray[np.int64], confidence: float
) -> Interval | None:
    metric = sums.metric
    if metric.rate:
        return clustered(rows[:, 0], rows[:, 1], confidence)
    return jackknife(rows[hits > 0], metric.finish, metric.bounds, confidence)


def why_absent(sums: QuestionSums) -> str:
    """The reasons no unit was scored, the commonest first."""
    ranked = sorted(sums.absent.items(), key=lambda pair: (-pair[1], pair[0]))
    return "nothing to score: " + ", ".join(f"{reason} ({times})" for reason, times in ranked)
