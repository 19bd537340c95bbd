"""The journal of a replay: which one it is, in its first line, and then a line a call."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec
from msgspec import Struct

from ragauge.contracts.trace import Trace
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.trace_lines import BadLine, decoded
from ragauge.ingest.traces import read_trace
from ragauge.runners.calling import trace_line
from ragauge.runners.diagnosis.replay_plan import TURNS, Failing, Planned, Turning, key_of
from ragauge.store.journal import Journal

SCHEMA = "ragauge.replay-journal/1"
ANOTHER = "name another journal, or move this one away"
PROBLEMS_SHOWN = 100
_CHANGED = {
    "questions": "the questions that went wrong",
    "system": "the system",
    "knobs": "the knobs",
    "knob_names": "the names of the knobs",
}

_encode = msgspec.json.Encoder(order="sorted").encode


class Heading(Struct, frozen=True, kw_only=True):
    """The first line: what must not change.

    Neither the budget is part of it nor how answers are read: what was answered under another
    budget need not be asked again.
    """

    schema: str = SCHEMA
    parts: dict[str, str]
    """Hashes, so that it can be said which one changed."""


class _Line(Struct, frozen=True):
    id: str
    intervention: str
    trace: dict[str, Any]


def heading(failing: Sequence[Failing], system: dict[str, Any], turning: Turning) -> Heading:
    parts = {
        "questions": sorted(failing, key=lambda one: one.id),
        "system": system,
        "knobs": dict(turning.knobs),
        "knob_names": {knob: turning.name(change) for change, knob in TURNS.items()},
    }
    hashes = {name: hashlib.sha256(_encode(part)).hexdigest() for name, part in parts.items()}
    return Heading(parts=hashes)


def begin(runs: Journal, first: Heading) -> None:
    """Go on with a journal of this replay, begin an empty one, refuse any other untouched."""
    line = _encode(first)
    found = next((found for _, found in runs.lines()), b"")
    # A kill may have cut the very first line short.
    if found != line and not line.startswith(runs.path.read_bytes()):
        raise UsageError(f"{runs.path}: {_difference(found, first)}; {ANOTHER}")
    runs.drop_torn_line()
    if runs.empty:
        runs.append([line])


def line_of(planned: Planned, trace: Trace) -> bytes:
    """What is kept of a call."""
    kept = _Line(planned.failing.id, planned.change, trace_line(trace))
    return _encode(kept)


def answered_before(runs: Journal) -> Iterator[tuple[str, Trace]]:
    """The replies that are there, with the keys of their calls; calls that failed are left out.

    Raises InputRejected with every line that is wrong, after the last.
    """
    problems = []
    for number, line in islice(runs.lines(), 1, None):
        try:
            kept = msgspec.convert(decoded(line), _Line)
            trace = read_trace(kept.trace)
        except (*BadLine, msgspec.ValidationError) as fault:
            problems.append(f"{runs.path}:{number}: is no line of a replay: {fault}; {ANOTHER}")
            continue
        if trace.status == "ok":
            yield key_of(kept.id, kept.intervention), trace
    if problems:
        shown = problems[:PROBLEMS_SHOWN]
        raise InputRejected(*shown, more=len(problems) - len(shown))


def _difference(line: bytes, first: Heading) -> str:
    try:
        before = msgspec.json.decode(line, type=Heading)
    except msgspec.MsgspecError:
        return "is no journal of a replay"
    if before.schema != SCHEMA:
        return f"is a {before.schema}, not a {SCHEMA}"
    changed = [
        words for part, words in _CHANGED.items() if before.parts.get(part) != first.parts[part]
    ]
    return f"holds replies of another replay: changed since: {', '.join(changed)}"
