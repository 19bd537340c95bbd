"""Annotated texts written as a table of spans."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ragauge.contracts.entities import ONE_LAYER, AnnotatedText, Entity
from ragauge.ingest.fields import quoted

HEADER = ("doc", "start", "end", "type", "text", "link", "layer")
_NO_CELL = re.compile(r"[\t\n\r]")


def span_file(documents: Sequence[AnnotatedText], *, problems: list[str]) -> bytes:
    """A line for each entity, half-open; a document without any has a line of its own.

    A table has no text but that of the entities; what no cell can hold is told.
    """
    lines = ["\t".join(HEADER)]
    for document in documents:
        rows = [_row(document, entity) for entity in document.entities]
        rows = rows or [(document.id, *[""] * (len(HEADER) - 1))]
        for row in rows:
            problems += [
                f"{document.where}: {quoted(cell)} cannot stand in a cell"
                for cell in row
                if _NO_CELL.search(cell)
            ]
            lines.append("\t".join(row))
        problems += _beyond_a_table(document)
    return "".join(f"{line}\n" for line in lines).encode()


def _row(document: AnnotatedText, entity: Entity) -> tuple[str, ...]:
    surface = entity.text
    if surface is None and document.text is not None:
        surface = document.text[entity.start : entity.end]
    link = "" if entity.links is None else "|".join(entity.links) or "NIL"
    layer = "" if entity.layer == ONE_LAYER else entity.layer
    places = (str(entity.start), str(entity.end))
    return document.id, *places, entity.type, surface or "", link, layer


def _beyond_a_table(document: AnnotatedText) -> Iterator[str]:
    for entity in document.entities:
        if entity.fragments:
            shown = f"{entity.type} at {entity.start}–{entity.end}"
            yield f"{document.where}: {shown} is discontinuous, and a line has one place"
