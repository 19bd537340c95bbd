"""From where on a score is low: the thresholds of the seven judged metrics, and severities."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from math import fsum

from ragauge.contracts.diagnosis import Severity, Threshold
from ragauge.contracts.metric import Better
from ragauge.contracts.report import Rule
from ragauge.gates import presets, stability
from ragauge.gates.rules import TOLERANCE, known_rules
from ragauge.metrics.table import find

_COMMON = Threshold(better="higher", warning=0.7, critical=0.5)
_STRICTER = Threshold(better="higher", warning=0.6, critical=0.4)

SEVEN: dict[str, Threshold] = {
    "faithfulness": _COMMON,
    "answer_relevancy": _COMMON,
    "context_recall": _COMMON,
    "semantic_similarity": _COMMON,
    "context_precision": _STRICTER,
    "factual_correctness": _STRICTER,
    "noise_sensitivity": Threshold(better="lower", warning=0.3, critical=0.5),
}
"""The judged metrics that every tool of the field has, in one form or another."""

LOWEST = {"answer_relevancy": -1.0, "semantic_similarity": -1.0}
"""Where a judged metric begins, if not at 0: these are cosines. All of them end at 1."""

RANKED: tuple[Severity, ...] = ("critical", "warning", "not_evaluable", "none", "no_rule")
"""Severities as a reader meets them."""


def limits_of(metric: str) -> Threshold | None:
    """The thresholds of a metric by its name, whatever family or judge stands before it.

    >>> limits_of("answers.lexical_faithfulness") == limits_of("faithfulness") == _COMMON
    True
    """
    return SEVEN.get(plain_name(metric)) or usual_limits().get(metric)


def in_range(metric: str, value: float) -> bool:
    """Whether a judged metric can have a value; of others nothing is known.

    >>> in_range("faithfulness", 85.0), in_range("answers.semantic_similarity", -0.1)
    (False, True)
    """
    name = plain_name(metric)
    if name not in SEVEN:
        return True
    return LOWEST.get(name, 0.0) - TOLERANCE <= value <= 1 + TOLERANCE


def plain_name(metric: str) -> str:
    """The name of a metric as the field knows it.

    >>> plain_name("answers.lexical_context_recall")
    'context_recall'
    """
    return metric.rpartition(".")[2].removeprefix("lexical_")


@cache
def usual_limits() -> dict[str, Threshold]:
    """Thresholds of our own metrics: the bounds that presets and profiles gate them by."""
    traced = ",".join((presets.AUDIT, presets.WITH_GOLD, presets.WITH_TARGETS))
    rules: list[Rule] = [
        *presets.preset("ship"),
        *stability.profile_rules("ours"),
        *known_rules(f"{traced},{presets.TRACE_EVAL}"),
        *(
            rule
            for task in presets.INTEGRITY
            for rule in presets.component_rules(task, "heritage", None, find)
        ),
    ]
    return {rule.metric: bound_of(rule) for rule in reversed(rules)}


def bound_of(rule: Rule) -> Threshold:
    """The threshold that a gate amounts to."""
    return Threshold(better=find(rule.metric).better, warning=rule.bound, critical=None)


def beyond(value: float, limit: float, better: Better) -> bool:
    """Strictly worse than the limit; what differs by rounding alone is at it.

    >>> beyond(0.1 + 0.6, 0.7, "higher"), beyond(0.31, 0.3, "lower"), beyond(0.3, 0.3, "lower")
    (False, True, False)
    """
    return value < limit - TOLERANCE if better == "higher" else value > limit + TOLERANCE


def severity(value: float, limits: Threshold) -> Severity:
    """How bad a mean is.

    >>> severity(0.5, _COMMON), severity(0.7, _COMMON), severity(0.31, SEVEN["noise_sensitivity"])
    ('warning', 'none', 'warning')
    """
    if limits.critical is not None and beyond(value, limits.critical, limits.better):
        return "critical"
    return "warning" if beyond(value, limits.warning, limits.better) else "none"


def threshold_hit(value: float, limits: Threshold) -> float | None:
    """The threshold a mean is beyond, the critical one before the other."""
    found = severity(value, limits)
    return {"critical": limits.critical, "warning": limits.warning}.get(found)


def mean(values: Iterable[float]) -> float:
    """The mean, as exact as floats allow, in any order of the values.

    >>> mean([1e308, 1e308])
    1e+308
    """
    known = list(values)
    try:
        return fsum(known) / len(known)
    except OverflowError:  # their sum is no float; their mean is
        return float(sum(map(Fraction, known)) / len(known))
