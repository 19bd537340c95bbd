"""Gates on the change of a metric: it did not get worse, or it was shown not to."""

from __future__ import annotations

from typing import Literal

from ragauge.contracts.comparison import Compared
from ragauge.contracts.verdict import Decision, Op, Verdict

Gate = Literal["no-regression", "not-worse"]


def gate_verdict(gate: Gate, metric: str, one: Compared, *, named: bool) -> Verdict:
    """What a gate says of a metric's change.

    `no-regression` stops a loss beyond the margin and beyond noise; what cannot be told passes.
    `not-worse` demands that a loss beyond the margin is ruled out. A metric that neither run
    could score stops nothing, unless the user named it.
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
    if gate == "no-regression":
        return _no_regression(one)
    if one.verdict in ("better", "not_worse"):
        return "pass", None
    return "fail", f"{_reach(one)}{_more(one)}"


def _no_regression(one: Compared) -> tuple[Decision, str | None]:
    loss = -one.change if one.better == "higher" else one.change  # type: ignore[operator]
    if one.verdict == "worse" and (loss or 0.0) > (one.margin or 0.0):
        return "fail", f"worse than chance explains, {_probability(one.p_adjusted)}"
    if one.verdict == "worse":
        return "pass", "worse, yet inside the margin as far as it was seen"
    if one.verdict == "cannot_tell":
        return "pass", _could_have_seen(one)
    return "pass", None


def _probability(p: float | None) -> str:
    return f"p = {p:.3f}" if p is not None and p >= 0.001 else "p < 0.001"


def _could_have_seen(one: Compared) -> str | None:
    if not one.tested:
        return None
    if one.detectable is None:
        return f"cannot tell; {one.reason or f'no loss could be seen with n = {one.n:,}'}"
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
