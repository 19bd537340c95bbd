"""Entities found by a list of names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ragauge.ingest.linked.knowledge_base import KnownEntity, known_entities
from ragauge.models.baselines.spans import FoundSpan

PLACE = "TOP"
_PIECE = re.compile(r"[^\W_]+|[^\w\s]|_")
_ENDINGS = ("es", "en", "em", "e", "s")
"""What German, Dutch, English and French put to a word; -er makes another word of it."""
_KEPT = 5
"""Letters a word keeps at least when its ending goes."""
_LONGEST_ACRONYM = 5

Form = tuple[str, ...]


class GazetteerEntities:
    """Finds names, the longest that fits at each place, from left to right, at whole words.

    Capitals count: a word that the name writes with one has it in the text, but for the first of
    several such (`musée du Louvre`), and an acronym stands as it is. The words of a name may be
    inflected (`Kunsthistorischen Museum`); those of a place may not, for `Nederlands` is none.

    >>> Name = KnownEntity(id="l", names=("Musée du Louvre",), type="GRP.HER.MUS", ids={})
    >>> GazetteerEntities([Name]).extract_entities("Au musée du Louvre, à Paris.")
    [FoundSpan(start=3, end=18, type='GRP.HER.MUS')]
    """

    def __init__(self, entities: Iterable[KnownEntity]) -> None:
        votes: dict[str, Counter[str]] = {}
        for entity in entities:
            for name in entity.names if entity.type else ():
                votes.setdefault(name, Counter())[entity.type or ""] += 1
        self._names: dict[Form, list[tuple[Sequence[str], str]]] = {}
        for name, types in sorted(votes.items()):
            # A name of several types has the most frequent; ties break by the type's name.
            type_of = min(types, key=lambda one: (-types[one], one))
            pieces = _PIECE.findall(name)
            self._names.setdefault(_form(pieces, type_of), []).append((pieces, type_of))
        self._longest = max(map(len, self._names), default=0)

    @classmethod
    def read(cls, file: str) -> GazetteerEntities:
        """The names of a knowledge-base file."""
        return cls(known_entities(file))

    def extract_entities(self, text: str) -> list[FoundSpan]:
        found = list(_PIECE.finditer(text))
        spans: list[FoundSpan] = []
        place = 0
        while place < len(found):
            span = self._longest_at(found, place)
            if span is None:
                place += 1
                continue
            spans.append(span)
            while place < len(found) and found[place].start() < span.end:
                place += 1
        return spans

    def _longest_at(self, found: Sequence[re.Match[str]], place: int) -> FoundSpan | None:
        for length in range(min(self._longest, len(found) - place), 0, -1):
            part = found[place : place + length]
            written = [piece[0] for piece in part]
            for pieces, type_of in self._meant(written):
                if _capitals_fit(pieces, written):
                    return FoundSpan(part[0].start(), part[-1].end(), type_of)
        return None

    def _meant(self, written: Sequence[str]) -> Iterator[tuple[Sequence[str], str]]:
        plain, inflected = _form(written, PLACE), _form(written, "")
        for form in dict.fromkeys((plain, inflected)):
            for pieces, type_of in self._names.get(form, ()):
                if form == _form(written, type_of):
                    yield pieces, type_of


def _form(pieces: Sequence[str], type_of: str) -> Form:
    """What a name and its forms have in common."""
    folded = (piece.casefold() for piece in pieces)
    return tuple(folded if type_of == PLACE else map(_without_ending, folded))


def _without_ending(word: str) -> str:
    """
    >>> [_without_ending(word) for word in ("kunsthistorischen", "rijksmuseums", "des")]
    ['kunsthistorisch', 'rijksmuseum', 'des']
    """
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _KEPT:
            return word.removesuffix(ending)
    return word


def _capitals_fit(name: Sequence[str], written: Sequence[str]) -> bool:
    if _is_acronym(name):
        return list(name) == list(written)
    capitals = [place for place, piece in enumerate(name) if piece[0].isupper()]
    needed = capitals[1:] if len(capitals) > 1 and capitals[0] == 0 else capitals
    return all(written[place][0].isupper() for place in needed)


def _is_acronym(name: Sequence[str]) -> bool:
    letters = "".join(name)
    return len(letters) <= _LONGEST_ACRONYM and sum(map(str.isupper, letters)) > 1
