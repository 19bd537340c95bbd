"""A file packed by key: `zstd -d` reads it as JSON Lines, and the lines of one key are read alone.

For each key one frame of zstandard, in the order in which keys were first given: a line
`{"key": …}`, then the key's own lines. Behind them, in a frame that every decoder skips, an index:
the hash of each key with the place and the size of its frame, ordered by hash, and at the very end
how many there are. Hashes are uniform, so that a key's place in the index can be guessed.
"""

from __future__ import annotations

import hashlib
import struct
import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

import msgspec
import numpy as np
from msgspec import Struct

from ragauge.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Part = Callable[[int, int], bytes]
"""Bytes of a file from one place to another, fewer where it ends before."""
Hash = Callable[[str], int]
LONGEST = 64 << 20
"""Bytes of a key's lines, unpacked: a reader takes no more into memory."""
MAGIC, VERSION = b"RAGP", 1
INDEX = np.dtype([("hash", "<u8"), ("start", "<u8"), ("size", "<u4")])
SKIPPED = struct.Struct("<II")
SKIP = 0x184D2A5E
"""How a frame begins that decoders skip; its size follows."""
TRAILER = struct.Struct("<QI4s")
AHEAD = 1 << 20


class Group(Struct, frozen=True):
    """The lines of one key."""

    key: str
    lines: list[bytes]
    left_out: int
    """Lines before these, for which there was no room."""


class Head(Struct, frozen=True, omit_defaults=True):
    """The first line of a frame."""

    key: str
    left_out: int = 0


def key_hash(key: str) -> int:
    """Sixty-four bits by which the index finds a key."""
    return int.from_bytes(hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()[:8])


class Packed:
    """A packed file to look keys up in: three small reads for one, however many there are."""

    REACH = 64
    """Entries on either side of the guessed place, beside what chance moves them by."""
    ALIKE = 16
    """Keys that may share a hash; in a file with more the index is not what it should be."""

    def __init__(
        self, part: Part, size: int, name: str = "the packed file", hashed: Hash = key_hash
    ) -> None:
        self._part, self._size, self._name, self._hashed = part, size, name, hashed
        self._known: int | None = None

    def group(self, key: str) -> Group | None:
        """The lines of a key; None where the file has none. Raises UsageError where it is damaged.

        Where there were too many, they are the last, and the group says how many are left out.
        """
        for entry in self._found(self._hashed(key)):
            start, size = int(entry["start"]), int(entry["size"])
            group = self._unpacked(self._read(start, start + size))
            if group.key == key:
                return group
        return None

    def groups(self) -> Iterator[Group]:
        """Every key with its lines, in the order of the file, one in memory at a time."""
        entries = self._index(0, self._count)
        ahead, ahead_at = b"", 0
        for entry in entries[np.argsort(entries["start"], kind="stable")]:
            start, size = int(entry["start"]), int(entry["size"])
            if start < ahead_at or start + size > ahead_at + len(ahead):
                stop = min(max(start + size, start + AHEAD), self._index_at)
                ahead, ahead_at = self._read(start, stop), start
            yield self._unpacked(ahead[start - ahead_at : start - ahead_at + size])

    @property
    def _count(self) -> int:
        """How many keys there are, as the end of the file says."""
        if self._known is None:
            trailer = self._read(self._size - TRAILER.size, self._size)
            count, version, magic = TRAILER.unpack(trailer)
            if magic != MAGIC:
                raise self._damaged("it does not end with an index")
            if version != VERSION:
                raise UsageError(
                    f"{self._name}: is packed in version {version}, and this Ragauge reads "
                    f"version {VERSION}; read it with a newer one"
                )
            if count * INDEX.itemsize + SKIPPED.size + TRAILER.size > self._size:
                raise self._damaged("its index is larger than the file")
            self._known = count
        return self._known

    @property
    def _index_at(self) -> int:
        return self._size - TRAILER.size - self._count * INDEX.itemsize

    def _index(self, start: int, stop: int) -> NDArray[np.void]:
        at, width = self._index_at, INDEX.itemsize
        return np.frombuffer(self._read(at + start * width, at + stop * width), dtype=INDEX)

    def _found(self, hash: int) -> NDArray[np.void]:
        """The entries of a hash: looked for where they should be, then in halves of the rest."""
        low, high = 0, self._count
        middle, reach = hash * high >> 64, self.REACH + 2 * int(high**0.5)
        while low < high:
            start, stop = max(low, middle - reach), min(high, middle + reach)
            window = self._index(start, stop)
            first = int(np.searchsorted(window["hash"], np.uint64(hash)))
            if first == 0 and start > low:
                high = start
            elif first == len(window) and stop < high:
                low = stop
            else:
                low = high = start + first
                break
            middle = (low + high) // 2
        entries = self._index(low, min(low + self.ALIKE + 1, self._count))
        alike = int(np.searchsorted(entries["hash"], np.uint64(hash), side="right"))
        if alike > self.ALIKE:
            raise self._damaged("its index has too many keys of one hash")
        return entries[:alike]

    def _unpacked(self, frame: bytes) -> Group:
        import zstandard

        try:
            size = zstandard.get_frame_parameters(frame).content_size
            if not 0 < size <= LONGEST:
                limit = f"{LONGEST >> 20} MiB"
                raise self._damaged(f"a key has {size:,} bytes, where at most {limit} can be")
            text = zstandard.ZstdDecompressor().decompress(frame, max_output_size=LONGEST)
            head, *lines = text.removesuffix(b"\n").split(b"\n")
            told = msgspec.json.decode(head, type=Head)
        except (zstandard.ZstdError, msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._damaged(str(error)) from None
        return Group(told.key, lines, told.left_out)

    def _read(self, start: int, stop: int) -> bytes:
        read = self._part(start, stop) if 0 <= start <= stop <= self._size else b""
        if len(read) != stop - start:
            raise self._damaged("it is shorter than it says")
        return read

    def _damaged(self, fact: str) -> UsageError:
        return UsageError(
            f"{self._name}: is damaged: {fact}; `ragauge runs verify` looks through all runs"
        )


def groups_in(path: Path, name: str = "") -> Iterator[Group]:
    """Every key of a packed file with its lines; `name` is what errors call the file."""
    with path.open("rb") as file:

        def part(start: int, stop: int) -> bytes:
            file.seek(start)
            return file.read(stop - start)

        yield from Packed(part, path.stat().st_size, name or str(path)).groups()


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
            if not spool.hashes:
                return 0
            with path.open("wb") as out:
                return _write(out, spool)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from error


class _Spool:
    """Records as they came, found again by the hash of their key."""

    def __init__(self, file: IO[bytes], hashed: Hash) -> None:
        self._file, self._hashed = file, hashed
        self.hashes, self._ends, self._key_sizes = array("Q"), array("Q", [0]), array("I")

    def add(self, key: str, line: bytes) -> None:
        name = key.encode()
        self._file.write(name)
        self._file.write(line)
        self.hashes.append(self._hashed(key))
        self._key_sizes.append(len(name))
        self._ends.append(self._ends[-1] + len(name) + len(line))

    def groups(self) -> Iterator[tuple[int, Group]]:
        """Each key's hash and lines, in the order in which keys were first given."""
        hashes = np.frombuffer(self.hashes, dtype=np.uint64)
        order = np.argsort(hashes, kind="stable")
        starts = np.flatnonzero(np.diff(hashes[order], prepend=~hashes[order[:1]]))
        stops = np.append(starts[1:], len(order))
        # Keys of one hash come one after another, at the place of the first of them.
        for which in np.argsort(order[starts], kind="stable").tolist():
            alike = order[starts[which] : stops[which]].tolist()
            for key, places in self._by_key(alike).items():
                yield self.hashes[places[0]], self._group(key, places)

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
