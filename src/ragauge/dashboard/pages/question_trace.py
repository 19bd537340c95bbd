"""What a trace says of an answer: its claim, what was retrieved for it, and what it cites."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice, pairwise
from typing import Any, ClassVar, Literal, NamedTuple

import msgspec
from msgspec import Struct

from ragauge.citations.joining import Retrieved, cited_id, joined
from ragauge.citations.offsets import OffsetReading, Place
from ragauge.citations.payload import as_mapping, read_fields, read_offsets, told
from ragauge.contracts.citation import Offsets
from ragauge.contracts.facts import Facts
from ragauge.contracts.gold import Gold
from ragauge.contracts.history import Run
from ragauge.contracts.trace import Trace
from ragauge.ingest.answered.written_lists import TEXTS
from ragauge.metrics.facts import Reader, Reading, error_reason
from ragauge.text.canonical import composed
from ragauge.text.citations import take_apart
from ragauge.text.grounding.markers import Marker, cited_in

MOST_CHUNKS = 200
"""Of an answer; a page with more is read by nobody."""
MOST_CITATIONS = 200
"""Of an answer that are shown."""
LONGEST_TEXT = 20_000
"""Characters of a chunk that are shown, and that an answer is compared with."""
SCORES = ("score_raw", "score_norm", "rerank_score")
_SHOWN_APART = {*SCORES, *TEXTS, "k_pos", "k_final", "source_url", "offsets", "snippet_id"}
_MOST_FIELDS = 24
UNITS = {"char": "characters", "token": "tokens"}
_WEB = re.compile(r"(?i)https?://[^\s/?#]\S*")


def _options(run: Run, names: Sequence[str]) -> dict[str, Any]:
    options = run.record.configuration.get("options")
    given = options if isinstance(options, dict) else {}
    return {name: given[name] for name in names if given.get(name) is not None}


def reader_of(run: Run) -> Reader:
    """A reader with the options that the run was made with; what it does not say is as usual."""
    with suppress(msgspec.ValidationError):
        return Reader(msgspec.convert(_options(run, Reading.__struct_fields__), Reading))
    return Reader(Reading())


def offset_reading(run: Run) -> OffsetReading:
    """What the run's offsets count: characters, unless its options say otherwise."""
    given = _options(run, ["offsets_in"]).get("offsets_in")
    with suppress(msgspec.ValidationError):
        return msgspec.convert({"chars_in": given}, OffsetReading) if given else OffsetReading()
    return OffsetReading()


class ReadAnswer(Struct, frozen=True):
    """What an answer is."""

    kind: Literal["answer", "refusal", "error"]
    said: str
    """Its claim, or why there is none."""
    facts: Facts


def read_answer(reader: Reader, gold: Gold | None, trace: Trace) -> ReadAnswer:
    """What the answer is; without a gold question nothing is looked for in its claim."""
    known = gold or Gold(qid="", question=trace.q or "", answerable=True)
    facts = reader.facts(reader.key(known), trace)
    if facts.status == "error":
        return ReadAnswer("error", error_reason(trace), facts)
    kind: Literal["answer", "refusal"] = "answer" if facts.answered else "refusal"
    return ReadAnswer(kind, facts.claim or answer_text(trace), facts)


def answer_text(trace: Trace) -> str:
    """The text of the answer: the claim where it came as fields."""
    structured = trace.answer_json
    return (structured.claim if structured and structured.claim else trace.answer) or ""


class Chunk(Struct, frozen=True, kw_only=True):
    """A retrieved chunk, as far as its trace describes it."""

    place: int
    """From 1, as the trace lists it: what the marker [1] names."""
    id: str | None
    text: str | None
    doc_id: str | None
    rev: str | None
    offsets: Offsets | None
    """None where they are absent, or no place."""
    k_pos: int | None
    k_final: int | None
    scores: dict[str, Any]
    source: Any
    fields: dict[str, str]
    """What else the payload says."""
    gold: bool
    quote: ClassVar[None] = None

    @property
    def known(self) -> Offsets | None:
        return self.offsets

    @property
    def rank(self) -> int:
        """The final one, else the one it was retrieved at, else its place in the list."""
        known = self.k_pos if self.k_final is None else self.k_final
        return self.place if known is None else known


def retrieved_by(trace: Trace) -> list[Any]:
    """What a trace says was retrieved, best first: payloads, and ids for the rest."""
    payloads: list[Any] = [*(trace.retrieved or ())]
    known = {cited_id(one) for one in payloads}
    return [*payloads, *(id for id in trace.retrieved_ids or () if id not in known)]


def chunks_of(trace: Trace, gold_ids: Collection[str]) -> list[Chunk]:
    """The chunks, by their final rank, else by the one before reranking, else as listed."""
    wanted = frozenset(map(composed, gold_ids))
    raw = retrieved_by(trace)[:MOST_CHUNKS]
    keys = dict.fromkeys(key for one in raw if isinstance(one, dict) for key in one)
    others = sorted(key for key in keys if "score" in key.lower() and key not in SCORES)
    scores = [*(name for name in SCORES if name in keys), *others][:_MOST_FIELDS]
    chunks = []
    for place, one in enumerate(raw, 1):
        written: Mapping[str, Any] = one if isinstance(one, dict) else {}
        fields, id = read_fields(written).fields, cited_id(one)
        texts = (written[name] for name in TEXTS if isinstance(written.get(name), str))
        text = next((text for text in texts if text.strip()), None)
        rest = [key for key in written if key not in _SHOWN_APART and key not in scores]
        made = Chunk(
            place=place,
            id=id,
            text=None if text is None else text[:LONGEST_TEXT],
            doc_id=fields.get("doc_id"),
            rev=fields.get("rev"),
            offsets=fields.get("offsets"),
            k_pos=fields.get("k_pos"),
            k_final=fields.get("k_final"),
            scores={name: written[name] for name in scores if written.get(name) is not None},
            source=written.get("source_url"),
            fields={key: words(written[key]) for key in rest[:_MOST_FIELDS]},
            gold=id is not None and composed(id) in wanted,
        )
        chunks.append(made)

    def order(one: Chunk) -> tuple[float, ...]:
        ranks = (one.k_final, one.k_pos, one.place)
        return tuple(math.inf if rank is None else rank for rank in ranks)

    return sorted(chunks, key=order)


def words(value: Any) -> str:
    """What somebody else wrote, as a text; nothing for None."""
    return "" if value is None else value if isinstance(value, str) else str(told(value))


class Cited(Struct, frozen=True, kw_only=True):
    """A citation with what is known of the place it points to."""

    id: str | None
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
    """Whose citation it is, from 0; None where it is the answer's."""
    item: int | None
    """Which of its list, from 0; None where it is in the text."""

    @property
    def both(self) -> str:
        """The span that is cited and the chunk's own, where they differ."""
        if self.offsets is None or self.known is None or self.offsets == self.known:
            return ""
        chunk = f"{self.known.start}–{self.known.end}"
        return f"cites {span_words(self.offsets)}, the chunk has {chunk}"


class Named:
    """What was retrieved, by what an answer may call it: an id, or a place from 1."""

    def __init__(self, trace: Trace) -> None:
        self._raw = retrieved_by(trace)
        self._known = Retrieved(self._raw)
        self._places: dict[str, int] = {}
        for place, one in enumerate(self._raw, 1):
            if (id := cited_id(one)) is not None:
                self._places.setdefault(id, place)
        self.ids: Collection[str] = self._places

    def markers(self, text: str) -> list[Marker]:
        """The markers in a text, such as [2] or [p1#3], and where they are."""
        return cited_in(text, self.ids, numbered=bool(self._raw)).markers

    def meant(self, name: str) -> str:
        """The id that a marker's name means."""
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


def citations_of(trace: Trace, chunks: Sequence[Chunk]) -> list[Cited]:
    """Every citation of an answer: of its list, of its segments, of the markers in its text."""
    named, texts = Named(trace), {chunk.place: chunk.text for chunk in chunks}
    names = (name for marker in named.markers(answer_text(trace)) for name in marker.names)
    marked = ((named.meant(name), None, None) for name in names)
    found = []
    for raw, segment, item in islice(chain(_written(trace), marked), MOST_CITATIONS):
        id, written = cited_id(raw), as_mapping(raw)
        place = None if id is None else named.place(id)
        readable = written is not None or isinstance(raw, str)
        chunk = named.chunk(id)
        fields = joined(raw if readable else {}, chunk).fields
        given = written.get("offsets") if written is not None else None
        own = None if given is None else read_offsets(given)[0]
        quote = written.get("quote") if written is not None else None
        one = Cited(
            id=id if readable else str(told(raw)),
            chunk=place,
            doc_id=fields.get("doc_id"),
            rev=fields.get("rev"),
            offsets=own or fields.get("offsets"),
            known=fields.get("offsets") if chunk is not None else None,
            is_written=own is not None,
            quote=quote if isinstance(quote, str) and quote.strip() else None,
            text=None if place is None else texts.get(place),
            segment=segment,
            item=item,
        )
        found.append(one)
    return found


def _written(trace: Trace) -> Iterator[tuple[Any, int | None, int]]:
    """The citations of the answer's list and of its segments, with the segment and the place."""
    structured = trace.answer_json
    own = structured.citations if structured else None
    # Complete where a system gave them so, else ids, else as its text has them.
    given = next((one for one in (trace.cited, own, trace.citations) if one), None)
    listed = take_apart(answer_text(trace)).citations or () if given is None else given
    yield from ((one, None, item) for item, one in enumerate(listed))
    for place, segment in enumerate(trace.segments or ()):
        citations = segment.get("citations")
        for item, one in enumerate(citations if isinstance(citations, list | tuple) else ()):
            yield one, place, item


def without_bare(found: Sequence[Cited]) -> list[Cited]:
    """The citations without those that name an id alone which another gives a span for.

    Systems list the ids of their segments' citations once more: that points nowhere else.
    """
    written = {one.id for one in found if one.is_written}
    return [one for one in found if one.is_written or one.id not in written]


def span_words(one: Offsets) -> str:
    """
    >>> span_words(Offsets(85, 362))
    'characters 85–362'
    """
    return f"{UNITS[one.unit]} {one.start}–{one.end}"


class Mark(NamedTuple):
    """A stretch of a text with its class, the id that it links to, and its own id."""

    place: Place
    kind: str = ""
    to: str = ""
    id: str = ""


Piece = tuple[str, str, str, str]
"""A text with its class, the id that it links to, and its own id."""


def marked(text: str, marks: Sequence[Mark]) -> list[Piece]:
    """The text in pieces, each with what the first mark says that says it there.

    >>> marked("In 1885 [1]", [Mark(Place(3, 7), "good", "", "a"), Mark(Place(8, 11), to="c1")])
    [('In ', '', '', ''), ('1885', 'good', '', 'a'), (' ', '', '', ''), ('[1]', '', 'c1', '')]
    """
    ends = {at for mark in marks for at in mark.place if 0 < at < len(text)}
    found: list[Piece] = []
    for start, end in pairwise([0, *sorted(ends), len(text)]):
        here = [one for one in marks if one.place.start <= start and end <= one.place.end]
        kind = next((one.kind for one in here if one.kind), "")
        to = next((one.to for one in here if one.to), "")
        id = next((one.id for one in here if one.id and one.place.start == start), "")
        if found and not id and found[-1][1:3] == (kind, to):
            found[-1] = (found[-1][0] + text[start:end], *found[-1][1:])
        elif start < end:
            found.append((text[start:end], kind, to, id))
    return found


def web_address(url: object) -> str:
    """The address where it is one that a browser may be sent to; empty for all else.

    >>> web_address("https://example.org/a"), web_address("javascript:alert(1)"), web_address(7)
    ('https://example.org/a', '', '')
    """
    is_web = isinstance(url, str) and url.isprintable() and _WEB.fullmatch(url)
    return str(url) if is_web else ""
