"""The gold question as the page shows it, its spans leading into documents."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ragauge.contracts.citation import Offsets
from ragauge.contracts.gold import Gold, Span, stratum_text
from ragauge.contracts.history import Run
from ragauge.contracts.kept import KeptAnswer
from ragauge.dashboard.pages.question_ways import Ways
from ragauge.text.canonical import composed

SPANS = {"target_section": "target", "anchor": "anchor", "decoy": "decoy"}
MOST = 50
"""Phrases, ids or wordings that are shown of a list."""


class GoldSpan(Struct, frozen=True):
    """A stretch of a document that the question points to."""

    name: str
    span: Span
    href: str | None


class GoldView(Struct, frozen=True, kw_only=True):
    """The question, and what a right answer holds."""

    one: Gold
    set: str | None
    """The way to its gold set."""
    phrases: tuple[str, ...]
    citations: tuple[str, ...]
    constraints: tuple[str, ...]
    paraphrases: tuple[str, ...]
    spans: tuple[GoldSpan, ...]
    strata: tuple[tuple[str, str], ...]


def gold_view(gold: Gold, run: Run, answers: Sequence[KeptAnswer], ways: Ways) -> GoldView:
    """The gold question; a span without a revision is opened in the one that was retrieved."""
    revs = _revisions(answers)
    spans = ((SPANS[name], getattr(gold, name)) for name in SPANS)
    strata = ((name, stratum_text(value)) for name, value in sorted(gold.strata.items()))
    return GoldView(
        one=gold,
        set=ways.links.gold(run.record.gold_sha256 or "", q=gold.qid),
        phrases=() if gold.is_unit else gold.phrases[:MOST],
        citations=gold.gold_citations[:MOST],
        constraints=gold.constraints[:MOST],
        paraphrases=gold.paraphrases[:MOST],
        spans=tuple(_span(name, span, revs, ways) for name, span in spans if span),
        strata=tuple((name, text) for name, text in strata if text is not None),
    )


def _span(name: str, span: Span, revs: dict[str, str], ways: Ways) -> GoldSpan:
    rev = span.rev or revs.get(composed(span.doc_id))
    place = Offsets(span.start, span.end) if 0 <= span.start < span.end else None
    return GoldSpan(name, span, ways.document(span.doc_id, rev, place) if rev else None)


def _revisions(answers: Sequence[KeptAnswer]) -> dict[str, str]:
    """The revision of each document as the answers' chunks have it."""
    found: dict[str, str] = {}
    for one in answers:
        for chunk in one.trace.retrieved or ():
            doc_id, rev = chunk.get("doc_id"), chunk.get("rev")
            if isinstance(doc_id, str) and isinstance(rev, str) and rev:
                found.setdefault(composed(doc_id), rev)
    return found
