"""Citations whose span is not the one their chunk has, told from the span that is open."""

from __future__ import annotations

from msgspec import Struct

from ragauge.contracts.citation import Offsets
from ragauge.dashboard.pages.document_known import Known
from ragauge.dashboard.pages.document_spans import apart, span_words
from ragauge.dashboard.pages.question_ways import Ways

MOST = 20
"""Differences that a page tells."""


class Difference(Struct, frozen=True):
    """A citation whose span is not its chunk's, seen from one of the two."""

    id: str
    says: str
    name: str
    """The other span."""
    href: str | None
    apart: str


def differences_of(
    known: tuple[Known, ...], offsets: Offsets | None, ways: Ways, doc_id: str, rev: str
) -> list[Difference]:
    """Where an answer cites the span and its chunk has another, or the other way round."""
    found = dict[tuple[str, Offsets], Difference]()
    for one in known:
        if one.offsets is None or one.own is None or not one.differs:
            continue
        if offsets == one.offsets or (offsets is None and one.offsets.unit == "token"):
            other, says = one.own, "The answer cites this span, and the chunk it names has"
        elif offsets == one.own:
            other, says = one.offsets, "This is the chunk's own span, and the answer cites"
        else:
            continue
        href = ways.document(doc_id, rev, other) if other.unit == "char" else None
        words = apart(one.offsets, one.own)
        found[one.id, other] = Difference(one.id, says, span_words(other), href, words)
    return list(found.values())[:MOST]
