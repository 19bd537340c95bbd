"""What a trace says of an answer: its claim, what was retrieved for it, and what it cites."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar, Literal

import msgspec
from msgspec import Struct

from ragauge.citations.joining import Retrieved, cited_id, join_payload
from ragauge.citations.offsets import OffsetReading
from ragauge.citations.payload import as_mapping, display_value, read_fields, read_offsets
from ragauge.contracts.citation import Offsets
from ragauge.contracts.gold import Gold
from ragauge.contracts.history import Run
from ragauge.contracts.kept import KeptAnswer
from ragauge.grounding.markers import Marker, cited_in
from ragauge.ingest.written_lists import TEXTS
from ragauge.metrics.facts import Reader, Reading, error_reason
from ragauge.text.canonical import composed
from ragauge.text.citations import take_apart

MOST_CITATIONS = 200
"""Of an answer that are shown."""
LONGEST_ANSWER = 50_000
"""Characters of an answer that are shown."""
LONGEST_TEXT = 20_000
"""Characters of a chunk that are shown, and that an answer is compared with."""
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


class Chunk(Struct, frozen=True, kw_only=True):
    """A retrieved chunk, as far as its trace describes it."""

    place: int
    """From 1, as the trace lists it: what the marker [1] names."""
    payload: Mapping[str, Any]
    """As the trace has it."""
    id: str | None
    text: str | None
    doc_id: str | None
    rev: str | None
    offsets: Offsets | None
    """None where they are absent, or no place."""
    k_pos: int | None
    k_final: int | None
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


class Cited(Struct, frozen=True, kw_only=True):
    """A citation with what is known of the place it points to."""

    id: str | None
    chunk: Chunk | None
    """None where it was not retrieved."""
    doc_id: str | None
    rev: str | None
    offsets: Offsets | None
    """As the answer wrote them, else the chunk's."""
    is_written: bool
    """Whether the answer gave offsets itself."""
    quote: str | None
    segment: int | None
    """Whose citation it is, from 0; None where it is the answer's."""

    @property
    def text(self) -> str | None:
        return self.chunk.text if self.chunk else None

    @property
    def known(self) -> Offsets | None:
        """Of the chunk."""
        return self.chunk.offsets if self.chunk else None


class Answer:
    """An answer as its trace describes it: what it says, what was retrieved, and what it cites."""

    def __init__(
        self, kept: KeptAnswer, reader: Reader, gold: Gold | None = None, prefix: str = ""
    ) -> None:
        """Without a gold question nothing is looked for in the claim.

        `prefix` is what ids begin with, where a page has two answers.
        """
        self.kept, self.trace, self.prefix = kept, kept.trace, prefix
        trace = kept.trace
        known = gold or Gold(qid="", question=trace.q or "", answerable=True)
        self._question = known.question
        self.facts = reader.facts(reader.key(known), trace)
        structured = trace.answer_json
        text = (structured.claim if structured and structured.claim else trace.answer) or ""
        self._text, self.text = text, text[:LONGEST_ANSWER]
        self.kind: Literal["answer", "refusal", "error"]
        self.kind = "answer" if self.facts.answered else "refusal"
        self.said = self.facts.claim or text
        """Its claim, or why there is none."""
        if self.facts.status == "error":
            self.kind, self.said = "error", error_reason(trace)
        # A claim in a reply of JSON is what a reader wants to see, also where it was respelled.
        elif text.lstrip().startswith(("{", "```")) or self.said not in self.text:
            self.text = self.said
        payloads: list[Any] = [*(trace.retrieved or ())]
        ids = {cited_id(one) for one in payloads}
        raw = [*payloads, *(id for id in trace.retrieved_ids or () if id not in ids)]
        self.says_retrieved = trace.retrieved is not None or trace.retrieved_ids is not None
        self._retrieved = Retrieved(raw)
        wanted = frozenset(map(composed, gold.gold_citations if gold else ()))
        self.chunks = [_chunk(one, place, wanted) for place, one in enumerate(raw, 1)]
        """In the order of the trace."""
        self._by_id = {one.id: one for one in reversed(self.chunks) if one.id is not None}
        self.ids: Collection[str] = self._by_id

    def chunk(self, name: str | None) -> Chunk | None:
        """The chunk that an answer calls so: by its id, or by its place from 1."""
        if name is None:
            return None
        id = self._retrieved.as_retrieved(name)
        if id is None and name.isascii() and name.isdigit() and len(name) < 4:
            return self.chunks[int(name) - 1] if 0 < int(name) <= len(self.chunks) else None
        return self._by_id.get(id or "")

    def markers(self, text: str) -> list[Marker]:
        """The markers in a text, such as [2] or [p1#3], and where they are."""
        return cited_in(text, self.ids, numbered=bool(self.chunks)).markers

    @cached_property
    def cited(self) -> list[Cited]:
        """Every citation: of the answer's list, of its segments, of the markers in its text."""
        return [self._cited(*one) for one in islice(self._written(), MOST_CITATIONS)]

    def _written(self) -> Iterator[tuple[Any, int | None]]:
        """Citations as they are written, with their segment."""
        trace = self.trace
        own = trace.answer_json.citations if trace.answer_json else None
        # Complete where a system gave them so, else ids, else as its text has them.
        given = next((one for one in (trace.cited, own, trace.citations) if one), None)
        listed = take_apart(self._text).citations or () if given is None else given
        yield from ((one, None) for one in listed)
        for place, segment in enumerate(trace.segments or ()):
            citations = segment.get("citations")
            found = citations if isinstance(citations, list | tuple) else ()
            yield from ((one, place) for one in found)
        for name in (name for marker in self.markers(self._text) for name in marker.names):
            chunk = self.chunk(name)
            yield (chunk and chunk.id) or name, None

    def _cited(self, raw: Any, segment: int | None) -> Cited:
        id, written = cited_id(raw), as_mapping(raw)
        readable, chunk = written is not None or isinstance(raw, str), self.chunk(id)
        payload = chunk.payload if chunk and chunk.payload else None
        fields = join_payload(raw if readable else {}, payload).fields
        given = written.get("offsets") if written is not None else None
        own = None if given is None else read_offsets(given)[0]
        quote = written.get("quote") if written is not None else None
        return Cited(
            id=id if readable else str(display_value(raw)),
            chunk=chunk,
            doc_id=fields.get("doc_id"),
            rev=fields.get("rev"),
            offsets=own or fields.get("offsets"),
            is_written=own is not None,
            quote=quote if isinstance(quote, str) and quote.strip() else None,
            segment=segment,
        )

    @property
    def sent(self) -> str:
        """The question in the words that were sent."""
        return self.trace.question_sent or self.trace.q or self._question

    @cached_property
    def cited_ids(self) -> tuple[str, ...]:
        return tuple(sorted({one.id for one in self.cited if one.id is not None}))

    @property
    def pointing(self) -> list[Cited]:
        """The citations without those that name an id alone which another gives a span for.

        Systems list the ids of their segments' citations once more: that points nowhere else.
        """
        written = {one.id for one in self.cited if one.is_written}
        return [one for one in self.cited if one.is_written or one.id not in written]


def _chunk(raw: Any, place: int, wanted: Collection[str]) -> Chunk:
    payload: Mapping[str, Any] = raw if isinstance(raw, dict) else {}
    fields, id = read_fields(payload).fields, cited_id(raw)
    texts = (payload[name] for name in TEXTS if isinstance(payload.get(name), str))
    text = next((text for text in texts if text.strip()), None)
    return Chunk(
        place=place,
        payload=payload,
        id=id,
        text=None if text is None else text[:LONGEST_TEXT],
        doc_id=fields.get("doc_id"),
        rev=fields.get("rev"),
        offsets=fields.get("offsets"),
        k_pos=fields.get("k_pos"),
        k_final=fields.get("k_final"),
        gold=id is not None and composed(id) in wanted,
    )


def words(value: Any) -> str:
    """What somebody else wrote, as a text; nothing for None."""
    return "" if value is None else value if isinstance(value, str) else str(display_value(value))


def span_words(one: Offsets) -> str:
    """
    >>> span_words(Offsets(85, 362))
    'characters 85–362'
    """
    return f"{UNITS[one.unit]} {one.start}–{one.end}"


def web_address(url: object) -> str:
    """The address where it is one that a browser may be sent to; empty for all else.

    >>> web_address("https://example.org/a"), web_address("javascript:alert(1)"), web_address(7)
    ('https://example.org/a', '', '')
    """
    is_web = isinstance(url, str) and url.isprintable() and _WEB.fullmatch(url)
    return str(url) if is_web else ""
