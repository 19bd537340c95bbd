"""The gates of an audit and of a trace evaluation."""

from __future__ import annotations

from collections.abc import Callable

from ragauge.contracts.calibration import Calibration
from ragauge.contracts.score import Score
from ragauge.contracts.verdict import Rule, Verdict
from ragauge.gates.decide import decide
from ragauge.gates.rules import Gated, known_rules, merged, parse_rules

AUDIT = "traceability.valid = 1, traceability.checked = 1, traceability.unanswered = 0"
"""Every citation holds; all could be looked at; and no trace is without an answer."""
WITH_GOLD = "traceability.match_rate >= 0.95"
WITH_TARGETS = "traceability.coverage >= 0.70"
WITH_RANKS = "traceability.rank_rho >= 0.9"
"""The brief's bound for two indexes that are to rank alike."""
CHECKED = "traceability.checked = 1"
TRACE_EVAL = """
    traceability.answer_convergent >= 0.80,
    traceability.answer_chaotic <= 0,
    traceability.answer_recursive <= 0.10
"""
STRICT = "traceability.answer_convergent = 1"

BRIEF_THRESHOLD = 0.45
DELTAS = "traceability.deltaS_"
"""How the ids of ΔS metrics begin."""
RANKS = "traceability.rank_"
"""How the ids of metrics begin that compare with other traces."""
GATED_DELTAS = f"{DELTAS}chunk"
"""The nearest chunk: thresholds are fitted on single spans, and a joined context is none."""


def audit_rules(
    gold: bool,
    targets: bool,
    own: str | None,
    find: Callable[[str], Gated],
    *,
    ranked: bool = False,
) -> tuple[Rule, ...]:
    """The gates of an audit, with the user's in place or beside.

    What a gold set is needed for joins with one, coverage where a question has a target, and the
    rank correlation where there are other traces to compare with.
    """
    texts = [AUDIT, *([WITH_GOLD] if gold else []), *([WITH_TARGETS] if targets else [])]
    texts += [WITH_RANKS] if ranked else []
    return _with_own(known_rules(",".join(texts)), own, find)


def trace_eval_rules(
    strict: bool, targets: bool, own: str | None, find: Callable[[str], Gated]
) -> tuple[Rule, ...]:
    """The gates of a trace evaluation: match rate, coverage and λ; strict wants all convergent.

    A citation that does not hold does not match, so that `valid` has no gate of its own here. λ is
    gated on answers. What it says of retrieval tells where to look, and is gated by whoever asks
    for it.
    """
    texts = [WITH_GOLD, *([WITH_TARGETS] if targets else []), CHECKED, TRACE_EVAL]
    known = known_rules(",".join(texts))
    return _with_own(merged(known, known_rules(STRICT)) if strict else known, own, find)


def deltas_rule(threshold: float | None) -> Rule:
    """The gate that joins with a calibration: the nearest chunk lies within its threshold.

    The brief's threshold stands in where none could be fitted: the gate is not evaluated then.
    """
    bound = BRIEF_THRESHOLD if threshold is None else threshold
    return Rule(metric=GATED_DELTAS, op="<=", bound=bound)


def with_deltas(rules: tuple[Rule, ...], calibration: Calibration | None) -> tuple[Rule, ...]:
    """The rules with the calibration's, unless they speak of the same metric already."""
    if calibration is None or any(rule.metric == GATED_DELTAS for rule in rules):
        return rules
    return (*rules, deltas_rule(calibration.threshold))


def about_deltas(rule: Rule) -> bool:
    """Whether a rule speaks of a ΔS, and so needs a calibration."""
    return rule.metric.startswith(DELTAS)


def uncalibrated(rule: Rule, of: int, reason: str) -> Verdict:
    """The verdict on a rule about ΔS without a calibration to rely on: not evaluated, and why."""
    return decide(rule, Score(value=None, n=0, of=of, reason=reason))


def _with_own(
    known: tuple[Rule, ...], own: str | None, find: Callable[[str], Gated]
) -> tuple[Rule, ...]:
    return merged(known, parse_rules(own, find) if own else ())
