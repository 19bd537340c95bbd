"""What an embedder says of answers: how near they are to their references and questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from msgspec import structs

from ragauge.contracts.embedder import Embedder
from ragauge.metrics.answer_facts import AnswerFacts

AT_A_TIME = 256
"""Answers whose texts are embedded together."""
Cosine = Callable[[str, str], float | None]
"""Of two texts; None where one of them has no content."""
EMPTY = "the embedder finds no content in a text"


def with_likeness(
    facts: Sequence[AnswerFacts], embedder: Embedder, needs: frozenset[str]
) -> list[AnswerFacts]:
    """The facts with the cosines that are needed; a text that comes back is embedded once."""
    found: list[AnswerFacts] = []
    for at in range(0, len(facts), AT_A_TIME):
        found += _some(facts[at : at + AT_A_TIME], embedder, needs)
    return found


def _some(
    facts: Sequence[AnswerFacts], embedder: Embedder, needs: frozenset[str]
) -> Iterator[AnswerFacts]:
    texts = sorted({text for one in facts for text in _texts(one, needs)})
    place = {text: number for number, text in enumerate(texts)}
    vectors = embedder.embed(texts).astype(np.float64) if texts else np.zeros((0, 1))

    def cosine(one: str, other: str) -> float | None:
        left, right = vectors[place[one]], vectors[place[other]]
        return float(left @ right) if left.any() and right.any() else None

    for one in facts:
        yield _compared(one, cosine, needs)


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
