"""What the answers to a question know of a document: the spans they cite, and their words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from ragauge.contracts.citation import Offsets
from ragauge.contracts.kept import KeptAnswer
from ragauge.dashboard.pages.question_chunks import LONGEST_TEXT, chunks_of
from ragauge.dashboard.pages.question_citations import citations_of
from ragauge.text.canonical import composed

MOST_ANSWERS = 200
MOST_KNOWN = 100


class Known(Struct, frozen=True, kw_only=True):
    """A citation of the document, or a chunk of it that was retrieved."""

    id: str
    is_cited: bool
    offsets: Offsets | None
    quote: str | None
    text: str | None

    @property
    def is_cut(self) -> bool:
        """The text may go on: a page takes no more of it."""
        return len(self.text or "") == LONGEST_TEXT


def known_of(answers: Sequence[KeptAnswer], doc_id: str, rev: str) -> tuple[Known, ...]:
    """What points into this revision of the document, each once, citations first."""
    found = dict.fromkeys(
        one for kept in answers[:MOST_ANSWERS] for one in _in_answer(kept, doc_id, rev)
    )
    # A citation without a quote says no more than one with it, and a chunk no more than either.
    quoted = {(one.id, one.offsets) for one in found if one.quote is not None}
    found = {one: None for one in found if one.quote or (one.id, one.offsets) not in quoted}
    said = {(one.id, one.offsets) for one in found if one.is_cited}
    kept = [one for one in found if one.is_cited or (one.id, one.offsets) not in said]
    return tuple(sorted(kept, key=lambda one: not one.is_cited))[:MOST_KNOWN]


def _in_answer(kept: KeptAnswer, doc_id: str, rev: str) -> Iterator[Known]:
    chunks = chunks_of(kept.trace, ())
    for one in citations_of(kept.trace, chunks):
        if _same(one.doc_id, one.rev, doc_id, rev):
            yield Known(
                id=one.id or "", is_cited=True, offsets=one.offsets, quote=one.quote, text=one.text
            )
    for chunk in chunks:
        if _same(chunk.doc_id, chunk.rev, doc_id, rev):
            yield Known(
                id=chunk.id or "",
                is_cited=False,
                offsets=chunk.offsets,
                quote=None,
                text=chunk.text,
            )


def _same(theirs: str | None, their_rev: str | None, doc_id: str, rev: str) -> bool:
    return theirs is not None and composed(theirs) == composed(doc_id) and (their_rev or "") == rev
