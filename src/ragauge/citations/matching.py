"""Citation match: whether an answer cites what the gold question says it should."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ragauge.citations.spans import characters, spans_beside, target_coverage
from ragauge.contracts.citation import Citation
from ragauge.contracts.gold import Gold, Span
from ragauge.contracts.metric import Absent, NotApplicable
from ragauge.text.canonical import composed

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
    wanted = set(map(composed, gold.gold_citations))
    if not wanted and gold.anchor is None:
        return NOTHING_TO_MATCH
    placed = {composed(each.snippet_id) for each in citations}
    cited = placed.union(map(composed, ids))
    if not wanted.isdisjoint(cited):
        return True
    if gold.anchor is None:
        return False
    near = _at_anchor(citations, gold.anchor, rev)
    if near is False and cited != placed:
        near = NO_PLACES
    return False if wanted and isinstance(near, Absent) else near


def anchor_overlap(
    citations: Sequence[Citation], anchor: Span | None, rev: str | None = None
) -> Overlap | Absent:
    """What span precision and span recall are made of.

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


def _at_anchor(citations: Sequence[Citation], anchor: Span, rev: str | None) -> bool | Absent:
    section = composed(anchor.section_id)
    inside = [each for each in citations if composed(each.section_id) == section]
    spans = spans_beside(inside, anchor, rev)
    if isinstance(spans, Absent):
        return spans
    return any(
        abs(start - anchor.start) <= MARGIN and abs(end - anchor.end) <= MARGIN
        for start, end in spans
    )
