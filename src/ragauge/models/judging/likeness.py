"""How like the question the questions are that an answer would answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import structs

from ragauge.contracts.claims import AnswerClaims
from ragauge.contracts.embedder import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = dict[str, NDArray[np.float32]]


def likened(
    asked: Iterable[tuple[str | None, AnswerClaims]], embedder: Embedder
) -> list[AnswerClaims]:
    """The claims with the cosine of each of their questions to the one asked, in their order.

    All texts are embedded in one batch, each once. Where there is no question, or nothing to
    compare it with, the claims stay as they are.
    """
    pairs = list(asked)
    texts = sorted({text for question, claims in pairs for text in _compared(question, claims)})
    vectors = dict(zip(texts, embedder.embed(texts), strict=True)) if texts else {}
    return [_likened(question, claims, vectors) for question, claims in pairs]


def _compared(question: str | None, claims: AnswerClaims) -> tuple[str, ...]:
    if question is None or not claims.questions:
        return ()
    return (question, *claims.questions)


def _likened(question: str | None, claims: AnswerClaims, vectors: Vectors) -> AnswerClaims:
    if question is None or claims.questions is None:
        return claims
    cosines = tuple(float(vectors[question] @ vectors[text]) for text in claims.questions)
    return structs.replace(claims, likeness=cosines)
