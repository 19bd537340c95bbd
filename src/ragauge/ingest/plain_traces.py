"""Trace lines as most files write them, read by the typed decoder: quick, and as strict.

A line is plain when it has none but these keys, each as its dialect says, none null and none
twice. It gives the trace `read_trace` gives. Any other line, odd or broken, is None here:
`read_trace` accepts more, and explains what it does not.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import astuple, force_setattr

from ragauge.contracts.trace import StructuredAnswer, Trace
from ragauge.ingest.lines import MAX_LINE

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
