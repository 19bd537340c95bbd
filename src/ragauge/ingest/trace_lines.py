"""A line of a trace file as a trace, the quick way where the line allows it."""

from __future__ import annotations

from typing import Any

from ragauge.contracts.trace import Trace
from ragauge.ingest.fields import BadField
from ragauge.ingest.lines import MAX_LINE
from ragauge.ingest.plain_traces import read_plain
from ragauge.ingest.strict_json import BadJson, decode
from ragauge.ingest.traces import read_trace, trace_faults

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
