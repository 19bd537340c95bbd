"""The gates of a question over its runs, and the verdict they give together."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec import Struct, structs

from ragauge.contracts.options import MIN_COVERAGE, Profile
from ragauge.contracts.report import Decision, Rule, Score, Verdict
from ragauge.contracts.stability import Stability
from ragauge.errors import UsageError
from ragauge.gates.rules import (
    TOLERANCE,
    Gated,
    decide,
    known_rules,
    listed,
    merged,
    parse_rules,
    satisfies,
    verdict_on,
)

STABLE = "stability.stable"
"""The fraction of stable_pass questions; not in the metric table, because it needs gates."""

MORE_RUNS = "sweep with more seeds (--seeds 0,1,2), jitters, paraphrases or --repeats 2"
"""The remedy for questions with a single run."""

PROFILES: dict[Profile, str] = {
    "ours": """
        stability.acr >= 0.95 per question where answerable,
        stability.cghc >= 0.95 per question where answerable,
        stability.css >= 0.70 per question where answerable,
        stability.ned50 <= 0.20 per question where answerable,
        stability.refusal_rate >= 0.98 per question where unanswerable,
        stability.scu_cons = 1 per question,
        stability.error_rate <= 0 per question
    """,
    "reference": """
        stability.acr >= 0.95 per question where answerable,
        stability.cghc >= 0.95 per question where answerable,
        stability.css_all >= 0.70 per question where answerable,
        stability.ned50 <= 0.20 per question where answerable,
        stability.rcr >= 0.98 per question where unanswerable,
        stability.scu_cons = 1 per question,
        stability.error_rate <= 0 per question
    """,
}
"""The brief gated rcr, which passes a system that always invents: ours gates refusal_rate."""


def rules_of(profile: Profile, gates: str | None, find: Callable[[str], Gated]) -> tuple[Rule, ...]:
    """The gates of each question: the profile's, replaced or extended by the user's.

    The brief writes acr=0.95 for a floor and ned50=0.20 for a ceiling: under its profile `=` means
    the metric's good direction.
    """
    if gates and profile == "reference":
        directed = {"higher": ">=", "lower": "<="}
        gates = _EQUALS.sub(lambda match: match[1] + directed[find(match[1]).better], gates)
    return with_own(profile, parse_rules(gates, find) if gates else ())


_EQUALS = re.compile(r"([\w.]+)\s*==?(?=\s*[\d.+-])")


def profile_rules(profile: Profile) -> tuple[Rule, ...]:
    return known_rules(PROFILES[profile])


def with_own(profile: Profile, own: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """The profile's rules with the user's in place of those about the same metric.

    A rule without conditions gets those that the profile has for its metric.
    """
    known = profile_rules(profile)
    rules = []
    for rule in own:
        if rule.confidence is not None or rule.at_least:
            raise UsageError(
                f'gate "{rule}": here a rule holds for each question; drop the @ and the k of n, '
                "and say with --min-stable how many questions must hold"
            )
        where = next((each.where for each in known if each.metric == rule.metric), {})
        rules.append(structs.replace(rule, per="question", where=rule.where or where, over=None))
    return merged(known, tuple(rules))


class Failed(Struct, frozen=True):
    """A gate that a question fails, with its value; None if it could not be evaluated."""

    rule: Rule
    value: float | None

    def __str__(self) -> str:
        """
        >>> rule = profile_rules("ours")[0]
        >>> str(Failed(rule, 0.75)), str(Failed(rule, None))
        ('acr 0.75 < 0.95', 'acr not evaluated, must be >= 0.95')
        """
        name = self.rule.metric.partition(".")[2]
        if self.value is None:
            return f"{name} not evaluated, must be {self.rule.op} {self.rule.bound:g}"
        return f"{name} {self.value:.4g} {_MISSED[self.rule.op]} {self.rule.bound:g}"


_MISSED = {">=": "<", "<=": ">", ">": "<=", "<": ">=", "=": "≠"}


def failed_gates(
    rules: tuple[Rule, ...], values: Mapping[str, float | None], inapplicable: frozenset[str]
) -> tuple[Failed, ...]:
    """The rules, all of them about this question, that its values do not satisfy.

    A metric that cannot apply to the question fails nothing; any other that is absent does.
    """
    failed = []
    for rule in rules:
        value = values.get(rule.metric)
        if value is None:
            if rule.metric not in inapplicable and not rule.optional:
                failed.append(Failed(rule, None))
        elif not satisfies(rule, value):
            failed.append(Failed(rule, value))
    return tuple(failed)


def verdict(
    failed: tuple[Failed, ...], *, complete: bool, same: bool, single: bool = False
) -> Stability:
    """The verdict on a question from its gates.

    `same` says that every run had the same outcome, `single` that there is one run to judge.
    """
    if not complete:
        return "incomplete"
    if single:
        return "not_evaluated"
    if not failed:
        return "stable_pass"
    return "stable_fail" if same else "flaky"


def stable_gate(stable: Score, least: float) -> Verdict:
    """The gate that decides: the fraction of evaluated questions that are stable and correct.

    It is not evaluated if too many questions have a single run.
    """
    why = f"stability needs two runs or more; {MORE_RUNS}"
    return decide(Rule(metric=STABLE, op=">=", bound=least), stable, MIN_COVERAGE, why)


def rule_verdict(
    rule: Rule, judged: int, unjudged: int, failing: list[str], of: int, least: float
) -> Verdict:
    """The verdict on one rule over all questions: it fails if too many questions fail it.

    `unjudged` questions are those it applies to that have fewer than two finished runs.
    """
    decision: Decision = "not_evaluated" if unjudged else "not_applicable"
    reason: str | None = "no question the rule applies to"
    if unjudged:
        applicable = judged + unjudged
        reason = f"{unjudged:,} of {applicable:,} questions have fewer than two finished runs"
    covered = judged >= MIN_COVERAGE * (judged + unjudged) - TOLERANCE
    holds = len(failing) <= (1 - least) * of + TOLERANCE
    if judged and (covered or not holds):
        decision = "pass" if holds else "fail"
        failures = [f"{len(failing)} of {judged} fail: {listed(failing)}"] if failing else []
        reason = "; ".join([*failures, reason] if unjudged and reason else failures) or None
    value = (judged - len(failing)) / judged if judged else None
    return verdict_on(rule, Score(value=value, n=judged, of=judged), decision, reason)
