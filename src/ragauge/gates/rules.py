"""Gate rules written as text, and the verdict on each.

precision_cited>=0.80
under_refusal<=0.05@95                     the interval's worse end must be inside
over_refusal<=0.10 where language=nl       only these questions
claim_containment>=1 per question 9 of 10  nine in ten questions must satisfy it
precision_strict>=0.80 over 80%            80 % of the answers must have a value, not 90 %
p(rel=2)@5>=0.30                           a metric with a parameter of its own
precision_strict>=0.80?                    may stay unevaluated without failing
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct, structs

from ragauge.contracts.gold import Gold
from ragauge.contracts.metric import Better
from ragauge.contracts.options import Gate
from ragauge.contracts.report import Decision, Op, Rule, Score, Verdict
from ragauge.errors import UsageError
from ragauge.stats.decision import ALPHA, gain, worst

if TYPE_CHECKING:
    from ragauge.contracts.comparison import Compared


_RULE = re.compile(
    r"""\s*(?P<metric>[A-Za-z_](?:[\w.@+-]|\([^()]*\))*?)\s*
        (?P<op>>=|<=|==|=|>|<|≥|≤)\s*
        (?P<bound>[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*(?P<percent>%)?
        (?:\s*@\s*(?P<confidence>\d+(?:\.\d+)?)\s*%?)?
        (?P<per>\s+per\s+question(?:\s+(?P<k>\d+)\s*(?:of|/)\s*(?P<n>\d+))?)?
        (?:\s+over\s+(?P<over>\d+(?:\.\d+)?)\s*(?P<of_hundred>%)?)?
        (?:\s+where\s+(?P<where>.+?))?
        \s*(?P<optional>\?)?\s*""",
    re.VERBOSE | re.IGNORECASE,
)
_COMMA = re.compile(r",(?![^()]*\))")
"""A comma between rules: those in parentheses belong to a metric."""
_OPS = {"==": "=", "≥": ">=", "≤": "<="}
EXAMPLE = "precision_cited>=0.80,under_refusal<=0.05@95"
MIN_FRACTION = 0.01
"""The smallest fraction of questions that a rule may require."""


class Gated(Protocol):
    """What a rule needs to know about its metric; every metric of the table has it."""

    @property
    def id(self) -> str: ...
    @property
    def bounds(self) -> tuple[float, float | None]: ...
    @property
    def better(self) -> Better: ...


class Ranged(Struct, frozen=True):
    """A metric outside the table, such as an agreement between raters or a slope over runs."""

    id: str
    bounds: tuple[float, float | None]
    better: Better = "higher"


def parse_rules(text: str, find: Callable[[str], Gated]) -> tuple[Rule, ...]:
    """The rules a user wrote, separated by commas; all errors at once."""
    return _each(text, lambda part: user_rule(_parsed(part), find))


def known_rules(text: str) -> tuple[Rule, ...]:
    """The rules of a preset, whose metrics are given by their ids."""
    return _each(text, _parsed)


def _each(text: str, read: Callable[[str], Rule]) -> tuple[Rule, ...]:
    rules: list[Rule] = []
    problems: list[str] = []
    for part in _COMMA.split(text):
        try:
            rules.append(read(part))
        except UsageError as error:
            problems += error.problems
    if problems:
        raise UsageError(*problems)
    return tuple(rules)


def user_rule(rule: Rule, find: Callable[[str], Gated]) -> Rule:
    """A user's rule with its metric's id, if its parts fit together and it can decide anything.

    >>> from ragauge.metrics.table import find
    >>> str(user_rule(Rule(metric="over_refusal", op="<=", bound=0.1), find))
    'quality.over_refusal<=0.1'
    >>> user_rule(Rule(metric="over_refusal", op="<=", bound=10), find)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ragauge.errors.UsageError: ...so this gate can never fail; did you mean 0.10?
    """
    metric = find(rule.metric)
    rule = checked(structs.replace(rule, metric=metric.id))
    if fault := _pointless(rule, metric):
        raise UsageError(f'gate "{rule}": {fault}')
    return rule


def _pointless(rule: Rule, metric: Gated) -> str | None:
    """Why a rule decides nothing: it can never fail, or never pass."""
    low, high = metric.bounds[0], math.inf if metric.bounds[1] is None else metric.bounds[1]
    bound, op = rule.bound, rule.op
    good = ">=" if metric.better == "higher" else "<="
    if op == "=" and low < bound < high and not (math.isinf(high) and bound.is_integer()):
        return f"a measured value hardly ever equals {bound:g}; write {good}{bound:g}"
    always = {
        ">=": bound - TOLERANCE <= low,
        ">": bound + TOLERANCE < low,
        "<=": bound + TOLERANCE >= high,
        "<": bound - TOLERANCE > high,
        "=": False,
    }
    never = {
        ">=": bound - TOLERANCE > high,
        ">": bound + TOLERANCE >= high,
        "<=": bound + TOLERANCE < low,
        "<": bound - TOLERANCE <= low,
        "=": not low - TOLERANCE <= bound <= high + TOLERANCE,
    }
    if always[op] or never[op]:
        ends = f"from {low:g} to {high:g}" if math.isfinite(high) else f"from {low:g} upwards"
        outcome = "fail" if always[op] else "pass"
        meant = f"{bound / 100:.2f}" if bound == round(bound) else f"{bound / 100:g}"
        hint = f"; did you mean {meant}?" if 1 < bound <= 100 and high == 1 else ""
        return f"the metric ranges {ends}, so this gate can never {outcome}{hint}"
    if rule.confidence is not None and bound == (high if op in (">=", ">") else low):
        return f"an interval never ends exactly at {bound:g}, so this gate can never pass"
    if rule.at_least and rule.at_least[0] < MIN_FRACTION * rule.at_least[1]:
        return "it passes even where hardly any question satisfies it; write for example 9 of 10"
    return None


def _parsed(text: str) -> Rule:
    match = _RULE.fullmatch(text)
    if not match:
        raise UsageError(f'gate "{text.strip()}" cannot be read; write for example {EXAMPLE}')
    bound = float(match["bound"]) / (100 if match["percent"] else 1)
    return checked(
        Rule(
            metric=match["metric"],
            op=_OPS.get(match["op"], match["op"]),  # type: ignore[arg-type]
            bound=bound,
            confidence=float(match["confidence"]) if match["confidence"] else None,
            per="question" if match["per"] else "set",
            at_least=(int(match["k"]), int(match["n"])) if match["k"] else None,
            over=float(match["over"]) / (100 if match["of_hundred"] else 1)
            if match["over"]
            else None,
            where=_conditions(match["where"] or ""),
            optional=bool(match["optional"]),
        )
    )


def checked(rule: Rule) -> Rule:
    """The rule, if its parts fit together."""
    if not math.isfinite(rule.bound):
        raise UsageError(f'gate "{rule}": the bound is not a finite number')
    if rule.confidence is not None and not 50 <= rule.confidence <= 99.99:
        raise UsageError(f'gate "{rule}": confidence is a percentage from 50 to 99.99')
    if rule.confidence is not None and rule.per == "question":
        raise UsageError(f'gate "{rule}": a single question has no interval; drop the @')
    if rule.confidence is not None and rule.op == "=":
        raise UsageError(f'gate "{rule}": an interval cannot equal a bound; use >= or <=')
    if rule.over is not None and not 0 < rule.over <= 1:
        raise UsageError(f'gate "{rule}": write over 80%, a percentage above 0 and up to 100')
    if rule.at_least and rule.per != "question":
        raise UsageError(f'gate "{rule}": k of n counts questions; write per question before it')
    if rule.at_least and not 0 < rule.at_least[0] <= rule.at_least[1]:
        raise UsageError(f'gate "{rule}": k of n needs 0 < k <= n')
    return rule


def merged(preset: tuple[Rule, ...], own: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """A preset with the user's rules: one about the same thing takes the preset's place.

    A floor does not replace a ceiling: both hold then.
    """
    return (*without(preset, own), *own)


def without(rules: Iterable[Rule], replacing: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules without those about the same thing as one of the others."""
    replaced = {subject for rule in replacing for subject in _subjects(rule)}
    return tuple(rule for rule in rules if not replaced & _subjects(rule))


_SIDES = {">=": ("floor",), ">": ("floor",), "<=": ("ceiling",), "<": ("ceiling",)}


def _subjects(rule: Rule) -> set[tuple[str, str, str, str]]:
    where = str(sorted(rule.where.items()))
    sides = _SIDES.get(rule.op, ("floor", "ceiling"))
    return {(rule.metric, rule.per, where, side) for side in sides}


def _conditions(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    parts = re.split(r"\s+and\s+", text.strip(), flags=re.IGNORECASE) if text.strip() else []
    for part in parts:
        if re.search(r"\sper\s+question\b", part, re.IGNORECASE):
            raise UsageError(f'condition "{part}": write `per question` before `where`')
        key, equals, value = (word.strip() for word in part.partition("="))
        if not equals and key in ("answerable", "unanswerable"):
            key, value = "answerable", str(key == "answerable")
        elif not equals or not key or not value:
            raise UsageError(f'condition "{part}" cannot be read; write answerable or country=NL')
        if key in found:
            raise UsageError(f'condition "{part}": {key} stands there already; one rule for each')
        found[key] = {"true": True, "false": False}.get(value.lower(), value)
    return found


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

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": lambda value, bound: value >= bound - TOLERANCE,
    "<=": lambda value, bound: value <= bound + TOLERANCE,
    ">": lambda value, bound: value > bound + TOLERANCE,
    "<": lambda value, bound: value < bound - TOLERANCE,
    "=": lambda value, bound: abs(value - bound) <= TOLERANCE,
}


def decide(rule: Rule, score: Score, least: float = 0, why: str = "") -> Verdict:
    """The verdict on a complete set; `score.ci` is at the rule's confidence if it has one.

    To pass, the fraction `least` of the units that should have a value must have one, or what the
    rule itself says; `why` names what keeps the others from having one.
    """
    if score.value is None:
        return verdict_on(rule, score, "not_evaluated", score.reason or "nothing to score")
    fault = _uncovered(rule, score.n, score.of, least, why)
    passes: Decision = "not_evaluated" if fault else "pass"
    if rule.confidence is None:
        holds = satisfies(rule, score.value)
        return verdict_on(rule, score, passes if holds else "fail", fault if holds else None)
    if score.ci is None:
        return verdict_on(rule, score, "not_evaluated", "the metric has no interval")
    low, high = score.ci
    worse = low if rule.op in (">=", ">") else high
    holds = satisfies(rule, worse)
    reason = fault
    if not holds and satisfies(rule, score.value):
        reason = f"the value is inside, the interval reaches {worse:.4f}: more questions would tell"
    return verdict_on(rule, score, passes if holds else "fail", reason)


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
        return verdict_on(rule, score, "not_evaluated", score.reason)
    failing = [qid for qid, holds in judged if not holds]
    good = len(judged) - len(failing)
    score = Score(value=good / len(judged), n=len(judged), of=of)
    k, n = rule.at_least or (1, 1)
    holds = good * n >= k * len(judged)
    if holds and (fault := _uncovered(rule, score.n, of, least)):
        return verdict_on(rule, score, "not_evaluated", fault)
    reason = f"{len(failing)} of {len(judged)} fail: {listed(failing)}" if failing else None
    return verdict_on(rule, score, "pass" if holds else "fail", reason)


def _uncovered(rule: Rule, n: int, of: int, least: float, why: str = "") -> str | None:
    """Why a value over `n` of `of` units decides nothing; None if they are enough."""
    needed = least if rule.over is None else rule.over
    if n >= needed * of - TOLERANCE:
        return None
    causes = f": {why}" if why else ""
    return f"only {n:,} of {of:,} have a value, and the gate needs {needed * 100:.6g} %{causes}"


def passed(gates: Sequence[Verdict]) -> bool | None:
    """Whether a run passes; None if every gate holds, but none of them is about quality.

    Gates on coverage and errors only say that enough could be measured.
    """
    if not all(gate.holds for gate in gates):
        return False
    return True if any(is_quality(gate) and gate.verdict == "pass" for gate in gates) else None


def is_quality(gate: Verdict | Rule) -> bool:
    """Whether a gate is about quality, not about how much could be measured."""
    return gate.metric not in INTEGRITY


def satisfies(rule: Rule, value: float) -> bool:
    return _COMPARE[rule.op](value, rule.bound)


def meets(question: Gold, where: dict[str, Any]) -> bool:
    """Whether a question satisfies a rule's conditions."""
    known = {**question.strata, "answerable": question.answerable}
    return all(
        key in known and str(known[key]).lower() == str(value).lower()
        for key, value in where.items()
    )


def verdict_on(rule: Rule, score: Score, verdict: Decision, reason: str | None) -> Verdict:
    """The verdict on a rule, with the score that decided it."""
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
    """The first ids, and how many more there are."""
    more = f" and {len(qids) - most} more" if len(qids) > most else ""
    return ", ".join(qids[:most]) + more


EVALUATED = ("pass", "fail")
_NO_PROBABILITY = "the test gives no probability: without --method, randomisation gives one"
_RANKS_DISAGREE = "by ranks it is worse, while the mean did not fall: leave --method out"


class Decided(Struct, frozen=True):
    """The value compared with the bound, and the decision."""

    value: float | None
    verdict: Decision
    reason: str | None


def gate_verdict(
    gate: Gate,
    metric: str,
    one: Compared,
    *,
    named: bool,
    alpha: float = ALPHA,
    lacking: str | None = None,
) -> Verdict:
    """The verdict of a gate on a metric's change.

    `no-regression` stops a loss beyond the margin and beyond noise: its value is the change, or 0
    if chance explains the change, so that an uncertain change passes. `not-worse` demands that
    a loss beyond the margin is ruled out: its value is the worst end of the interval, or the
    change where that is a gain beyond noise and the interval says less. A metric that neither run
    could score stops nothing, unless the user named it. A change that the test could not judge is
    not evaluated, and neither is one that would pass where `lacking` says that a run has too few
    values.
    """
    change = one.mean_change
    if change is None:
        absent = one.before is None and one.after is None and one.verdict == "not_comparable"
        decision: Decision = "not_applicable" if absent and not named else "not_evaluated"
        decided = Decided(None, decision, one.reason or "nothing to compare")
    elif gate == "not-worse":
        decided = _not_worse(one, change)
    else:
        decided = _no_regression(one, change, alpha)
    if lacking and decided.verdict == "pass":
        decided = Decided(decided.value, "not_evaluated", lacking)
    # The bound is the margin, on the side where a metric is worse: a loss of the margin is
    # accepted if it was measured, not if it is only possible. 0 - margin rather than -margin,
    # because a bound of -0 would be shown with its sign.
    op: Op = ">" if one.better == "higher" else "<"
    if gate == "no-regression":
        op = ">=" if one.better == "higher" else "<="
    margin = one.margin or 0.0
    bound = 0.0 - margin if one.better == "higher" else margin
    return Verdict(
        rule=f"{metric}{op}{bound:.12g} {gate}",
        metric=metric,
        op=op,
        bound=bound,
        value=decided.value,
        n=one.n,
        ci=one.ci,
        verdict=decided.verdict,
        reason=decided.reason,
    )


def passes(gates: Sequence[Verdict]) -> bool:
    """Whether a run passes a gate: every metric holds, and at least one was evaluated."""
    evaluated = any(gate.verdict in EVALUATED for gate in gates)
    return evaluated and all(gate.holds for gate in gates)


def _not_worse(one: Compared, change: float) -> Decided:
    reached = gain(worst(one.ci, one.better), one.better) if one.ci else None
    inside = one.ci is not None and worst(one.ci, one.better) > -(one.margin or 0.0)
    if one.verdict in ("better", "not_worse"):
        return Decided(reached if inside else change, "pass", one.reason)
    why_not = "there is no interval to rule out a loss beyond the margin"
    if reached is not None:
        why_not = f"a loss beyond the margin is not ruled out: the interval reaches {reached:+.3f}"
    if one.verdict == "cannot_tell" and one.needed is not None:
        why_not += f" with n = {one.n:,}; {one.needed:,} would tell, {one.needed - one.n:,} more"
    return Decided(reached, "fail", _joined(why_not, one.reason))


def _no_regression(one: Compared, change: float, alpha: float) -> Decided:
    if one.p is None and one.verdict != "not_worse":
        return Decided(None, "not_evaluated", _joined(one.reason, _NO_PROBABILITY))
    if one.verdict == "worse":
        if gain(change, one.better) >= 0:
            return Decided(None, "not_evaluated", _joined(_RANKS_DISAGREE, one.reason))
        p = one.p_adjusted
        found = f"p = {p:.3f}" if p is not None and p >= 0.001 else "p < 0.001"
        return Decided(change, "fail", _joined(f"worse than chance explains, {found}", one.reason))
    if one.p_adjusted is None or one.p_adjusted < alpha:
        # By ranks a metric may be better while its mean fell: that is no loss beyond noise.
        lost = one.verdict == "better" and gain(change, one.better) < 0
        return Decided(0.0 if lost else change, "pass", one.reason)
    note = None
    if one.verdict == "cannot_tell" and one.differs:
        note = "cannot tell"
        if one.detectable is not None:
            note += f"; with n = {one.n:,} a loss of {one.detectable:.3f} would most likely show"
        elif not one.reason:
            note += f"; no loss shows with n = {one.n:,}"
    return Decided(0.0, "pass", _joined(note, one.reason) or None)


def _joined(*parts: str | None) -> str:
    return "; ".join(part for part in parts if part)
