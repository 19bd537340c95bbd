"""Annotated texts written in any of the forms that files of them have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import msgspec
from msgspec import Struct

from ragauge.contracts.entities import ONE_LAYER, AnnotatedText, Entity, Fragment
from ragauge.errors import UsageError
from ragauge.ingest.annotated import hipe
from ragauge.ingest.annotated.brat import ANN, TXT
from ragauge.ingest.annotated.entity_reading import surface_at
from ragauge.ingest.annotated.iob import DOCUMENT_START
from ragauge.ingest.annotated.tagged_texts import Chunk, cut, tags_for
from ragauge.ingest.fields import quoted

_NO_TOKEN = re.compile(r"[\t\n\r]|^$")


class _Tokens(Struct, frozen=True):
    """A document as its tokens: their words, and what stands after each."""

    places: Sequence[Fragment]
    words: Sequence[str]
    after: Sequence[str]


TAG_FORMS = ("iob1", "iob2", "bioes", "bilou")
WRITTEN_FORMS = ("records", "brat", "hipe", *TAG_FORMS, "conll2003", "conllu", "tsv")
HEADER = ("doc", "start", "end", "type", "text", "link", "layer")
"""The columns of a table of spans."""
_NO_CELL = re.compile(r"[\t\n\r]")
Notes = Mapping[str, Sequence[str]]
"""By document, the lines of its file that are neither text nor entity."""


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
    notes = notes or {}
    if form not in (*WRITTEN_FORMS, "jsonl"):
        known = ", ".join(WRITTEN_FORMS)
        raise UsageError(f"format {quoted(form)} is none that is written: {known}")
    if form == "brat":
        return _brat_files(documents, problems, notes)
    if form in ("records", "jsonl"):
        records = (_record(document, notes.get(document.id, ())) for document in documents)
        return msgspec.json.Encoder().encode_lines(records)
    met = {_column(entity.layer) for document in documents for entity in document.entities}
    headers = {"hipe": hipe.COLUMNS, "tsv": HEADER}
    lines = ["\t".join(headers[form])] if form in headers else []
    for number, document in enumerate(documents, 1):
        if form == "tsv":
            lines += _spans(document, problems)
        elif form == "hipe":
            lines += _hipe(document, met, problems, notes.get(document.id))
        elif form == "conllu":
            lines += _conllu(document, problems)
        elif form == "conll2003":
            lines += _conll2003(document, number, problems)
        else:
            lines += _iob(document, form, problems)
    return "".join(f"{line}\n" for line in lines).encode()


def _iob(document: AnnotatedText, form: str, problems: list[str]) -> Iterator[str]:
    """A token and its tag a line, a blank line between sentences.

    Blanks of the text are not kept: who reads the file joins its tokens with one.
    """
    tokens, found, tags = _tagged(document, form, problems)
    yield f"# doc_id = {document.id}"
    inside = {place for chunk in found for place in range(chunk.first, chunk.end - 1)}
    for place, (word, tag) in enumerate(zip(tokens.words, tags, strict=True)):
        yield f"{word}\t{tag}"
        if "\n" in tokens.after[place] and place not in inside:
            yield ""
    yield ""


def _conll2003(document: AnnotatedText, number: int, problems: list[str]) -> Iterator[str]:
    """Four columns a token, of which the first and the last say something; tags are IOB2.

    Documents are numbered, as such files have no ids: another id is told.
    """
    tokens, _, tags = _tagged(document, "iob2", problems)
    if document.id != str(number):
        problems.append(f"{document.where}: id {quoted(document.id)} becomes {number}")
    problems += [
        f"{document.where}: token {quoted(word)} holds a blank, which parts the columns"
        for word in tokens.words
        if len(word.split()) > 1
    ]
    yield from (f"{DOCUMENT_START} -X- -X- O", "")
    yield from (f"{word} -X- -X- {tag}" for word, tag in zip(tokens.words, tags, strict=True))
    yield ""


def _conllu(document: AnnotatedText, problems: list[str]) -> Iterator[str]:
    """A sentence a document, its entities as IOB2 tags in the last column."""
    tokens, _, tags = _tagged(document, "iob2", problems)
    yield from (f"# newdoc id = {document.id}", f"# sent_id = {document.id}")
    rows = zip(tokens.words, tags, tokens.after, strict=True)
    for number, (word, tag, after) in enumerate(rows, 1):
        misc = f"NER={tag}" if after else f"NER={tag}|SpaceAfter=No"
        yield "\t".join((str(number), word, *"_" * 7, misc))
    yield ""


def _tagged(
    document: AnnotatedText, form: str, problems: list[str]
) -> tuple[_Tokens, list[Chunk], list[str]]:
    """The tokens of a document, its entities among them, and a tag for each token."""
    tokens = _tokens(document, problems)
    found = _chunks(document, document.entities, tokens, problems)
    problems += _beyond_tags(document)
    return tokens, found, tags_for(found, len(tokens.words), form)


def _hipe(
    document: AnnotatedText, met: set[str], problems: list[str], notes: Sequence[str] | None
) -> Iterator[str]:
    """The rows of a HIPE table; layers are its columns, and one without a name is NE-COARSE-LIT.

    A column of which no document has an entity is left unset: `met` are the others. Of what stands
    between tokens only nothing, a blank and a line end are told apart.
    """
    tokens = _tokens(document, problems)
    yield from _comments(document, notes)
    # A token that looks quoted already is quoted, so that it is read as it is.
    words = (
        '"' + one.replace('"', '""') + '"' if hipe.looks_quoted(one) else one
        for one in tokens.words
    )
    columns = {hipe.TOKEN: list(words)}
    for layer in hipe.TAG_COLUMNS:
        entities = [one for one in document.entities if _column(one.layer) == layer]
        found = _chunks(document, entities, tokens, problems)
        outside = tags_for(found, len(tokens.words), hipe.FORM)
        columns[layer] = outside if layer in met else ["_"] * len(tokens.words)
    columns |= _link_columns(document, tokens, problems)
    columns[hipe.MISC] = [
        hipe.NO_SPACE if not after else hipe.LINE_END if "\n" in after else "_"
        for after in tokens.after
    ]
    problems += _beyond_hipe(document)
    rows = zip(*(columns[name] for name in hipe.COLUMNS), strict=True)
    yield from ("\t".join(row) for row in rows)
    yield ""


def _tokens(document: AnnotatedText, problems: list[str]) -> _Tokens:
    """The tokens of a document; where its file had none, its words, cut where entities end."""
    text = document.text
    if text is None:
        problems.append(f"{document.where}: has no text, which tokens are made of")
        return _Tokens((), (), ())
    edges = {edge for entity in document.entities for part in entity.parts for edge in part}
    places = cut(text, edges) if document.tokens is None else document.tokens
    words = [text[start:end] for start, end in places]
    starts = [start for start, _ in places[1:]]
    after = [text[end:start] for (_, end), start in zip(places, starts, strict=False)]
    for place, word in enumerate(words):
        if _NO_TOKEN.search(word) or word.startswith(DOCUMENT_START):
            fact = f"token {place} is {quoted(word)}, which no cell can hold"
            problems.append(f"{document.where}: {fact}")
    if not words:
        problems.append(f"{document.where}: has no token; a file of tokens cannot hold it")
    if _NO_TOKEN.search(document.id) or document.id != document.id.strip():
        problems.append(f"{document.where}: id {quoted(document.id)} cannot stand in a comment")
    return _Tokens(places, words, [*after, " "][: len(words)])


def _chunks(
    document: AnnotatedText, entities: Sequence[Entity], tokens: _Tokens, problems: list[str]
) -> list[Chunk]:
    """The tokens of each entity; a problem for one that tags cannot mark."""
    first = {start: place for place, (start, _) in enumerate(tokens.places)}
    last = {end: place + 1 for place, (_, end) in enumerate(tokens.places)}
    found: list[Chunk] = []
    until: Entity | None = None
    for entity in sorted(entities, key=lambda one: (one.start, -one.end, one.type)):
        shown = f"{entity.type} at {entity.start}–{entity.end}"
        fact = None
        if entity.fragments:
            fact = "is discontinuous, and tags mark only what is of one piece"
        elif entity.start not in first or entity.end not in last:
            fact = "begins or ends inside a token"
        elif until is not None and entity.start < until.end:
            over = f"{until.type} at {until.start}–{until.end}"
            fact = f"overlaps {over}, and a token has one tag"
        elif re.search(r"\s", entity.type) or not entity.type:
            fact = "has a type with blanks, which no tag can hold"
        if fact:
            problems.append(f"{document.where}: {shown} {fact}")
            continue
        until = entity
        found.append(Chunk(first[entity.start], last[entity.end], entity.type))
    return found


def _beyond_tags(document: AnnotatedText) -> Iterator[str]:
    """What a document has that tags have no place for."""
    layers = sorted({entity.layer for entity in document.entities} - {ONE_LAYER})
    if layers:
        yield f"{document.where}: layers {', '.join(layers)}: tags have none; write hipe or records"
    linked = sum(entity.links is not None for entity in document.entities)
    if linked:
        yield f"{document.where}: links of {linked} entities: tags have none; write hipe or brat"


def _beyond_hipe(document: AnnotatedText) -> Iterator[str]:
    for entity in document.entities:
        column = _column(entity.layer)
        if column not in hipe.TAG_COLUMNS:
            known = ", ".join(hipe.TAG_COLUMNS)
            yield f"{document.where}: layer {quoted(entity.layer)} is no column of {known}"
        elif entity.links is not None and column not in hipe.LINK_COLUMN:
            yield f"{document.where}: {entity.type} at {entity.start}: {column} has no links"


def _column(layer: str) -> str:
    return hipe.TAG_COLUMNS[0] if layer == ONE_LAYER else layer


def _comments(document: AnnotatedText, notes: Sequence[str] | None) -> Iterator[str]:
    yield f"# hipe2022:{hipe.ID} = {document.id}"
    if notes is not None:
        yield from (note for note in notes if note.startswith("#"))
        return
    for key in hipe.STRATA:
        if key in document.strata:
            yield f"# hipe2022:{key} = {document.strata[key]}"


def _link_columns(
    document: AnnotatedText, tokens: _Tokens, problems: list[str]
) -> dict[str, list[str]]:
    columns = {name: ["_"] * len(tokens.words) for name in hipe.LINK_COLUMNS}
    for entity in document.entities:
        name = hipe.LINK_COLUMN.get(_column(entity.layer))
        if name is None or entity.links is None:
            continue
        cell = "|".join(entity.links) or hipe.NIL
        for place, (start, end) in enumerate(tokens.places):
            if start < entity.end and entity.start < end:
                if columns[name][place] not in ("_", cell):
                    fact = f"{entity.type} at {entity.start} has other links than what is there too"
                    problems.append(f"{document.where}: {fact}; {name} holds one")
                    break
                columns[name][place] = cell
    return columns


def _record(document: AnnotatedText, notes: Sequence[str]) -> dict[str, Any]:
    """A record for a document; this form holds everything."""
    known = {
        "text": document.text,
        "tokens": document.tokens,
        "entities": [_entity(entity) for entity in document.entities],
        "strata": document.strata or None,
        "notes": tuple(notes) or None,
    }
    filled = {key: value for key, value in known.items() if value is not None}
    return {"id": document.id} | filled


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


def _brat_files(
    documents: Sequence[AnnotatedText], problems: list[str], notes: Notes
) -> dict[str, bytes]:
    """By name, the two files of each document; what BRAT cannot hold is told.

    Notes follow the entities as they are: attributes, relations, events.
    """
    files: dict[str, bytes] = {}
    for document in documents:
        known = len(problems)
        problems += _beyond_brat(document)
        text = document.text
        if len(problems) > known or text is None:
            continue
        lines = [*_lines(document, text), *notes.get(document.id, ())]
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


def _spans(document: AnnotatedText, problems: list[str]) -> Iterator[str]:
    """A line for each entity, half-open; a document without any has a line of its own.

    A table has no text but that of the entities; what no cell can hold is told.
    """
    rows = [_row(document, entity) for entity in document.entities]
    for row in rows or [(document.id, *[""] * (len(HEADER) - 1))]:
        problems += [
            f"{document.where}: {quoted(cell)} cannot stand in a cell"
            for cell in row
            if _NO_CELL.search(cell)
        ]
        yield "\t".join(row)
    problems += [
        f"{document.where}: {one.type} at {one.start}–{one.end} is discontinuous, "
        "and a line has one place"
        for one in document.entities
        if one.fragments
    ]


def _row(document: AnnotatedText, entity: Entity) -> tuple[str, ...]:
    surface = entity.text
    if surface is None and document.text is not None:
        surface = document.text[entity.start : entity.end]
    link = "" if entity.links is None else "|".join(entity.links) or "NIL"
    layer = "" if entity.layer == ONE_LAYER else entity.layer
    places = (str(entity.start), str(entity.end))
    return document.id, *places, entity.type, surface or "", link, layer
