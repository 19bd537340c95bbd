"""Which ids stand for one entity: equivalents for a relaxed score, a crosswalk for consistency."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations

from ragauge.contracts.links import KbIds, SamePair
from ragauge.text.kb_ids import KbId

DIFFERENT = frozenset(("different", "differentfrom", "distinct", "notsame", "no"))
"""Relations that say two ids are not one entity."""
WIDER = frozenset(
    ("related", "relatedmatch", "broad", "broader", "broadmatch", "narrow", "narrower",
     "narrowmatch", "partof", "haspart", "seealso")
)  # fmt: skip
"""Relations that say two ids have to do with each other, but are not one entity."""


def plain_relation(written: str) -> str:
    """A relation without vocabulary, case and blanks.

    >>> plain_relation("owl:sameAs"), plain_relation("skos:exact match")
    ('sameas', 'exactmatch')
    """
    name = written.strip().replace("#", ":").replace("/", ":").rpartition(":")[2]
    return "".join(letter for letter in name.lower() if letter.isalnum())


def is_same(pair: SamePair) -> bool:
    """Whether the two ids are one entity; a relation that nobody named says so."""
    return plain_relation(pair.relation) not in DIFFERENT | WIDER


class Equivalents:
    """Ids that count as right beside the gold ones.

    Those that are the same are so through any number of steps, as redirects are; those that are
    only related are one step away.
    """

    def __init__(self, pairs: Iterable[SamePair]) -> None:
        self._head: dict[KbId, KbId] = {}
        related: list[SamePair] = []
        for pair in pairs:
            if is_same(pair):
                self._join(pair.one, pair.other)
            elif plain_relation(pair.relation) in WIDER:
                related.append(pair)
        self._members: dict[KbId, set[KbId]] = {}
        for id in list(self._head):
            self._members.setdefault(self._found(id), set()).add(id)
        self._related: dict[KbId, set[KbId]] = {}
        for pair in related:
            one, other = self._found(pair.one), self._found(pair.other)
            self._related.setdefault(one, set()).add(other)
            self._related.setdefault(other, set()).add(one)

    def beside(self, ids: Iterable[KbId]) -> frozenset[KbId]:
        """These ids with all that are equivalent to one of them."""
        found: set[KbId] = set()
        for id in ids:
            head = self._found(id)
            for near in (head, *self._related.get(head, ())):
                found |= self._members.get(near, {near})
            found.add(id)
        return frozenset(found)

    def _join(self, one: KbId, other: KbId) -> None:
        head, tail = sorted((self._found(one), self._found(other)))
        self._head.setdefault(one, head)
        self._head.setdefault(other, head)
        self._head[tail] = self._head[head] = head

    def _found(self, id: KbId) -> KbId:
        while (above := self._head.get(id, id)) != id:
            self._head[id] = self._head.get(above, above)
            id = above
        return id


class Crosswalk:
    """Which ids of one knowledge base go with which of another."""

    def __init__(self, pairs: Iterable[SamePair]) -> None:
        self._partners: dict[KbId, set[KbId]] = {}
        for pair in pairs:
            if is_same(pair) and pair.one != pair.other:
                self._partners.setdefault(pair.one, set()).add(pair.other)
                self._partners.setdefault(pair.other, set()).add(pair.one)

    def compared(self, ids: KbIds) -> dict[str, bool]:
        """For each pair of knowledge bases it knows these ids in, whether the ids agree.

        >>> walk = Crosswalk([SamePair(("wikidata", "Q1"), ("viaf", "5"), "P214")])
        >>> walk.compared({"viaf": frozenset({"5"}), "wikidata": frozenset({"Q1"})})
        {'wikidata-viaf': True}
        """
        found = {}
        for pair, (one, other) in pairs_of(ids).items():
            agrees = self._agree(one, other, ids)
            if agrees is not None:
                found[pair] = agrees
        return found

    def _agree(self, one: str, other: str, ids: Mapping[str, frozenset[str]]) -> bool | None:
        """Whether an id of the one goes with an id of the other; None where nobody can tell."""
        there = {(other, id) for id in ids[other]}
        here = {(one, id) for id in ids[one]}
        beyond = {partner for id in here for partner in self._in(id, other)}
        back = {partner for id in there for partner in self._in(id, one)}
        if not beyond and not back:
            return None
        return bool(beyond & there or back & here)

    def _in(self, id: KbId, kb: str) -> set[KbId]:
        """An id's partners in a knowledge base: those named, else those through a third one."""
        near = self._partners.get(id, set())
        direct = {one for one in near if one[0] == kb}
        if direct:
            return direct
        through = {one for one in near if one[0] not in (kb, id[0])}
        return {far for one in through for far in self._partners[one] if far[0] == kb}


def pairs_of(ids: KbIds) -> dict[str, tuple[str, str]]:
    """Every two knowledge bases an entity has ids in, by the name of the pair.

    >>> list(pairs_of({"viaf": frozenset({"5"}), "wikidata": frozenset({"Q1"})}))
    ['wikidata-viaf']
    """
    both = combinations(sorted(ids, key=_in_order), 2)
    return {f"{one}-{other}": (one, other) for one, other in both}


_FIRST = ("wikidata", "viaf", "isil", "ghcid")


def _in_order(kb: str) -> tuple[int, str]:
    """Pairs are called as people call them: wikidata-viaf, wikidata-isil, viaf-isil."""
    return (_FIRST.index(kb) if kb in _FIRST else len(_FIRST)), kb
