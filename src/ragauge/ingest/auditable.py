"""A decoded trace as an audit wants it: citations and payloads as they were written.

Scoring needs ids and refuses a citation without one; an audit tells what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from ragauge.citations.answer import parse_answer
from ragauge.citations.joining import cited_id
from ragauge.contracts.audit import ParsedAnswer
from ragauge.contracts.trace import Trace
from ragauge.ingest.fields import BadField, expected, kind
from ragauge.ingest.traces import read_trace, trace_faults
from ragauge.text.citations import inline_markers

_LISTS = ("citations", "retrieved", "retrieved_ids", "chunks", "segments")
"""Fields whose members an audit looks at by itself."""


class Auditable(Struct, frozen=True):
    """A trace with its answer taken apart and what was retrieved, nothing of it checked."""

    trace: Trace
    answer: ParsedAnswer
    retrieved: Sequence[Any] | None
    """Payloads or ids, best first; None where the trace does not tell."""

    @property
    def retrieved_ids(self) -> tuple[str, ...] | None:
        if self.retrieved is None:
            return None
        return tuple(id for chunk in self.retrieved if (id := cited_id(chunk)) is not None)


def read_auditable(record: Any, *, inline: bool = False) -> Auditable:
    """The auditable trace of a decoded line; raises BadField with the first field that is wrong.

    With `inline`, markers in the text such as [1] or [p1#2] are citations, too.
    """
    if type(record) is not dict:
        raise BadField("line", expected("an object", record))
    trace = read_trace(_without_lists(record))
    retrieved = _retrieved(record)
    made = Auditable(trace, _answer(record), retrieved)
    return with_inline(made) if inline else made


def auditable_faults(record: Any) -> list[str]:
    """Every fault of a record that `read_auditable` refused."""
    if type(record) is not dict:
        return trace_faults(record)
    faults = trace_faults(_without_lists(record))
    return faults + [f"{field}: {fact}" for field, fact in _list_faults(record)]


def _without_lists(record: dict[str, Any]) -> dict[str, Any]:
    bare = {name: value for name, value in record.items() if name not in _LISTS}
    structured = bare.get("answer_json")
    if type(structured) is dict:
        kept = ("claim", "answer", "constraints_echo", "constraint_lock")
        bare["answer_json"] = {name: structured[name] for name in kept if name in structured}
    return bare


def _list_faults(record: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (name, f"expected a list, got {kind(record[name])}")
        for name in _LISTS
        if name != "citations" and record.get(name) is not None and type(record[name]) is not list
    ]


def _retrieved(record: dict[str, Any]) -> Sequence[Any] | None:
    """What was retrieved: payloads where the trace has them, and ids for the rest."""
    for field, fact in _list_faults(record):
        raise BadField(field, fact)
    chunks = record.get("retrieved")
    if chunks is None:
        chunks = record.get("chunks")
    ids = record.get("retrieved_ids")
    if chunks is None or ids is None:
        return chunks if chunks is not None else ids
    known = {cited_id(chunk) for chunk in chunks}
    return [*chunks, *(id for id in ids if cited_id(id) not in known)]


def _answer(record: dict[str, Any]) -> ParsedAnswer:
    """The answer, from its text or its fields; a list in a field of the trace beats both."""
    structured, text = record.get("answer_json"), record.get("answer")
    reply: str | Mapping[str, Any] = structured if structured is not None else text or ""
    parsed = parse_answer(reply)
    if not parsed.answer and structured is not None and type(text) is str:
        parsed = structs.replace(parsed, answer=text)
    own: dict[str, Any] = {}
    listed = record.get("citations") if record.get("cited") is None else record["cited"]
    if listed is not None:
        fields = parse_answer({"answer": "", "citations": listed})
        own |= {"citations": fields.citations, "cites_first": None}
    if record.get("segments"):
        own["segments"] = parse_answer({"answer": "", "segments": record["segments"]}).segments
    return structs.replace(parsed, **own) if own else parsed


def with_inline(made: Auditable) -> Auditable:
    """The trace with the markers in its answer's text among its citations."""
    marked = inline_markers(made.answer.answer, made.retrieved_ids or ())
    listed = [*(made.answer.citations or ())]
    known = {cited_id(one) for one in listed}
    citations = [*listed, *(id for id in marked if id not in known)]
    first = True if marked else made.answer.cites_first
    answer = structs.replace(made.answer, citations=citations, cites_first=first)
    return structs.replace(made, answer=answer)
