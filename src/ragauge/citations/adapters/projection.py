"""A retrieved object as a citation payload: what it tells, and nothing that it does not.

from ragauge import project_all
retrieved = [one.chunk for one in project_all(documents, constants={"index_hash": "faiss:2f7d9a"})]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct, structs

from ragauge.citations.adapters import haystack, langchain, llamaindex, semantic_kernel
from ragauge.citations.adapters.checked_offsets import checked_offsets
from ragauge.citations.adapters.found import Found, as_text
from ragauge.citations.adapters.mapping import (
    FIELDS,
    Constants,
    FieldMap,
    called,
    check_names,
    constant,
    mapped,
)
from ragauge.citations.adapters.plain_values import is_number, plain

DocumentText = str | Callable[[str], str | None]
"""The text the chunks are cut from: of all of them, or by `doc_id`."""

SHAPES: tuple[tuple[Callable[[Any], bool], Callable[[Any, list[str]], Found]], ...] = (
    (langchain.fits, langchain.read),
    (llamaindex.fits, llamaindex.read),
    (haystack.fits, haystack.read),
    (semantic_kernel.is_search_result, semantic_kernel.read_search_result),
    (semantic_kernel.is_text_result, semantic_kernel.read_text_result),
    (semantic_kernel.is_record, semantic_kernel.read_record),
)
"""An object is what the first shape it fits says."""


class Projection(Struct, frozen=True):
    """A retrieved object as Ragauge sees it."""

    payload: dict[str, Any]
    """The citation payload. A field that the object does not tell is not there."""
    text: str | None = None
    notes: tuple[str, ...] = ()
    """What was left out or put right, and why: `field: what`."""

    @property
    def chunk(self) -> dict[str, Any]:
        """The payload with its text beside it, as the validator and traces take it."""
        return self.payload if self.text is None else {**self.payload, "text": self.text}


class _Known(Struct, frozen=True):
    """What the user knows of the objects, checked."""

    mapping: FieldMap
    constants: Constants
    document: DocumentText | None


def project(
    retrieved: Any,
    *,
    mapping: FieldMap | None = None,
    constants: Constants | None = None,
    document: DocumentText | None = None,
) -> Projection:
    """The citation payload of one retrieved object, of whichever framework.

    `mapping` says where the object has a field, as a path in its metadata or a function of it;
    `constants` what the index or the document has, where the object itself does not say. With
    `document`, the framework's offsets are proven. Only a name that is no field raises, as
    UsageError; an odd object gives an empty payload and a note.

    >>> project({"snippet_id": "k1", "rev": "3b91f2a"}, constants={"rev": "live"}).payload
    {'snippet_id': 'k1', 'rev': '3b91f2a'}
    """
    check_names(mapping, constants)
    return _projected(retrieved, _Known(mapping or {}, constants or {}, document))


def project_all(
    retrieved: Iterable[Any],
    *,
    mapping: FieldMap | None = None,
    constants: Constants | None = None,
    document: DocumentText | None = None,
) -> tuple[Projection, ...]:
    """The payloads of what was retrieved, best first, each with its place, from 1.

    The place is `k_pos`. In a list that a reranker has scored it is `k_final`, and where a chunk
    stood before that is not known unless its metadata say so.
    """
    check_names(mapping, constants)
    known = _Known(mapping or {}, constants or {}, document)
    projected = [_projected(one, known) for one in retrieved]
    reranked = any("rerank_score" in one.payload for one in projected)
    field = "k_final" if reranked else "k_pos"
    return tuple(_placed(one, field, place) for place, one in enumerate(projected, 1))


def _placed(projection: Projection, field: str, place: int) -> Projection:
    payload = _in_order({field: place} | projection.payload)
    notes = projection.notes
    if "k_pos" not in payload:
        notes += ("k_pos: the list is reranked; its order is not the retriever's",)
    return structs.replace(projection, payload=payload, notes=notes)


def _projected(retrieved: Any, known: _Known) -> Projection:
    notes: list[str] = []
    thing, score = _unpaired(retrieved)
    found = next((read(thing, notes) for fits, read in SHAPES if fits(thing)), None)
    if found is None:
        return Projection({}, None, (f"a {type(thing).__name__} is no retrieved object",))
    told = {} if score is None else {"score_raw": score}
    text = _text(found, known, notes)
    payload = _told(structs.replace(found, fields=found.fields | told), known, notes)
    if "offsets" not in payload:
        document = _document(known.document, payload.get("doc_id"), notes)
        payload["offsets"] = checked_offsets(found.span, text, document, notes)
    return Projection(_in_order(payload), text, tuple(notes))


def _unpaired(retrieved: Any) -> tuple[Any, Any]:
    """An object and its score, where a store gives them as a pair."""
    if isinstance(retrieved, (tuple, list)) and len(retrieved) == 2 and is_number(retrieved[1]):
        return retrieved[0], retrieved[1]
    return retrieved, None


def _told(found: Found, known: _Known, notes: list[str]) -> dict[str, Any]:
    """What is told of each field; None where something is told that cannot be used.

    The user's mapping goes first, then the payload's own names, then the framework's. A constant
    only fills what is not told: put in place of a chunk's own word it would hide a stale index.
    """
    payload: dict[str, Any] = {}
    for field in FIELDS:
        where = known.mapping.get(field)
        if where is not None:
            payload[field] = plain(field, mapped(field, where, found, notes), notes)
            continue
        value = found.metadata.get(field)
        value = found.fields.get(field) if value is None else value
        if value is not None:
            payload[field] = plain(field, value, notes)
        elif field in known.constants:
            given = constant(field, known.constants[field], payload.get("doc_id"), notes)
            payload[field] = plain(field, given, notes)
    return payload


def _text(found: Found, known: _Known, notes: list[str]) -> str | None:
    where = known.mapping.get("text")
    if where is None:
        return found.text
    return as_text("text", mapped("text", where, found, notes), notes)


def _document(given: DocumentText | None, doc_id: Any, notes: list[str]) -> str | None:
    if given is None or isinstance(given, str):
        return given
    if doc_id is None:
        notes.append("document: is found by doc_id, which is absent")
        return None
    return as_text("document", called("document", given, doc_id, notes), notes)


def _in_order(payload: dict[str, Any]) -> dict[str, Any]:
    return {field: payload[field] for field in FIELDS if payload.get(field) is not None}
