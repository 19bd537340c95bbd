"""The files of other tools that are read: how each is recognised, and what its records are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from ragauge.errors import InputRejected
from ragauge.ingest.envelopes import otlp, tracers
from ragauge.ingest.envelopes.json_stream import elements
from ragauge.ingest.envelopes.spans import Manifest, Span, record_of
from ragauge.ingest.lines import (
    MAX_LINE,
    BadJson,
    blocks,
    chunks_of,
    decode,
    head_of,
)
from ragauge.ingest.records import frame_in, frame_rows, has_lines, is_frame

Keys = frozenset[str]


class Envelope(Struct, frozen=True):
    """One kind of file: the keys that give it away, and what reads a record of it."""

    name: str
    title: str
    recognises: Callable[[Keys], bool]
    """By the keys of its outermost two levels, or by its columns."""
    spans: Callable[[Mapping[str, Any]], Iterable[Span]] | None = None
    rows: Callable[[Mapping[str, Any], Manifest], Iterable[dict[str, Any]]] | None = None
    """Traces of ours, of an envelope that has no spans."""
    together: Literal["record", "counted", "anywhere"] = "anywhere"
    """Where the spans of a trace are: in one record, wherever their trace's id is written, which
    can be counted beforehand, or anywhere."""
    holds: Callable[[str, bytes], bool] | None = None
    """Whether a file with this name and this beginning is one, of an envelope that is not JSON."""
    load: Callable[[str], Iterable[tuple[str, Mapping[str, Any]]]] | None = None
    """The records of such a file, with their places."""
    arrays: tuple[str, ...] = ()
    """Keys of the arrays that hold its records, in a file that is one document."""


def _all(*keys: str) -> Callable[[Keys], bool]:
    return lambda there: there.issuperset(keys)


def _any(*keys: str) -> Callable[[Keys], bool]:
    return lambda there: not there.isdisjoint(keys)


def _one(read: Callable[[Mapping[str, Any]], Span]) -> Callable[[Mapping[str, Any]], list[Span]]:
    return lambda record: [read(record)]


_OF_LANGFUSE = frozenset(("sessionId", "totalCost", "htmlPath", "observations"))
ENVELOPES: tuple[Envelope, ...] = (
    Envelope(
        "otlp",
        "OpenTelemetry traces (OTLP)",
        _any("resourceSpans", "resource_spans"),
        lambda record: (
            otlp.spans_in(record)
            if "resourceSpans" in record or "resource_spans" in record
            else [otlp.span_from(record)]
        ),
        together="counted",
        arrays=("spans",),
    ),
    Envelope(
        "mlflow",
        "MLflow traces",
        lambda keys: {"info", "data"} <= keys or {"info", "spans"} <= keys,
        tracers.mlflow,
        together="record",
        arrays=("traces",),
    ),
    Envelope(
        "phoenix",
        "Phoenix or OpenTelemetry SDK spans",
        lambda keys: (
            "context.trace_id" in keys
            or ({"context", "attributes", "parent_id"} <= keys and "run_type" not in keys)
        ),
        _one(tracers.phoenix),
        together="counted",
    ),
    Envelope(
        "langsmith",
        "LangSmith runs",
        _all("run_type", "inputs"),
        _one(tracers.langsmith),
        together="counted",
        arrays=("runs",),
    ),
    Envelope(
        "braintrust",
        "Braintrust events",
        _all("root_span_id", "span_id"),
        _one(tracers.braintrust),
        arrays=("events",),
    ),
    Envelope(
        "weave",
        "Weave calls",
        _all("op_name", "trace_id"),
        _one(tracers.weave),
        together="counted",
        arrays=("calls",),
    ),
    Envelope(
        "langfuse",
        "Langfuse traces and observations",
        lambda keys: (
            {"traceId", "type"} <= keys
            or {"id", "observations"} <= keys
            or (
                {"id", "input", "output"} <= keys
                and bool(keys & {"sessionId", "totalCost", "htmlPath"})
            )
        ),
        tracers.langfuse,
        arrays=("data", "traces"),
    ),
    Envelope(
        "otlp-protobuf",
        "OpenTelemetry traces (OTLP) in protobuf",
        lambda keys: False,
        lambda record: otlp.spans_in_protobuf(record["content"], record["name"]),
        holds=lambda name, head: otlp.is_protobuf(head),
        load=lambda name: [(name, {"name": name, "content": Path(name).read_bytes()})],
    ),
    Envelope(
        "trulens",
        "a TruLens database",
        lambda keys: False,
        tracers.trulens,
        together="record",
        holds=lambda name, head: head.startswith(b"SQLite") and bool(tracers.trulens_table(name)),
        load=tracers.trulens_records,
    ),
)
BY_NAME = {one.name: one for one in ENVELOPES}
_KEY = re.compile(rb'"((?:[^"\\]|\\.)*)"\s*(:)?|[{}\[\]]', re.DOTALL)
_LOOKED_AT = 1 << 16
_WHOLE = 64 << 20
"""Bytes of a document that is decoded at once; of a larger one its elements one at a time."""


def outline(head: bytes) -> tuple[Keys, Keys]:
    """The keys of the outermost objects of a JSON text, and those of the objects within them.

    >>> [sorted(keys) for keys in outline(b'[{"a": {"b": {"c": 1}}}]')]
    [['a'], ['b']]
    """
    levels: tuple[set[str], set[str]] = (set(), set())
    depth = 0
    for token in _KEY.finditer(head):
        sign = token[0]
        if sign == b"{":
            depth += 1
        elif sign == b"}":
            depth -= 1
        elif token[2] and 0 < depth <= len(levels):
            levels[depth - 1].add(token[1].decode("utf-8", "replace"))
    return frozenset(levels[0]), frozenset(levels[1])


def beginning(name: str) -> bytes:
    """The first bytes of a file, unpacked; none of a file that cannot be read as text."""
    try:
        return next(chunks_of(name), b"")[:_LOOKED_AT]
    except InputRejected:
        return b""


def recognised(name: str) -> Envelope | None:
    """The envelope of a file, by its beginning; None of a file that is none of these."""
    head = head_of(name)
    if not head:
        return None
    for one in ENVELOPES:
        if one.holds and one.holds(name, head):
            return one
    if is_frame(head):
        framed = frame_in(name)
        keys = inner = frozenset(framed[1].columns) if framed else frozenset[str]()
    else:
        keys, inner = outline(beginning(name))
    for one in ENVELOPES:
        held = not keys.isdisjoint(one.arrays) and one.recognises(inner)
        if held or one.recognises(keys):
            return one
    return None


def traces_in(
    names: Sequence[str], envelope: Envelope, manifest: Manifest | None = None
) -> Iterator[dict[str, Any]]:
    """The traces of ours in files of one envelope; spans of a trace may be in several of them."""
    manifest = manifest or Manifest(envelope=envelope.name)
    if envelope.rows is not None:
        for name in names:
            for _, record in records_of(name, envelope):
                for row in envelope.rows(record, manifest):
                    manifest.rows += 1
                    yield row
        return
    read = envelope.spans or (lambda record: ())
    turns: Counter[str] = Counter()
    for spans in _by_trace(names, envelope, read, manifest):
        record = record_of(spans, manifest)
        if conversation := record.get("conversation"):
            turns[conversation] += 1
            record["turn"] = turns[conversation]
        yield record


def _by_trace(
    names: Sequence[str],
    envelope: Envelope,
    read: Callable[[Mapping[str, Any]], Iterable[Span]],
    manifest: Manifest,
) -> Iterator[list[Span]]:
    """The spans of each trace; one is complete when as many were met as the files have."""
    counts = Counter[str]()
    if envelope.together == "counted":
        counts.update(chain.from_iterable(map(_trace_ids, names)))
    held: dict[str, list[Span]] = {}
    for name in names:
        for _, record in records_of(name, envelope):
            if envelope.together == "record":
                spans = list(read(record))
                manifest.spans += len(spans)
                yield spans
                continue
            for span in read(record):
                manifest.spans += 1
                spans = held.setdefault(span.trace, [])
                spans.append(span)
                if len(spans) == counts.get(span.trace, -1):
                    yield held.pop(span.trace)
    yield from held.values()


_TRACE_ID = re.compile(rb'"trace_?[iI]d"\s*:\s*"([^"]*)"')


def _trace_ids(name: str) -> Iterator[str]:
    """The trace ids in a file, one for each time they are written, as a first quick look.

    What a span says of others is counted too: its trace is then only complete at the end.
    """
    head = head_of(name)
    if head is None or is_frame(head):
        return
    for block in blocks(name):
        for id in _TRACE_ID.findall(block.read()):
            yield otlp.hex_id(id.decode("utf-8", "replace")) or ""


def records_of(name: str, envelope: Envelope) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The records of a file with their places: lines, elements of a document, or rows."""
    if envelope.load is not None:
        yield from envelope.load(name)
        return
    head = head_of(name) or b""
    if is_frame(head):
        framed = frame_in(name, None)
        for number, row in enumerate(frame_rows(framed[1]) if framed else (), 1):
            yield f"{name}: row {number}", row
        return
    if has_lines(beginning(name)):
        found = _lines(name)
    elif Path(name).is_file() and Path(name).stat().st_size <= _WHOLE:
        found = _decoded(name, envelope)
    else:
        found = elements(name, chunks_of(name), envelope.arrays)
    for line, value in found:
        place = f"{name}:{line}"
        if isinstance(value, bytes) and len(value) > MAX_LINE:
            raise InputRejected(f"{place}: the record is longer than {MAX_LINE >> 20} MiB")
        try:
            record = decode(value) if isinstance(value, bytes) else value
        except BadJson as fault:
            raise InputRejected(f"{place}: {fault}") from None
        if isinstance(record, Mapping):
            yield place, record


def _lines(name: str) -> Iterator[tuple[int, Any]]:
    number = 0
    for block in blocks(name):
        for line in block.read().split(b"\n"):
            number += 1
            if line.strip():
                yield number, line
        number -= 1


def _decoded(name: str, envelope: Envelope) -> Iterator[tuple[int, Any]]:
    content = b"".join(chunks_of(name))
    try:
        value = decode(content)
    except BadJson:  # several documents, one after the other, or one that was cut off
        yield from elements(name, [content])
        return
    if isinstance(value, Mapping) and envelope.name != "otlp":
        held = next(
            (value[key] for key in envelope.arrays if isinstance(value.get(key), list)), None
        )
        value = value if held is None else held
    yield from enumerate(value if isinstance(value, list) else [value], 1)
