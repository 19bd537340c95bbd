"""The gates of an audit and of a trace evaluation."""

from __future__ import annotations

from collections.abc import Callable

from ragauge.contracts.score import Score
from ragauge.contracts.verdict import Rule, Verdict
from ragauge.gates.decide import decide
from ragauge.gates.rules import merged, parse_rules

AUDIT = "traceability.valid = 1"
WITH_GOLD = "traceability.match_rate >= 0.95"
WITH_TARGETS = "traceability.coverage >= 0.70"
TRACE_EVAL = """
    traceability.answer_convergent >= 0.80,
    traceability.answer_chaotic <= 0,
    traceability.answer_recursive <= 0.10
"""
STRICT = "traceability.answer_convergent = 1"

DELTAS = "traceability.deltaS_"
"""How the ids of ΔS metrics begin."""
GATED_DELTAS = f"{DELTAS}chunk"
"""The nearest chunk: thresholds are fitted on single spans, and a joined context is none."""
NOT_CALIBRATED = (
    "ΔS thresholds do not carry over between embedders, and this one is not calibrated; "
    "run `ragauge calibrate deltas`"
)


def audit_rules(
    gold: bool, targets: bool, own: str | None, metric_id: Callable[[str], str]
) -> tuple[Rule, ...]:
    """The gates of an audit, with the user's in place or beside.

    What a gold set is needed for joins with one, and coverage where a question has a target.
    """
    texts = [AUDIT, *([WITH_GOLD] if gold else []), *([WITH_TARGETS] if targets else [])]
    return _with_own(parse_rules(",".join(texts), str), own, metric_id)


def trace_eval_rules(
    strict: bool, targets: bool, own: str | None, metric_id: Callable[[str], str]
) -> tuple[Rule, ...]:
    """The gates of a trace evaluation: the audit's, and those of λ; strict wants all convergent.

    λ is gated on answers. What it says of retrieval tells where to look, and is gated by whoever
    asks for it.
    """
    of_runs = parse_rules(TRACE_EVAL, str)
    known = (*audit_rules(True, targets, None, metric_id), *of_runs)
    return _with_own(merged(known, parse_rules(STRICT, str)) if strict else known, own, metric_id)


def deltas_rule(threshold: float) -> Rule:
    """The gate that joins once an embedder is calibrated: the nearest chunk lies within it."""
    return Rule(metric=GATED_DELTAS, op="<=", bound=threshold)


def about_deltas(rule: Rule) -> bool:
    """Whether a rule speaks of a ΔS, and so needs a calibration."""
    return rule.metric.startswith(DELTAS)


def uncalibrated(rule: Rule, score: Score, reason: str | None = None) -> Verdict:
    """The verdict on a rule about ΔS without a calibration to rely on: not evaluated, and why."""
    unknown = Score(value=None, n=0, of=score.of, reason=reason or NOT_CALIBRATED)
    return decide(rule, unknown)


def _with_own(
    known: tuple[Rule, ...], own: str | None, metric_id: Callable[[str], str]
) -> tuple[Rule, ...]:
    return merged(known, parse_rules(own, metric_id) if own else ())
