"""Gates on the change of a metric: it did not get worse, or it was shown not to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ragauge.contracts.comparison import Compared
from ragauge.contracts.verdict import Decision, Op, Verdict

Gate = Literal["no-regression", "not-worse"]
EVALUATED = ("pass", "fail")
_UNJUDGED = "the test gives no probability: without --method, randomisation gives one"


def gate_verdict(gate: Gate, metric: str, one: Compared, *, named: bool) -> Verdict:
    """What a gate says of a metric's change.

    `no-regression` stops a loss beyond the margin and beyond noise; what cannot be told passes.
    `not-worse` demands that a loss beyond the margin is ruled out. A metric that neither run
    could score stops nothing, unless the user named it. A change that the test could not judge
    is not evaluated.
    """
    decision, reason = _decided(gate, one, named)
    op, bound = _demand(one)
    return Verdict(
        rule=f"{metric}{op}{bound:.12g} {gate}",
        metric=metric,
        op=op,
        bound=bound,
        value=one.change,
        n=one.n,
        ci=one.ci,
        verdict=decision,
        reason=reason,
    )


def passes(gates: Sequence[Verdict]) -> bool:
    """Whether a gate lets a run through: each metric holds, and one at least was evaluated."""
    evaluated = any(gate.verdict in EVALUATED for gate in gates)
    return evaluated and all(gate.holds for gate in gates)


def _demand(one: Compared) -> tuple[Op, float]:
    """The bound of the change: the margin, on the side where a metric is worse."""
    margin = one.margin or 0.0
    # 0 - margin rather than -margin: a bound of -0 would be shown with its sign.
    return (">=", 0.0 - margin) if one.better == "higher" else ("<=", margin)


def _decided(gate: Gate, one: Compared, named: bool) -> tuple[Decision, str | None]:
    if one.change is None:
        absent = one.before is None and one.after is None and one.verdict == "not_comparable"
        decision: Decision = "not_applicable" if absent and not named else "not_evaluated"
        return decision, one.reason or "nothing to compare"
    if gate == "not-worse":
        return _not_worse(one)
    return _no_regression(one, one.change)


def _not_worse(one: Compared) -> tuple[Decision, str | None]:
    if one.verdict in ("better", "not_worse"):
        return "pass", one.reason
    return "fail", _told(f"{_reach(one)}{_more(one)}", one.reason)


def _no_regression(one: Compared, change: float) -> tuple[Decision, str | None]:
    if one.p is None and one.verdict != "not_worse":
        return "not_evaluated", _told(one.reason, _UNJUDGED)
    if one.verdict == "worse":
        loss = -change if one.better == "higher" else change
        if one.margin and loss <= one.margin:
            return "pass", _told("worse, yet inside the margin as far as it was seen", one.reason)
        found = f"worse than chance explains, {_probability(one.p_adjusted)}"
        return "fail", _told(found, one.reason)
    if one.verdict == "cannot_tell" and one.tested:
        return "pass", _told(_could_have_seen(one), one.reason)
    return "pass", one.reason


def _told(*parts: str | None) -> str:
    return "; ".join(part for part in parts if part)


def _probability(p: float | None) -> str:
    return f"p = {p:.3f}" if p is not None and p >= 0.001 else "p < 0.001"


def _could_have_seen(one: Compared) -> str:
    if one.detectable is None:
        return "cannot tell" if one.reason else f"cannot tell; no loss shows with n = {one.n:,}"
    return f"cannot tell; with n = {one.n:,} a loss of {one.detectable:.3f} would most likely show"


def _reach(one: Compared) -> str:
    """How far the loss may go, as far as is known."""
    if one.ci is None:
        return "there is no interval to rule out a loss beyond the margin"
    worst = one.ci[0] if one.better == "higher" else one.ci[1]
    return f"a loss beyond the margin is not ruled out: the interval reaches {worst:+.3f}"


def _more(one: Compared) -> str:
    if one.verdict != "cannot_tell" or one.needed is None:
        return ""
    return f" with n = {one.n:,}; {one.needed:,} would tell"
