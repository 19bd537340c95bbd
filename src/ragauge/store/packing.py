"""Writing a file packed by key: records in any order, little memory, the same bytes every time."""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

import msgspec
import numpy as np

from ragauge.errors import UsageError
from ragauge.store.packed import (
    INDEX,
    LONGEST,
    MAGIC,
    SKIP,
    SKIPPED,
    TRAILER,
    VERSION,
    Group,
    Hash,
    Head,
    key_hash,
)

LEVEL = 3
"""How hard zstandard tries; another level would give other bytes."""


def pack(path: Path, records: Iterable[tuple[str, bytes]], hashed: Hash = key_hash) -> int:
    """How many keys were written to a new file; there is none where there are no records.

    Records are keys with a line each, in any order; the same records give the same bytes. Of a key
    with more than LONGEST bytes the last lines are kept. Memory grows by some bytes a record; the
    lines wait in a file without a name, which is gone however this ends.
    """
    try:
        with tempfile.TemporaryFile(dir=path.parent) as file:
            spool = _Spool(file, hashed)
            for key, line in records:
                spool.add(key, line)
            if not spool.filled:
                return 0
            with path.open("wb") as out:
                return _write(out, spool)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from error


class _Spool:
    """Records as they came, found again by the hash of their key."""

    def __init__(self, file: IO[bytes], hashed: Hash) -> None:
        self._file, self._hashed = file, hashed
        self._hashes, self._ends, self._key_sizes = array("Q"), array("Q", [0]), array("I")

    @property
    def filled(self) -> bool:
        return bool(self._hashes)

    def add(self, key: str, line: bytes) -> None:
        name = key.encode()
        self._file.write(name)
        self._file.write(line)
        self._hashes.append(self._hashed(key))
        self._key_sizes.append(len(name))
        self._ends.append(self._ends[-1] + len(name) + len(line))

    def groups(self) -> Iterator[tuple[int, Group]]:
        """Each key's hash and lines, in the order in which keys were first given."""
        hashes = np.frombuffer(self._hashes, dtype=np.uint64)
        order = np.argsort(hashes, kind="stable")
        starts = np.flatnonzero(np.diff(hashes[order], prepend=~hashes[order[:1]]))
        stops = np.append(starts[1:], len(order))
        # Keys of one hash come one after another, at the place of the first of them.
        for which in np.argsort(order[starts], kind="stable").tolist():
            alike = order[starts[which] : stops[which]].tolist()
            for key, places in self._by_key(alike).items():
                yield self._hashes[places[0]], self._group(key, places)

    def _by_key(self, places: list[int]) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for place in places:
            start, size = self._ends[place], self._key_sizes[place]
            found.setdefault(self._read(start, start + size).decode(), []).append(place)
        return found

    def _group(self, key: str, places: list[int]) -> Group:
        room = LONGEST - len(msgspec.json.encode(Head(key, len(places)))) - 1
        lines: list[bytes] = []
        for place in reversed(places):
            start = self._ends[place] + self._key_sizes[place]
            room -= self._ends[place + 1] - start + 1
            if room < 0:
                break
            lines.append(self._read(start, self._ends[place + 1]))
        return Group(key, lines[::-1], len(places) - len(lines))

    def _read(self, start: int, stop: int) -> bytes:
        self._file.seek(start)
        return self._file.read(stop - start)


def _write(out: IO[bytes], spool: _Spool) -> int:
    import zstandard

    packer = zstandard.ZstdCompressor(level=LEVEL, write_checksum=False, write_content_size=True)
    hashes, starts, sizes = array("Q"), array("Q"), array("I")
    at = 0
    for hash, group in spool.groups():
        head = msgspec.json.encode(Head(group.key, group.left_out))
        frame = packer.compress(b"\n".join([head, *group.lines, b""]))
        out.write(frame)
        hashes.append(hash)
        starts.append(at)
        sizes.append(len(frame))
        at += len(frame)
    entries = np.empty(len(hashes), dtype=INDEX)
    entries["hash"], entries["start"], entries["size"] = hashes, starts, sizes
    entries = entries[np.argsort(entries["hash"], kind="stable")]
    out.write(SKIPPED.pack(SKIP, entries.nbytes + TRAILER.size))
    out.write(entries.tobytes())
    out.write(TRAILER.pack(len(entries), VERSION, MAGIC))
    return len(entries)
