"""One answer, complete: its text with citations in place, its support, its chunks, its findings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from ragauge.citations.codes import explained
from ragauge.citations.offsets import Place
from ragauge.citations.payload import told
from ragauge.contracts.answers import Context, Evidence, SentenceSupport
from ragauge.contracts.audit import CitationFinding
from ragauge.contracts.evaluation import EvidenceText
from ragauge.contracts.gold import Gold
from ragauge.contracts.kept import KeptAnswer
from ragauge.contracts.trace import Trace
from ragauge.dashboard.pages.question_report import Measured, Verdict, verdict
from ragauge.dashboard.pages.question_trace import (
    MOST_CITATIONS,
    NORMAL,
    Chip,
    Chunk,
    Cited,
    Named,
    Reader,
    answer_text,
    chips,
    chunks_of,
    citations_of,
    holds,
    parted,
    read_answer,
    retrieved_by,
)
from ragauge.reports.kinds.evaluation_answers import (
    LEVELS,
    CheckedSentence,
    Level,
    checked_sentence,
    marked_words,
    quoted,
)
from ragauge.text.citations import list_spans
from ragauge.text.grounding import groundedness
from ragauge.text.grounding.markers import cited_in

LONGEST_TEXT = 50_000
"""Characters of an answer that are shown."""
SHORT = 900
"""Characters of a chunk that stand open."""
MOST_FINDINGS = 100
NOT_MEASURED = Measured()


class ShownChunk(Struct, frozen=True, kw_only=True):
    """A chunk with what the answer makes of it."""

    one: Chunk
    anchor: str
    cited: bool
    pieces: tuple[MarkedPiece, ...]
    is_long: bool

    @property
    def is_open(self) -> bool:
        """Whether a long text is open from the start: what is cited or gold is read first."""
        return self.cited or self.one.gold


class ShownFinding(Struct, frozen=True, kw_only=True):
    """Something wrong with a citation, in words."""

    code: str
    means: str
    place: str
    got: str
    expected: str
    tip: str
    cited: Cited | None
    """What it is about; None where it is about the answer."""


class ShownSegment(Struct, frozen=True):
    """A part of the answer with the citations it rests on."""

    text: str
    cites: tuple[Cited, ...]


class ShownAnswer(Struct, frozen=True, kw_only=True):
    """An answer as the page shows it."""

    trace: Trace
    prefix: str
    where: str
    kind: str
    """`answer`, `refusal` or `error`."""
    error: str
    claim: str
    parts: tuple[Part, ...]
    raw: str
    """The reply as it was sent, where the text above is only a part of it."""
    phrase_found: bool | None
    """Whether the claim holds a phrase of the gold; None where there is nothing to find."""
    chips: tuple[Chip, ...]
    is_cut: bool
    """There may be more citations than were looked at."""
    segments: tuple[ShownSegment, ...]
    support: Support
    chunks: tuple[ShownChunk, ...]
    left_out: int
    """Chunks that are not shown."""
    code: str | None
    findings: tuple[ShownFinding, ...]
    more_findings: int
    made: tuple[tuple[str, str], ...]
    """How it came about: seed, temperature, jitter, times."""
    most_cited: int = MOST_CITATIONS

    @property
    def drawn_scores(self) -> frozenset[str]:
        """Which scores have a bar: the normal one, and whether there are `others`."""
        scores = (score for chunk in self.chunks for score in chunk.one.scores)
        drawn = {score.name for score in scores if score.share is not None}
        return frozenset(name if name == NORMAL else "others" for name in drawn)


def shown_answer(
    kept: KeptAnswer,
    gold: Gold | None,
    reader: Reader,
    question: str | None,
    prefix: str = "",
    measured: Measured = NOT_MEASURED,
) -> ShownAnswer:
    """The answer with all that the page says of it; `prefix` keeps two of them apart."""
    trace = kept.trace
    read, text = read_answer(reader, gold, trace), answer_text(trace)[:LONGEST_TEXT]
    shown = read.claim if _is_packed(text, read.claim) else text
    chunks = chunks_of(trace, gold.gold_citations if gold else ())
    cited = citations_of(trace, chunks)
    answers = read.kind == "answer"
    left_out = len(retrieved_by(trace)) - len(chunks)
    support = (
        support_of(shown, chunks, question, measured, prefix, left_out=left_out)
        if answers
        else Support()
    )
    spans = _evidence_spans(support)
    known = trace.retrieved is not None or trace.retrieved_ids is not None
    cited_places, placed = {one.chunk for one in cited}, _placed(cited)
    return ShownAnswer(
        trace=trace,
        prefix=prefix,
        where=kept.where or "",
        kind=read.kind,
        error=read.error,
        claim=read.claim,
        parts=text_parts(shown, trace, support, gold.sought if gold else (), prefix),
        raw=_raw(trace, shown),
        phrase_found=read.contained,
        chips=tuple(chips(cited, gold if answers else None, retrieval_known=known)),
        is_cut=len(cited) == MOST_CITATIONS,
        segments=tuple(
            _segment(raw, [one for one in cited if one.segment == place])
            for place, raw in enumerate(trace.segments or ())
        ),
        support=support,
        chunks=tuple(_chunk(one, cited_places, spans, prefix) for one in chunks),
        left_out=left_out,
        code=kept.code,
        findings=tuple(_finding(one, placed) for one in kept.findings[:MOST_FINDINGS]),
        more_findings=max(0, len(kept.findings) - MOST_FINDINGS),
        made=tuple(_made(trace)),
    )


def _is_packed(text: str, claim: str) -> bool:
    """Whether the claim stands in a reply of JSON, or was respelled as it was read."""
    return bool(claim) and (text.lstrip().startswith(("{", "```")) or claim not in text)


def _raw(trace: Trace, shown: str) -> str:
    sent = trace.answer or ""
    return sent[:LONGEST_TEXT] if sent.strip() != shown.strip() else ""


def _evidence_spans(support: Support) -> dict[int, list[Place]]:
    found: dict[int, list[Place]] = {}
    for one in support.sentences:
        if one.chunk is not None and one.within is not None:
            found.setdefault(one.chunk, []).append(one.within)
    return found


def _chunk(
    one: Chunk, cited: set[int | None], spans: dict[int, list[Place]], prefix: str
) -> ShownChunk:
    pieces = evidence_in(one, spans.get(one.place, ()), prefix)
    return ShownChunk(
        one=one,
        anchor=f"{prefix}chunk-{one.place}",
        cited=one.place in cited,
        pieces=pieces,
        is_long=len(one.text or "") > SHORT and len(pieces) < 2,
    )


def _segment(raw: dict[str, Any], cites: Sequence[Cited]) -> ShownSegment:
    text = raw.get("text")
    return ShownSegment(text if isinstance(text, str) else str(told(text)), tuple(cites))


Placed = dict[tuple[int | None, int | None], Cited]
"""Citations by their segment and their place in its list."""


def _placed(cited: Sequence[Cited]) -> Placed:
    return {(one.segment, one.item): one for one in cited if one.item is not None}


def _finding(one: CitationFinding, placed: Placed) -> ShownFinding:
    entry = explained(one.code)
    return ShownFinding(
        code=one.code,
        means=entry.means if entry else "",
        place=_place(one),
        got=_written(one.got),
        expected=_written(one.expected),
        tip=one.tip or (entry.tip if entry else ""),
        cited=placed.get((one.segment, one.item)),
    )


def _place(one: CitationFinding) -> str:
    """Where in the payload, as a program would write it."""
    parts = [] if one.segment is None else [f"segments[{one.segment}]"]
    parts += [] if one.item is None else [f"citations[{one.item}]"]
    return ".".join([*parts, one.field] if one.field else parts) or "the answer"


def _written(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else str(told(value))


def _made(trace: Trace) -> Sequence[tuple[str, str]]:
    """What the trace says of how the answer came about."""
    names = ("run_id", "seed", "temperature", "jitter", "paraphrase", "repeat", "attempt", "ts")
    told_fields = [(name.replace("_", " "), getattr(trace, name)) for name in names]
    if trace.latency_ms is not None:
        told_fields.append(("latency", f"{trace.latency_ms:,.0f} ms"))
    stages = [(f"{name} ms", took) for name, took in (trace.stage_ms or {}).items()]
    return [(name, str(told(value))) for name, value in told_fields + stages if value is not None]


MOST_LINKS = 500
"""Citations in a text that become links."""


class TextPiece(Struct, frozen=True):
    """A piece of the answer's text."""

    text: str
    is_gold: bool
    """A phrase that a right claim contains."""
    href: str | None
    """The retrieved chunk that a citation names."""


class Part(Struct, frozen=True):
    """A sentence, or what stands between two."""

    level: str | None
    """How far it is supported; None where it is no sentence that was scored."""
    href: str | None
    """Its evidence; None where it has none, or a citation in it leads elsewhere."""
    says: str
    pieces: tuple[TextPiece, ...]


def text_parts(
    text: str, trace: Trace, support: Support, phrases: Sequence[str], prefix: str
) -> tuple[Part, ...]:
    """The answer's text, in parts that follow each other and lose nothing."""
    links = dict(_links(text, trace, prefix))
    golden, at = [], 0
    for piece, is_gold in marked_words(text, phrases) if phrases else ():
        if is_gold:
            golden.append(Place(at, at + len(piece)))
        at += len(piece)
    whole, scored = Place(0, len(text)), {one.stretch: one for one in support.sentences}
    return tuple(
        _part(text, stretch, scored.get(stretch), golden, links)
        for stretch in parted(whole, scored)
    )


def _part(
    text: str,
    stretch: Place,
    sentence: Sentence | None,
    golden: Sequence[Place],
    links: dict[Place, str],
) -> Part:
    pieces = tuple(
        TextPiece(
            text[piece.start : piece.end],
            any(holds(mark, piece) for mark in golden),
            next((href for mark, href in links.items() if holds(mark, piece)), None),
        )
        for piece in parted(stretch, [*golden, *links])
    )
    if sentence is None:
        return Part(None, None, "", pieces)
    leads = any(piece.href for piece in pieces)
    href = f"#{sentence.anchor}" if sentence.anchor and not leads else None
    level, value = sentence.checked.level, sentence.checked.value
    return Part(level.name, href, f"{level.words} {value}".strip(), pieces)


def _links(text: str, trace: Trace, prefix: str) -> Iterator[tuple[Place, str]]:
    """Where the text names a retrieved chunk, by a marker or in its list, and the chunk's place."""
    named = Named(trace)
    for marker in named.markers(text)[:MOST_LINKS]:
        place = next(filter(None, map(named.place, marker.names)), None)
        if place is not None:
            yield Place(marker.start, marker.end), f"#{prefix}chunk-{place}"
    lists = list_spans(text) if named.ids else []
    if not lists:
        return
    longest_first = sorted(named.ids, key=lambda name: (-len(name), name))[:MOST_LINKS]
    pattern = re.compile("|".join(map(re.escape, longest_first)))
    for start, end in lists:
        for match in pattern.finditer(text, start, end):
            yield Place(*match.span()), f"#{prefix}chunk-{named.place(match[0])}"


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

    stretch: Place
    checked: CheckedSentence
    chunk: int | None
    """The place of the chunk with its evidence, and where in it that stands."""
    within: Place | None
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
    within = Place(one.evidence.start, one.evidence.end) if one.evidence else None
    shown = _evidence_text(one.evidence, chunk)
    return Sentence(
        stretch=Place(one.start, one.end),
        checked=checked_sentence(one, text[one.start : one.end]),
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


def evidence_in(chunk: Chunk, spans: Sequence[Place], prefix: str = "") -> tuple[MarkedPiece, ...]:
    """The text of a chunk, with the evidence of sentences marked where it stands."""
    if chunk.text is None:
        return ()
    starts = {span.start for span in spans}
    return tuple(
        MarkedPiece(
            chunk.text[piece.start : piece.end],
            any(holds(span, piece) for span in spans),
            _anchor(prefix, chunk.place, piece.start) if piece.start in starts else None,
        )
        for piece in parted(Place(0, len(chunk.text)), spans)
    )


def _anchor(prefix: str, place: int, start: int) -> str:
    return f"{prefix}evidence-{place}-{start}"
