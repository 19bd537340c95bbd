"""Answers with nothing wrong, recognised quickly: most are, and the serving path cannot wait.

What is not seen to be clean here is examined in full elsewhere. The two agree by law: a test
holds them against each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragauge.citations.checking import Part
from ragauge.citations.live import LiveIndex
from ragauge.citations.payload import whole_payload
from ragauge.citations.rules import out_of_order
from ragauge.contracts.citation import Citation, Offsets, Unit


def clean_citations(
    parts: Sequence[Part],
    retrieved: Sequence[Any] | None,
    live: LiveIndex,
    unit: Unit | None,
) -> list[Citation] | None:
    """The payloads of an answer whose citations hold, part by part; None where that is not sure.

    May raise on foreign values: then it is not sure, either.
    """
    known = None if retrieved is None else _by_id(retrieved)
    if retrieved is not None and known is None:
        return None
    found: list[Citation] = []
    for part in parts:
        cited = None if part.again else _clean_part(part.citations, known, live)
        if not cited:
            return None
        found += cited
    first = unit or found[0].offsets.unit
    if any(one.offsets.unit != first for one in found):
        return None
    if retrieved is None:
        told = {one.k_final is None for one in found}
        return found if len(told) == 1 and _in_order(found) else None
    if not _in_order(retrieved):
        return None
    return found if _ranked(found, retrieved) else None


def _clean_part(
    part: Sequence[tuple[int, Any]], known: dict[str, Any] | None, live: LiveIndex
) -> list[Citation] | None:
    found: list[Citation] = []
    spans: set[tuple[str, Offsets]] = set()
    for _, citation in part:
        payload = citation if known is None else _known(citation, known)
        whole = None if payload is None else whole_payload(payload)
        if whole is None or whole.k_pos is None or not live.made(whole):
            return None
        if whole.score_norm is None and whole.score_raw is None:
            return None
        if found and (whole.section_id, whole.doc_id) != (found[0].section_id, found[0].doc_id):
            return None
        found.append(whole)
        spans.add((whole.snippet_id, whole.offsets))
    return found if len(spans) == len(found) else None


def _by_id(retrieved: Sequence[Any]) -> dict[str, Any] | None:
    kinds = {type(chunk) for chunk in retrieved}
    if kinds == {dict}:
        known = {chunk.get("snippet_id"): chunk for chunk in retrieved}
    elif kinds == {Citation}:
        known = {chunk.snippet_id: chunk for chunk in retrieved}
    else:
        return None
    return known if len(known) == len(retrieved) else None


def _known(citation: Any, known: dict[str, Any]) -> Any:
    """The retrieved payload, where the citation says nothing else than it does."""
    if type(citation) is str:
        return known.get(citation)
    if type(citation) is Citation:
        return citation if known.get(citation.snippet_id) == citation else None
    if type(citation) is not dict:
        return None
    chunk = known.get(citation.get("snippet_id"))  # type: ignore[arg-type]
    if type(chunk) is not dict:
        return None
    if citation.items() <= chunk.items():
        return chunk
    # Words of the model's own are no field that could disagree.
    said = {name: value for name, value in citation.items() if name != "quote"}
    return chunk if said.items() <= chunk.items() else None


def _in_order(chunks: Sequence[Any]) -> bool:
    return _falling(chunks) or out_of_order(chunks) is None


def _falling(retrieved: Sequence[Any]) -> bool:
    """Whether the scores fall without a tie, so that there is no more to ask of their order."""
    before = 2.0
    for chunk in retrieved:
        score = chunk.get("score_norm") if type(chunk) is dict else chunk.score_norm
        if score is None or not score < before:
            return False
        before = score
    return True


def _ranked(found: list[Citation], retrieved: Sequence[Any]) -> bool:
    """Where any chunk tells its place after a reranking, every cited one does."""
    if all(one.k_final is not None for one in found):
        return True
    return all(
        (chunk.get("k_final") if type(chunk) is dict else chunk.k_final) is None
        for chunk in retrieved
    )
