"""LangChain: a `Document`, by itself or with its score."""

from __future__ import annotations

from typing import Any

from ragauge.citations.adapters.checked_offsets import starting_at
from ragauge.citations.adapters.found import Found, has, tell, tell_metadata, tell_text


def fits(thing: Any) -> bool:
    return has(thing, "page_content")


def read(thing: Any, notes: list[str]) -> Found:
    """What a document tells: its id is the snippet's, its `source` the document it is cut from.

    A splitter with `add_start_index=True` says where a chunk starts.
    """
    text = tell_text(thing, "page_content", notes)
    metadata = tell_metadata(thing, "metadata", notes)
    source = metadata.get("source")
    return Found(
        source=thing,
        text=text,
        metadata=metadata,
        fields={
            "doc_id": source,
            "snippet_id": tell(thing, "id", notes),
            "source_url": source if isinstance(source, str) and "://" in source else None,
            "rerank_score": metadata.get("relevance_score"),
        },
        span=starting_at(metadata.get("start_index"), text),
    )
