"""The verdict on a question's runs, and whether the runs that are left could still change it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Literal

from msgspec import Struct, structs

from ragauge.contracts.gold import Gold
from ragauge.contracts.metric import Absent, Metric, Row
from ragauge.contracts.report import Rule
from ragauge.contracts.run import QuestionRuns
from ragauge.contracts.stability import Stability
from ragauge.gates.rules import TOLERANCE, meets, satisfies
from ragauge.gates.stability import Failed, failed_gates, verdict
from ragauge.metrics.stability import METRICS, median_distance
from ragauge.stats.exact import ALPHA, Decision, ShareTest

Adaptive = Literal["exact", "anytime"]

RATES = ("stability.acr", "stability.cghc", "stability.refusal_rate")
"""What the anytime test stands for: each run is right or not, at the rate these gates demand."""


class Judged(Struct, frozen=True):
    """A question's rows, values and verdict."""

    verdict: Stability
    rows: dict[str, Row | Absent]
    values: dict[str, float | None]
    failed: tuple[Failed, ...]
    saved: int
    """Planned runs the verdict does without."""


class Judge:
    """Judges questions by rules; of an adaptive sweep, also those with runs left out."""

    def __init__(
        self, rules: tuple[Rule, ...], adaptive: Adaptive | None = None, alpha: float = ALPHA
    ) -> None:
        self._rules, self._adaptive, self._alpha = rules, adaptive, alpha

    def judged(self, gold: Gold, question: QuestionRuns) -> Judged:
        """The verdict; `question` has its runs in the order they were planned."""
        rows = {metric.id: metric(question) for metric in METRICS}
        values = {metric.id: _value(metric, rows[metric.id]) for metric in METRICS}
        left = question.planned - question.failed - len(question.runs)
        saved = left if left and self.decided(gold, question) else 0
        rules = self.rules_for(gold)
        early = self._early(rules, question) if saved else None
        if early:
            rules = tuple(rule for rule in rules if rule.metric not in RATES)
        absent = frozenset(id for id, row in rows.items() if isinstance(row, Absent))
        failed = failed_gates(rules, values, absent)
        if early == "fail":
            success = _success_rule(self.rules_for(gold))
            right = sum(map(question.right, question.runs)) / len(question.runs)
            failed = (Failed(success, right), *failed) if success else failed
        complete = bool(question.runs) and not question.failed and left == saved
        same = len({run.outcome for run in question.runs}) < 2
        single = len(question.runs) == 1 and not saved
        found = verdict(failed, complete=complete, same=same, single=single)
        return Judged(found, rows, values, failed, saved)

    def decided(self, gold: Gold, question: QuestionRuns) -> bool:
        """Whether an adaptive sweep may leave the question's remaining runs out."""
        if self._adaptive is None or question.failed:
            return False
        if self._adaptive == "exact":
            return certainly_flaky(question, self.rules_for(gold))
        return self._early(self.rules_for(gold), question) is not None

    def rules_for(self, gold: Gold) -> tuple[Rule, ...]:
        """The rules that speak of this question."""
        return tuple(rule for rule in self._rules if meets(gold, rule.where))

    def _early(self, rules: tuple[Rule, ...], question: QuestionRuns) -> Decision | None:
        rule = _success_rule(rules)
        if self._adaptive != "anytime" or rule is None:
            return None
        needed = math.ceil((rule.bound - TOLERANCE) * question.planned)
        test = ShareTest(question.planned, needed, self._alpha)
        return test.decide(map(question.right, question.runs))


def certainly_flaky(question: QuestionRuns, rules: tuple[Rule, ...]) -> bool:
    """Whether no outcome of the remaining runs can change the verdict.

    A question that passes so far can fail yet, and one that fails in every run alike can still
    show another outcome. Only once outcomes differ, and some gate is out of reach, it is certain.
    """
    if len({run.outcome for run in question.runs}) < 2:
        return False
    return any(
        _wants_the_best(rule) and not satisfies(rule, BEST[rule.metric](question)) for rule in rules
    )


def _wants_the_best(rule: Rule) -> bool:
    """Whether the rule fails for certain once the best value in reach does not satisfy it."""
    if rule.metric not in BEST:
        return False
    if rule.metric == "stability.ned50":
        return rule.op in ("<=", "<") or (rule.op == "=" and rule.bound == 0)
    return rule.op in (">=", ">") or (rule.op == "=" and rule.bound == 1)


def _best_share(mark: Callable[[QuestionRuns], int]) -> Callable[[QuestionRuns], float]:
    """The share there will be if every remaining run counts."""
    return lambda question: (mark(question) + _left(question)) / question.planned


def _least_distance(question: QuestionRuns) -> float:
    """The median distance there will be if every remaining run repeats a claim word for word."""
    claims = Counter(run.claim for run in question.answered if run.claim)
    if claims.total() < 2:
        return 0.0
    left = _left(question)
    return median_distance(claims, left * claims.total() + left * (left - 1) // 2)


def _as_it_is(id: str, otherwise: float) -> Callable[[QuestionRuns], float]:
    """The value so far, of a metric that more runs can only lower."""
    metric = next(metric for metric in METRICS if metric.id == id)

    def best(question: QuestionRuns) -> float:
        value = _value(metric, metric(question))
        return otherwise if value is None else value

    return best


BEST: dict[str, Callable[[QuestionRuns], float]] = {
    "stability.acr": _best_share(lambda q: sum(run.claim_right for run in q.runs)),
    "stability.cghc": _best_share(lambda q: sum(run.citations_right for run in q.runs)),
    "stability.success": _best_share(lambda q: sum(map(q.right, q.runs))),
    "stability.refusal_rate": _best_share(lambda q: sum(run.refused for run in q.runs)),
    "stability.rcr": _best_share(lambda q: max(len(q.answered), len(q.runs) - len(q.answered))),
    "stability.css": _as_it_is("stability.css", 1.0),
    "stability.css_all": _as_it_is("stability.css_all", 1.0),
    "stability.scu_cons": _as_it_is("stability.scu_cons", 1.0),
    "stability.ned50": _least_distance,
}
"""The best value each gated metric can still reach. A rule on another metric decides nothing."""


def _left(question: QuestionRuns) -> int:
    return question.planned - len(question.runs)


def _success_rule(rules: tuple[Rule, ...]) -> Rule | None:
    """The rule that each run's success is tested against: the strictest of the rates'."""
    rates = [rule for rule in rules if rule.metric in RATES and rule.op in (">=", ">")]
    if not rates:
        return None
    strictest = max(rates, key=lambda rule: rule.bound)
    return structs.replace(strictest, metric="stability.success", op=">=")


def _value(metric: Metric, row: Row | Absent) -> float | None:
    if isinstance(row, Absent):
        return None
    import numpy as np

    return float(metric.finish(np.array(row.counts, dtype=np.int64)))
