"""A case: one answer with its symptoms (what went wrong) and signs (other observations)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec import Struct

from ragauge.citations.convergence import LambdaRun, retrieval_state
from ragauge.contracts.answers import Context
from ragauge.contracts.citation import Citation
from ragauge.contracts.claims import AnswerClaims
from ragauge.contracts.diagnosis import AddressCounts, ScoreRow, Severity, Threshold
from ragauge.contracts.gold import Gold
from ragauge.contracts.metric import Better, Facts
from ragauge.contracts.report import Advice, Findings, Score, Verdict
from ragauge.contracts.run import Variation


class Case(Struct, frozen=True, kw_only=True):
    """One answer as the ranking of causes reads it, from any input."""

    id: str
    sample: str
    """The sample or question it belongs to; a sweep has several cases for each."""
    looked_for: frozenset[str]
    """Symptoms that could be checked."""
    symptoms: frozenset[str]
    """Symptoms that it shows."""
    signs: Mapping[str, bool]
    """Signs that could be checked, and whether it shows each."""

    @property
    def went_wrong(self) -> bool:
        return bool(self.symptoms)


class CaseBuilder:
    """Collects the symptoms and signs of a case."""

    def __init__(self) -> None:
        self._symptoms: dict[str, bool] = {}
        self._signs: dict[str, bool] = {}

    def symptom(self, name: str, shown: bool | None) -> None:
        """Note whether the case shows a symptom; None, for unknown, changes nothing."""
        if shown is not None:
            self._symptoms[name] = shown or self._symptoms.get(name, False)

    def shows(self, names: Collection[str]) -> bool:
        """Whether the case shows any of these symptoms."""
        return any(self._symptoms.get(name, False) for name in names)

    def sign(self, name: str, seen: bool | None) -> None:
        if seen is not None:
            self._signs[name] = seen

    def case(self, id: str, sample: str) -> Case:
        return Case(
            id=id,
            sample=sample,
            looked_for=frozenset(self._symptoms),
            symptoms=frozenset(name for name, shown in self._symptoms.items() if shown),
            signs=dict(self._signs),
        )


class Measured(Struct, frozen=True, kw_only=True):
    """A metric over the samples: its value, and the limits for it."""

    score: Score
    better: Better | None
    limits: Threshold | None
    invalid: dict[str, int] = {}
    severity: Severity | None = None
    """Decided by a gate; otherwise the limits decide."""


class Material(Struct, frozen=True, kw_only=True):
    """Everything that a diagnosis is based on."""

    samples: Sequence[ScoreRow]
    metrics: Mapping[str, Measured]
    cases: Sequence[Case] | None
    """None if the input has only scores; then the causes come from its advice."""
    by_scores: bool = False
    """Scores of another tool decide what went wrong: if they are fine, no cause is claimed."""
    wrong: int | None = None
    """Units of a recorded run that are not correct; None if it does not say."""
    advice: Sequence[Advice] = ()
    """The advice in a recorded run's report."""
    addresses: AddressCounts | None = None
    features: Mapping[str, Mapping[str, str]] = {}
    """By sample: what it can be sliced by."""
    gates: tuple[Verdict, ...] = ()
    unknown: tuple[str, ...] = ()
    """Keys of what cannot be determined, in order of importance."""
    findings: Findings
    coverage: dict[str, Any]
    identity: dict[str, Any]


class ObservedTrace(Struct, frozen=True, kw_only=True):
    """One trace with everything that is known about it."""

    id: str
    gold: Gold
    facts: Facts
    variation: Variation
    sent: str | None = None
    """The question as it was sent; None if the trace does not have it."""
    retrieved: tuple[str, ...] | None = None
    found_some: bool | None = None
    """Whether a needed chunk was retrieved; None, here and below, if that is not known."""
    found_all: bool | None = None
    payloads: tuple[Citation, ...] = ()
    """Those of the retrieved chunks, best first."""
    codes: frozenset[str] = frozenset()
    """What the audit found."""
    audited: bool = False
    """Whether the citations were checked …"""
    held_to_index: bool = False
    """… and compared with the live index, …"""
    held_to_text: bool = False
    """… and with the frozen documents."""
    echoed: bool | None = None
    claims: AnswerClaims | None = None
    contexts: tuple[Context, ...] | None = None
    """The texts that were retrieved; None if the trace does not have all of them."""
    rewritten: bool | None = None
    """Whether the search got another text than the question that was sent."""
    latency_ms: float | None = None
    passed_check: bool | None = None
    """Whether the pipeline's own validation passed the answer; None if the trace has none."""

    @property
    def needed(self) -> frozenset[str]:
        return frozenset(self.gold.gold_citations)

    @property
    def right(self) -> bool | None:
        """Whether the answer is correct according to gold; None if the call failed."""
        facts = self.facts
        if facts.answered is None:
            return None
        if not facts.answerable:
            return not facts.answered
        return facts.answered and facts.contained is not False and facts.hit is not False

    @property
    def wording(self) -> tuple[int, str]:
        return self.variation.paraphrase, self.variation.jitter


def retrieval_moves(runs: Sequence[ObservedTrace]) -> bool | None:
    """Whether λ of a question's retrieval is not convergent; None if it has none."""
    if len(runs) < 2:
        return None
    retrievals = [LambdaRun(kind="answer", cited=(), retrieved=run.retrieved) for run in runs]
    state = retrieval_state(retrievals, len(runs))
    return None if state in (None, "incomplete") else state != "convergent"
