"""Values of metrics by question, from what runners hand over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragauge.contracts.diagnosis import Severity, Threshold
from ragauge.contracts.gold import Gold, stratum_text
from ragauge.contracts.metric import Better
from ragauge.contracts.score import Outcome, Score
from ragauge.contracts.verdict import Decision, Verdict
from ragauge.diagnosis.cases import Measured
from ragauge.diagnosis.limits import limits_of

SEVERITIES: dict[Decision, Severity] = {
    "fail": "critical",
    "not_evaluated": "not_evaluable",
    "pass": "none",
    "not_applicable": "none",
}
"""What a gate's word means for its metric: somebody decided that a run may not pass so."""

Values = dict[str, dict[str, float]]
"""By question: its metrics."""


def values_of(outcome: Outcome[Any]) -> Values:
    """What each question came to in each metric that applies to it."""
    found: Values = {id: {} for id in outcome.units.ids}
    for name, measured in outcome.units.measured.items():
        for id, value in zip(outcome.units.ids, measured.values.tolist(), strict=True):
            if value == value:
                found[id][name] = value
    return found


def measured_by(
    scores: Mapping[str, Score], gates: Sequence[Verdict], better: Mapping[str, Better]
) -> dict[str, Measured]:
    """Each score as a diagnosis sees it: what a gate said of it counts before usual bounds."""
    # A gate that was not evaluated has spoken only where that fails the run.
    silent = ("not_applicable", "not_evaluated")
    spoken = {gate.metric: gate for gate in gates if gate.verdict not in silent}
    failed = {gate.metric: gate for gate in gates if not gate.holds}
    found = {}
    for name, score in scores.items():
        gate = failed.get(name) or spoken.get(name)
        found[name] = Measured(
            score=score,
            better=better.get(name),
            limits=_limits(name, gate, better.get(name)),
            severity=SEVERITIES[gate.verdict] if gate else None,
        )
    return found


def _limits(name: str, gate: Verdict | None, better: Better | None) -> Threshold | None:
    if gate is None:
        return limits_of(name)
    wanted = better or ("lower" if gate.op in ("<", "<=") else "higher")
    return Threshold(better=wanted, warning=gate.bound, critical=None)


def strata_of(question: Gold) -> dict[str, str]:
    """The strata of a question as texts."""
    told = {name: stratum_text(value) for name, value in question.strata.items()}
    return {name: value for name, value in told.items() if value is not None}
