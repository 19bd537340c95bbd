"""What a judge said, found again by claim and context."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragauge.contracts.answers import Context
from ragauge.contracts.claims import Claim
from ragauge.models.judging.plan import (
    Claimed,
    Part,
    Plan,
    claims_for_agreement,
    claims_for_chunks,
)


class Verdicts:
    """The replies to a plan's calls; what has no reply is None."""

    def __init__(
        self, plan: Plan, claimed: Claimed, replies: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self._plan, self._claimed, self._replies = plan, claimed, replies
        self._ranks = plan.passages
        asked = claims_for_chunks(plan, claimed)
        self._in_chunk = {
            step: dict(zip(asked, reply["verdicts"], strict=True))
            for step, reply in replies.items()
            if "verdicts" in reply
        }

    def answer(self) -> tuple[Claim, ...] | None:
        """The answer's claims, with the verdicts of the contexts and of the references."""
        asked, _ = claims_for_agreement(self._plan, self._claimed)
        others = self._others("answer_claims", asked)
        return self._claims(self._claimed.answer, "answer_in_chunks", others)

    def reference(self) -> tuple[Claim, ...] | None:
        """The reference's claims, with the verdicts of the contexts and of the answer."""
        _, asked = claims_for_agreement(self._plan, self._claimed)
        others = self._others("reference_claims", asked)
        if "reference_in_answer" in self._plan.parts and self._claimed.answer == ():
            others = dict.fromkeys(self._claimed.reference or (), False)
        return self._claims(self._claimed.reference, "reference_in_chunks", others)

    def useful(self) -> tuple[bool | None, ...] | None:
        """Whether each context is useful for the reference; None where that was not asked."""
        if "useful" not in self._plan.parts:
            return None
        return tuple(map(self._is_useful, self._plan.row.contexts or ()))

    def _claims(
        self, texts: tuple[str, ...] | None, part: Part, others: Mapping[str, bool]
    ) -> tuple[Claim, ...] | None:
        if texts is None:
            return None
        contexts = (self._plan.row.contexts or ()) if part in self._plan.parts else ()
        return tuple(
            Claim(
                text=text,
                chunks=tuple(self._verdict(context, text) for context in contexts),
                other=others.get(text),
            )
            for text in texts
        )

    def _others(self, name: str, asked: tuple[str, ...]) -> dict[str, bool]:
        verdicts = self._replies.get("agreement", {}).get(name)
        return {} if verdicts is None else dict(zip(asked, verdicts, strict=True))

    def _verdict(self, context: Context, claim: str) -> bool | None:
        rank = self._ranks.get(context.text)
        if rank is None:  # a blank context says nothing, and was not asked about
            return False
        return self._in_chunk.get(f"chunk {rank}", {}).get(claim)

    def _is_useful(self, context: Context) -> bool | None:
        rank = self._ranks.get(context.text)
        return False if rank is None else self._replies.get(f"chunk {rank}", {}).get("useful")
