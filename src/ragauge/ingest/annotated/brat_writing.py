"""Annotated texts written as BRAT's files: a .txt and an .ann for each document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from ragauge.contracts.entities import ONE_LAYER, AnnotatedText, Entity
from ragauge.ingest.annotated.brat import ANN, TXT
from ragauge.ingest.annotated.span_places import surface_at
from ragauge.ingest.fields import quoted

_UNSAFE = re.compile(r"[\0-\x1f\\]|(^|/)(\.{0,2})(/|$)")
"""What no path below a folder may have; empty parts and dots would lead out of it."""
_WIKIDATA = re.compile(r"[QPL]\d+")
_ID = re.compile(r"T\d+")


def brat_files(
    documents: Sequence[AnnotatedText],
    *,
    problems: list[str],
    notes: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, bytes]:
    """By name, the two files of each document; what BRAT cannot hold is told.

    `notes` are lines that follow the entities as they are: attributes, relations, events.
    """
    files: dict[str, bytes] = {}
    for document in documents:
        known = len(problems)
        problems += _beyond_brat(document)
        text = document.text
        if len(problems) > known or text is None:
            continue
        lines = [*_lines(document, text), *(notes or {}).get(document.id, ())]
        files[document.id + TXT] = text.encode()
        files[document.id + ANN] = "".join(f"{line}\n" for line in lines).encode()
    return files


def _lines(document: AnnotatedText, text: str) -> Iterator[str]:
    numbers = count(1)
    ids = _ids(document.entities)
    for id, entity in zip(ids, document.entities, strict=True):
        places = ";".join(f"{start} {end}" for start, end in entity.parts)
        surface = re.sub(r"\s", " ", surface_at(text, entity.parts))
        yield f"{id}\t{entity.type} {places}\t{surface}"
        if entity.links is not None:
            for link in entity.links or ("NIL",):
                yield f"N{next(numbers)}\tReference {id} {_reference(link)}\t{surface}"


def _ids(entities: Sequence[Entity]) -> list[str]:
    """The ids that entities have, where BRAT can hold them; the others are numbered after them."""
    own = [entity.id if entity.id and _ID.fullmatch(entity.id) else None for entity in entities]
    kept = {id for id in own if id is not None and own.count(id) == 1}
    numbers = count(max((int(id[1:]) for id in kept), default=0) + 1)
    return [id if id in kept else f"T{next(numbers)}" for id in own]


def _reference(link: str) -> str:
    """A link with the knowledge base it is of."""
    if _WIKIDATA.fullmatch(link) or link == "NIL":
        return f"Wikidata:{link}"
    return link if ":" in link else f"id:{link}"


def _beyond_brat(document: AnnotatedText) -> Iterator[str]:
    """What of a document BRAT cannot hold."""
    if document.text is None:
        yield f"{document.where}: has no text, and BRAT's offsets need one"
    if _UNSAFE.search(document.id):
        yield f"{document.where}: id {quoted(document.id)} cannot be a file's name; rename it"
    layers = sorted({entity.layer for entity in document.entities} - {ONE_LAYER})
    if layers:
        yield f"{document.where}: layers {', '.join(layers)}: BRAT has none; write hipe or records"
    for entity in document.entities:
        if re.search(r"\s", entity.type):
            yield f"{document.where}: type {quoted(entity.type)} has blanks, which BRAT cannot hold"
