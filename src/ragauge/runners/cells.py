"""Cells: what the calls of one configuration at one rate come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from ragauge.contracts.latency import Cell
from ragauge.contracts.metric import Pattern
from ragauge.contracts.report import Score
from ragauge.metrics.sums import Groups, sums_of
from ragauge.metrics.table import table
from ragauge.runners.evaluation import scored
from ragauge.stats.trend import Trend, percentile, sample_needed, trend

PRECISION, UNDER_REFUSAL = "quality.precision_cited", "quality.under_refusal"
NO_GOLD = "no gold set to be right about"
TIMEOUT = "timeout"

_PERCENTILES = {"p50_ms": 50, "p90_ms": 90, "p95_ms": 95, "p99_ms": 99}
_DIGITS = 3
"""Of a millisecond: the clock tells no more."""

GROWING = 0.05
"""Seconds of latency gained with each second of load, beyond which a system falls behind: of
twenty-one calls it answers twenty in the time they take to arrive."""
CERTAIN = 3
"""Standard errors between a growth and none at all."""
CALLS_TO_TELL = 10
"""Fewer calls do not tell whether latency grew."""


class Ended(Struct, frozen=True, kw_only=True):
    """A call as far as its numbers need it; times are in seconds since the load began."""

    question: int
    """Its place among the questions."""
    arrival_s: float
    sent_s: float
    ended_s: float
    pattern: Pattern
    """What the answer came to, beside the gold."""
    error: str | None = None
    """The kind of failure; None where it was answered."""

    @property
    def latency_s(self) -> float:
        return self.ended_s - self.arrival_s


class Plan(Struct, frozen=True, kw_only=True):
    """A cell before it is measured."""

    config: str
    rate: float
    times: tuple[float, ...]


class Quality(Struct, frozen=True, kw_only=True):
    """What answers are held against."""

    questions: int
    reading: str
    gold: bool
    """Whether there is a gold set at all."""

    def score(self, id: str, calls: Sequence[Ended]) -> Score:
        """A quality metric over calls, those of one question clustered."""
        metric = table()[id]
        signature = f"{id}|v{metric.version}|{self.reading}|each:call"
        if not self.gold or not calls:
            reason = "no call ended" if self.gold else NO_GOLD
            return Score(value=None, n=0, of=len(calls), reason=reason, signature=signature)
        return scored(sums_of(metric, self._groups(calls)), signature)

    def _groups(self, calls: Sequence[Ended]) -> Groups:
        met = Counter((call.question, call.pattern) for call in calls)
        patterns = list(dict.fromkeys(pattern for _, pattern in met))
        return Groups(
            self.questions,
            np.array([question for question, _ in met]),
            np.array([patterns.index(pattern) for _, pattern in met]),
            np.array(list(met.values())),
            patterns,
        )


def cell_of(
    plan: Plan, calls: Sequence[Ended], quality: Quality, *, sent: int, open_at_end: int | None
) -> Cell:
    """The numbers of a cell; `open_at_end` is None where it was interrupted."""
    answered = [call for call in calls if call.error is None]
    latencies = sorted(call.latency_s * 1000 for call in answered)
    kinds = Counter(call.error for call in calls if call.error is not None)
    percentiles = {name: percentile(latencies, p) for name, p in _PERCENTILES.items()}
    p50, p99 = percentiles["p50_ms"], percentiles["p99_ms"]
    growth = _growth(calls)
    return Cell(
        config=plan.config,
        rate=plan.rate,
        planned=len(plan.times),
        sent=sent,
        answered=len(answered),
        errors=kinds.total(),
        error_kinds=dict(sorted(kinds.items())),
        complete=open_at_end is not None,
        **{name: _rounded(value) for name, value in percentiles.items()},
        unsure=_unsure(len(answered)),
        tail_ratio=_rounded(p99 / p50) if p99 and p50 else None,
        achieved_rate=_rounded(_achieved(answered)),
        precision=quality.score(PRECISION, calls),
        under_refusal=quality.score(UNDER_REFUSAL, calls),
        kept_up=None if growth is None else not _behind(growth),
        growth=None if growth is None else round(growth.slope, 4),
        open_at_end=open_at_end or 0,
        late_ms=_rounded(percentile(sorted((c.sent_s - c.arrival_s) * 1000 for c in calls), 95)),
        reason=_why_none(plan, kinds, len(answered), sent, open_at_end is None),
    )


def _unsure(answers: int) -> dict[str, str]:
    """The percentiles that lie among the last few answers, where one more would move them."""
    return {
        name: f"over {answers} answers, where {needed} are needed"
        for name, percent in _PERCENTILES.items()
        if 0 < answers < (needed := sample_needed(percent))
    }


def _achieved(answered: Sequence[Ended]) -> float | None:
    """Answers a second from the first to the last: the wait for the first is no lack of speed."""
    ends = sorted(call.ended_s for call in answered)
    if len(ends) < 2 or ends[0] == ends[-1]:
        return None
    return (len(ends) - 1) / (ends[-1] - ends[0])


def _growth(calls: Sequence[Ended]) -> Trend | None:
    """How latency went while calls arrived; one that timed out waited at least that long."""
    waited = [call for call in calls if call.error in (None, TIMEOUT)]
    if len(waited) < CALLS_TO_TELL:
        return None
    return trend([call.arrival_s for call in waited], [call.latency_s for call in waited])


def _behind(growth: Trend) -> bool:
    return growth.slope >= GROWING and growth.slope > CERTAIN * growth.error


def _why_none(
    plan: Plan, kinds: Counter[str], answered: int, sent: int, interrupted: bool
) -> str | None:
    if not sent:
        return "interrupted before it began"
    if interrupted:
        return f"interrupted after {sent} of {len(plan.times)} calls"
    if answered:
        return None
    ranked = sorted(kinds.items(), key=lambda pair: (-pair[1], pair[0]))
    return "every call failed: " + ", ".join(f"{kind} ({times})" for kind, times in ranked)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
