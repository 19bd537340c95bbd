"""Gate rules written as text.

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
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from msgspec import Struct, structs

from ragauge.contracts.metric import Better
from ragauge.contracts.report import Rule
from ragauge.errors import UsageError
from ragauge.gates.decide import TOLERANCE

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
"""One between rules: those in parentheses are a metric's own."""
_OPS = {"==": "=", "≥": ">=", "≤": "<="}
EXAMPLE = "precision_cited>=0.80,under_refusal<=0.05@95"
LEAST_SHARE = 0.01
"""Of questions: a rule that one in a hundred may satisfy is no rule."""


class Gated(Protocol):
    """What a rule has to know of its metric; every metric of the table has it."""

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
    """Rules of our own, whose metrics are named by their ids."""
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
    if rule.at_least and rule.at_least[0] < LEAST_SHARE * rule.at_least[1]:
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
    """The rules that none of the others is about the same thing as."""
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
