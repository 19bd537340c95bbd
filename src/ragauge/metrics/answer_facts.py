"""What the metrics of an answer read: its row, and what was found of it before."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from ragauge.contracts.answers import AnswerRow, CitationSupport, Groundedness
from ragauge.contracts.claims import AnswerClaims, RubricScore


class AnswerFacts(Struct, frozen=True, kw_only=True):
    """One answer with all that was asked of others: supporters, embedders, judges.

    What is None was not asked for, or could not be made; `missing` says why.
    """

    row: AnswerRow
    refused: bool = False
    """The answer is a refusal, by the predicate that was chosen."""
    groundedness: Groundedness | None = None
    citations: CitationSupport | None = None
    """Which cited context supports which sentence."""
    claims: AnswerClaims | None = None
    """By an LLM judge."""
    lexical_claims: AnswerClaims | None = None
    """By the sentence supporter."""
    rubric: RubricScore | None = None
    similarity: float | None = None
    """Cosine of the answer and its nearest reference."""
    relevance: float | None = None
    """Cosine of the question and the answer."""
    missing: Mapping[str, str] = {}
    """Why a field that was asked for is None, by the field's name."""
