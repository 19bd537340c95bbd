"""Haystack: a `Document`, as splitters make it and retrievers score it."""

from __future__ import annotations

from typing import Any

from ragauge.citations.adapters.checked_offsets import starting_at
from ragauge.citations.adapters.found import Found, has, tell, tell_metadata, tell_text


def fits(thing: Any) -> bool:
    return has(thing, "content", "meta")


def read(thing: Any, notes: list[str]) -> Found:
    """What a document tells: a split one names by `source_id` the document it is cut from."""
    text = tell_text(thing, "content", notes)
    metadata = tell_metadata(thing, "meta", notes)
    return Found(
        source=thing,
        text=text,
        metadata=metadata,
        fields={
            "doc_id": metadata.get("source_id"),
            "snippet_id": tell(thing, "id", notes),
            "source_url": metadata.get("url"),
            "page": metadata.get("page_number"),
            "score_raw": tell(thing, "score", notes),
        },
        span=starting_at(metadata.get("split_idx_start"), text),
    )
