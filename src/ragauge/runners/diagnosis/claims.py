"""The claims of samples by words alone, each pair of claim and passage looked at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from ragauge.contracts.answers import AnswerRow, Context
from ragauge.contracts.claims import AnswerClaims
from ragauge.models.judging import lexical_claims
from ragauge.runners.answers.supporting import SentenceSupporter
from ragauge.text.grounding import Passages
from ragauge.text.grounding.model import shipped

Progress = Callable[[int, int], None]
"""Told how many samples are looked at, of how many."""
KEPT_PASSAGES, KEPT_PAIRS = 4096, 1 << 16


def unseen(done: int, of: int) -> None:
    """Progress that nobody looks at."""


class LexicalClaims:
    """Takes answers apart; runs of one question say much the same, and are not compared twice."""

    def __init__(self) -> None:
        self._sentences = SentenceSupporter(shipped(), "qa", lru_cache(KEPT_PASSAGES)(Passages))
        self.supports = lru_cache(KEPT_PAIRS)(self._sentences.supports)

    @property
    def id(self) -> str:
        return self._sentences.id

    def table(self, claims: Sequence[str], passages: Sequence[str]) -> list[list[bool]]:
        return [[self.supports(claim, passage) for passage in passages] for claim in claims]

    def of(
        self,
        id: str,
        question: str | None,
        answer: str | None,
        reference: str | None,
        contexts: tuple[Context, ...] | None,
    ) -> AnswerClaims | None:
        """The claims of an answer; None where there is nothing to hold them against."""
        if not answer or (contexts is None and not reference):
            return None
        row = AnswerRow(
            id=id,
            question=question,
            answer=answer,
            references=(reference,) if reference else (),
            contexts=contexts,
        )
        return lexical_claims(row, self)
