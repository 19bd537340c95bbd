"""Spans: how many characters of a document others cover, each counted once.

Spans are half-open, in characters, and are only compared within one revision of one document.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from ragauge.contracts.citation import Citation
from ragauge.contracts.gold import Gold, Span
from ragauge.contracts.metric import Absent, NotApplicable
from ragauge.text.canonical import composed

Interval = tuple[int, int]

NO_TARGET = NotApplicable("no target section")
EMPTY_TARGET = Absent("the gold span is empty")
IN_TOKENS = Absent("offsets in tokens cannot be held against characters")
SEVERAL_REVISIONS = Absent("spans of several revisions, and neither gold nor manifest names one")


class Coverage(Struct, frozen=True):
    """How many characters of a gold span are covered, and how many it has."""

    characters: int
    of: int


def union(spans: Iterable[Interval]) -> list[Interval]:
    """The same characters in spans that neither overlap nor touch, in order.

    >>> union([(5, 9), (0, 3), (8, 12), (3, 4), (7, 7)])
    [(0, 4), (5, 12)]
    """
    joined: list[Interval] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def length(spans: Iterable[Interval]) -> int:
    """How many characters the spans cover, each counted once."""
    return sum(end - start for start, end in union(spans))


def covered_length(spans: Iterable[Interval], target: Interval) -> int:
    """How many characters of the target the spans cover, each counted once.

    >>> covered_length([(0, 4), (2, 6), (9, 40)], (3, 10))
    4
    """
    first, last = target
    return length((max(start, first), min(end, last)) for start, end in spans)


def target_coverage(
    payloads: Sequence[Citation], target: Span | None, rev: str | None = None
) -> Coverage | Absent:
    """How much of a gold span the payloads cover: the retrieved ones, or those that are cited.

    The span's own revision counts, else `rev`, the one in the index; if neither is known the
    payloads must agree on one. Those in another document or revision cover nothing of it.
    """
    if target is None:
        return NO_TARGET
    if target.start >= target.end:
        return EMPTY_TARGET
    spans = spans_next_to(payloads, target, rev)
    if isinstance(spans, Absent):
        return spans
    return Coverage(covered_length(spans, (target.start, target.end)), target.end - target.start)


def spans_next_to(
    payloads: Sequence[Citation], target: Span, rev: str | None = None
) -> list[Interval] | Absent:
    """The payloads' spans in the document and revision of a gold span."""
    document, rev = composed(target.doc_id), target.rev or rev
    there = [each for each in payloads if composed(each.doc_id) == document]
    if rev is None and len({each.rev for each in there}) > 1:
        return SEVERAL_REVISIONS
    same = [each for each in there if rev is None or each.rev == rev]
    if _in_tokens(same):
        return IN_TOKENS
    return [_span(each) for each in same]


def characters(payloads: Sequence[Citation]) -> int | Absent:
    """How many characters the payloads cover over all documents, each counted once."""
    if _in_tokens(payloads):
        return IN_TOKENS
    by_document: dict[tuple[str, str], list[Interval]] = {}
    for each in payloads:
        by_document.setdefault((composed(each.doc_id), each.rev), []).append(_span(each))
    return sum(map(length, by_document.values()))


def _in_tokens(payloads: Sequence[Citation]) -> bool:
    return any(each.offsets.unit != "char" for each in payloads)


def _span(payload: Citation) -> Interval:
    return payload.offsets.start, payload.offsets.end


MARGIN = 30
"""Characters by which a citation may begin and end elsewhere than the gold anchor."""

NOTHING_TO_MATCH = Absent("neither gold citations nor an anchor")
NO_ANCHOR = NotApplicable("no gold anchor")
NO_PLACES = Absent("cited chunks do not tell their place")


class Overlap(Struct, frozen=True):
    """Characters that are cited, that the gold anchor has, and that both have."""

    cited: int
    gold: int
    both: int


def matches(
    citations: Sequence[Citation], gold: Gold, *, ids: Sequence[str] = (), rev: str | None = None
) -> bool | Absent:
    """Whether one citation at least is a gold snippet, or lies at the gold anchor.

    A gold snippet is known by its id. At the anchor lies a span of the same document, revision and
    section that begins within 30 characters of where the anchor begins, and ends within 30 of where
    it ends; a chunk that holds the anchor and much besides is matched by its id alone. `ids` are
    cited ids, those included of which nothing else is known; `rev` is the revision the index holds.

    Where there are gold ids they decide as soon as the places cannot be compared.
    """
    gold_ids = set(map(composed, gold.gold_citations))
    if not gold_ids and gold.anchor is None:
        return NOTHING_TO_MATCH
    placed = {composed(each.snippet_id) for each in citations}
    cited = placed.union(map(composed, ids))
    if not gold_ids.isdisjoint(cited):
        return True
    if gold.anchor is None:
        return False
    anchor, section = gold.anchor, composed(gold.anchor.section_id)
    inside = [each for each in citations if composed(each.section_id) == section]
    spans = spans_next_to(inside, anchor, rev)
    near = (
        spans
        if isinstance(spans, Absent)
        else any(
            abs(start - anchor.start) <= MARGIN and abs(end - anchor.end) <= MARGIN
            for start, end in spans
        )
    )
    if near is False and cited != placed:
        near = NO_PLACES
    return False if gold_ids and isinstance(near, Absent) else near


def anchor_overlap(
    citations: Sequence[Citation], anchor: Span | None, rev: str | None = None
) -> Overlap | Absent:
    """The counts of span precision and span recall.

    Every cited character counts, also in other documents; the anchor is covered by spans of its
    own document and revision, as a target is.
    """
    if anchor is None:
        return NO_ANCHOR
    both, cited = target_coverage(citations, anchor, rev), characters(citations)
    if isinstance(both, Absent):
        return both
    if isinstance(cited, Absent):
        return cited
    return Overlap(cited=cited, gold=both.of, both=both.characters)
