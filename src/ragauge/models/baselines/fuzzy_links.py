"""Mentions linked to the entities of a file that have a similar name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ragauge.errors import UsageError
from ragauge.ingest.linked.knowledge_base import KnownEntity, known_entities
from ragauge.models.baselines.exact_links import ranked
from ragauge.text.canonical import canonical

THRESHOLD = 82.0
"""Names less alike than this, of 100, are different names."""
MOST = 10


class FuzzyLinks:
    """Links a mention to the entities whose names are spelled most like it, in any order of words.

    Where none reaches the threshold the answer is None, which is NIL. The context breaks ties.

    >>> rm = KnownEntity(id="rm", names=("Rijksmuseum",), ids={"wikidata": "Q190804"})
    >>> FuzzyLinks([rm]).link("Rijksmusem", "")
    [{'ids': {'wikidata': 'Q190804'}, 'score': 0.952381, 'name': 'Rijksmuseum'}]
    >>> FuzzyLinks([rm]).link("Museum of Lamps", "") is None
    True
    """

    def __init__(self, entities: Iterable[KnownEntity], threshold: float = THRESHOLD) -> None:
        if not 0 < threshold <= 100:
            raise UsageError(f"threshold {threshold:g}: likeness goes from 0 to 100")
        self._threshold = threshold
        self._entities = sorted(entities, key=lambda one: one.id)
        self._names = [
            (canonical(name), place)
            for place, entity in enumerate(self._entities)
            for name in entity.names
        ]

    @classmethod
    def read(cls, file: str, threshold: float = THRESHOLD) -> FuzzyLinks:
        """A linker to the entities of a knowledge-base file."""
        return cls(known_entities(file), threshold)

    def link(self, mention: str, context: str) -> Sequence[dict[str, Any]] | None:
        best = self._likeness(canonical(mention))
        near = sorted(best, key=lambda place: (-best[place], self._entities[place].id))[:MOST]
        found = [(self._entities[place], best[place] / 100) for place in near]
        return ranked(found, mention, context) or None

    def _likeness(self, mention: str) -> dict[int, float]:
        """Of each entity that is alike enough, the best likeness of a name of its."""
        from rapidfuzz import fuzz

        best: dict[int, float] = {}
        for name, place in self._names:
            spelled = fuzz.ratio(mention, name, score_cutoff=self._threshold)
            likeness = spelled or fuzz.token_sort_ratio(mention, name, score_cutoff=self._threshold)
            if likeness:
                best[place] = max(best.get(place, 0.0), likeness)
        return best
