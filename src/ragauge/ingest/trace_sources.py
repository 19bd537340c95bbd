"""Traces of any source as lines: a file of lines as it is, everything else written as lines."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from ragauge.errors import refuse
from ragauge.ingest.fields import BadField, Columns
from ragauge.ingest.lines import BLOCK, STDIN, Block, blocks, head_of, nothing_in
from ragauge.ingest.records import Records, Source, is_frame
from ragauge.ingest.traces import RETRIEVED, TRACE, with_our_names

_encode = msgspec.json.Encoder().encode
_LINES = (b"{", b"")


class Traces:
    """One source of traces; `columns` says for our fields where this source has them."""

    def __init__(self, source: Source, columns: Columns | None = None) -> None:
        self._source, self._columns = source, dict(columns or {})
        self._is_file = isinstance(source, str | os.PathLike)
        self.name = str(source) if self._is_file else "traces"
        for field in self._columns:
            TRACE.field(field)

    @cached_property
    def again(self) -> bool:
        """Whether it can be read a second time; a pipe or a generator is empty then."""
        if self._is_file:
            return self.name != STDIN and Path(self.name).exists() and not self._is_pipe
        return hasattr(self._source, "__len__") or hasattr(self._source, "iter_rows")

    @cached_property
    def _is_pipe(self) -> bool:
        return not Path(self.name).is_dir() and head_of(self.name) is None

    @property
    def size(self) -> int | None:
        """Bytes that a progress bar counts to, where they are known."""
        lines = self._is_file and self.again and Path(self.name).is_file() and self._has_lines()
        return Path(self.name).stat().st_size if lines else None

    def nothing(self) -> str | None:
        """That the source is empty, where it is a file that is."""
        return nothing_in(self.name) if self._is_file else None

    def blocks(self) -> Iterator[Block]:
        """Its traces, a line each, in blocks that depend on the source alone."""
        if self._has_lines():
            yield from blocks(self.name)
            return
        held, at = bytearray(), 0
        for line in self._lines():
            held += line + b"\n"
            if len(held) >= BLOCK:
                yield Block(self._said, at, len(held), bytes(held))
                at, held = at + len(held), bytearray()
        if held:
            yield Block(self._said, at, len(held), bytes(held))

    def lines(self) -> Iterator[tuple[str, bytes]]:
        """The lines that are not empty, each with its place as findings write it."""
        before = 0
        for block in self.blocks():
            content = block.read()
            for at, line in enumerate(content.split(b"\n"), before + 1):
                if line and not line.isspace():
                    yield f"{block.name}:{at}", line
            before += content.count(b"\n")

    @property
    def _said(self) -> str:
        return "stdin" if self.name == STDIN else self.name

    def _has_lines(self) -> bool:
        """Whether the source is a file of JSON Lines, which is read as it is."""
        if not self._is_file or self._columns:
            return False
        if self.name == STDIN or self._is_pipe:
            return True  # which cannot be looked into without being read
        if Path(self.name).is_dir() or is_frame(head_of(self.name) or b""):
            return False
        for block in blocks(self.name):
            start = block.read()[:4096].lstrip()
            return start[:1] in _LINES and not start.startswith(b"{\n")
        return True

    def _lines(self) -> Iterator[bytes]:
        """The traces of another source, each written as a line of JSON."""
        problems: list[str] = []
        records = Records(self._source, TRACE, problems, columns=self._columns, name=self.name)
        for _, value in records.placed():
            yield _encode(self._named(value, records) if isinstance(value, Mapping) else value)
        refuse(problems)

    def _named(self, record: Mapping[str, Any], records: Records) -> dict[str, Any]:
        """A record with mapped columns under our names, and a table's cells as what they hold."""
        row, values = records.row("", record), dict(record)
        for field in TRACE.fields:
            written = row.written.get(field.name)
            if written is None:
                continue
            value = row[field.name]
            if records.tabular:
                with suppress(BadField):  # which the reader of traces will say, with its place
                    value = field.read(value, written, cell=True)
            if field.name in self._columns:
                values.pop(written, None)
                written = RETRIEVED[0] if field.name == "retrieved" else field.name
            values[written] = value
        return with_our_names(values)
