"""The gates of a stability report by what they do to questions."""

from __future__ import annotations

from msgspec import Struct

from ragauge.contracts.stability import StabilityReport
from ragauge.contracts.verdict import Verdict
from ragauge.reports import envelope, numbers

_ABOUT = {
    "": "all",
    "where answerable=true": "answerable",
    "where answerable=false": "unanswerable",
}


class Gate(Struct, frozen=True, kw_only=True):
    """A gate and the questions that hold it."""

    rule: str
    metric: str
    name: str
    """The metric with its bound: `acr >= 0.95`."""
    about: str
    """Which questions it speaks of."""
    good: int | None
    """How many hold it; None where it was not evaluated or does not apply."""
    of: int
    """Of so many questions it speaks."""
    word: str
    holds: bool
    note: str

    @property
    def share(self) -> float | None:
        return None if self.good is None or not self.of else self.good / self.of

    @property
    def held(self) -> str:
        """How many questions hold it, of how many."""
        return numbers.ABSENT if self.share is None else numbers.n_of(self.good or 0, self.of)

    @property
    def percent(self) -> str:
        return numbers.ABSENT if self.good is None else numbers.share(self.good, self.of)


def gates_of(report: StabilityReport) -> list[Gate]:
    """The gates, the one that decides first; the same in every profile."""
    return [_gate(verdict) for verdict in report.verdicts]


def _gate(verdict: Verdict) -> Gate:
    name = verdict.metric.partition(".")[2] or verdict.metric
    where = numbers.restriction(verdict).removeprefix("per question").strip()
    judged = verdict.value is not None and verdict.verdict in ("pass", "fail")
    optional = "optional" if verdict.optional and verdict.verdict == "not_evaluated" else ""
    return Gate(
        rule=verdict.rule,
        metric=verdict.metric,
        name=f"{name} {numbers.bound(verdict)}",
        about=_ABOUT.get(where, where),
        good=round((verdict.value or 0) * verdict.n) if judged else None,
        of=verdict.n,
        word=envelope.gate_word(verdict),
        holds=verdict.holds,
        note="; ".join(filter(None, (optional, verdict.reason))),
    )
