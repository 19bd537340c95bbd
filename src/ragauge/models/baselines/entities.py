"""Entities by shape (dates, identifiers) and by name (a gazetteer); none overlaps another."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from ragauge.contracts.component_models import ExtractsEntities
from ragauge.ingest.linked.knowledge_base import KnownEntity


class FoundSpan(Struct, frozen=True, order=True):
    """A stretch of a text with a type, half-open, in characters."""

    start: int
    end: int
    type: str


def without_overlaps(*groups: Iterable[FoundSpan]) -> list[FoundSpan]:
    """The spans in reading order; of two that overlap the one of the earlier group stays.

    Within a group the longer stays, then the one that begins first.

    >>> without_overlaps([FoundSpan(4, 9, "TOP")], [FoundSpan(0, 5, "TMP"), FoundSpan(9, 12, "X")])
    [FoundSpan(start=4, end=9, type='TOP'), FoundSpan(start=9, end=12, type='X')]
    """
    kept: list[FoundSpan] = []
    for group in groups:
        for span in sorted(group, key=lambda one: (one.start - one.end, one)):
            if all(span.end <= other.start or other.end <= span.start for other in kept):
                kept.append(span)
    return sorted(kept)


DATE, IDENTIFIER = "TMP", "IDENTIFIER"

_MONTHS = (
    "january|february|march|april|may|june|july|august|september|october|november|december|"
    "januari|februari|maart|mei|juni|juli|augustus|oktober|"
    "januar|jänner|februar|märz|mai|dezember|"
    "janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre"
)
_ORDINALS = (
    r"(?:\w+teen|ten|eleven|twelf|nin|eigh|seven|six|fif|four)th|first|second|third|"
    r"twent(?:ieth|y-first)|"
    r"(?:\w+tien|vijf|zes|zeven|negen|elf|twaalf|vier)de|eerste|tweede|derde|achtste|tiende|"
    r"\w*twintigste|"
    r"\w*zehnte[ns]?|\w*(?:ersten|zweiten|dritten|vierten|fünften|zwanzigsten)|"
    r"\d{1,2}(?:st|nd|rd|th|de|ste|e|\.)|[IVX]+(?:er|e|ème)"
)
_YEAR = r"(?:1\d{3}|20\d{2})"
_DATES = (
    rf"(?:\d{{1,2}}(?:\.|er|st|nd|rd|th)?\s+)?(?:{_MONTHS})\s+{_YEAR}(?!\d)",
    rf"(?:{_ORDINALS})\s+(?:centur(?:y|ies)|eeuw(?:en)?|jahrhunderts?|siècles?)\b",
    r"\d{3}0s\b",
    rf"(?<![.,]){_YEAR}(?![\w-]|[.,]\d)",
)
_IDENTIFIERS = (
    r"(?-i:[A-Z]{2})-(?=[\w:/-]*[\dA-Z])[A-Za-z0-9:/-]{1,11}(?![\w-])",
    r"(?-i:Q)[1-9]\d*\b",
    r"(?<=VIAF )\d{2,}\b",
    r"(?<=VIAF: )\d{2,}\b",
)


def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{'|'.join(patterns)})", re.IGNORECASE)


_PATTERNS = {IDENTIFIER: _any_of(_IDENTIFIERS), DATE: _any_of(_DATES)}


class RegexEntities:
    """Finds years, dates, decades and centuries, and ISIL codes, Wikidata and VIAF ids.

    >>> RegexEntities().extract_entities("Opened on 10 October 1925 (NL-AmRM).")
    [FoundSpan(start=10, end=25, type='TMP'), FoundSpan(start=27, end=34, type='IDENTIFIER')]
    """

    def extract_entities(self, text: str) -> list[FoundSpan]:
        found = (
            [FoundSpan(one.start(), one.end(), type_of) for one in pattern.finditer(text)]
            for type_of, pattern in _PATTERNS.items()
        )
        return without_overlaps(*found)


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
    letters = "".join(name)
    if len(letters) <= _LONGEST_ACRONYM and sum(map(str.isupper, letters)) > 1:
        return list(name) == list(written)  # an acronym
    capitals = [place for place, piece in enumerate(name) if piece[0].isupper()]
    needed = capitals[1:] if len(capitals) > 1 and capitals[0] == 0 else capitals
    return all(written[place][0].isupper() for place in needed)


class JoinedEntities:
    """What several models find; of two entities that overlap that of the model named first."""

    def __init__(self, *parts: ExtractsEntities) -> None:
        self._parts = parts

    def extract_entities(self, text: str) -> list[FoundSpan]:
        return without_overlaps(*(part.extract_entities(text) for part in self._parts))
