"""Annotated texts written in any of the forms that files of them have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import msgspec

from ragauge.contracts.entities import ONE_LAYER, AnnotatedText, Entity
from ragauge.errors import UsageError
from ragauge.ingest.annotated.brat import ANN, TXT
from ragauge.ingest.annotated.span_places import surface_at
from ragauge.ingest.annotated.token_writing import (
    conll2003_file,
    conllu_file,
    hipe_file,
    iob_file,
)
from ragauge.ingest.fields import quoted

TAG_FORMS = ("iob1", "iob2", "bioes", "bilou")
WRITTEN_FORMS = ("records", "brat", "hipe", *TAG_FORMS, "conll2003", "conllu", "tsv")

Notes = Mapping[str, Sequence[str]]


def written(
    documents: Sequence[AnnotatedText],
    form: str,
    *,
    problems: list[str],
    notes: Notes | None = None,
) -> bytes | dict[str, bytes]:
    """A file's content, or for BRAT that of each file by its name.

    What the form cannot hold, such as nested entities in IOB2, goes into `problems`.
    """
    if form == "brat":
        return brat_files(documents, problems=problems, notes=notes)
    if form == "hipe":
        return hipe_file(documents, problems=problems, notes=notes)
    if form == "conll2003":
        return conll2003_file(documents, problems=problems)
    if form == "conllu":
        return conllu_file(documents, problems=problems)
    if form == "tsv":
        return span_file(documents, problems=problems)
    if form in TAG_FORMS:
        return iob_file(documents, form, problems=problems)
    if form in ("records", "jsonl"):
        return record_lines(documents, notes=notes)
    raise UsageError(f"format {quoted(form)} is none that is written: {', '.join(WRITTEN_FORMS)}")


def record_lines(documents: Sequence[AnnotatedText], *, notes: Notes | None = None) -> bytes:
    """A JSON object a line for each document; this form holds everything."""
    encoder = msgspec.json.Encoder()
    records = (_record(document, (notes or {}).get(document.id, ())) for document in documents)
    return encoder.encode_lines(records)


def _record(document: AnnotatedText, notes: Sequence[str]) -> dict[str, Any]:
    known = {
        "text": document.text,
        "tokens": document.tokens,
        "entities": [_entity(entity) for entity in document.entities],
        "strata": document.strata or None,
        "notes": tuple(notes) or None,
    }
    return {"id": document.id} | {key: value for key, value in known.items() if value is not None}


def _entity(entity: Entity) -> dict[str, Any]:
    known = {
        "text": entity.text,
        "layer": entity.layer if entity.layer != ONE_LAYER else None,
        "fragments": entity.fragments or None,
        "links": entity.links,
        "id": entity.id,
    }
    place = {"start": entity.start, "end": entity.end, "type": entity.type}
    return place | {key: value for key, value in known.items() if value is not None}


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
