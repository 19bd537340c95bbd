"""Retrieved objects of other frameworks as citation payloads, without importing any of them.

A payload contains what the object says, and nothing else.

from ragauge import project_all
retrieved = [one.chunk for one in project_all(documents, constants={"index_hash": "faiss:2f7d9a"})]
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct, structs

from ragauge.citations.foreign import as_integer, as_text, failure, is_number, plain, value_of
from ragauge.citations.frameworks import SHAPES, Found
from ragauge.contracts.citation import Citation
from ragauge.errors import UsageError

FIELDS = Citation.__struct_fields__
MAPPABLE = (*FIELDS, "text")
"""A mapping may also say where the text is, because the user's own records have it anywhere."""
CONSTANTS = ("doc_id", "source_url", "index_hash", "embed_model", "analyzer", "rev", "window")
"""Fields that can be the same for a complete index or document."""

FieldMap = Mapping[str, str | Callable[[Any], Any]]
Constants = Mapping[str, Any]
DocumentText = str | Callable[[str], str | None]
"""The text the chunks are cut from: of all of them, or by `doc_id`."""
Span = tuple[Any, Any]


class Projection(Struct, frozen=True):
    """A retrieved object as Ragauge sees it."""

    payload: dict[str, Any]
    """The citation payload, without the fields that the object does not have."""
    text: str | None = None
    notes: tuple[str, ...] = ()
    """What was left out or put right, and why: `field: what`."""

    @property
    def chunk(self) -> dict[str, Any]:
        """The payload together with its text, as the validator and traces expect it."""
        return self.payload if self.text is None else {**self.payload, "text": self.text}


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
    mapping, constants = mapping or {}, constants or {}
    _check_names(mapping, constants)
    return _project_one(retrieved, mapping, constants, document)


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
    mapping, constants = mapping or {}, constants or {}
    _check_names(mapping, constants)
    projected = [_project_one(one, mapping, constants, document) for one in retrieved]
    reranked = any("rerank_score" in one.payload for one in projected)
    field = "k_final" if reranked else "k_pos"
    found = []
    for place, one in enumerate(projected, 1):
        payload, notes = _in_order({field: place} | one.payload), one.notes
        if "k_pos" not in payload:
            notes += ("k_pos: the list is reranked; its order is not the retriever's",)
        found.append(structs.replace(one, payload=payload, notes=notes))
    return tuple(found)


def _check_names(mapping: FieldMap, constants: Constants) -> None:
    """Raises UsageError with all names that are not fields, and all invalid places."""
    problems = [
        *_unknown("mapping", mapping, MAPPABLE),
        *(
            f"mapping: {name} is a {type(where).__name__}; give a path or a function"
            for name, where in mapping.items()
            if not isinstance(where, str) and not callable(where)
        ),
        *_unknown("constants", constants, CONSTANTS),
    ]
    if problems:
        raise UsageError(*problems)


def _unknown(argument_name: str, names: Iterable[str], known: tuple[str, ...]) -> list[str]:
    problems = []
    for name in names:
        if name in known:
            continue
        hint = "is each chunk's own and no constant; give it in the mapping"
        if name not in FIELDS:
            near = difflib.get_close_matches(str(name), known, n=1)
            meant = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(known)}"
            hint = f"is no field of the payload; {meant}"
        problems.append(f'{argument_name}: "{name}" {hint}')
    return problems


def _project_one(
    retrieved: Any, mapping: FieldMap, constants: Constants, document: DocumentText | None
) -> Projection:
    notes: list[str] = []
    thing, score = retrieved, None
    if isinstance(retrieved, (tuple, list)) and len(retrieved) == 2 and is_number(retrieved[1]):
        thing, score = retrieved  # some stores give an object and its score as a pair
    found = next((read(thing, notes) for fits, read in SHAPES if fits(thing)), None)
    if found is None:
        return Projection({}, None, (f"a {type(thing).__name__} is no retrieved object",))
    text, where = found.text, mapping.get("text")
    if where is not None:
        text = as_text("text", _at("text", where, found, notes), notes)
    fields = found.fields if score is None else {**found.fields, "score_raw": score}
    payload: dict[str, Any] = {}
    # The user's mapping goes first, then the payload's own names, then the framework's. A constant
    # only fills gaps: in place of a chunk's own value it would hide a stale index.
    for field in FIELDS:
        where, value = mapping.get(field), found.metadata.get(field)
        if where is not None:
            payload[field] = plain(field, _at(field, where, found, notes), notes)
        elif value is not None or (value := fields.get(field)) is not None:
            payload[field] = plain(field, value, notes)
        elif field in constants:
            value, id = constants[field], payload.get("doc_id")
            if callable(value) and id is None:
                notes.append(f"{field}: is known by document, and doc_id is absent")
                value = None
            elif callable(value):
                value = _call(field, value, id, notes)
            payload[field] = plain(field, value, notes)
    if "offsets" not in payload:
        id = payload.get("doc_id")
        if callable(document) and id is None:
            notes.append("document: is found by doc_id, which is absent")
            document = None
        elif callable(document):
            document = as_text("document", _call("document", document, id, notes), notes)
        payload["offsets"] = checked_offsets(found.span, text, document, notes)
    return Projection(_in_order(payload), text, tuple(notes))


def _in_order(payload: dict[str, Any]) -> dict[str, Any]:
    return {field: payload[field] for field in FIELDS if payload.get(field) is not None}


def _at(field: str, where: str | Callable[[Any], Any], found: Found, notes: list[str]) -> Any:
    """The value at the user's path; None, with a note, if there is none."""
    if callable(where):
        return _call(field, where, found.source, notes)
    value = _follow_path(found.metadata, where, notes)
    if value is None:
        value = _follow_path(found.source, where, notes)
    if value is None:
        notes.append(f'{field}: nothing stands at "{where}"')
    return value


def _call(field: str, function: Callable[[Any], Any], argument: Any, notes: list[str]) -> Any:
    """The result of the user's function; None, with a note, if it fails or gives nothing."""
    try:
        value = function(argument)
    except Exception as error:  # the user's own function can fail in any way
        notes.append(f"{field}: {failure(error)}")
        return None
    if value is None:
        notes.append(f"{field}: the function gave nothing")
    return value


def _follow_path(thing: Any, path: str, notes: list[str]) -> Any:
    """What a dotted path leads to; a key that has dots itself is found, too."""
    head, dot, rest = path.partition(".")
    if not dot or (isinstance(thing, Mapping) and path in thing):
        return value_of(thing, path, notes)
    step = value_of(thing, head, notes)
    return None if step is None else _follow_path(step, rest, notes)


def checked_offsets(
    span: Span | None, text: str | None, document: str | None, notes: list[str]
) -> dict[str, Any] | None:
    """The proven offsets of the text; None, with a note, if there are none.

    With the document, offsets that are wrong or absent are replaced by the text's true place,
    if there is one only. Without it, the offsets must at least be as long as the text.

    >>> notes = []
    >>> checked_offsets((0, 4), "1885", "Opened 1885.", notes)
    {'start': 7, 'end': 11, 'unit': 'char'}
    >>> notes
    ['offsets: the text is not at 0–4; it stands at 7–11, moved by +7']
    """
    if not text:
        if span is not None:
            notes.append("offsets: there is no text to hold them against; left out")
        return None
    start, end = (None, None) if span is None else (as_integer(span[0]), as_integer(span[1]))
    claimed = None if start is None or end is None else (start, end)
    if span is not None and claimed is None:
        notes.append("offsets: what is given is no start and end, from 0; not used")
    shown = f"{start}–{end}"
    length = claimed[1] - claimed[0] if claimed else 0
    if document is None:
        if claimed and length != len(text):
            notes.append(f"offsets: {shown} is {length} long, the text {len(text)}; left out")
            return None
        return {"start": claimed[0], "end": claimed[1], "unit": "char"} if claimed else None
    found = document.find(text)
    if found < 0:
        notes.append("offsets: the text does not stand in the document; left out")
        return None
    alone = document.find(text, found + 1) < 0
    # A slice alone would accept an end after the document.
    if claimed and length == len(text) and document.startswith(text, claimed[0]):
        if not alone:
            notes.append(f"offsets: {shown} is one of several places with this text")
        return {"start": claimed[0], "end": claimed[1], "unit": "char"}
    wrong = f"the text is not at {shown}" if claimed else "the text comes without"
    if not alone:
        notes.append(f"offsets: {wrong}, and it stands in several places; left out")
        return None
    moved = f", moved by {found - claimed[0]:+d}" if claimed and found != claimed[0] else ""
    notes.append(f"offsets: {wrong}; it stands at {found}–{found + len(text)}{moved}")
    return {"start": found, "end": found + len(text), "unit": "char"}
