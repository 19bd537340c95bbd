"""Large files cut where a query ends: a run, and its judgements at the same queries."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from msgspec import Struct

from ragauge.ingest.lines import refuse_long_lines

_BOM = b"\xef\xbb\xbf"
LOOKED_FOR = 8
"""Queries tried for one cut: beyond, the judgements are held to be in another order."""


class Part(Struct, frozen=True):
    """Whole lines of a plain file."""

    name: str
    start: int
    size: int
    first_line: int

    def read(self) -> bytes:
        with Path(self.name).open("rb") as file:
            file.seek(self.start)
            content = file.read(self.size)
        return content.removeprefix(_BOM) if self.start == 0 else content


class Piece(Struct, frozen=True):
    """All the lines of some queries: what was retrieved for them, and what was judged."""

    run: Part
    qrels: Part | None
    """None where the judgements are held in memory."""


class OtherOrder(Exception):
    """The judgements are not in the order of the run."""


def pieces(run: str, qrels: str | None, size: int) -> Iterator[Piece]:
    """The files in pieces of about this many bytes of the run; raises OtherOrder."""
    with _Lines(run) as ranked:
        if qrels is None:
            for end, _ in _cuts(ranked, size):
                yield Piece(ranked.part(end), None)
            return
        with _Lines(qrels) as judged:
            yield from _both(ranked, judged, size)


def _both(ranked: _Lines, judged: _Lines, size: int) -> Iterator[Piece]:
    tried = 0
    for end, query in _cuts(ranked, size):
        if query is None:
            yield Piece(ranked.part(end), judged.part(judged.size))
            return
        there = judged.line_of(query)
        if there is not None:
            tried = 0
            yield Piece(ranked.part(end), judged.part(there))
            continue
        tried += 1
        if tried == LOOKED_FOR:
            raise OtherOrder


def _cuts(lines: _Lines, size: int) -> Iterator[tuple[int, bytes | None]]:
    """Positions where a query ends and the query that begins there; None at the end.

    Each is sought a size beyond where the last part ended; where none was taken, at the next query.
    """
    end = lines.taken
    while True:
        wanted = max(lines.taken + size, end)
        found = lines.next_query(wanted) if wanted < lines.size else None
        if found is None:
            yield lines.size, None
            return
        end, query = found
        yield end, query


class _Lines:
    """The lines of a file, looked into without reading it whole."""

    def __init__(self, name: str) -> None:
        self.name, self.taken, self._line = name, 0, 1

    def __enter__(self) -> _Lines:
        self._file = Path(self.name).open("rb")
        self._bytes = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        self.size = len(self._bytes)
        refuse_long_lines(self.name, self._bytes, self.size)
        return self

    def __exit__(self, *_: object) -> None:
        self._bytes.close()
        self._file.close()

    def part(self, end: int) -> Part:
        """What stands from the last part to here."""
        made = Part(self.name, self.taken, end - self.taken, self._line)
        codes = np.frombuffer(self._bytes, dtype=np.uint8, count=made.size, offset=made.start)
        self._line += int(np.count_nonzero(codes == 10))
        self._forget(end)
        self.taken = end
        return made

    def _forget(self, end: int) -> None:
        """Give back the memory of what was looked at, where the system can."""
        start, end = (place - place % mmap.PAGESIZE for place in (self.taken, end))
        if hasattr(mmap, "MADV_DONTNEED") and end > start:
            self._bytes.madvise(mmap.MADV_DONTNEED, start, end - start)

    def next_query(self, at: int) -> tuple[int, bytes] | None:
        """The first line past a position whose query is another than the line's there."""
        start = self._bytes.rfind(b"\n", 0, at) + 1
        query = self._query(start)
        while (end := self._bytes.find(b"\n", start)) >= 0:
            start = end + 1
            found = self._query(start)
            if found and found != query and not found.startswith(b"#") and query:
                return start, found
            query = query or found
        return None

    def _query(self, start: int) -> bytes:
        """The first word of a line; none of a line that is blank."""
        end = self._bytes.find(b"\n", start)
        line = self._bytes[start : end if end >= 0 else self.size]
        return next(iter(line.split(None, 1)), b"")

    def line_of(self, query: bytes) -> int | None:
        """Where the first line of a query begins, from the last part on."""
        at = self.taken
        if self._begins(query, at):
            return at
        while (at := self._bytes.find(b"\n" + query, at)) >= 0:
            at += 1
            if self._begins(query, at):
                return at
        return None

    def _begins(self, query: bytes, at: int) -> bool:
        end = at + len(query)
        return self._bytes[at:end] == query and self._bytes[end : end + 1] in (b" ", b"\t")
