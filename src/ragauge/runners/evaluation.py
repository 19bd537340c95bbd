"""The end of every command that measures: scores, gates, slices and the outcome of its units."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec
import numpy as np
from msgspec import Struct

from ragauge import __version__
from ragauge.contracts.documents import FrozenDocument
from ragauge.contracts.gold import ANSWERABLE, Gold, fingerprint
from ragauge.contracts.metric import Absent, Metric, NotApplicable
from ragauge.contracts.options import MIN_COVERAGE
from ragauge.contracts.report import (
    Findings,
    Measured,
    Outcome,
    Rule,
    RunReport,
    Score,
    UnitRows,
    Verdict,
)
from ragauge.errors import UsageError
from ragauge.gates.rules import decide, decide_each, passed
from ragauge.metrics.sums import Sums
from ragauge.runners.observations import Answers
from ragauge.stats.bootstrap import Bootstrap, mean_interval, metric_interval
from ragauge.stats.intervals import (
    DEFAULT_CONFIDENCE,
    Interval,
    clustered,
    jackknife,
    mean_of_shares,
    weighted_share,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]
    Floats = NDArray[np.float64]

Kind = TypeVar("Kind", bound=RunReport)
Total = Literal["sums", "mean"]
"""How a set's value comes from its units: `finish` of their sums, or the mean of their values."""
Settle = Callable[[Rule, Verdict, "Mask | None"], Verdict]
"""What a command makes of a gate's verdict over the units of a mask, by what it alone knows."""


class Slicing(Struct, frozen=True):
    """What the units can be sliced by: the value that each has, by the name of a stratum."""

    column: Callable[[str], Sequence[str | None] | None]
    """The value of each unit; None where no unit has one."""
    names: Callable[[], str]
    """All strata, for an error message."""
    unit: str = "question"

    def mask(self, rule: Rule) -> Mask | None:
        """The units that meet the conditions of a rule; None where it has none."""
        mask: Mask | None = None
        for key, wanted in rule.where.items():
            column = self.column(key)
            if column is None:
                fact = f'no {self.unit} has "{key}"; there are {self.names()}'
                raise UsageError(f'gate "{rule}": {fact}')
            word = str(wanted).lower()
            met = np.array([value is not None and value.lower() == word for value in column])
            mask = met if mask is None else mask & met
        return mask


def by_columns(columns: Mapping[str, Sequence[str | None]]) -> Slicing:
    """Units sliced by columns of values."""
    return Slicing(
        columns.get, lambda: ", ".join(sorted(columns)) or "none in this gold", unit="unit"
    )


def by_gold(gold: Sequence[Gold], unmatched: int = 0) -> Slicing:
    """Questions sliced by what the gold set says of them; unmatched after them have no strata."""

    def column(key: str) -> list[str | None] | None:
        if key == ANSWERABLE:
            values: list[str | None] = [str(question.answerable) for question in gold]
        else:
            values = [str(q.strata[key]) if key in q.strata else None for q in gold]
        known = any(value is not None for value in values)
        return [*values, *[None] * unmatched] if known else None

    def names() -> str:
        known = {ANSWERABLE}.union(*(question.strata for question in gold))
        return ", ".join(sorted(known)) if gold else "none without --gold"

    return Slicing(column, names)


class Evaluation(Struct, frozen=True, kw_only=True, dict=True):
    """What was measured in units: their scores, slices and gates, and the outcome of it all."""

    ids: Sequence[str] = ()
    """The units."""
    sums: Mapping[str, Sums] = {}
    """By metric, over the units."""
    given: Mapping[str, Score | Callable[[float], Score]] = {}
    """By id, scores that do not come from sums; a function gives one at a confidence."""
    rules: Sequence[Rule] = ()
    slicing: Slicing = by_columns({})
    signature: str = ""
    """What of the options is in every number, such as `matching:best`."""
    made_with: Mapping[str, str] = {}
    """By metric, what else is in its number alone, such as `embedder:ngram:v1:1024`."""
    weights: Floats | None = None
    """How many units of the population each one stands for; None where each is one."""
    groups: Sequence[str] | None = None
    """What each unit belongs to, where several belong together: intervals resample groups."""
    total: Total = "sums"
    intervals: bool = True
    min_coverage: float = MIN_COVERAGE
    settle: Settle | None = None

    @cached_property
    def scores(self) -> dict[str, Score]:
        """The score of each metric over all units: sorted by id, or in the order they are given."""
        ids = sorted([*self.sums, *self.given]) if self.sums else self.given
        return {id: self.score(id) for id in ids}

    @cached_property
    def gates(self) -> tuple[Verdict, ...]:
        """The verdict on each rule."""
        return tuple(self.verdict(rule) for rule in self.rules)

    @property
    def all_hold(self) -> bool:
        """Whether no gate fails, for kinds of reports that always have a gate."""
        return all(gate.holds for gate in self.gates)

    def score(self, id: str, mask: Mask | None = None, confidence: float | None = None) -> Score:
        """The score of a metric over all units, or those of a mask."""
        known = self.given.get(id)
        if known is not None:
            return known if isinstance(known, Score) else known(confidence or DEFAULT_CONFIDENCE)
        sums, weights = self.sums[id], self.weights
        made = (self.signature, self.made_with.get(id))
        signature = "|".join((id, f"v{sums.metric.version}", *filter(None, made)))
        if self.total == "mean":
            return mean_of(sums, signature, weights)
        if self.groups is not None:
            sums, mask = sums.by_group(self.groups, mask), None
            signature += f"|groups:{len(sums.units)}"
        intervals = self.intervals or confidence is not None
        return scored(sums, signature, mask, confidence, weights, intervals=intervals)

    def verdict(self, rule: Rule) -> Verdict:
        mask = self.slicing.mask(rule)
        verdict = self._decided(rule, mask)
        return self.settle(rule, verdict, mask) if self.settle else verdict

    def _decided(self, rule: Rule, mask: Mask | None) -> Verdict:
        if rule.metric in self.given:
            return decide(rule, self.score(rule.metric, confidence=rule.confidence))
        sums = self.sums.get(rule.metric)
        if sums is None:
            reason = "this evaluation does not measure it"
            return decide(rule, Score(value=None, n=0, of=len(self.ids), reason=reason))
        if rule.per == "question":
            values, due = sums.values().tolist(), (sums.units > 0).tolist()
            kept = range(len(self.ids)) if mask is None else np.flatnonzero(mask).tolist()
            each = [
                (self.ids[at], None if math.isnan(values[at]) else values[at], due[at])
                for at in kept
            ]
            return decide_each(rule, each, self.min_coverage)
        absent = sums.absent if mask is None else {}
        # Why units that should have a value have none.
        why = _ranked({a: n for a, n in absent.items() if not isinstance(a, NotApplicable)})
        return decide(rule, self.score(rule.metric, mask, rule.confidence), self.min_coverage, why)

    def by_value(
        self, values: Sequence[str | None], metrics: Sequence[str]
    ) -> dict[str, dict[str, Score]]:
        """These metrics for each value that units have, in order."""
        column = np.array([value or "" for value in values], dtype=object)
        return {
            value: {id: self.score(id, column == value) for id in metrics}
            for value in sorted({value for value in values if value})
        }

    def report(
        self, kind: type[Kind], noted: Findings, identity: dict[str, Any], /, **own: Any
    ) -> Kind:
        """A report of this kind; `own` are the fields that are not the same for every kind."""
        gates = own.get("gates", self.gates)
        envelope = {
            "passed": own["passed"] if "passed" in own else passed(gates),
            "metrics": self.scores,
            "gates": gates,
            "findings": tuple(noted.kept()),
            "finding_counts": dict(sorted(noted.counts.items())),
            "identity": identity,
        }
        return kind(**{**envelope, **own})

    def outcome(
        self,
        report: Kind,
        *,
        labels: Sequence[str | None] = (),
        right: Sequence[bool | None] = (),
        details: Mapping[str, Sequence[Any]] = {},
        also: Mapping[str, Measured] = {},
        gold: Sequence[Gold] = (),
        record_rows: str | None = None,
        answers: Answers | None = None,
        documents: Callable[[], Iterable[FrozenDocument]] | None = None,
    ) -> Outcome[Kind]:
        """The report with the units it is made of; `also` are metrics that have no sums."""
        measured = {
            id: Measured(
                version=sums.metric.version,
                better=sums.metric.better,
                values=sums.values(),
                counts=sums.sums,
                total=self.total,
            )
            for id, sums in self.sums.items()
        }
        return Outcome(
            report=report,
            units=UnitRows(
                ids=self.ids,
                labels=labels,
                right=right,
                details=dict(details),
                measured={**also, **measured},
            ),
            gold=gold,
            record_rows=record_rows,
            identity=report.identity,
            answers=answers,
            documents=documents,
        )


def sha256_of(value: Any) -> str:
    """The hash of what a report was made from, as JSON."""
    return hashlib.sha256(msgspec.json.encode(value)).hexdigest()


def identity_of(
    command: str,
    options: Struct,
    metrics: Iterable[Metric],
    gold: Sequence[Gold],
    *,
    without: Iterable[str] = (),
    **more: Any,
) -> dict[str, Any]:
    """What makes a run comparable: options that change numbers, metric versions, gold hash."""
    given = msgspec.to_builtins(options)
    return {
        "command": command,
        "options": {name: given[name] for name in given if name not in {*without}},
        "ragauge": __version__,
        "gold_sha256": fingerprint(gold) if gold else None,
        "metrics": {m.id: m.version for m in sorted(metrics, key=lambda metric: metric.id)},
        **more,
    }


def weights_of(gold: Sequence[Gold], unmatched: int = 0) -> Floats | None:
    """How many questions of the population each one stands for; None where each is one.

    A stray, which the gold set does not have, stands for itself.
    """
    if all(question.weight is None for question in gold):
        return None
    weights = [1.0 if question.weight is None else question.weight for question in gold]
    return np.array([*weights, *[1.0] * unmatched])


def given_score(
    id: str,
    value: float | Fraction | None,
    *made: str | None,
    n: int,
    of: int,
    ci: Interval | None = None,
    absent: str | None = None,
) -> Score:
    """A score that does not come from sums; `made` says how it was, next to its id and version.

    Without a value there is no interval, and `absent` says why.
    """
    return Score(
        value=None if value is None else float(value),
        n=n,
        of=of,
        ci=None if value is None else ci,
        reason=absent if value is None else None,
        signature="|".join(filter(None, (id, "v1", *made, f"n:{n}"))),
    )


def scored(
    sums: Sums,
    signature: str,
    mask: Mask | None = None,
    confidence: float | None = None,
    weights: Floats | None = None,
    intervals: bool = True,
) -> Score:
    """The score of a metric over all units, or those of a mask.

    With weights it is the population's score, as far as the sample tells. A plain count has no
    interval: it grows with the set.
    """
    metric, rows, hits, units = sums.metric, sums.sums, sums.scored, sums.units
    if mask is not None:
        rows, hits, units = rows[mask], hits[mask], units[mask]
        weights = None if weights is None else weights[mask]
    n, of = int(hits.sum()), int(units.sum())
    if n == 0:
        complete = mask is None or bool(mask.all())
        reason = why_absent(sums) if complete else "nothing here can be scored"
        return Score(value=None, n=0, of=of, reason=reason, signature=f"{signature}|n:0")
    kinds, times = sums.kinds, None
    if weights is not None:  # rounded once, whatever the order of the units
        totals = np.array([math.fsum(column) for column in (rows * weights[:, None]).T])
    elif kinds is not None:
        times = kinds.times(mask)
        totals = times @ kinds.sums
    else:
        totals = rows.sum(axis=0)
    value = float(metric.finish(totals))
    if not math.isfinite(value):
        reason = "the metric's total is not a finite number"
        if len(metric.columns) == 2 and not totals[1]:
            reason = f"nothing to divide by: {metric.columns[1]} is 0"
        return Score(value=None, n=n, of=of, reason=reason, signature=f"{signature}|n:{n}")
    level = confidence or DEFAULT_CONFIDENCE
    interval: Interval | None = None
    how = ""
    if not intervals or len(metric.columns) == 1:
        pass
    elif metric.rate and rows[:, 1].any():
        if weights is None:
            interval = clustered(rows[:, 0], rows[:, 1], level)
        else:
            interval = weighted_share(rows[:, 0], rows[:, 1], weights, level)
    else:
        if kinds is not None and times is not None:
            rows, hits = kinds.sums, kinds.scored * times
        there = hits > 0
        heavy = None if weights is None else weights[there]
        times = None if times is None else times[there]
        interval, how = _metric_interval(metric, rows[there], times, level, heavy)
    return Score(value=value, n=n, of=of, ci=interval, signature=f"{signature}|n:{n}{how}")


def mean_of(sums: Sums, signature: str, weights: Floats | None) -> Score:
    """The mean of a metric's values over the units that have one, each counting once."""
    metric, values = sums.metric, sums.values()
    there = ~np.isnan(values)
    n, of = int(there.sum()), int(sums.units.sum())
    signature = f"{signature}|n:{n}"
    if not n:
        return Score(value=None, n=0, of=of, reason=why_absent(sums), signature=signature)
    values, heavy = values[there], None if weights is None else weights[there]
    mean = float(values.mean() if heavy is None else np.average(values, weights=heavy))
    ends = mean_of_shares(values, weights=heavy)
    # A resample of values that do not vary is a point, and says nothing of how few they are.
    if not metric.rate and heavy is None and np.ptp(values) > 0:
        made = mean_interval(values)
        ends, signature = _within(made.ci, metric.bounds) or ends, signature + _how_made(made)
    return Score(value=mean, n=n, of=of, ci=ends, signature=signature)


def _metric_interval(
    metric: Metric,
    rows: NDArray[Any],
    times: NDArray[np.int64] | None,
    confidence: float,
    weights: Floats | None,
) -> tuple[Interval | None, str]:
    """A metric's interval by resampling its units, and how it was made.

    Weighted rows and those beyond 64 bits are not resampled, but left out one by one.
    """
    if weights is not None or rows.dtype == object:
        weighted = rows if weights is None else rows * weights[:, None]
        return jackknife(weighted, metric.finish, metric.bounds, confidence), "|ci:jackknife"
    made = metric_interval(rows, metric.finish, confidence, times=times)
    if made.ci is None or made.ci[0] == made.ci[1]:
        # A point would let a gate on the interval pass, however few the units are.
        return None, f"|ci:none,{made.reason or 'nothing varies'}"
    return _within(made.ci, metric.bounds), _how_made(made)


def _within(ends: Interval | None, bounds: tuple[float, float | None]) -> Interval | None:
    """The interval, no further than a metric's values go."""
    if ends is None:
        return None
    least, most = bounds
    low, high = max(float(least), ends[0]), ends[1]
    return low, high if most is None else min(float(most), high)


def _how_made(made: Bootstrap) -> str:
    """The part of a signature that says how an interval was resampled."""
    seed = "" if made.seed is None else f",seed:{made.seed},draws:{made.draws}"
    return f"|ci:{made.kind} bootstrap,{made.method}{seed}"


def why_absent(sums: Sums) -> str:
    """The reasons no unit was scored, the most frequent first."""
    reasons = _ranked(sums.absent)
    return f"nothing to score: {reasons}" if reasons else "nothing to score"


def _ranked(absent: Mapping[Absent, int]) -> str:
    ranked = sorted(absent.items(), key=lambda pair: (-pair[1], pair[0].reason))
    return ", ".join(f"{why.reason} ({times})" for why, times in ranked)
