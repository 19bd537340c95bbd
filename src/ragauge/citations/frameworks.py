"""What the retrieved objects of each framework tell, by their shape alone.

LangChain and Haystack give a `Document`, LlamaIndex a node or a `NodeWithScore`, Semantic Kernel a
`VectorSearchResult` with a record of the user's own or a `TextSearchResult`. A record by itself is
read, too, and so is any mapping that has the payload's fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from ragauge.citations.foreign import (
    as_integer,
    field_names,
    has,
    read_metadata,
    read_text,
    value_of,
)

DEFINITION = "__kernel_vectorstoremodel_definition__"
TEXT_NAMES = ("text", "content")


class Found(Struct, frozen=True, kw_only=True):
    """A retrieved object taken apart: what its framework calls by other names than ours."""

    source: Any
    """Where a mapping's path may begin, and what a mapping's function is given."""
    text: str | None = None
    metadata: dict[str, Any] = {}
    fields: dict[str, Any] = {}
    """Fields of the payload that the framework itself knows."""
    span: tuple[Any, Any] | None = None
    """Where the framework says that the text starts and ends, not yet checked."""


def _langchain(thing: Any, notes: list[str]) -> Found:
    """A document's id is the snippet's, its `source` the document it is cut from.

    A splitter with `add_start_index=True` says where a chunk starts.
    """
    text = read_text(thing, "page_content", notes)
    metadata = read_metadata(thing, "metadata", notes)
    source = metadata.get("source")
    return Found(
        source=thing,
        text=text,
        metadata=metadata,
        fields={
            "doc_id": source,
            "snippet_id": value_of(thing, "id", notes),
            "source_url": source if isinstance(source, str) and "://" in source else None,
            "rerank_score": metadata.get("relevance_score"),
        },
        span=_starting_at(metadata.get("start_index"), text),
    )


def _llamaindex(thing: Any, notes: list[str]) -> Found:
    """A node's offsets come from a search for its text and are to be checked."""
    scored = has(thing, "node", "score")
    node = value_of(thing, "node", notes) if scored else thing
    metadata = read_metadata(node, "metadata", notes)
    if isinstance(metadata.get("window"), str):
        del metadata["window"]  # the sentence window, a text; the payload's is two lengths
    start, end = (
        value_of(node, "start_char_idx", notes),
        value_of(node, "end_char_idx", notes),
    )
    holder = node if has(node, "text") else value_of(node, "text_resource", notes)
    text = None if holder is None else read_text(holder, "text", notes)
    document = value_of(node, "source_node", notes)
    known_as = "ref_doc_id" if document is None else "node_id"
    fields = {
        "doc_id": value_of(node if document is None else document, known_as, notes),
        "snippet_id": value_of(node, "node_id", notes),
        "source_url": metadata.get("url"),
        "page": metadata.get("page_label"),
    }
    if isinstance(label := fields["page"], str):
        fields["page"] = int(label) if label.isascii() and label.isdigit() else None
        if fields["page"] is None:  # a label such as `iv`
            notes.append("page: page_label is no number; left out")
    score, kept = (
        value_of(thing, "score", notes) if scored else None,
        metadata.get("retrieval_score"),
    )
    # A reranker overwrites the score; some keep the retriever's in the metadata.
    fields |= {"score_raw": score} if kept is None else {"score_raw": kept, "rerank_score": score}
    span = None if start is None and end is None else (start, end)
    return Found(source=node, text=text, metadata=metadata, fields=fields, span=span)


def _haystack(thing: Any, notes: list[str]) -> Found:
    """A split document names by `source_id` the document it is cut from."""
    text = read_text(thing, "content", notes)
    metadata = read_metadata(thing, "meta", notes)
    return Found(
        source=thing,
        text=text,
        metadata=metadata,
        fields={
            "doc_id": metadata.get("source_id"),
            "snippet_id": value_of(thing, "id", notes),
            "source_url": metadata.get("url"),
            "page": metadata.get("page_number"),
            "score_raw": value_of(thing, "score", notes),
        },
        span=_starting_at(metadata.get("split_idx_start"), text),
    )


def _search_result(thing: Any, notes: list[str]) -> Found:
    """What a result's record tells, with the result's score."""
    record = value_of(thing, "record", notes)
    return _record(record, notes, {"score_raw": value_of(thing, "score", notes)})


def _text_result(thing: Any, notes: list[str]) -> Found:
    """What a text search gives: words and where they come from, and no more."""
    text = read_text(thing, "value", notes)
    return Found(source=thing, text=text, fields={"source_url": value_of(thing, "link", notes)})


def _record(record: Any, notes: list[str], fields: Mapping[str, Any] | None = None) -> Found:
    """What a record tells by the names of its fields; its key is the snippet's id."""
    if isinstance(record, Mapping):
        metadata = read_metadata({"record": record}, "record", notes)
    else:
        names = _record_fields(record)
        if names is None:
            notes.append(f"record: a {type(record).__name__} has no fields that can be read")
        metadata = {name: value_of(record, name, notes) for name in names or ()}
    key = value_of(value_of(type(record), DEFINITION, notes), "key_name", notes)
    name = next((name for name in TEXT_NAMES if metadata.get(name) is not None), None)
    id = metadata.get(key) if isinstance(key, str) else None
    return Found(
        source=record,
        text=read_text(metadata, name, notes) if name else None,
        metadata=metadata,
        fields={"snippet_id": id, **(fields or {})},
    )


def _record_fields(record: Any) -> tuple[str, ...] | None:
    """The names of a record's fields; a class marked as a vector store's model may be any class."""
    names = field_names(record)
    return tuple(vars(record)) if names is None and has(type(record), DEFINITION) else names


def _starting_at(start: Any, text: str | None) -> tuple[Any, Any] | None:
    """The span of a text of which only the start is told: it ends where the text does."""
    if start is None:
        return None
    first = as_integer(start)
    return start, None if first is None or text is None else first + len(text)


def _is_record(thing: Any) -> bool:
    if isinstance(thing, type):
        return False
    return isinstance(thing, Mapping) or _record_fields(thing) is not None


SHAPES: tuple[tuple[Callable[[Any], bool], Callable[[Any, list[str]], Found]], ...] = (
    (lambda thing: has(thing, "page_content"), _langchain),
    (lambda thing: has(thing, "node", "score") or has(thing, "node_id", "metadata"), _llamaindex),
    (lambda thing: has(thing, "content", "meta"), _haystack),
    (lambda thing: has(thing, "record", "score"), _search_result),
    (lambda thing: has(thing, "name", "value", "link"), _text_result),
    (_is_record, _record),
)
"""An object is what the first shape it fits says."""
