"""Cells: what the calls of one configuration at one rate come to, and which are worth having."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct, structs

from ragauge.contracts.latency import (
    Cell,
    Front,
    Guard,
    cell_name,
    shown_change,
    shown_ms,
    shown_points,
)
from ragauge.contracts.metric import Pattern
from ragauge.contracts.report import Rule, Score, Verdict
from ragauge.gates.rules import decide
from ragauge.metrics.sums import Groups, sums_of
from ragauge.metrics.table import table
from ragauge.runners.evaluation import scored
from ragauge.stats.intervals import wilson
from ragauge.stats.trend import percentile, sample_needed, trend

PRECISION, UNDER_REFUSAL = "quality.precision_cited", "quality.under_refusal"
P95, ERRORS = "latency.p95_ms", "latency.errors"
P95_INCREASE, PRECISION_DROP = "latency.p95_increase", "latency.precision_drop"
NO_GOLD = "no gold set to be right about"
INTERRUPTED = "interrupted"
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

    @property
    def name(self) -> str:
        return cell_name(self.config, self.rate)


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
        met = Counter((call.question, call.pattern) for call in calls)
        patterns = list(dict.fromkeys(pattern for _, pattern in met))
        groups = Groups(
            self.questions,
            np.array([question for question, _ in met]),
            np.array([patterns.index(pattern) for _, pattern in met]),
            np.array(list(met.values())),
            patterns,
        )
        return scored(sums_of(metric, groups), signature)


def cell_of(
    plan: Plan, calls: Sequence[Ended], quality: Quality, *, sent: int, open_at_end: int | None
) -> Cell:
    """The numbers of a cell; `open_at_end` is None where it was interrupted."""
    answered = [call for call in calls if call.error is None]
    answers, kinds = len(answered), Counter(call.error for call in calls if call.error is not None)
    latencies = sorted(call.latency_s * 1000 for call in answered)
    percentiles = {name: percentile(latencies, p) for name, p in _PERCENTILES.items()}
    p50, p99 = percentiles["p50_ms"], percentiles["p99_ms"]
    # Answers a second from the first to the last: the wait for the first is no lack of speed.
    ends, achieved = sorted(call.ended_s for call in answered), None
    if answers > 1 and ends[0] != ends[-1]:
        achieved = (answers - 1) / (ends[-1] - ends[0])
    # How latency went while calls arrived; one that timed out waited at least that long.
    waited = [call for call in calls if call.error in (None, TIMEOUT)]
    growth = None
    if len(waited) >= CALLS_TO_TELL:
        growth = trend([call.arrival_s for call in waited], [call.latency_s for call in waited])
    behind = growth and growth.slope >= GROWING and growth.slope > CERTAIN * growth.error
    reason = None
    if not sent:
        reason = "interrupted before it began"
    elif open_at_end is None:
        reason = f"interrupted after {sent} of {len(plan.times)} calls"
    elif not answers:
        ranked = sorted(kinds.items(), key=lambda pair: (-pair[1], pair[0]))
        listed = ", ".join(f"{kind} ({times})" for kind, times in ranked)
        reason = f"every call failed: {listed}"
    return Cell(
        config=plan.config,
        rate=plan.rate,
        planned=len(plan.times),
        sent=sent,
        answered=answers,
        errors=kinds.total(),
        error_kinds=dict(sorted(kinds.items())),
        complete=open_at_end is not None,
        **{name: _rounded(value) for name, value in percentiles.items()},
        # Percentiles that lie among the last few answers, where one more would move them.
        unsure={
            name: f"over {answers} answers, where {needed} are needed"
            for name, percent in _PERCENTILES.items()
            if 0 < answers < (needed := sample_needed(percent))
        },
        tail_ratio=_rounded(p99 / p50) if p99 and p50 else None,
        achieved_rate=_rounded(achieved),
        precision=quality.score(PRECISION, calls),
        under_refusal=quality.score(UNDER_REFUSAL, calls),
        kept_up=None if growth is None else not behind,
        growth=None if growth is None else round(growth.slope, 4),
        open_at_end=open_at_end or 0,
        late_ms=_rounded(percentile(sorted((c.sent_s - c.arrival_s) * 1000 for c in calls), 95)),
        reason=reason,
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)


def pareto(points: Mapping[str, tuple[float, float]]) -> tuple[str, ...]:
    """The names of the points that no other beats: lower first, higher second; the lowest first.

    Of equal points each is on the front; ties in order are broken by name.

    >>> pareto({"fast": (10, 0.7), "slow": (90, 0.7), "good": (50, 0.9)})
    ('fast', 'good')
    """
    front = []
    highest = float("-inf")
    last: tuple[float, float] | None = None
    for name in sorted(points, key=lambda name: (points[name][0], -points[name][1], name)):
        if points[name][1] > highest or points[name] == last:
            front.append(name)
            highest, last = points[name][1], points[name]
    return tuple(front)


def fronts(cells: Sequence[Cell], guard: Guard) -> tuple[Front, ...]:
    """The Pareto front of P95 and precision at each rate."""
    points: dict[float, dict[str, tuple[float, float]]] = {cell.rate: {} for cell in cells}
    left_out: dict[float, dict[str, str]] = {cell.rate: {} for cell in cells}
    for cell in cells:
        why = None
        if cell.reason or cell.p95_ms is None:
            why = cell.reason or "no answer"
        elif cell.errors > guard.max_errors * cell.sent:
            why = f"{cell.errors} of {cell.sent} calls failed"
        elif cell.precision.value is None:
            why = f"no precision: {cell.precision.reason}"
        else:
            points[cell.rate][cell.config] = cell.p95_ms, cell.precision.value
        if why:
            left_out[cell.rate][cell.config] = why
    return tuple(
        Front(rate=rate, configs=pareto(points[rate]), left_out=left_out[rate]) for rate in points
    )


def verdicts(cells: Sequence[Cell], baseline: str, guard: Guard) -> tuple[Verdict, ...]:
    """The share of failed calls in every cell, then the guard of all but the baseline's."""
    scores = metrics_of(cells, baseline)

    def decided(id: str, bound: float, cell: Cell) -> Verdict:
        score = scores[f"{id}[{cell.name}]"]
        rule = Rule(metric=f"{id}[{cell.name}]", op="<=", bound=bound)
        verdict = structs.replace(decide(rule, score), reason=score.reason)
        # Nobody asked how right the answers are: a choice, not a measurement that failed.
        unasked = id == PRECISION_DROP and score.reason == NO_GOLD
        return structs.replace(verdict, verdict="not_applicable") if unasked else verdict

    found = [decided(ERRORS, guard.max_errors, cell) for cell in cells]
    for cell in cells:
        if cell.config != baseline:
            found.append(decided(P95_INCREASE, guard.max_p95_increase, cell))
            found.append(decided(PRECISION_DROP, guard.max_precision_drop, cell))
    return tuple(found)


def error_share(cell: Cell) -> Score:
    """The share of the calls that brought no answer."""
    if not cell.complete:
        return Score(value=None, n=cell.sent, of=cell.planned, reason=INTERRUPTED)
    share = cell.errors / cell.sent
    kinds = ", ".join(f"{kind} {times}" for kind, times in cell.error_kinds.items())
    return Score(
        value=share,
        n=cell.sent,
        of=cell.planned,
        ci=wilson(share, cell.sent),
        reason=f"{cell.errors} of {cell.sent} calls failed: {kinds}" if kinds else None,
        signature=f"{ERRORS}|v1|n:{cell.sent}",
    )


def p95_increase(cell: Cell, base: Cell) -> Score:
    """By what share P95 is above the baseline's; below 0 where it is faster."""
    n, of = cell.answered, cell.planned
    if not (cell.complete and base.complete):
        return Score(value=None, n=n, of=of, reason=INTERRUPTED)
    if cell.p95_ms is None or base.p95_ms is None:
        missing = cell if cell.p95_ms is None else base
        return Score(value=None, n=n, of=of, reason=f"{missing.config}: {missing.reason}")
    change = cell.p95_ms / base.p95_ms - 1
    told = f"P95 {shown_ms(cell.p95_ms)} against {shown_ms(base.p95_ms)}: {shown_change(change)}"
    unsure = cell.unsure.get("p95_ms") or base.unsure.get("p95_ms")
    return Score(value=change, n=n, of=of, reason=f"{told}; {unsure}" if unsure else told)


def precision_drop(cell: Cell, base: Cell) -> Score:
    """By how much precision is below the baseline's; below 0 where it is better."""
    now, before = cell.precision, base.precision
    if not (cell.complete and base.complete):
        return Score(value=None, n=now.n, of=now.of, reason=INTERRUPTED)
    if now.value is None or before.value is None:
        missing, name = (now, cell.config) if now.value is None else (before, base.config)
        reason = NO_GOLD if missing.reason == NO_GOLD else f"{name}: {missing.reason}"
        return Score(value=None, n=now.n, of=now.of, reason=reason)
    drop = before.value - now.value
    told = f"precision {now.value:.3f} against {before.value:.3f}: {shown_points(-drop)}"
    return Score(value=drop, n=now.n, of=now.of, reason=told)


def metrics_of(cells: Sequence[Cell], baseline: str) -> dict[str, Score]:
    """The numbers of every cell that gates or readers speak of, by id and cell."""
    found: dict[str, Score] = {}
    bases = {cell.rate: cell for cell in cells if cell.config == baseline}
    for cell in cells:
        p95 = Score(
            value=cell.p95_ms,
            n=cell.answered,
            of=cell.planned,
            reason=cell.reason or cell.unsure.get("p95_ms"),
            signature=f"{P95}|v1|linear|n:{cell.answered}",
        )
        scores = {
            ERRORS: error_share(cell),
            P95: p95,
            PRECISION: cell.precision,
            UNDER_REFUSAL: cell.under_refusal,
        }
        if cell.config != baseline:
            scores[P95_INCREASE] = p95_increase(cell, bases[cell.rate])
            scores[PRECISION_DROP] = precision_drop(cell, bases[cell.rate])
        found |= {f"{id}[{cell.name}]": score for id, score in scores.items()}
    return dict(sorted(found.items()))
