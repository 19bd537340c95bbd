"""Gate rules and what became of them."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

Op = Literal[">=", "<=", ">", "<", "="]
Decision = Literal["pass", "fail", "not_evaluated", "not_applicable"]


class Rule(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A demand on a metric, over the whole set or question by question."""

    metric: str
    op: Op
    bound: float
    confidence: float | None = None
    """Demand the interval at this level, in percent: its worse end must be inside."""
    per: Literal["set", "question"] = "set"
    at_least: tuple[int, int] | None = None
    """k of n: for a rule per question, the share of questions that must satisfy it."""
    over: float | None = None
    """The fraction of the units that must have a value; the run's where it is None."""
    where: dict[str, Any] = {}
    """Only the questions with these properties: answerable, or any stratum."""
    optional: bool = False
    """The user accepts that the metric may be absent: then it does not fail."""

    def __str__(self) -> str:
        text = f"{self.metric}{self.op}{self.bound:.12g}"
        if self.confidence is not None:
            text += f"@{self.confidence:g}"
        if self.per == "question":
            text += " per question"
        if self.at_least:
            text += " {} of {}".format(*self.at_least)
        if self.over is not None:
            text += f" over {self.over * 100:.12g}%"
        if self.where:
            pairs = (f"{key}={_word(value)}" for key, value in sorted(self.where.items()))
            text += f" where {' and '.join(pairs)}"
        return text + ("?" if self.optional else "")


class Verdict(Struct, frozen=True, kw_only=True):
    """A rule with the value it met: what a gate printed."""

    rule: str
    metric: str
    op: Op
    bound: float
    value: float | None
    n: int
    ci: tuple[float, float] | None
    verdict: Decision
    reason: str | None
    optional: bool = False

    @property
    def holds(self) -> bool:
        """Whether the gate lets the run through; what was not evaluated does not, by default."""
        if self.verdict == "not_evaluated":
            return self.optional
        return self.verdict != "fail"


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
