"""Mentions linked to the entities of a file that have their name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ragauge.ingest.linked.knowledge_base import KnownEntity, known_entities
from ragauge.text.canonical import canonical

_SHORTEST = 4
"""Letters of a word that may tell two entities apart: shorter ones stand in every text."""


class ExactLinks:
    """Links a mention to whatever bears that name; None, which is NIL, where nothing does.

    Case and punctuation do not count. Of several the one whose description has most words of the
    context comes first, ties by id.

    >>> rm = KnownEntity(id="rm", names=("Rijksmuseum",), ids={"wikidata": "Q190804"})
    >>> ExactLinks([rm]).link("rijksmuseum", "Het Rijksmuseum in Amsterdam")
    [{'ids': {'wikidata': 'Q190804'}, 'score': 1.0, 'name': 'Rijksmuseum'}]
    """

    def __init__(self, entities: Iterable[KnownEntity]) -> None:
        self._by_name: dict[str, list[KnownEntity]] = {}
        for entity in sorted(entities, key=lambda one: one.id):
            for name in dict.fromkeys(map(canonical, entity.names)):
                self._by_name.setdefault(name, []).append(entity)

    @classmethod
    def read(cls, file: str) -> ExactLinks:
        """A linker to the entities of a knowledge-base file."""
        return cls(known_entities(file))

    def link(self, mention: str, context: str) -> Sequence[dict[str, Any]] | None:
        named = self._by_name.get(canonical(mention), [])
        return ranked([(entity, 1.0) for entity in named], mention, context) or None


def ranked(
    candidates: Sequence[tuple[KnownEntity, float]], mention: str, context: str
) -> list[dict[str, Any]]:
    """Candidates with their scores, the likeliest first; the context only breaks ties."""
    around = _words(context) - _words(mention)
    told = [
        (likeness + _shared(entity, around) if len(candidates) > 1 else likeness, entity)
        for entity, likeness in candidates
    ]
    return [
        {"ids": entity.ids, "score": round(score, 6), "name": entity.names[0]}
        for score, entity in sorted(told, key=lambda one: (-one[0], one[1].id))
    ]


def _shared(entity: KnownEntity, around: frozenset[str]) -> float:
    """A hundredth at most: the share of the context that the entity's description has."""
    words = _words(" ".join((entity.description, *entity.names)))
    return len(words & around) / (100 * (len(around) or 1))


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in canonical(text).split() if len(word) >= _SHORTEST)
