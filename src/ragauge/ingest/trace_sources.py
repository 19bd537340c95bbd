"""Traces of any source as lines: a file of lines as it is, everything else written as lines."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from ragauge.errors import refuse
from ragauge.ingest.fields import BadField, Columns, quoted
from ragauge.ingest.lines import BLOCK, STDIN, BadJson, Block, blocks, decode, head_of, nothing_in
from ragauge.ingest.records import Records, Row, Source, is_frame, is_table
from ragauge.ingest.traces import RETRIEVED, TRACE, with_our_names

_encode = msgspec.json.Encoder().encode
SEEN = 1 << 16
"""Bytes of a file that show what it holds."""


class Traces:
    """One source of traces; `columns` says for our fields where this source has them."""

    def __init__(self, source: Source, columns: Columns | None = None) -> None:
        self._source, self._columns = source, dict(columns or {})
        self.is_file = isinstance(source, str | os.PathLike)
        self.name = str(source) if self.is_file else "traces"
        for field in self._columns:
            TRACE.field(field)

    @cached_property
    def again(self) -> bool:
        """Whether it can be read a second time; a pipe or a generator is empty then."""
        if self.is_file:
            return self.name != STDIN and Path(self.name).exists() and not self._is_pipe
        return hasattr(self._source, "__len__") or hasattr(self._source, "iter_rows")

    @cached_property
    def _is_pipe(self) -> bool:
        return not Path(self.name).is_dir() and head_of(self.name) is None

    def nothing(self) -> str | None:
        """That the source is empty, where it is a file that is."""
        return nothing_in(self.name) if self.is_file else None

    def blocks(self) -> Iterator[Block]:
        """Its traces, a line each, in blocks that depend on the source alone."""
        source, name = self._source, "stdin" if self.name == STDIN else self.name
        if self.is_file and not self._columns and not self._is_frame():
            stream = blocks(self.name)
            first = next(stream, None)
            if first is None:
                return
            if _has_lines(first.read()):
                yield first
                yield from stream
                return
            source = b"".join(block.read() for block in chain((first,), stream))
        problems: list[str] = []
        records = Records(source, TRACE, problems, columns=self._columns, name=name)
        held, at, mapped = bytearray(), 0, set[str]()
        for place, value in records.placed():
            if isinstance(value, Mapping):
                row = records.row(place, value)
                records.keys[tuple(row.record)] += 1
                mapped.update(row.written)
                held += _encode(self._named(row, records.tabular)) + b"\n"
            else:
                held += _encode(value) + b"\n"
            if len(held) >= BLOCK:
                yield Block(name, at, len(held), bytes(held))
                at, held = at + len(held), bytearray()
        if held:
            yield Block(name, at, len(held), bytes(held))
        problems += [
            f"{name}: {field}: no trace has {quoted(column)}; {records.there()}"
            for field, column in self._columns.items()
            if records.keys and field not in mapped
        ]
        refuse(problems)

    def _is_frame(self) -> bool:
        path = Path(self.name)
        return self.name != STDIN and (path.is_dir() or is_frame(head_of(self.name) or b""))

    def _named(self, row: Row, tabular: bool) -> dict[str, Any]:
        """A record with mapped columns under our names, and a table's cells as what they hold."""
        values = dict(row.record)
        for field in TRACE.fields:
            written = row.written.get(field.name)
            if written is None:
                continue
            value = row[field.name]
            if tabular:
                with suppress(BadField):  # which the reader of traces will say, with its place
                    value = field.read(value, written, cell=True)
            if field.name in self._columns:
                values.pop(written, None)
                written = RETRIEVED[0] if field.name == "retrieved" else field.name
            values[written] = value
        return with_our_names(values)


def _has_lines(content: bytes) -> bool:
    """Whether a file that begins so is JSON Lines, some of which may be broken."""
    first, newline, rest = content[:SEEN].strip().partition(b"\n")
    first = first.strip()
    if not first.startswith((b"{", b"[")):
        cells = re.split("[,;\t]", first.decode("utf-8", "replace"))
        return not TRACE.reads(tuple(cells))
    if first.startswith(b"["):
        return bool(newline) and first.endswith(b"]")
    # Inside an object over several lines no line begins with another.
    if newline and (first.endswith(b"}") or rest.startswith(b"{") or b"\n{" in rest):
        return True
    with suppress(BadJson):
        value = decode(content)
        if newline:
            return False
        holds = any(isinstance(value.get(key), list) for key in TRACE.wrappers)
        return not (holds or (len(value) > 1 and is_table(value, TRACE)))
    return True


def traces_of(given: Source, columns: Columns | None = None) -> list[Traces]:
    """The sources that somebody means: one, or several paths."""
    if isinstance(given, list | tuple) and all(
        isinstance(one, str | os.PathLike | Traces) for one in given
    ):
        return [one if isinstance(one, Traces) else Traces(one, columns) for one in given]
    return [given if isinstance(given, Traces) else Traces(given, columns)]


def blocks_of(given: Source) -> Iterator[Block]:
    """The blocks of all sources, in their order."""
    return (block for source in traces_of(given) for block in source.blocks())
