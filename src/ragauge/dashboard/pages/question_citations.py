"""What an answer cites, wherever it says so, and where each citation leads."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from msgspec import Struct

from ragauge.citations.joining import Retrieved, cited_id, joined
from ragauge.citations.payload import as_mapping, read_offsets, told
from ragauge.contracts.citation import Offsets
from ragauge.contracts.gold import Gold
from ragauge.contracts.trace import Trace
from ragauge.dashboard.pages.document_spans import span_words
from ragauge.dashboard.pages.question_chunks import Chunk, retrieved_by
from ragauge.text.canonical import composed
from ragauge.text.citations import take_apart
from ragauge.text.grounding.markers import Marker, cited_in

MOST_CITATIONS = 200
"""Of an answer that are shown."""
LISTED, MARKED = "listed", "in the text"


class Raw(Struct, frozen=True):
    """A citation as it was written."""

    written: Any
    where: str
    segment: int | None = None
    """Whose citation it is, from 0; None where it is the answer's."""
    item: int | None = None
    """Which of its list, from 0; None where it stands in the text."""


class Cited(Struct, frozen=True, kw_only=True):
    """A citation with what is known of the place it points to."""

    id: str | None
    where: str
    chunk: int | None
    """The place of the retrieved chunk, from 1; None where it was not retrieved."""
    doc_id: str | None
    rev: str | None
    offsets: Offsets | None
    """As the answer wrote them, else the chunk's."""
    known: Offsets | None
    """The chunk's, as far as it was retrieved with them."""
    is_written: bool
    """Whether the answer gave offsets itself."""
    quote: str | None
    text: str | None
    """The chunk's own, where the trace has it."""
    segment: int | None
    item: int | None

    @property
    def differs(self) -> bool:
        """Whether the answer cites another span than its chunk has."""
        return self.known is not None and self.offsets != self.known

    @property
    def both(self) -> str:
        """The span that is cited and the chunk's own, where they differ."""
        if self.offsets is None or self.known is None or not self.differs:
            return ""
        return (
            f"cites {span_words(self.offsets)}, the chunk has {self.known.start}–{self.known.end}"
        )


class Chip(Struct, frozen=True, kw_only=True):
    """A cited id as it is shown: once, with everything it is cited for."""

    id: str
    where: tuple[str, ...]
    chunk: int | None
    tone: str
    says: str
    cited: tuple[Cited, ...] = ()
    """Each span that the id is cited with, once; those that the answer wrote, where it did."""


def answer_text(trace: Trace) -> str:
    """The text of the answer: the claim where it came as fields."""
    structured = trace.answer_json
    return (structured.claim if structured and structured.claim else trace.answer) or ""


def citations_of(trace: Trace, chunks: Sequence[Chunk]) -> list[Cited]:
    """Every citation of an answer: of its list, of its segments, of the markers in its text."""
    named, texts = Named(trace), {chunk.place: chunk.text for chunk in chunks}
    names = (name for marker in named.markers(answer_text(trace)) for name in marker.names)
    marked = (Raw(named.meant(name), MARKED) for name in names)
    every = islice(chain(_raw(trace), marked), MOST_CITATIONS)
    return [_cited(one, named, texts) for one in every]


class Named:
    """What was retrieved, by what an answer may call it: an id, or a place from 1."""

    def __init__(self, trace: Trace) -> None:
        self._raw = retrieved_by(trace)
        self._known = Retrieved(self._raw)
        self._places: dict[str, int] = {}
        for place, one in enumerate(self._raw, 1):
            if (id := cited_id(one)) is not None:
                self._places.setdefault(id, place)

    @property
    def ids(self) -> Collection[str]:
        return self._places

    def markers(self, text: str) -> list[Marker]:
        """The markers in a text, such as [2] or [p1#3], and where they stand."""
        return cited_in(text, self.ids, numbered=bool(self._raw)).markers

    def meant(self, name: str) -> str:
        """The id that a marker's name stands for."""
        numeral = name.isascii() and name.isdigit() and len(name) < 4
        is_place = numeral and 0 < int(name) <= len(self._raw)
        if self._known.as_retrieved(name) is None and is_place:
            return cited_id(self._raw[int(name) - 1]) or name
        return name

    def place(self, name: str) -> int | None:
        """The place of the chunk; None where nothing like it was retrieved."""
        return self._places.get(self._known.as_retrieved(self.meant(name)) or "")

    def chunk(self, id: str | None) -> Any:
        return self._known.chunk(None if id is None else self._known.as_retrieved(id))


def chips(found: Sequence[Cited], gold: Gold | None, *, retrieval_known: bool) -> list[Chip]:
    """The cited ids, each once, then the ones that should have been."""
    wanted = [] if gold is None else list(gold.gold_citations)
    needed = set(map(composed, wanted))
    by_id: dict[str, list[Cited]] = {}
    for one in found:
        by_id.setdefault("no id" if one.id is None else one.id, []).append(one)
    made = [_chip(id, ones, needed, retrieval_known) for id, ones in by_id.items()]
    cited = set(map(composed, by_id))
    absent = (id for id in wanted if composed(id) not in cited)
    lacking = "gold, and not cited"
    return [
        *made,
        *(Chip(id=id, where=(), chunk=None, tone="missing", says=lacking) for id in absent),
    ]


def _chip(id: str, ones: Sequence[Cited], needed: set[str], retrieval_known: bool) -> Chip:
    first = ones[0]
    tone, says = "", "cited"
    if composed(id) in needed:
        tone, says = "good", "cited, and gold"
    if first.chunk is None and retrieval_known:
        tone, says = "bad", "cited, and not retrieved"
    elif needed and not tone:
        says = "cited, and not gold"
    where = tuple(dict.fromkeys(one.where for one in ones))
    return Chip(id=id, where=where, chunk=first.chunk, tone=tone, says=says, cited=_spans(ones))


def _spans(ones: Sequence[Cited]) -> tuple[Cited, ...]:
    told = without_bare(ones)
    placed = [one for one in told if one.offsets] or told[:1]
    return tuple({one.offsets: one for one in reversed(placed)}.values())[::-1]


def without_bare(found: Sequence[Cited]) -> list[Cited]:
    """The citations without those that name an id alone which another gives a span for.

    Systems list the ids of their segments' citations once more: that points nowhere else.
    """
    written = {one.id for one in found if one.is_written}
    return [one for one in found if one.is_written or one.id not in written]


def _raw(trace: Trace) -> Iterator[Raw]:
    for item, one in enumerate(_listed(trace)):
        yield Raw(one, LISTED, None, item)
    for place, segment in enumerate(trace.segments or ()):
        citations = segment.get("citations")
        for item, one in enumerate(citations if isinstance(citations, list | tuple) else ()):
            yield Raw(one, f"segment {place + 1}", place, item)


def _listed(trace: Trace) -> Sequence[Any]:
    """The list of an answer: whole where a system gave it so, else ids, else from its text."""
    structured = trace.answer_json
    own = structured.citations if structured else None
    lists = (trace.cited, own, trace.citations)
    given = next((one for one in lists if one), None)
    if given is not None:
        return given
    return take_apart(answer_text(trace)).citations or ()


def _cited(raw: Raw, named: Named, texts: Mapping[int, str | None]) -> Cited:
    id = cited_id(raw.written)
    place = None if id is None else named.place(id)
    written = as_mapping(raw.written)
    readable = written is not None or isinstance(raw.written, str)
    chunk = named.chunk(id)
    fields = joined(raw.written if readable else {}, chunk).fields
    own = _written_offsets(written)
    known = fields.get("offsets") if chunk is not None else None
    quote = written.get("quote") if written is not None else None
    return Cited(
        id=id if readable else str(told(raw.written)),
        where=raw.where,
        chunk=place,
        doc_id=fields.get("doc_id"),
        rev=fields.get("rev"),
        offsets=own or fields.get("offsets"),
        known=known,
        is_written=own is not None,
        quote=quote if isinstance(quote, str) and quote.strip() else None,
        text=None if place is None else texts.get(place),
        segment=raw.segment,
        item=raw.item,
    )


def _written_offsets(written: Mapping[Any, Any] | None) -> Offsets | None:
    """The span that the answer gives; None where it gives none that can be read."""
    given = written.get("offsets") if written is not None else None
    return None if given is None else read_offsets(given)[0]
