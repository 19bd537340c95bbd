"""Spans: how many characters of a document others cover, each counted once.

Spans are half-open, in characters, and are only compared within one revision of one document.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from ragauge.contracts.citation import Citation
from ragauge.contracts.gold import Span
from ragauge.contracts.metric import Absent, NotApplicable
from ragauge.text.canonical import composed

Interval = tuple[int, int]

NO_TARGET = NotApplicable("no target section")
EMPTY_TARGET = Absent("the gold span is empty")
IN_TOKENS = Absent("offsets in tokens cannot be held against characters")
SEVERAL_REVISIONS = Absent("spans of several revisions, and neither gold nor manifest names one")


class Covered(Struct, frozen=True):
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


def covered(spans: Iterable[Interval], target: Interval) -> int:
    """How many characters of the target the spans cover, each counted once.

    >>> covered([(0, 4), (2, 6), (9, 40)], (3, 10))
    4
    """
    first, last = target
    return length((max(start, first), min(end, last)) for start, end in spans)


def target_coverage(
    payloads: Sequence[Citation], target: Span | None, rev: str | None = None
) -> Covered | Absent:
    """How much of a gold span the payloads cover: the retrieved ones, or those that are cited.

    The span's own revision counts, else `rev`, the one the index holds; where neither is known the
    payloads must agree on one. Those in another document or revision cover nothing of it.
    """
    if target is None:
        return NO_TARGET
    if target.start >= target.end:
        return EMPTY_TARGET
    spans = spans_beside(payloads, target, rev)
    if isinstance(spans, Absent):
        return spans
    return Covered(covered(spans, (target.start, target.end)), target.end - target.start)


def spans_beside(
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
