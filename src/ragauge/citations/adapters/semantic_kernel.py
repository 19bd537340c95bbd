"""Semantic Kernel: a `VectorSearchResult` with a record of the user's own, a `TextSearchResult`.

A record by itself is read, too, and so is any mapping that has the payload's fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragauge.citations.adapters.found import Found, field_names, has, tell, tell_metadata, tell_text

DEFINITION = "__kernel_vectorstoremodel_definition__"
TEXT_NAMES = ("text", "content")


def is_search_result(thing: Any) -> bool:
    return has(thing, "record", "score")


def read_search_result(thing: Any, notes: list[str]) -> Found:
    """What a result's record tells, with the result's score."""
    record = tell(thing, "record", notes)
    return _read(record, {"score_raw": tell(thing, "score", notes)}, notes)


def is_text_result(thing: Any) -> bool:
    return has(thing, "name", "value", "link")


def read_text_result(thing: Any, notes: list[str]) -> Found:
    """What a text search gives: words and where they come from, and no more."""
    return Found(
        source=thing,
        text=tell_text(thing, "value", notes),
        fields={"source_url": tell(thing, "link", notes)},
    )


def is_record(thing: Any) -> bool:
    return not isinstance(thing, type) and (isinstance(thing, Mapping) or _names(thing) is not None)


def read_record(thing: Any, notes: list[str]) -> Found:
    """What a record tells by the names of its fields; its key is the snippet's id."""
    return _read(thing, {}, notes)


def _read(record: Any, fields: dict[str, Any], notes: list[str]) -> Found:
    metadata = _metadata(record, notes)
    key = tell(tell(type(record), DEFINITION, notes), "key_name", notes)
    name = next((name for name in TEXT_NAMES if metadata.get(name) is not None), None)
    return Found(
        source=record,
        text=tell_text(metadata, name, notes) if name else None,
        metadata=metadata,
        fields={"snippet_id": metadata.get(key) if isinstance(key, str) else None, **fields},
    )


def _metadata(record: Any, notes: list[str]) -> dict[str, Any]:
    if isinstance(record, Mapping):
        return tell_metadata({"record": record}, "record", notes)
    names = _names(record)
    if names is None:
        notes.append(f"record: a {type(record).__name__} has no fields that can be read")
    return {name: tell(record, name, notes) for name in names or ()}


def _names(record: Any) -> tuple[str, ...] | None:
    """The names of a record's fields; a class marked as a vector store's model may be any class."""
    names = field_names(record)
    return tuple(vars(record)) if names is None and has(type(record), DEFINITION) else names
