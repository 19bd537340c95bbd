"""What the answers to a question know of a document: the spans they cite, and their words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from ragauge.contracts.citation import Offsets
from ragauge.contracts.kept import KeptAnswer
from ragauge.dashboard.pages.question_chunks import LONGEST_TEXT, chunks_of
from ragauge.dashboard.pages.question_citations import citations_of, without_bare
from ragauge.text.canonical import composed

MOST_ANSWERS = 200
"""Answers to a question that are looked at for what they cite of the document."""
MOST_KNOWN = 100
"""Spans of the document, cited or retrieved, that a page looks at."""


class Known(Struct, frozen=True, kw_only=True):
    """A citation of the document, or a chunk of it that was retrieved."""

    id: str
    is_cited: bool
    offsets: Offsets | None
    """As the answer wrote them, else the chunk's."""
    own: Offsets | None
    """The chunk's."""
    quote: str | None
    text: str | None

    @property
    def differs(self) -> bool:
        """Whether the answer cites another span than its chunk has."""
        return self.own is not None and self.offsets != self.own

    @property
    def is_cut(self) -> bool:
        """The text may go on: a page takes no more of it."""
        return len(self.text or "") == LONGEST_TEXT


class Knowledge(Struct, frozen=True, kw_only=True):
    """What is known of a document, and what was left out of it."""

    spans: tuple[Known, ...]
    more_spans: int
    more_answers: int


def known_of(answers: Sequence[KeptAnswer], doc_id: str, rev: str) -> Knowledge:
    """What points into this revision of the document, each once, citations first."""
    found = dict.fromkeys(
        one for kept in answers[:MOST_ANSWERS] for one in _in_answer(kept, doc_id, rev)
    )
    # A citation without a quote says no more than one with it, and a chunk no more than either.
    quoted = {(one.id, one.offsets) for one in found if one.quote is not None}
    found = {one: None for one in found if one.quote or (one.id, one.offsets) not in quoted}
    said = {(one.id, one.offsets) for one in found if one.is_cited}
    kept = [one for one in found if one.is_cited or (one.id, one.offsets) not in said]
    ordered = sorted(kept, key=lambda one: not one.is_cited)
    return Knowledge(
        spans=tuple(ordered[:MOST_KNOWN]),
        more_spans=max(0, len(ordered) - MOST_KNOWN),
        more_answers=max(0, len(answers) - MOST_ANSWERS),
    )


def _in_answer(kept: KeptAnswer, doc_id: str, rev: str) -> Iterator[Known]:
    chunks = chunks_of(kept.trace, ())
    for one in without_bare(citations_of(kept.trace, chunks)):
        if _same(one.doc_id, one.rev, doc_id, rev):
            yield Known(
                id=one.id or "",
                is_cited=True,
                offsets=one.offsets,
                own=one.known,
                quote=one.quote,
                text=one.text,
            )
    for chunk in chunks:
        if _same(chunk.doc_id, chunk.rev, doc_id, rev):
            yield Known(
                id=chunk.id or "",
                is_cited=False,
                offsets=chunk.offsets,
                own=chunk.offsets,
                quote=None,
                text=chunk.text,
            )


def _same(theirs: str | None, their_rev: str | None, doc_id: str, rev: str) -> bool:
    return theirs is not None and composed(theirs) == composed(doc_id) and (their_rev or "") == rev
