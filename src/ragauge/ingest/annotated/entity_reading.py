"""What reading annotated texts gathers: documents, findings, problems; each span is checked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ragauge.contracts.entities import ONE_LAYER, AnnotatedText, Entity, Fragment
from ragauge.contracts.report import Finding
from ragauge.ingest.fields import quoted
from ragauge.ingest.heritage import Mention, misplacement

_BLANKS = re.compile(r"\s+")


def surface_at(text: str, parts: Sequence[Fragment]) -> str:
    """What stands at the parts of an entity, those of a discontinuous one with a blank between."""
    return " ".join([text[start:end] for start, end in parts])


def stands_exactly(text: str, entity: Entity) -> bool:
    """Whether an entity of one piece can stand at its place, which holds its surface; the quick
    test that nearly all entities pass."""
    start, end, surface = entity.start, entity.end, entity.text
    return (
        not entity.fragments
        and 0 <= start < end <= len(text)
        and (surface is None or text[start:end] == surface)
    )


def stands(text: str, entity: Entity) -> bool:
    """Whether an entity's surface is what its place holds; so it is where the file gives none.

    Blanks may differ: BRAT writes a line end within a surface as a blank.
    """
    surface = entity.text
    if surface is None:
        return True
    if entity.start < 0 or entity.end > len(text):
        return False
    there = surface_at(text, entity.parts)
    return there == surface or _BLANKS.sub(" ", there) == _BLANKS.sub(" ", surface)


def impossible(text: str | None, entity: Entity) -> str | None:
    """Why an entity cannot stand in any text, or not in this; None where it can.

    >>> impossible("short", Entity(start=3, end=9, type="TOP"))
    'ends at 9, past the text of 5 characters'
    """
    for start, end in entity.parts:
        if not 0 <= start < end:
            return f"goes from {start} to {end}; a span has 0 <= start < end"
        if text is not None and end > len(text):
            return f"ends at {end}, past the text of {len(text)} characters"
    if any(a[1] > b[0] for a, b in zip(entity.parts, entity.parts[1:], strict=False)):
        return f"has fragments that overlap or are not in order: {_shown(entity)}"
    return None


def misplaced(text: str, entity: Entity) -> str | None:
    """Where an entity with a surface really is, in words; None where it stands at its place."""
    surface = entity.text or ""
    if stands(text, entity):
        return None
    if entity.fragments:
        there = quoted(surface_at(text, entity.parts))
        right = moved(text, entity)
        if right is None:
            return f"{quoted(surface)} is not at {_shown(entity)}, which hold {there}"
        return (
            f"{quoted(surface)} is at {_shown(right)}, not at {_shown(entity)}, which hold {there}"
        )
    for form, spelled in _forms(surface):
        if surface not in text and spelled in text:
            if text[entity.start : entity.end] == spelled:
                return f"{quoted(surface)} is written there in another Unicode form, {form}"
            other = misplacement(text, Mention(spelled, entity.type, entity.start, entity.end))
            return f"in another Unicode form, {form}, {other}"
    fact = misplacement(text, Mention(surface, entity.type, entity.start, entity.end))
    return fact or f"{quoted(surface)} ends at {entity.start + len(surface)}"


def moved(text: str, entity: Entity) -> Entity | None:
    """The entity at the nearest place that holds its surface; None where no place does.

    A surface in another Unicode form is found too. The parts of a discontinuous entity keep their
    distances where that is possible, else their order.

    >>> parts = ((0, 5), (16, 23))
    >>> given = Entity(start=0, end=23, type="LOC", text="north America", fragments=parts)
    >>> moved("x north and south America", given).fragments
    ((2, 7), (18, 25))
    """
    if entity.text is None:
        return None
    if entity.fragments:
        parts = _moved_parts(text, entity.text, entity.fragments)
        if parts is None:
            return None
        return replace(entity, start=parts[0][0], end=parts[-1][1], fragments=parts)
    for surface in (entity.text, *(spelled for _, spelled in _forms(entity.text))):
        places = [found.start() for found in re.finditer(f"(?={re.escape(surface)})", text)]
        if places:
            start = min(places, key=lambda place: (abs(place - entity.start), place))
            return replace(entity, start=start, end=start + len(surface), text=surface)
    return None


def _moved_parts(text: str, surface: str, parts: Sequence[Fragment]) -> tuple[Fragment, ...] | None:
    """The places of the words of each part, nearest to where they are said to be."""
    lengths = [end - start for start, end in parts]
    if sum(lengths) + len(parts) - 1 == len(surface):
        starts = [sum(lengths[:at]) + at for at in range(len(parts))]
        words = [surface[at : at + size] for at, size in zip(starts, lengths, strict=True)]
    else:
        words = surface.split(" ")
        if len(words) != len(parts) or not all(words):
            return None
    first = parts[0][0]
    places = [found.start() for found in re.finditer(f"(?={re.escape(words[0])})", text)]
    places.sort(key=lambda place: (abs(place - first), place))
    for place in places:
        shifted = [start + place - first for start, _ in parts]
        if all(text.startswith(word, at) for word, at in zip(words, shifted, strict=True)):
            return tuple((at, at + len(word)) for word, at in zip(words, shifted, strict=True))
    room = len(text)
    for word in reversed(words):
        room = text.rfind(word, 0, room)
        if room < 0:
            return None
    found: list[Fragment] = []
    at = next(place for place in places if place <= room)
    for word in words:
        start = text.find(word, at)
        at = start + len(word)
        found.append((start, at))
    return tuple(found)


def recounted(text: str, entities: Sequence[Entity]) -> tuple[str, list[Entity]] | None:
    """How the offsets were counted, if in another unit all surfaces fit, and the entities in ours.

    >>> recounted("a\\r\\nbc", [Entity(start=2, end=4, type="TOP", text="bc")])[0]
    'a line end of two characters counts as one'
    """
    for unit, applies, widths in _UNITS:
        if applies(text):
            found = _in_unit(text, entities, widths(text))
            if found:
                return unit, found
    return None


def _in_unit(text: str, entities: Sequence[Entity], widths: Iterator[int]) -> list[Entity] | None:
    """The entities at their places in characters; None where one of them does not fit."""
    places: dict[int, int] = {}
    at = 0
    for place, width in enumerate(widths):
        places.setdefault(at, place)
        at += width
    places.setdefault(at, len(text))
    found: list[Entity] = []
    for entity in entities:
        if any(start not in places or end not in places for start, end in entity.parts):
            return None
        parts = tuple((places[start], places[end]) for start, end in entity.parts)
        there = replace(
            entity,
            start=places.get(entity.start, 0),
            end=places.get(entity.end, 0),
            fragments=parts if entity.fragments else (),
        )
        if not stands(text, there):
            return None
        found.append(entity if there == entity else there)
    return found


_Unit = tuple[str, Callable[[str], bool], Callable[[str], Iterator[int]]]
_UNITS: tuple[_Unit, ...] = (
    (
        "a line end of two characters counts as one",
        lambda text: "\r\n" in text,
        lambda text: (0 if text.startswith("\r\n", at) else 1 for at in range(len(text))),
    ),
    (
        "a character beyond U+FFFF counts as two (UTF-16)",
        lambda text: not text.isascii() and max(text) > "\uffff",
        lambda text: (2 if ord(character) > 0xFFFF else 1 for character in text),
    ),
    (
        "bytes of UTF-8 are counted",
        lambda text: not text.isascii(),
        lambda text: (len(character.encode("utf-8", "surrogatepass")) for character in text),
    ),
)
"""Other ways to count, each with the texts in which it differs from ours."""


def _forms(surface: str) -> list[tuple[str, str]]:
    """The other Unicode forms of a surface, those that differ from it."""
    if surface.isascii():
        return []
    forms = [("NFC", unicodedata.normalize("NFC", surface))]
    forms.append(("NFD", unicodedata.normalize("NFD", surface)))
    return [(name, spelled) for name, spelled in forms if spelled != surface]


def _shown(entity: Entity) -> str:
    return ", ".join(f"{start}–{end}" for start, end in entity.parts)


Scheme = Literal["repair", "strict"]
SCHEMES: tuple[Scheme, ...] = ("repair", "strict")
"""How tags that break their scheme are read; the first is the default."""
Offsets = Literal["characters", "tokens"]


class ReadingOptions(Struct, frozen=True, kw_only=True):
    """What the reader of a file may be told."""

    scheme: Scheme = "repair"
    """strict: tags that break the scheme begin no entity, as in seqeval's strict mode."""
    column: int | None = None
    """Of token files: where the tag stands, the first being 1; the last where not said."""
    layers: tuple[str, ...] | None = None
    """Of files with layers: the ones to read; all where not said."""
    offsets: Offsets | None = None
    """Of records and tables: what start and end count; told from the record where not said."""
    links: str | None = None
    """Of HIPE tables: read the entities that this column, such as NEL-LIT, links."""
    split_links: bool = False
    """Cut an entity where the link of its tokens changes, as HIPE's scorer does in predictions."""
    reanchor: bool = False
    """Move a span whose surface stands elsewhere to the nearest right place."""


class Given(Struct, frozen=True):
    """An entity as a file gives it, with its place there."""

    entity: Entity
    where: str


AS_IT_IS = ReadingOptions()


class Reading:
    """What a file, or a folder, holds of annotated texts; what is wrong goes into `problems`."""

    def __init__(self, problems: list[str], options: ReadingOptions = AS_IT_IS) -> None:
        self.problems, self.options = problems, options
        self.form = ""
        """One of FORMS; empty where it could not be told."""
        self.annotated: tuple[str, ...] | None = None
        """The layers that were annotated, entities or not, where the form has layers."""
        self.documents: list[AnnotatedText] = []
        self.findings: list[Finding] = []
        """misplaced_span, unicode_form, offsets_recounted, repeated_entity, broken_tags, …"""
        self.notes: dict[str, tuple[str, ...]] = {}
        """By document, the lines of its file that are neither text nor entity, as they are."""
        self.in_tokens: set[str] = set()
        """Documents whose start and end counted tokens."""
        self.unplaced: set[str] = set()
        """Documents whose start and end still count tokens: their file does not have them."""
        self.unnamed = False
        """The file gives its documents no ids: they are numbered."""
        self.reanchored = 0
        """Entities that were moved to where their surface stands."""
        self._places: dict[str, str] = {}

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers that were annotated; of a form without layers, those that were met."""
        met = {entity.layer for document in self.documents for entity in document.entities}
        return tuple(sorted(met)) or (ONE_LAYER,) if self.annotated is None else self.annotated

    def find(self, code: str, where: str, message: str) -> None:
        self.findings.append(Finding(code, where, message))

    def keep(self, document: AnnotatedText, given: Sequence[Given]) -> None:
        """Add a document with those of the entities given that can stand in it."""
        if document.id in self._places:
            fact = f"{quoted(document.id)} stands at {self._places[document.id]} already; keep one"
            self.problems.append(f"{document.where}: id: {fact}")
            return
        self._places[document.id] = document.where
        unplaced = document.id in self.unplaced
        looked_up = replace(document, text=None) if unplaced else document
        entities = self._once(self.checked(looked_up, given))
        self.documents.append(replace(document, entities=entities))

    def keep_counted(self, document: AnnotatedText, given: Sequence[Given]) -> None:
        """Add a document; where start and end are said to count tokens and it has none, as it is.

        Such entities cannot be looked up in a text.
        """
        if document.tokens is None and self.options.offsets == "tokens":
            self.unplaced.add(document.id)
        self.keep(document, given)

    def checked(self, document: AnnotatedText, given: Sequence[Given]) -> list[Given]:
        """The entities that can stand in the text; the others are told."""
        text = document.text
        if text is not None and all(stands_exactly(text, one.entity) for one in given):
            return list(given)
        if text is not None and not all(stands(text, one.entity) for one in given):
            given = self._recounted(text, document.where, given)
        placed = ((self._placed(text, one), one.where) for one in given)
        return [Given(entity, where) for entity, where in placed if entity is not None]

    def _once(self, given: Iterable[Given]) -> tuple[Entity, ...]:
        found: dict[tuple[object, ...], Entity] = {}
        for one in given:
            entity = one.entity
            key = (entity.start, entity.end, entity.fragments, entity.type, entity.layer)
            if found.setdefault(key, entity) is not entity:
                fact = f"{entity.type} is marked twice at {entity.start}–{entity.end}"
                self.find("repeated_entity", one.where, f"{fact}; it counts once")
        return tuple(found.values())

    def _recounted(self, text: str, where: str, given: Sequence[Given]) -> Sequence[Given]:
        """The same entities where they stand, if all of them were counted in another unit."""
        found = recounted(text, [one.entity for one in given])
        if found is None:
            return given
        unit, entities = found
        pairs = list(zip(entities, given, strict=True))
        changed = sum(entity is not one.entity for entity, one in pairs)
        fact = f"the offsets fit the text only if {unit}; {changed} were counted anew"
        self.find("offsets_recounted", where, fact)
        self.reanchored += changed
        return [Given(entity, one.where) for entity, one in pairs]

    def _placed(self, text: str | None, given: Given) -> Entity | None:
        """The entity, at its right place where that was asked for; None where it has none."""
        entity, where = given.entity, given.where
        fault = impossible(text, entity)
        if text is not None and not fault and stands(text, entity):
            there = surface_at(text, entity.parts)
            return entity if entity.text in (None, there) else replace(entity, text=there)
        fact = misplaced(text, entity) if text is not None else None
        right = moved(text, entity) if text is not None and fact else None
        if right and fact and right.parts == entity.parts:
            self.find("unicode_form", where, fact)
            return right
        if right and self.options.reanchor:
            self.reanchored += 1
            self.find("misplaced_span", where, f"{fact}; it was moved there")
            return right
        if fault:
            self.problems.append(f"{where}: {fault}" + (f"; {fact}" if fact else ""))
            return None
        if fact:
            self.find("misplaced_span", where, fact)
        return entity
