"""What a trace says of an answer: its claim, what was retrieved for it, and what it cites."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise
from typing import Any
from urllib.parse import urlsplit

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
from ragauge.metrics.facts import Reader as FactReader
from ragauge.metrics.facts import Reading, error_reason
from ragauge.reports.numbers import counted
from ragauge.text.canonical import composed
from ragauge.text.citations import take_apart
from ragauge.text.grounding.markers import Marker, cited_in

Reader = FactReader


class ReadAnswer(Struct, frozen=True, kw_only=True):
    """What an answer is."""

    kind: str
    error: str
    claim: str
    contained: bool | None
    facts: Facts


def reader_of(run: Run) -> Reader:
    """A reader with the options that the run was made with; with the usual ones where it has none.

    What is not written in a run's identity did not matter to it.
    """
    options = run.record.configuration.get("options")
    given = options if isinstance(options, dict) else {}
    kept = {
        name: given[name]
        for name in Reading.__struct_fields__
        if name in given and given[name] is not None
    }
    try:
        return Reader(msgspec.convert(kept, Reading))
    except msgspec.ValidationError:
        return Reader(Reading())


def offset_reading(run: Run) -> OffsetReading:
    """What the run's offsets count: characters, unless its options say otherwise."""
    options = run.record.configuration.get("options")
    given: Any = options.get("offsets_in") if isinstance(options, dict) else None
    try:
        return msgspec.convert({"chars_in": given}, OffsetReading) if given else OffsetReading()
    except msgspec.ValidationError:
        return OffsetReading()


def read_answer(reader: Reader, gold: Gold | None, trace: Trace) -> ReadAnswer:
    """What the answer is; without a gold question nothing is sought in its claim."""
    asked = gold or Gold(qid="", question=trace.q or "", answerable=True)
    facts = reader.facts(reader.key(asked), trace)
    kind = "error" if facts.status == "error" else "answer" if facts.answered else "refusal"
    return ReadAnswer(
        kind=kind,
        error=error_reason(trace) if kind == "error" else "",
        claim=facts.claim or answer_text(trace),
        contained=facts.contained,
        facts=facts,
    )


MOST_CHUNKS = 200
"""Of an answer; a page with more is read by nobody."""
LONGEST_TEXT = 20_000
"""Characters of a chunk that are shown, and that an answer is held against."""
NORMAL = "score_norm"
"""The score that goes from 0 to 1."""
SCORES = ("score_raw", NORMAL, "rerank_score")
_SHOWN_APART = {*SCORES, *TEXTS, "k_pos", "k_final", "source_url", "offsets", "snippet_id"}
_MOST_FIELDS = 24


class Score(Struct, frozen=True):
    """A score of a chunk."""

    name: str
    written: str
    value: float | None
    """None where it is no number."""
    share: float | None
    """Of the highest score of that name, of a normal one of 1; None where there is none."""


class Chunk(Struct, frozen=True, kw_only=True):
    """A retrieved chunk, as far as its trace tells it."""

    place: int
    """From 1, as the trace lists it: what the marker [1] names."""
    id: str | None
    text: str | None
    is_cut: bool
    """Its text goes on beyond what is shown."""
    doc_id: str | None
    rev: str | None
    offsets: Offsets | None
    """None where they are absent, or no place."""
    k_pos: int | None
    k_final: int | None
    scores: tuple[Score, ...]
    source: str
    web: str | None
    """The source where a browser may be sent there."""
    fields: tuple[tuple[str, str], ...]
    """What else the payload says."""
    gold: bool = False

    @property
    def rank(self) -> int:
        """The final one, else the one it was retrieved at, else its place in the list."""
        told = self.k_pos if self.k_final is None else self.k_final
        return self.place if told is None else told

    @property
    def before(self) -> int | None:
        """Its rank before reranking; None where the trace does not tell of both."""
        return None if self.k_final is None else self.k_pos

    @property
    def moved(self) -> int | None:
        """How many places up reranking took it; None where the trace does not tell."""
        return None if self.before is None else self.before - self.rank


def retrieved_by(trace: Trace) -> list[Any]:
    """What a trace says was retrieved, best first: payloads, and ids for the rest."""
    payloads: list[Any] = [*(trace.retrieved or ())]
    known = {cited_id(one) for one in payloads}
    return [*payloads, *(id for id in trace.retrieved_ids or () if id not in known)]


def chunks_of(trace: Trace, gold_ids: Collection[str]) -> list[Chunk]:
    """The chunks, by their final rank, else by the one before reranking, else as listed."""
    wanted = frozenset(map(composed, gold_ids))
    raw = retrieved_by(trace)[:MOST_CHUNKS]
    names = _score_names(raw)
    tops = {name: _top(raw, name) for name in names}
    chunks = [_chunk(one, place, names, tops, wanted) for place, one in enumerate(raw, 1)]
    return sorted(chunks, key=lambda one: (_last(one.k_final), _last(one.k_pos), one.place))


def _chunk(
    raw: Any,
    place: int,
    names: Sequence[str],
    tops: Mapping[str, float],
    wanted: Collection[str],
) -> Chunk:
    written: Mapping[str, Any] = raw if isinstance(raw, dict) else {}
    fields, id = read_fields(written).fields, cited_id(raw)
    scores = [(name, written[name]) for name in names if written.get(name) is not None]
    source, text = written.get("source_url"), _text(written)
    return Chunk(
        place=place,
        id=id,
        text=None if text is None else text[:LONGEST_TEXT],
        is_cut=len(text or "") > LONGEST_TEXT,
        doc_id=fields.get("doc_id"),
        rev=fields.get("rev"),
        offsets=fields.get("offsets"),
        k_pos=fields.get("k_pos"),
        k_final=fields.get("k_final"),
        scores=tuple(_score(name, value, tops[name]) for name, value in scores),
        source="" if source is None else str(told(source)),
        web=web_address(source),
        fields=_others(written, names),
        gold=id is not None and composed(id) in wanted,
    )


def _text(written: Mapping[str, Any]) -> str | None:
    texts = (written[name] for name in TEXTS if isinstance(written.get(name), str))
    return next((text for text in texts if text.strip()), None)


def _score_names(raw: Sequence[Any]) -> list[str]:
    """The scores there are: those that every payload may have, then what else is called so."""
    keys = dict.fromkeys(key for one in raw if isinstance(one, dict) for key in one)
    others = sorted(key for key in keys if "score" in key.lower() and key not in SCORES)
    return [*(name for name in SCORES if name in keys), *others][:_MOST_FIELDS]


def _top(raw: Sequence[Any], name: str) -> float:
    if name == NORMAL:
        return 1.0
    given = [one[name] for one in raw if isinstance(one, dict) and name in one]
    return max((float(value) for value in given if _is_number(value)), default=0.0)


def _score(name: str, value: Any, top: float) -> Score:
    if not _is_number(value):
        return Score(name, str(told(value)), None, None)
    share = value / top if top > 0 and value >= 0 else None
    return Score(name, f"{value:.6g}", value, share)


def _is_number(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value) and abs(value) < 1e300


def _others(written: Mapping[str, Any], names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    kept = [key for key in written if key not in _SHOWN_APART and key not in names]
    told_fields = ((key, told(written[key])) for key in kept[:_MOST_FIELDS])
    return tuple((key, str(value)) for key, value in told_fields if value is not None)


def _last(place: int | None) -> float:
    return math.inf if place is None else place


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


UNITS = {"char": "character", "token": "token"}


def span_words(one: Offsets) -> str:
    """
    >>> span_words(Offsets(85, 362))
    'characters 85–362'
    """
    return f"{UNITS[one.unit]}s {one.start}–{one.end}"


def apart(cited: Offsets, known: Offsets) -> str:
    """How the cited span lies to the one that the chunk has.

    >>> apart(Offsets(85, 362), Offsets(78, 355))
    'the cited one begins 7 characters later and ends 7 characters later'
    >>> apart(Offsets(0, 9), Offsets(0, 8))
    "the cited one begins where the chunk's does and ends 1 character later"
    >>> apart(Offsets(0, 3), Offsets(3, 8))
    'the two have nothing in common'
    """
    if cited.unit != known.unit:
        return f"one counts {UNITS[cited.unit]}s, the other {UNITS[known.unit]}s"
    if cited.end <= known.start or known.end <= cited.start:
        return "the two have nothing in common"
    begins = _moved(cited.start - known.start, cited.unit)
    ends = _moved(cited.end - known.end, cited.unit)
    return f"the cited one begins {begins} and ends {ends}"


def _moved(by: int, unit: str) -> str:
    if by == 0:
        return "where the chunk's does"
    return f"{counted(abs(by), UNITS[unit])} {'later' if by > 0 else 'earlier'}"


def holds(mark: Place, piece: Place) -> bool:
    return mark.start <= piece.start and piece.end <= mark.end


def parted(whole: Place, marks: Iterable[Place]) -> list[Place]:
    """The whole in pieces, so that each mark begins and ends with one of them.

    >>> [tuple(piece) for piece in parted(Place(0, 9), [Place(2, 5), Place(4, 20)])]
    [(0, 2), (2, 4), (4, 5), (5, 9)]
    """
    inside = {at for mark in marks for at in mark if whole.start < at < whole.end}
    bounds = [whole.start, *sorted(inside), whole.end]
    return [Place(*pair) for pair in pairwise(bounds) if pair[0] < pair[1]]


def web_address(url: object) -> str | None:
    """The address where it is one that a browser may be sent to; None for all else.

    >>> web_address("https://example.org/a"), web_address("javascript:alert(1)"), web_address(7)
    ('https://example.org/a', None, None)
    """
    if not isinstance(url, str):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    plain = url.isprintable() and not any(character.isspace() for character in url)
    return url if plain and parts.scheme in ("http", "https") and parts.netloc else None
