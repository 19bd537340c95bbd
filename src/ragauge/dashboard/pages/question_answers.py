"""One answer, whole: its text with citations in place, its support, its chunks, its findings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ragauge.citations.codes import explained
from ragauge.citations.payload import told
from ragauge.contracts.audit import CitationFinding
from ragauge.contracts.gold import Gold
from ragauge.contracts.kept import KeptAnswer
from ragauge.contracts.trace import Trace
from ragauge.dashboard.pages.cited_text import Stretch
from ragauge.dashboard.pages.question_chunks import NORMAL, Chunk, chunks_of, retrieved_by
from ragauge.dashboard.pages.question_citations import (
    MOST_CITATIONS,
    Chip,
    Cited,
    answer_text,
    chips,
    citations_of,
)
from ragauge.dashboard.pages.question_measured import Measured
from ragauge.dashboard.pages.question_reading import Reader, read_answer
from ragauge.dashboard.pages.question_support import (
    MarkedPiece,
    Support,
    evidence_in,
    support_of,
)
from ragauge.dashboard.pages.question_text import Part, text_parts

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


def _evidence_spans(support: Support) -> dict[int, list[Stretch]]:
    found: dict[int, list[Stretch]] = {}
    for one in support.sentences:
        if one.chunk is not None and one.within is not None:
            found.setdefault(one.chunk, []).append(one.within)
    return found


def _chunk(
    one: Chunk, cited: set[int | None], spans: dict[int, list[Stretch]], prefix: str
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
