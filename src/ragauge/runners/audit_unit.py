"""The unit of a run's offsets: that of the first payload it has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from ragauge.audit.payload import read_offsets
from ragauge.contracts.citation import Unit
from ragauge.ingest.lines import Block
from ragauge.ingest.strict_json import BadJson
from ragauge.ingest.trace_lines import decoded


def with_unit(work: Iterable[Block]) -> tuple[Unit | None, Iterator[Block]]:
    """The first unit that the first block has, and all the blocks as they were.

    None where its payloads have no offsets: then each answer is judged by itself.
    """
    rest = iter(work)
    first = next(rest, None)
    if first is None:
        return None, iter(())
    return next(_units(first.read()), None), chain([first], rest)


def _units(content: bytes) -> Iterator[Unit]:
    for line in content.split(b"\n"):
        if b'"offsets"' in line:
            try:
                record = decoded(line)
            except BadJson:
                continue
            yield from _units_in(record)


def _units_in(record: Any) -> Iterator[Unit]:
    lists = [record.get("retrieved"), record.get("citations")] if type(record) is dict else []
    for payload in chain.from_iterable(part for part in lists if type(part) is list):
        offsets = payload.get("offsets") if type(payload) is dict else None
        found = read_offsets(offsets)[0] if offsets is not None else None
        if found:
            yield found.unit
