"""The unit of a run's offsets: that of the first payload it has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from msgspec import Struct

from ragauge.citations.payload import as_mapping, read_fields
from ragauge.contracts.citation import Unit
from ragauge.ingest.lines import Block
from ragauge.ingest.traces import Auditable, BadLine, decoded, read_auditable

_SIGNS = (b"offsets", b'"tokens')
"""What a line with a place in it holds, in whatever field or text it stands."""


class Piece(Struct, frozen=True):
    """A block with the unit that the run has by then."""

    block: Block
    unit: Unit | None
    """None where no payload had offsets before the block's end: there is nothing to mix."""


def in_one_unit(work: Iterable[Block]) -> Iterator[Piece]:
    """Each block, with the unit of the first payload of the run; read on until there is one."""
    unit: Unit | None = None
    for block in work:
        unit = unit or unit_in(block.read())
        yield Piece(block, unit)


def unit_in(content: bytes) -> Unit | None:
    """The unit of the first offsets in lines of traces; None where there are none."""
    if not any(sign in content for sign in _SIGNS):
        return None
    return next(_units(content), None)


def _units(content: bytes) -> Iterator[Unit]:
    for line in content.split(b"\n"):
        if any(sign in line for sign in _SIGNS):
            try:
                made = read_auditable(decoded(line))
            except BadLine:
                continue
            yield from _units_in(made)


def _units_in(made: Auditable) -> Iterator[Unit]:
    answer = made.answer
    cited = chain(answer.citations or (), *(segment.citations for segment in answer.segments))
    for payload in chain(made.retrieved or (), cited):
        offsets = _offsets(payload)
        if offsets is not None:
            yield offsets.unit


def _offsets(payload: Any) -> Any:
    return read_fields(payload).fields.get("offsets") if as_mapping(payload) is not None else None
