"""Anchors and decoys of a gold set, as texts from the documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from ragauge.contracts.documents import Documents
from ragauge.contracts.finding import Finding, Findings
from ragauge.contracts.gold import Gold, Span
from ragauge.ingest.fields import quoted

LENGTH_APART = 0.25
"""A decoy may be a quarter longer or shorter than its anchor: sentences are not cut to measure."""


class Pair(Struct, frozen=True):
    """A question with the text that answers it, and one like it that does not."""

    question: Gold
    anchor: str
    decoy: str


class Paired(Struct, frozen=True):
    """The pairs of a gold set, and how many questions have none."""

    pairs: Sequence[Pair]
    without: int
    """Questions that have no anchor, no decoy, or neither."""
    unresolved: int
    """Questions whose anchor or decoy is not in the documents."""


def paired(questions: Sequence[Gold], documents: Documents, found: Findings) -> Paired:
    """The pairs in the order of the set; what is odd about a span becomes a finding."""
    pairs: list[Pair] = []
    marked = 0
    for question in questions:
        if question.anchor is None or question.decoy is None:
            continue
        marked += 1
        anchor = _text(question, "anchor", question.anchor, documents, found)
        decoy = _text(question, "decoy", question.decoy, documents, found)
        if anchor is not None and decoy is not None:
            pairs.append(Pair(question, anchor, decoy))
            for oddity in _oddities(question.anchor, question.decoy):
                found.add(Finding("odd_decoy", question.qid, oddity))
    return Paired(pairs, len(questions) - marked, marked - len(pairs))


def _text(
    question: Gold, name: str, span: Span, documents: Documents, found: Findings
) -> str | None:
    """The text of a span; None where it is not there, and that is a finding."""
    document = documents.find(span.doc_id, span.rev or "")
    if document is None:
        rev = f" of rev {quoted(span.rev)}" if span.rev else ""
        message = f"{name}: there is no document {quoted(span.doc_id)}{rev}; check --docs"
        found.add(Finding("missing_document", question.qid, message))
        return None
    if span.end > len(document.text):
        message = (
            f"{name}: ends at {span.end:,}, and {quoted(span.doc_id)} has "
            f"{len(document.text):,} characters; mark it again in this revision"
        )
        found.add(Finding("out_of_range", question.qid, message))
        return None
    if span.rev and not document.proven:
        message = (
            f"{name}: {quoted(span.doc_id)} is not proven to be rev {quoted(span.rev)}; "
            "its offsets may have moved"
        )
        found.add(Finding("unproven_revision", question.qid, message))
    return document.text[span.start : span.end]


def _oddities(anchor: Span, decoy: Span) -> Iterator[str]:
    """How a decoy is not as it should be: as long, in another section of the same document.

    One that differs in more than what it answers is told apart by that, and flatters the AUC.
    """
    if decoy.doc_id != anchor.doc_id:
        yield (
            f"the decoy stands in {quoted(decoy.doc_id)}, the anchor in {quoted(anchor.doc_id)}; "
            "take another section of the same document"
        )
    elif decoy.section_id == anchor.section_id:
        yield (
            f"the decoy stands in the anchor's section, {quoted(anchor.section_id)}, and may "
            "answer the question too; take another section"
        )
    there, here = decoy.end - decoy.start, anchor.end - anchor.start
    if abs(there - here) > LENGTH_APART * here:
        yield (
            f"the decoy has {there:,} characters, the anchor {here:,}; "
            "take one that is about as long"
        )
