"""What an embedder says of answers: how near they are to their references and questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from msgspec import structs

from ragauge.contracts.embedder import Embedder
from ragauge.metrics.answers import AnswerFacts
from ragauge.models.endpoint_embedder import EmbeddingFailed
from ragauge.runners.answers.options import EMBEDDED

AT_A_TIME = 256
"""Answers whose texts are embedded together."""
Cosine = Callable[[str, str], float | None]
"""Of two texts; None where one of them has no content."""
EMPTY = "the embedder finds no content in a text"
FAILED = "the embedder failed"
"""How the reason begins where there is no vector."""


def with_likeness(
    facts: Sequence[AnswerFacts], embedder: Embedder, needs: frozenset[str]
) -> list[AnswerFacts]:
    """The facts with the cosines that are needed; a text that comes back is embedded once.

    Where the embedder fails they are missing, with the reason.
    """
    found: list[AnswerFacts] = []
    for at in range(0, len(facts), AT_A_TIME):
        some = facts[at : at + AT_A_TIME]
        try:
            found += _some(some, embedder, needs)
        except EmbeddingFailed as failed:
            missing = dict.fromkeys(EMBEDDED & needs, f"{FAILED}: {failed}")
            found += [structs.replace(one, missing={**one.missing, **missing}) for one in some]
    return found


def _some(
    facts: Sequence[AnswerFacts], embedder: Embedder, needs: frozenset[str]
) -> list[AnswerFacts]:
    texts = sorted({text for one in facts for text in _texts(one, needs)})
    place = {text: number for number, text in enumerate(texts)}
    vectors = embedder.embed(texts).astype(np.float64) if texts else np.zeros((0, 1))

    def cosine(one: str, other: str) -> float | None:
        left, right = vectors[place[one]], vectors[place[other]]
        return float(left @ right) if left.any() and right.any() else None

    return [_compared(one, cosine, needs) for one in facts]


def _texts(facts: AnswerFacts, needs: frozenset[str]) -> Iterator[str]:
    row = facts.row
    if row.answer is None:
        return
    if "similarity" in needs and row.references:
        yield from (row.answer, *row.references)
    if "relevance" in needs and row.question is not None:
        yield from (row.answer, row.question)


def _compared(facts: AnswerFacts, cosine: Cosine, needs: frozenset[str]) -> AnswerFacts:
    row, told, missing = facts.row, dict[str, float](), dict(facts.missing)
    if row.answer is None:
        return facts
    pairs = {
        "similarity": [(row.answer, reference) for reference in row.references],
        "relevance": [(row.answer, row.question)] if row.question is not None else [],
    }
    for name, texts in pairs.items():
        if name in needs and texts:
            known = [value for one, other in texts if (value := cosine(one, other)) is not None]
            if known:
                told[name] = max(known)
            else:
                missing[name] = EMPTY
    return structs.replace(facts, **told, missing=missing)
