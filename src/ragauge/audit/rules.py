"""Rules over the citations of one answer: sections, units, repetition, order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

from ragauge.audit.payload import read_offsets, told
from ragauge.contracts.audit import CitationFinding
from ragauge.contracts.citation import Citation, Unit

Pairs = frozenset[frozenset[str]]
"""Sections that one segment may cite together, by `section_id` or `doc_id#section_id`."""


def crossed_sections(citations: Sequence[Citation], allowed: Pairs) -> CitationFinding | None:
    """The first pair of sections that one segment may not cite together."""
    sections = {(one.doc_id, one.section_id): None for one in citations}
    for one, other in combinations(sections, 2):
        if not _allowed(one, other, allowed):
            got = f"{_named(one)} and {_named(other)}"
            return CitationFinding(
                code="cross_section_reuse",
                field="section_id",
                got=told(got),
                expected="one section",
            )
    return None


def _allowed(one: tuple[str, str], other: tuple[str, str], allowed: Pairs) -> bool:
    names = ({pair[1], _named(pair)} for pair in (one, other))
    first, second = names
    return any(frozenset({a, b}) in allowed for a in first for b in second)


def _named(section: tuple[str, str]) -> str:
    return "#".join(section)


def mixed_units(citations: Sequence[Citation], unit: Unit | None) -> CitationFinding | None:
    """The answer's citations are not all in one unit, or not in that of the run."""
    units = [one.offsets.unit for one in citations]
    if len({*units, unit} - {None}) < 2:
        return None
    got = f"{units.count('char')} in characters, {units.count('token')} in tokens"
    expected = f"all in the run's unit, {unit}" if unit else "one unit"
    return CitationFinding(code="mixed_units", field="offsets.unit", got=got, expected=expected)


def repeated(citations: Sequence[Citation | None]) -> list[tuple[int, CitationFinding]]:
    """Citations of a span that an earlier one cites already, each with its place."""
    first: dict[tuple[str, Any], int] = {}
    found = []
    for place, one in enumerate(citations):
        if one is None:
            continue
        before = first.setdefault((one.snippet_id, one.offsets), place)
        if before != place:
            same = f"the span of citations[{before}]"
            finding = CitationFinding(
                code="duplicate_citation",
                field="snippet_id",
                got=told(one.snippet_id),
                expected=same,
            )
            found.append((place, finding))
    return found


def out_of_order(chunks: Sequence[Any]) -> CitationFinding | None:
    """The first chunk that stands before one that the order law puts ahead of it.

    A list that a reranker has put in another order is judged by its places before that. Chunks
    without a normalised score have no order to break.
    """
    if len(chunks) < 2:
        return None
    try:
        scores = [_field(chunk, "score_norm") for chunk in chunks]
        if all(one > other for one, other in pairwise(scores)):
            return None
        broken = _first_broken(chunks)
        if broken and _in_order_before_reranking(chunks):
            return None
    except (TypeError, AttributeError):  # no score, or none that can be compared
        return None
    return broken


def _first_broken(chunks: Sequence[Any]) -> CitationFinding | None:
    for one, other in pairwise(chunks):
        if _key(one) > _key(other):
            return CitationFinding(
                code="bad_order",
                field="score_norm",
                got=told(f"{_field(one, 'snippet_id')} before {_field(other, 'snippet_id')}"),
                expected="score_norm falling, then section_id, snippet_id, start rising",
            )
    return None


def _in_order_before_reranking(chunks: Sequence[Any]) -> bool:
    ranks = [_field(chunk, "k_pos") for chunk in chunks]
    reranked = all(_field(chunk, "rerank_score") is not None for chunk in chunks)
    if None in ranks or not reranked:
        return False
    before = [chunk for _, chunk in sorted(zip(ranks, chunks, strict=True), key=lambda p: p[0])]
    return _first_broken(before) is None


def _key(chunk: Any) -> tuple[float, str, str, int]:
    offsets, _ = read_offsets(_field(chunk, "offsets"))
    start = offsets.start if offsets else 0
    return -_field(chunk, "score_norm"), _field(chunk, "section_id"), _id(chunk), start


def _id(chunk: Any) -> str:
    return str(_field(chunk, "snippet_id"))


def _field(chunk: Any, name: str) -> Any:
    return chunk.get(name) if isinstance(chunk, Mapping) else getattr(chunk, name)
