"""Lines of trace files as traces: the quick way where a line allows it, and with all it holds.

A line is plain when it has none but the keys of `_Line`, each as its dialect says, none null and
none twice. The typed decoder reads it, as strictly as `read_trace` and with the same result. Any
other line, odd or broken, is left to `read_trace`, which accepts more and explains what it refuses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, structs
from msgspec.structs import astuple, force_setattr

from ragauge.citations.joining import cited_id
from ragauge.contracts.trace import StructuredAnswer, Trace
from ragauge.ingest.auditable import Auditable
from ragauge.ingest.fields import BadField
from ragauge.ingest.lines import MAX_LINE, blocks
from ragauge.ingest.strict_json import BadJson, decode
from ragauge.ingest.traces import read_trace, trace_faults

Id = Annotated[str, Meta(min_length=1)]
Ids = tuple[Id, ...]
Number = int | float


class _Chunk(Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    id: Id
    text: str | None = None
    title: str | None = None
    url: str | None = None
    source: str | None = None
    doc_id: str | None = None
    section_id: str | None = None
    score: Number | None = None
    rank: Number | None = None


class _Answer(StructuredAnswer, frozen=True, forbid_unknown_fields=True, gc=False):
    claim: str
    citations: Ids | None = None


class _Line(Trace, frozen=True, forbid_unknown_fields=True, gc=False):
    """A trace with the keys that dialect A has besides; a key at its default is not plain."""

    qid: Id | None = None
    answer_json: _Answer | None = None
    citations: Ids | None = None
    retrieved_ids: Ids | None = None
    status: Literal["ok", "error"] | None = None  # type: ignore[assignment]
    latency_ms: Number | None = None
    stage_ms: dict[str, Number] | None = None
    labels: dict[str, str | Number | bool] | None = None
    # What may nest without end is left to the reader that looks for it.
    retrieved: None = None
    segments: None = None
    cited: None = None
    usage: None = None
    extra: None = None  # type: ignore[assignment]
    question: str | None = None
    chunks: list[_Chunk] | None = None


_decode = msgspec.json.Decoder(_Line).decode
_encode = msgspec.json.Encoder().encode
_FIELDS = len(_Line.__struct_fields__)


def _colons_at_least(found: _Line) -> tuple[int, int]:
    """The colons of the line's keys, and those of the texts that most often have some."""
    keys, texts = _FIELDS - astuple(found).count(None), 0
    if found.q is not None:
        texts += found.q.count(":")
    if found.answer is not None:
        texts += found.answer.count(":")
    answer = found.answer_json
    if answer is not None:
        keys += 1 if answer.citations is None else 2
        texts += answer.claim.count(":")
    if found.chunks:
        given = [chunk.text for chunk in found.chunks]
        keys += 2 * len(given) - given.count(None)
    return keys, texts


def read_plain(line: bytes) -> Trace | None:
    """The trace of a plain line, None where the line is anything else.

    A key written twice is decoded once, so that the line has more colons than its value needs;
    only a colon written as an escape could make up for it.
    """
    if len(line) > MAX_LINE:
        return None
    try:
        found = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    colons = line.count(b":")
    keys, texts = _colons_at_least(found)
    if colons != keys + texts and colons != _encode(found).count(b":"):
        return None
    if colons != keys and b"\\u003" in line:
        return None
    if found.qid is not None and found.qid.isspace():
        return None
    if found.q is None:
        if found.qid is None and found.question is None:
            return None
        force_setattr(found, "q", found.question)
    if found.chunks is not None and found.retrieved_ids is None:
        force_setattr(found, "retrieved_ids", tuple([chunk.id for chunk in found.chunks]))
    return found


BadLine = (BadJson, BadField)


def trace_in(line: bytes) -> Trace:
    """The trace a line holds; raises one of BadLine."""
    return read_plain(line) or read_trace(decoded(line))


def decoded(line: bytes) -> Any:
    """The line's JSON, strictly read."""
    if len(line) > MAX_LINE:
        raise BadJson(f"the line is longer than {MAX_LINE >> 20} MiB")
    return decode(line)


def faults_of(line: bytes, fault: Exception) -> list[str]:
    """Everything wrong with a line: one fault of its JSON, or each of its fields'."""
    return [str(fault)] if isinstance(fault, BadJson) else trace_faults(decode(line))


def can_be_read_again(names: Sequence[str]) -> bool:
    """Whether files are still there when they have been read; a pipe is empty then."""
    return all(Path(name).is_file() for name in names)


def numbered_lines(name: str) -> Iterator[tuple[str, bytes]]:
    """The lines of a file that are not empty, each with its place as findings write it."""
    before = 0
    for block in blocks(name):
        content = block.read()
        for number, line in enumerate(content.split(b"\n"), before + 1):
            if line and not line.isspace():
                yield f"{block.name}:{number}", line
        before += content.count(b"\n")


def whole_trace(line: bytes) -> Trace:
    """The trace a line holds, with its chunks and citations; raises one of BadLine."""
    record = decoded(line)
    return with_payloads(read_trace(record), record)


def audited_trace(line: bytes, made: Auditable) -> Trace:
    """The trace of a line that could be audited: as far as it tells, where fields are amiss."""
    record = decoded(line)
    try:
        return with_payloads(read_trace(record), record)
    except BadField:
        listed = made.answer.citations
        ids = [cited_id(one) for one in listed or ()]
        return structs.replace(
            made.trace,
            citations=None if listed is None else tuple(id for id in ids if id is not None),
            cited=tuple(one for one in listed or () if type(one) is dict) or None,
            retrieved_ids=made.retrieved_ids,
            retrieved=tuple(one for one in made.retrieved or () if type(one) is dict) or None,
        )


def with_payloads(trace: Trace, record: dict[str, Any]) -> Trace:
    """The trace with the chunks and the citations that its record has as objects."""
    more = {"retrieved": _objects(record.get("chunks"))} if trace.retrieved is None else {}
    if trace.cited is None:
        structured = record.get("answer_json")
        structured = structured if type(structured) is dict else {}
        more["cited"] = _objects(record.get("citations")) or _objects(structured.get("citations"))
    found = {name: objects for name, objects in more.items() if objects}
    return structs.replace(trace, **found) if found else trace


def _objects(members: Any) -> tuple[dict[str, Any], ...]:
    """A list of objects; nothing where one of its members is none, such as an id."""
    whole = type(members) is list and all(type(member) is dict for member in members)
    return tuple(members) if whole else ()
