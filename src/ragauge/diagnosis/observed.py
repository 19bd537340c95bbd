"""One trace as the diagnosis observes it, and what its other runs say of it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ragauge.citations.convergence import RunSeen, retrieval_state
from ragauge.contracts.answers import Context
from ragauge.contracts.citation import Citation
from ragauge.contracts.claims import AnswerClaims
from ragauge.contracts.facts import Facts
from ragauge.contracts.gold import Gold
from ragauge.contracts.run import Variation


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
    seen = [RunSeen(kind="answer", cited=(), retrieved=run.retrieved) for run in runs]
    state = retrieval_state(seen, len(runs))
    return None if state in (None, "incomplete") else state != "convergent"
