"""What reading annotated texts gathers: documents, findings, problems; each span is checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ragauge.contracts.entities import AnnotatedText, Entity
from ragauge.contracts.finding import Finding
from ragauge.ingest.annotated.span_places import (
    impossible,
    misplaced,
    moved,
    recounted,
    stands,
    stands_exactly,
    surface_at,
)
from ragauge.ingest.fields import quoted

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


class Reading:
    """Documents while their files are read; what is wrong goes into `problems`."""

    def __init__(self, problems: list[str], options: ReadingOptions | None = None) -> None:
        self.problems = problems
        self.options = options or ReadingOptions()
        self.documents: list[AnnotatedText] = []
        self.findings: list[Finding] = []
        self.notes: dict[str, tuple[str, ...]] = {}
        """By document, the lines of its file that are neither text nor entity, as they are."""
        self.in_tokens: set[str] = set()
        """Documents whose start and end counted tokens."""
        self.unplaced: set[str] = set()
        """Documents whose start and end still count tokens: their file does not have them."""
        self.unnamed = False
        """The file gives its documents no ids: they are numbered."""
        self.reanchored = 0
        self._places: dict[str, str] = {}

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
