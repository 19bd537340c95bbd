"""A case: one answer with what went wrong in it and what was seen beside it."""

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
    """One answer as the ranking of causes sees it, whatever it was read from."""

    id: str
    sample: str
    """The sample or question it belongs to; a sweep has several cases for each."""
    looked_for: frozenset[str]
    """Symptoms that could have been seen."""
    symptoms: frozenset[str]
    """Those that were."""
    signs: Mapping[str, bool]
    """What was looked for beside them; a sign that cannot be told is not there."""

    @property
    def went_wrong(self) -> bool:
        return bool(self.symptoms)


class Seen:
    """Symptoms and signs while a case is being looked at."""

    def __init__(self) -> None:
        self._symptoms: dict[str, bool] = {}
        self._signs: dict[str, bool] = {}

    def symptom(self, name: str, shown: bool | None) -> None:
        """Note whether a symptom shows; None is not known, and leaves what was noted before."""
        if shown is not None:
            self._symptoms[name] = shown or self._symptoms.get(name, False)

    def shows(self, names: Collection[str]) -> bool:
        """Whether any of these symptoms was noted as shown."""
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
    """A metric over the samples: its value, and what it is held against."""

    score: Score
    better: Better | None
    limits: Threshold | None
    invalid: dict[str, int] = {}
    severity: Severity | None = None
    """Where a gate has spoken already; else the limits decide."""


class Material(Struct, frozen=True, kw_only=True):
    """What is known of the samples."""

    samples: Sequence[ScoreRow]
    metrics: Mapping[str, Measured]
    cases: Sequence[Case] | None
    """None where the input tells scores alone, and the causes come from its advice."""
    by_scores: bool = False
    """Somebody else's scores say what went wrong: where they are fine, no cause is claimed."""
    wrong: int | None = None
    """Units of a recorded run that are not right; None where it does not tell."""
    advice: Sequence[Advice] = ()
    """What a recorded run found to say of itself."""
    addresses: AddressCounts | None = None
    features: Mapping[str, Mapping[str, str]] = {}
    """By sample: what it can be sliced by."""
    gates: tuple[Verdict, ...] = ()
    unknown: tuple[str, ...] = ()
    """Keys of what cannot be said, in the order of importance."""
    findings: Findings
    coverage: dict[str, Any]
    identity: dict[str, Any]


class Observed(Struct, frozen=True, kw_only=True):
    """One trace with all that is known of it."""

    id: str
    gold: Gold
    facts: Facts
    variation: Variation
    sent: str | None = None
    """The question as it was asked; None where the trace does not tell."""
    retrieved: tuple[str, ...] | None = None
    found_some: bool | None = None
    """A needed chunk was retrieved; None where that cannot be told, as with the next."""
    found_all: bool | None = None
    payloads: tuple[Citation, ...] = ()
    """Of the retrieved chunks that have one; best first."""
    codes: frozenset[str] = frozenset()
    """What the audit found."""
    audited: bool = False
    """Whether the citations were looked at …"""
    held_to_index: bool = False
    """… and held against the live index, …"""
    held_to_text: bool = False
    """… and against the frozen documents."""
    echoed: bool | None = None
    claims: AnswerClaims | None = None
    contexts: tuple[Context, ...] | None = None
    """The texts of what was retrieved; None where the trace does not hold them all."""
    rewritten: bool | None = None
    """The search was given another text than the question that was sent."""
    latency_ms: float | None = None
    passed_check: bool | None = None
    """The pipeline's own validation let the answer through; None where the trace tells of none."""

    @property
    def needed(self) -> frozenset[str]:
        return frozenset(self.gold.gold_citations)

    @property
    def right(self) -> bool | None:
        """The answer is right as far as the gold tells; None where a call failed."""
        facts = self.facts
        if facts.answered is None:
            return None
        if not facts.answerable:
            return not facts.answered
        return facts.answered and facts.contained is not False and facts.hit is not False

    @property
    def wording(self) -> tuple[int, str]:
        return self.variation.paraphrase, self.variation.jitter


def retrieval_moves(runs: Sequence[Observed]) -> bool | None:
    """Whether λ of a question's retrieval is anything but convergent; None where it has none."""
    if len(runs) < 2:
        return None
    seen = [LambdaRun(kind="answer", cited=(), retrieved=run.retrieved) for run in runs]
    state = retrieval_state(seen, len(runs))
    return None if state in (None, "incomplete") else state != "convergent"
