"""How far the retrieved texts support each sentence of an answer, by its words alone."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ragauge.contracts.answers import Context, Evidence, SentenceSupport
from ragauge.contracts.evaluation import EvidenceText
from ragauge.dashboard.pages.cited_text import Stretch, parted
from ragauge.dashboard.pages.question_chunks import Chunk
from ragauge.dashboard.pages.question_measured import Measured, Verdict, verdict
from ragauge.reports.kinds.evaluation_answers import (
    LEVELS,
    CheckedSentence,
    Level,
    checked_sentence,
    quoted,
)
from ragauge.text.grounding import groundedness
from ragauge.text.grounding.markers import cited_in

LONGEST_ANSWER = 10_000
MOST_TEXT = 100_000
"""Characters of an answer, and of what was retrieved for it, that are compared for one page."""
AROUND = 80
BESIDE = 60

NO_TEXT = "The chunks carry no text, so that nothing can be held against the sentences."
NOTHING_RETRIEVED = "The trace does not tell what was retrieved."
TOO_LONG = "The answer or what was retrieved for it is too long to be compared for a page."


class Sentence(Struct, frozen=True, kw_only=True):
    """A sentence of the answer: where it stands, how far it is supported, and by what."""

    stretch: Stretch
    checked: CheckedSentence
    chunk: int | None
    """The place of the chunk with its evidence, and where in it that stands."""
    within: Stretch | None
    chunk_id: str
    anchor: str | None
    """Where on the page the evidence is marked."""
    evidence: tuple[tuple[str, bool], ...]


class Support(Struct, frozen=True, kw_only=True):
    """What the retrieved texts say of an answer; without sentences the reason why not."""

    sentences: tuple[Sentence, ...] = ()
    verdict: Verdict = Verdict()
    reason: str = ""
    levels: tuple[Level, ...] = LEVELS


class MarkedPiece(Struct, frozen=True):
    """A piece of a chunk's text; with an anchor where the evidence of a sentence begins."""

    text: str
    marked: bool
    anchor: str | None


def support_of(
    text: str,
    chunks: Sequence[Chunk],
    question: str | None,
    measured: Measured,
    prefix: str = "",
    *,
    left_out: int = 0,
) -> Support:
    """The support of an answer's sentences, by the code that `ragauge eval qa` measures with.

    `left_out` chunks were retrieved besides.
    """
    contexts = [Context(str(one.place), one.text) for one in chunks if one.text is not None]
    if reason := _incomparable(text, chunks, contexts):
        return Support(reason=reason, verdict=verdict(measured, None, is_cut=False))
    ids = [one.id for one in chunks if one.id is not None]
    # Markers and lists are blanked, so that they count for nothing and places stay.
    plain = cited_in(text, ids).plain
    found = groundedness(plain, contexts, question, kind=measured.kind)
    is_cut = left_out > 0 or any(one.is_cut for one in chunks)
    places = {str(one.place): one for one in chunks}
    return Support(
        sentences=tuple(_sentence(one, text, places, prefix) for one in found.sentences),
        verdict=verdict(measured, found, is_cut=is_cut),
        reason=found.reason or "",
    )


def _incomparable(text: str, chunks: Sequence[Chunk], contexts: Sequence[Context]) -> str:
    """Why nothing can be held against the sentences; empty where something can."""
    if not chunks:
        return NOTHING_RETRIEVED
    if not contexts:
        return NO_TEXT
    long = len(text) > LONGEST_ANSWER or sum(len(one.text) for one in contexts) > MOST_TEXT
    return TOO_LONG if long else ""


def _sentence(one: SentenceSupport, text: str, chunks: dict[str, Chunk], prefix: str) -> Sentence:
    chunk = chunks[one.evidence.chunk] if one.evidence else None
    within = Stretch(one.evidence.start, one.evidence.end) if one.evidence else None
    shown = _evidence_text(one.evidence, chunk)
    return Sentence(
        stretch=Stretch(one.start, one.end),
        checked=checked_sentence(one, text[one.start : one.end], shown),
        chunk=chunk.place if chunk else None,
        within=within,
        chunk_id=(chunk.id or f"chunk {chunk.place}") if chunk else "",
        anchor=_anchor(prefix, chunk.place, within.start) if chunk and within else None,
        evidence=quoted(shown, BESIDE) if shown else (),
    )


def _evidence_text(evidence: Evidence | None, chunk: Chunk | None) -> EvidenceText | None:
    if evidence is None or chunk is None or chunk.text is None:
        return None
    text, start, end = chunk.text, evidence.start, evidence.end
    return EvidenceText(
        chunk=chunk.id or "",
        before=text[max(0, start - AROUND) : start],
        text=text[start:end],
        after=text[end : end + AROUND],
    )


def evidence_in(
    chunk: Chunk, spans: Sequence[Stretch], prefix: str = ""
) -> tuple[MarkedPiece, ...]:
    """The text of a chunk, with the evidence of sentences marked where it stands."""
    if chunk.text is None:
        return ()
    starts = {span.start for span in spans}
    return tuple(
        MarkedPiece(
            chunk.text[piece.start : piece.end],
            any(span.holds(piece) for span in spans),
            _anchor(prefix, chunk.place, piece.start) if piece.start in starts else None,
        )
        for piece in parted(Stretch(0, len(chunk.text)), spans)
    )


def _anchor(prefix: str, place: int, start: int) -> str:
    return f"{prefix}evidence-{place}-{start}"
