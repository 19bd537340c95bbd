"""The gates of a stability report by what they do to questions, whichever profile they are of."""

from __future__ import annotations

from msgspec import Struct

from ragauge.contracts.stability import StabilityReport
from ragauge.contracts.verdict import Verdict
from ragauge.reports import envelope, numbers

LOWER_IS_BETTER = frozenset({"ned50", "error_rate"})

_ABOUT = {
    "": "all",
    "where answerable=true": "answerable",
    "where answerable=false": "unanswerable",
}


class Gate(Struct, frozen=True, kw_only=True):
    """A gate and the questions that hold it."""

    rule: str
    name: str
    """The metric with its bound: `acr >= 0.95`."""
    about: str
    """Which questions it speaks of; empty where the profile does not say."""
    good: int | None
    of: int
    """Of so many questions it speaks."""
    word: str
    holds: bool
    note: str

    @property
    def share(self) -> float | None:
        return None if self.good is None or not self.of else self.good / self.of


def gates_of(report: StabilityReport) -> list[Gate]:
    """The gates of the report, in its order."""
    if isinstance(report.gates, dict):
        return [_plain_gate(report, name, bound) for name, bound in report.gates.items()]
    return [_gate(verdict) for verdict in report.gates]


def _gate(verdict: Verdict) -> Gate:
    name = verdict.metric.partition(".")[2] or verdict.metric
    where = numbers.restriction(verdict).removeprefix("per question").strip()
    optional = "optional" if verdict.optional and verdict.verdict == "not_evaluated" else ""
    return Gate(
        rule=verdict.rule,
        name=f"{name} {numbers.bound(verdict)}",
        about=_ABOUT.get(where, where),
        good=None if verdict.value is None else round(verdict.value * verdict.n),
        of=verdict.n,
        word=envelope.gate_word(verdict),
        holds=verdict.holds,
        note="; ".join(filter(None, (optional, verdict.reason))),
    )


def _plain_gate(report: StabilityReport, name: str, bound: float) -> Gate:
    """A bound of the brief's plain object, beside the questions that say they fail it."""
    failing = [
        qid
        for qid, question in report.details.items()
        if any(text.split(" ")[0] == name for text in question.failed)
    ]
    op = "<=" if name in LOWER_IS_BETTER else ">="
    valued = [qid for qid, one in report.details.items() if getattr(one, name, None) is not None]
    of = len({*failing, *valued})
    return Gate(
        rule=f"{name}{op}{bound:g}",
        name=f"{name} {op} {bound:g}",
        about="",
        good=of - len(failing),
        of=of,
        word="FAIL" if failing else "pass",
        holds=not failing,
        note=f"fails: {', '.join(failing[:5])}" if failing else "",
    )
