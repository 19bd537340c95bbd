"""LlamaIndex: a node, by itself or as a `NodeWithScore`."""

from __future__ import annotations

from typing import Any

from ragauge.citations.adapters.found import Found, has, tell, tell_metadata, tell_text


def fits(thing: Any) -> bool:
    return has(thing, "node", "score") or has(thing, "node_id", "metadata")


def read(thing: Any, notes: list[str]) -> Found:
    """What a node tells. Its offsets come from a search for its text and are to be checked."""
    scored = has(thing, "node", "score")
    node = tell(thing, "node", notes) if scored else thing
    metadata = _metadata(node, notes)
    start, end = tell(node, "start_char_idx", notes), tell(node, "end_char_idx", notes)
    return Found(
        source=node,
        text=_text(node, notes),
        metadata=metadata,
        fields={
            "doc_id": _document_id(node, notes),
            "snippet_id": tell(node, "node_id", notes),
            "source_url": metadata.get("url"),
            "page": _page(metadata.get("page_label"), notes),
            **_scores(tell(thing, "score", notes) if scored else None, metadata),
        },
        span=None if start is None and end is None else (start, end),
    )


def _metadata(node: Any, notes: list[str]) -> dict[str, Any]:
    """The metadata without the sentence window: a text, where the payload's is two lengths."""
    metadata = tell_metadata(node, "metadata", notes)
    if isinstance(metadata.get("window"), str):
        del metadata["window"]
    return metadata


def _text(node: Any, notes: list[str]) -> str | None:
    if has(node, "text"):
        return tell_text(node, "text", notes)
    resource = tell(node, "text_resource", notes)
    return None if resource is None else tell_text(resource, "text", notes)


def _document_id(node: Any, notes: list[str]) -> Any:
    source = tell(node, "source_node", notes)
    if source is None:
        return tell(node, "ref_doc_id", notes)
    return tell(source, "node_id", notes)


def _scores(score: Any, metadata: dict[str, Any]) -> dict[str, Any]:
    """A reranker overwrites the score; one that is told to keeps the retriever's beside it."""
    kept = metadata.get("retrieval_score")
    if kept is None:
        return {"score_raw": score}
    return {"score_raw": kept, "rerank_score": score}


def _page(label: Any, notes: list[str]) -> Any:
    """The page a reader's label names; a label such as `iv` is none that can be counted."""
    if not isinstance(label, str):
        return label
    if label.isascii() and label.isdigit():
        return int(label)
    notes.append("page: page_label is no number; left out")
    return None
