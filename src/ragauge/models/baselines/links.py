"""Mentions linked to the entities of a file by name, or by a search service as Wikidata's.

No service is asked unless you make a linker with a URL: no model of Ragauge's own has one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from ragauge.contracts.system import CallFailed
from ragauge.errors import UsageError
from ragauge.ingest.linked.knowledge_base import KnownEntity
from ragauge.pipelines.attempts import timed_out
from ragauge.pipelines.http import HttpSystem
from ragauge.pipelines.threads import run_async
from ragauge.text.canonical import canonical
from ragauge.text.visible import one_line

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

    def link(self, mention: str, context: str) -> Sequence[dict[str, Any]] | None:
        named = self._by_name.get(canonical(mention), [])
        return ranked([(entity, 1.0) for entity in named], mention, context) or None


def ranked(
    candidates: Sequence[tuple[KnownEntity, float]], mention: str, context: str
) -> list[dict[str, Any]]:
    """Candidates with their scores, the likeliest first; the context only breaks ties."""
    around = _words(context) - _words(mention)
    told = []
    for entity, likeness in candidates:
        words = _words(" ".join((entity.description, *entity.names)))
        # A hundredth at most: the share of the context that the entity's description has.
        shared = len(words & around) / (100 * (len(around) or 1))
        told.append((likeness + shared if len(candidates) > 1 else likeness, entity))
    return [
        {"ids": entity.ids, "score": round(score, 6), "name": entity.names[0]}
        for score, entity in sorted(told, key=lambda one: (-one[0], one[1].id))
    ]


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in canonical(text).split() if len(word) >= _SHORTEST)


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

    def link(self, mention: str, context: str) -> Sequence[dict[str, Any]] | None:
        from rapidfuzz import fuzz

        name_of, best = canonical(mention), dict[int, float]()
        for name, place in self._names:
            spelled = fuzz.ratio(name_of, name, score_cutoff=self._threshold)
            likeness = spelled or fuzz.token_sort_ratio(name_of, name, score_cutoff=self._threshold)
            if likeness:  # of each entity that is alike enough, that of its best name
                best[place] = max(best.get(place, 0.0), likeness)
        near = sorted(best, key=lambda place: (-best[place], self._entities[place].id))[:MOST]
        found = [(self._entities[place], best[place] / 100) for place in near]
        return ranked(found, mention, context) or None


WIKIDATA = "https://www.wikidata.org/w/api.php"
TIMEOUT_S = 10.0
_SHOWN = 200


class SearchLinks:
    """Links a mention to what `action=wbsearchentities` finds for it, in the order it is found.

    It talks to the host of its URL and to no other, as an HTTP system does. A call that brings no
    answer raises CallFailed, and an evaluation records it; nothing found is None, which is NIL.
    The language is English unless it is given, or the URL ends with such as `?language=nl`.
    """

    def __init__(
        self,
        url: str,
        *,
        language: str | None = None,
        most: int = MOST,
        timeout_s: float = TIMEOUT_S,
        headers: dict[str, str] | None = None,
    ) -> None:
        if most < 1 or not timeout_s > 0:
            raise UsageError("a search needs one result at least, and a timeout above zero")
        self._system = HttpSystem(url, headers=headers)
        self._language, self._most, self._timeout_s = language, most, timeout_s

    def __repr__(self) -> str:
        return f"SearchLinks({self.url})"

    @property
    def url(self) -> str:
        """Where it searches, without what may be a secret."""
        return self._system.place

    def link(self, mention: str, context: str) -> Sequence[dict[str, Any]] | None:
        found = _results(run_async(self._searched(mention)))
        return found[: self._most] or None

    async def _searched(self, mention: str) -> Any:
        language = self._language or self._system.query.get("language") or "en"
        asked = {
            "action": "wbsearchentities",
            "search": mention,
            "language": language,
            "uselang": language,
            "limit": str(self._most),
            "type": "item",
            "format": "json",
        }
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._system.found(asked)
        except TimeoutError:
            raise timed_out(self._timeout_s) from None
        finally:
            await self._system.close()


def _results(reply: Any) -> list[dict[str, Any]]:
    """The entities of a reply, in order; raises CallFailed where it is none."""
    if type(reply) is not dict:
        raise CallFailed("bad_reply", "the reply is no JSON object")
    if "error" in reply:
        raise CallFailed("refused", one_line(str(reply["error"]), _SHOWN))
    found = reply.get("search")
    if type(found) is not list or not all(
        type(one) is dict and type(one.get("id")) is str for one in found
    ):
        raise CallFailed("bad_reply", "the reply has no list `search` of objects with an id")
    return [{"id": one["id"], "name": one.get("label")} for one in found]
