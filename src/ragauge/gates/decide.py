"""Decisions: a rule and the score it meets give a verdict. What cannot be judged does not pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ragauge.contracts.gold import Gold
from ragauge.contracts.score import Score
from ragauge.contracts.verdict import Decision, Rule, Verdict

TOLERANCE = 1e-9
"""0.1 + 0.2 must satisfy <= 0.3."""

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": lambda value, bound: value >= bound - TOLERANCE,
    "<=": lambda value, bound: value <= bound + TOLERANCE,
    ">": lambda value, bound: value > bound + TOLERANCE,
    "<": lambda value, bound: value < bound - TOLERANCE,
    "=": lambda value, bound: abs(value - bound) <= TOLERANCE,
}


def decide(rule: Rule, score: Score) -> Verdict:
    """The verdict on a whole set; `score.ci` is at the rule's confidence where it has one."""
    if score.value is None:
        return _verdict(rule, score, "not_evaluated", score.reason or "nothing to score")
    if rule.confidence is None:
        holds = satisfies(rule, score.value)
        return _verdict(rule, score, "pass" if holds else "fail", None)
    if score.ci is None:
        return _verdict(rule, score, "not_evaluated", "the metric has no interval")
    low, high = score.ci
    worse = low if rule.op in (">=", ">") else high
    holds = satisfies(rule, worse)
    reason = None
    if not holds and satisfies(rule, score.value):
        reason = f"the value is inside, the interval reaches {worse:.4f}: more questions would tell"
    return _verdict(rule, score, "pass" if holds else "fail", reason)


def decide_each(rule: Rule, qids: Sequence[str], values: Sequence[float | None]) -> Verdict:
    """The verdict of a rule per question, over the questions it applies to.

    The value shown is the share of questions that satisfy the rule.
    """
    judged = [(q, satisfies(rule, v)) for q, v in zip(qids, values, strict=True) if v is not None]
    if not judged:
        score = Score(value=None, n=0, of=len(qids), reason="no question the rule applies to")
        return _verdict(rule, score, "not_evaluated", score.reason)
    failing = [qid for qid, holds in judged if not holds]
    good = len(judged) - len(failing)
    score = Score(value=good / len(judged), n=len(judged), of=len(qids))
    k, n = rule.at_least or (1, 1)
    holds = good * n >= k * len(judged)
    reason = f"{len(failing)} of {len(judged)} fail: {listed(failing)}" if failing else None
    return _verdict(rule, score, "pass" if holds else "fail", reason)


def satisfies(rule: Rule, value: float) -> bool:
    return _COMPARE[rule.op](value, rule.bound)


def meets(question: Gold, where: dict[str, Any]) -> bool:
    """Whether a rule's conditions hold of a question."""
    known = {**question.strata, "answerable": question.answerable}
    return all(
        key in known and str(known[key]).lower() == str(value).lower()
        for key, value in where.items()
    )


def _verdict(rule: Rule, score: Score, verdict: Decision, reason: str | None) -> Verdict:
    return Verdict(
        rule=str(rule),
        metric=rule.metric,
        op=rule.op,
        bound=rule.bound,
        value=score.value,
        n=score.n,
        ci=score.ci,
        verdict=verdict,
        reason=reason,
        optional=rule.optional,
    )


def listed(qids: list[str], most: int = 5) -> str:
    more = f" and {len(qids) - most} more" if len(qids) > most else ""
    return ", ".join(qids[:most]) + more
