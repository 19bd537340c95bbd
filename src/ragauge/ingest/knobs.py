"""Knob configurations: one JSON object, the knobs of each under its name."""

from __future__ import annotations

from typing import Any

from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.fields import kind, quoted
from ragauge.ingest.lines import read_whole
from ragauge.ingest.strict_json import BadJson, decode

EXAMPLE = '{"small": {"k": 5}, "large": {"k": 40}}'


def read_knobs(name: str) -> dict[str, dict[str, Any]]:
    """The configurations of a file, in its order; raises UsageError with all that is wrong."""
    try:
        record = decode(read_whole(name))
    except BadJson as fault:
        raise UsageError(f"{name}: {fault}") from None
    except InputRejected as rejected:
        raise UsageError(*rejected.problems) from None
    if type(record) is not dict:
        got = kind(record)
        raise UsageError(f"{name}: expected an object such as {EXAMPLE}, got {got}")
    problems = [
        f"{name}: {quoted(config)}: expected an object of knobs, got {kind(knobs)}; "
        f"write for example {EXAMPLE}"
        for config, knobs in record.items()
        if type(knobs) is not dict
    ]
    if any(not config.strip() for config in record):
        problems.append(f"{name}: a configuration has no name; give it one")
    if problems:
        raise UsageError(*problems)
    return record
