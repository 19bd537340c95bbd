"""Traces with all that their lines tell, for a reader: chunks and citations as they were written.

Scoring takes the ids and leaves the rest; who looks at an answer wants the texts it was made from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import structs

from ragauge.citations.joining import cited_id
from ragauge.contracts.trace import Trace
from ragauge.ingest.auditable import Auditable
from ragauge.ingest.fields import BadField
from ragauge.ingest.lines import blocks
from ragauge.ingest.trace_lines import decoded
from ragauge.ingest.traces import read_trace


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
        more["cited"] = _objects(record.get("citations")) or _objects(_in_answer(record))
    found = {name: objects for name, objects in more.items() if objects}
    return structs.replace(trace, **found) if found else trace


def _in_answer(record: dict[str, Any]) -> Any:
    structured = record.get("answer_json")
    return structured.get("citations") if type(structured) is dict else None


def _objects(members: Any) -> tuple[dict[str, Any], ...]:
    """A list of objects; nothing where one of its members is none, such as an id."""
    whole = type(members) is list and all(type(member) is dict for member in members)
    return tuple(members) if whole else ()
