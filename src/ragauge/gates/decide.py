"""Decisions: a rule and the score it meets give a verdict. What cannot be judged does not pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ragauge.contracts.gold import Gold
from ragauge.contracts.score import Score
from ragauge.contracts.verdict import Decision, Rule, Verdict

TOLERANCE = 1e-9
"""0.1 + 0.2 must satisfy <= 0.3."""
INTEGRITY = frozenset(
    (
        *("quality.coverage", "quality.errors", "answers.coverage"),
        *("entities.coverage", "labels.coverage", "linking.coverage", "retrieval.coverage"),
        "linking.consistency_coverage",
    )
)
"""Metrics that say how much of a set could be measured."""
MIN_COVERAGE = 0.9
"""Of the units that should have a value, the fraction that must have one for a gate to decide."""

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": lambda value, bound: value >= bound - TOLERANCE,
    "<=": lambda value, bound: value <= bound + TOLERANCE,
    ">": lambda value, bound: value > bound + TOLERANCE,
    "<": lambda value, bound: value < bound - TOLERANCE,
    "=": lambda value, bound: abs(value - bound) <= TOLERANCE,
}


def decide(rule: Rule, score: Score, least: float = 0, why: str = "") -> Verdict:
    """The verdict on a complete set; `score.ci` is at the rule's confidence where it has one.

    To pass, the fraction `least` of the units that should have a value must have one, or what the
    rule itself says; `why` names what keeps the others from having one.
    """
    if score.value is None:
        return _verdict(rule, score, "not_evaluated", score.reason or "nothing to score")
    fault = _uncovered(rule, score.n, score.of, least, why)
    passes: Decision = "not_evaluated" if fault else "pass"
    if rule.confidence is None:
        holds = satisfies(rule, score.value)
        return _verdict(rule, score, passes if holds else "fail", fault if holds else None)
    if score.ci is None:
        return _verdict(rule, score, "not_evaluated", "the metric has no interval")
    low, high = score.ci
    worse = low if rule.op in (">=", ">") else high
    holds = satisfies(rule, worse)
    reason = fault
    if not holds and satisfies(rule, score.value):
        reason = f"the value is inside, the interval reaches {worse:.4f}: more questions would tell"
    return _verdict(rule, score, passes if holds else "fail", reason)


def decide_each(
    rule: Rule, questions: Sequence[tuple[str, float | None, bool]], least: float = 0
) -> Verdict:
    """The verdict of a rule per question, over the questions it applies to.

    Of each question it takes the id, the value, and whether it should have one. The value shown is
    the fraction of questions that satisfy the rule.
    """
    judged = [(qid, satisfies(rule, value)) for qid, value, _ in questions if value is not None]
    of = sum(due for *_, due in questions)
    if not judged:
        score = Score(value=None, n=0, of=of, reason="no question the rule applies to")
        return _verdict(rule, score, "not_evaluated", score.reason)
    failing = [qid for qid, holds in judged if not holds]
    good = len(judged) - len(failing)
    score = Score(value=good / len(judged), n=len(judged), of=of)
    k, n = rule.at_least or (1, 1)
    holds = good * n >= k * len(judged)
    if holds and (fault := _uncovered(rule, score.n, of, least)):
        return _verdict(rule, score, "not_evaluated", fault)
    reason = f"{len(failing)} of {len(judged)} fail: {listed(failing)}" if failing else None
    return _verdict(rule, score, "pass" if holds else "fail", reason)


def _uncovered(rule: Rule, n: int, of: int, least: float, why: str = "") -> str | None:
    """Why a value over `n` of `of` units decides nothing; None where they are enough."""
    needed = least if rule.over is None else rule.over
    if n >= needed * of - TOLERANCE:
        return None
    causes = f": {why}" if why else ""
    return f"only {n:,} of {of:,} have a value, and the gate needs {needed * 100:.6g} %{causes}"


def passed(gates: Sequence[Verdict]) -> bool | None:
    """Whether a run passes; None where every gate holds and none of them says it is any good.

    Gates on coverage and errors only say that there is something to judge.
    """
    if not all(gate.holds for gate in gates):
        return False
    return True if any(is_quality(gate) and gate.verdict == "pass" for gate in gates) else None


def is_quality(gate: Verdict | Rule) -> bool:
    """Whether a gate is about quality, and not about how much could be measured."""
    return gate.metric not in INTEGRITY


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
