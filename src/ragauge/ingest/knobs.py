"""Knobs as a user writes them: of one system, or of several configurations by name."""

from __future__ import annotations

from typing import Any

from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.fields import kind, quoted
from ragauge.ingest.lines import read_whole
from ragauge.ingest.strict_json import BadJson, decode

EXAMPLE = '{"small": {"k": 5}, "large": {"k": 40}}'


def read_knobs(text: str) -> dict[str, Any]:
    """The knobs of one system: an object as it is written, or the name of a file that holds one."""
    inline = text.lstrip()[:1] in ("{", "[")
    return _object(text.encode() if inline else None, "--knobs" if inline else text, '{"k": 5}')


def read_configurations(name: str) -> dict[str, dict[str, Any]]:
    """The configurations of a file, in its order; raises UsageError with all that is wrong."""
    record = _object(None, name, EXAMPLE)
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


def _object(written: bytes | None, name: str, example: str) -> dict[str, Any]:
    """The JSON object that was written, or that a file of this name holds."""
    try:
        record = decode(read_whole(name) if written is None else written)
    except BadJson as fault:
        raise UsageError(f"{name}: {fault}") from None
    except InputRejected as rejected:
        raise UsageError(*rejected.problems) from None
    if type(record) is not dict:
        raise UsageError(f"{name}: expected an object such as {example}, got {kind(record)}")
    return record
