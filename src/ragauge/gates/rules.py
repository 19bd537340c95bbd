"""Gate rules written as text.

precision_cited>=0.80
under_refusal<=0.05@95                     the interval's worse end must be inside
over_refusal<=0.10 where language=nl       only these questions
claim_containment>=1 per question 9 of 10  nine in ten questions must satisfy it
p(rel=2)@5>=0.30                           a metric with a parameter of its own
precision_strict>=0.80?                    may stay unevaluated without failing
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from ragauge.contracts.verdict import Rule
from ragauge.errors import UsageError

_RULE = re.compile(
    r"""\s*(?P<metric>[A-Za-z_](?:[\w.@+-]|\([^()]*\))*?)\s*
        (?P<op>>=|<=|==|=|>|<|≥|≤)\s*
        (?P<bound>[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*(?P<percent>%)?
        (?:\s*@\s*(?P<confidence>\d+(?:\.\d+)?)\s*%?)?
        (?P<per>\s+per\s+question(?:\s+(?P<k>\d+)\s*(?:of|/)\s*(?P<n>\d+))?)?
        (?:\s+where\s+(?P<where>.+?))?
        \s*(?P<optional>\?)?\s*""",
    re.VERBOSE | re.IGNORECASE,
)
_COMMA = re.compile(r",(?![^()]*\))")
"""One between rules: those in parentheses are a metric's own."""
_OPS = {"==": "=", "≥": ">=", "≤": "<="}
EXAMPLE = "precision_cited>=0.80,under_refusal<=0.05@95"


def parse_rules(text: str, metric_id: Callable[[str], str]) -> tuple[Rule, ...]:
    """The rules of a comma-separated text, metric names made whole; all errors at once."""
    rules: list[Rule] = []
    problems: list[str] = []
    for part in _COMMA.split(text):
        try:
            rules.append(parse_rule(part, metric_id))
        except UsageError as error:
            problems += error.problems
    if problems:
        raise UsageError(*problems)
    return tuple(rules)


def parse_rule(text: str, metric_id: Callable[[str], str]) -> Rule:
    """One rule.

    >>> str(parse_rule("under_refusal <= 5% @95 where country=NL", lambda name: "quality." + name))
    'quality.under_refusal<=0.05@95 where country=NL'
    """
    match = _RULE.fullmatch(text)
    if not match:
        raise UsageError(f'gate "{text.strip()}" cannot be read; write for example {EXAMPLE}')
    bound = float(match["bound"]) / (100 if match["percent"] else 1)
    return checked(
        Rule(
            metric=metric_id(match["metric"]),
            op=_OPS.get(match["op"], match["op"]),  # type: ignore[arg-type]
            bound=bound,
            confidence=float(match["confidence"]) if match["confidence"] else None,
            per="question" if match["per"] else "set",
            at_least=(int(match["k"]), int(match["n"])) if match["k"] else None,
            where=_conditions(match["where"] or ""),
            optional=bool(match["optional"]),
        )
    )


def checked(rule: Rule) -> Rule:
    """The rule, if its parts fit together."""
    if not math.isfinite(rule.bound):
        raise UsageError(f'gate "{rule}": the bound is no finite number')
    if rule.confidence is not None and not 50 <= rule.confidence <= 99.99:
        raise UsageError(f'gate "{rule}": confidence is a percentage from 50 to 99.99')
    if rule.confidence is not None and rule.per == "question":
        raise UsageError(f'gate "{rule}": a single question has no interval; drop the @')
    if rule.confidence is not None and rule.op == "=":
        raise UsageError(f'gate "{rule}": an interval cannot equal a bound; use >= or <=')
    if rule.at_least and rule.per != "question":
        raise UsageError(f'gate "{rule}": k of n counts questions; write per question before it')
    if rule.at_least and not 0 < rule.at_least[0] <= rule.at_least[1]:
        raise UsageError(f'gate "{rule}": k of n needs 0 < k <= n')
    return rule


def merged(preset: tuple[Rule, ...], own: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """A preset with the user's rules: one about the same thing takes the preset's place.

    A floor does not replace a ceiling: both hold then.
    """
    replaced = {subject for rule in own for subject in _subjects(rule)}
    return (*(rule for rule in preset if not replaced & _subjects(rule)), *own)


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
