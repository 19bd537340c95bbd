"""Lines of a text file, in blocks that depend on the file alone, never on who reads them."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO

from msgspec import Struct

from ragauge.errors import InputRejected, UsageError

BLOCK = 4 << 20
"""Bytes a worker takes at a time: large enough to be worth the hand-over, small in memory."""
MAX_LINE = 16 << 20
MAX_EXPANSION = 200
"""A compressed file that grows beyond this many times, past the first 256 MiB, is refused."""
EXPANSION_FREE = 256 << 20
STDIN = "-"

_BOM = b"\xef\xbb\xbf"
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


class Block(Struct, frozen=True):
    """Whole lines of one file: bytes at hand, or a range for the reader to fetch.

    Of a line longer than MAX_LINE only enough is read to see that it is too long.
    """

    name: str
    start: int
    size: int
    content: bytes | None = None

    def read(self) -> bytes:
        """The bytes of the block, without a byte order mark."""
        if self.content is not None:
            return self.content
        with Path(self.name).open("rb") as file:
            file.seek(self.start)
            content = file.read(min(self.size, BLOCK + MAX_LINE + 1))
        return content.removeprefix(_BOM) if self.start == 0 else content


def blocks(name: str) -> Iterator[Block]:
    """The blocks of a file; `.gz` and `.zst` by their first bytes, `-` for standard input."""
    if name == STDIN:
        yield from _streamed("stdin", _opened(sys.stdin.buffer, "stdin"))
        return
    with _open(name) as file:
        head = file.peek(8192)[:8192]
        if head.startswith((_GZIP, _ZSTD)) or not Path(name).is_file():
            yield from _streamed(name, _opened(file, name))
        else:
            _refuse_binary(name, head)
            yield from _ranges(name, file)


def read_whole(name: str) -> bytes:
    """A small file's text, decompressed, without a byte order mark."""
    return b"".join(block.read() for block in blocks(name))


def size_of(name: str) -> int | None:
    """The bytes a progress bar counts to, None for a stream."""
    return None if name == STDIN else Path(name).stat().st_size


def _open(name: str) -> io.BufferedReader:
    path = Path(name)
    try:
        return path.open("rb", buffering=1 << 16)
    except FileNotFoundError:
        raise UsageError(f"{name}: no such file") from None
    except IsADirectoryError:
        raise InputRejected(f"{name}: is a folder; name the files in it") from None
    except OSError as error:
        raise InputRejected(f"{name}: cannot be read: {_reason(error)}") from None


def _refuse_binary(name: str, head: bytes) -> None:
    kinds = {b"PAR1": "a Parquet file", b"PK\x03\x04": "a zip archive", b"SQLite": "a database"}
    kind = next((kind for magic, kind in kinds.items() if head.startswith(magic)), None)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        kind = "UTF-16 text; save it as UTF-8"
    elif kind is None and b"\0" in head:
        kind = "binary"
    if kind:
        raise InputRejected(f"{name}: is {kind}, not JSON text")


def _ranges(name: str, file: BinaryIO) -> Iterator[Block]:
    """Byte ranges that end where a line ends."""
    size = file.seek(0, os.SEEK_END)
    start = 0
    while start < size:
        end = _line_end(file, min(start + BLOCK, size), size)
        yield Block(name, start, end - start)
        start = end


def _line_end(file: BinaryIO, at: int, size: int) -> int:
    """The first position past a newline, at or after `at`."""
    file.seek(at - 1)
    while chunk := file.read(1 << 16):
        found = chunk.find(b"\n")
        if found >= 0:
            return at + found
        at += len(chunk)
    return size


def _opened(file: BinaryIO, name: str) -> Iterator[bytes]:
    """Decompressed chunks of a stream, whatever it is compressed with."""
    counted = _Counted(file)
    head = counted.head()
    try:
        if head.startswith(_GZIP):
            yield from _bounded(name, counted, _plain(gzip.GzipFile(fileobj=counted)))
        elif head.startswith(_ZSTD):
            yield from _bounded(name, counted, _zstd(counted))
        else:
            _refuse_binary(name, head)
            yield from _plain(counted)
    except (OSError, EOFError, zlib.error) as error:
        raise InputRejected(f"{name}: the compressed data is damaged: {_reason(error)}") from None


class _Counted(io.RawIOBase):
    """A stream that can be looked into, and knows how many bytes were taken from it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._ahead = b""
        self.taken = 0

    def head(self) -> bytes:
        self._ahead = self._file.read(8192)
        return self._ahead

    def read(self, size: int = -1) -> bytes:
        if self._ahead:
            chunk, self._ahead = self._ahead[:size], self._ahead[size:] if size >= 0 else b""
        else:
            chunk = self._file.read(size)
        self.taken += len(chunk)
        return chunk


def _plain(stream: IO[bytes] | _Counted | gzip.GzipFile) -> Iterator[bytes]:
    while chunk := stream.read(1 << 20):
        yield chunk


def _zstd(stream: _Counted) -> Iterator[bytes]:
    """Fed in small bites, because a few bytes of zstd can stand for megabytes."""
    import zstandard

    decompressor = zstandard.ZstdDecompressor()
    frame, pending = decompressor.decompressobj(), b""
    started = False
    while bite := pending or stream.read(2048):
        if frame.eof:
            frame = decompressor.decompressobj()
        try:
            yield frame.decompress(bite)
        except zstandard.ZstdError as error:
            raise OSError(str(error)) from None
        pending, started = frame.unused_data if frame.eof else b"", True
    if started and not frame.eof:
        raise EOFError("it ends in the middle of a frame")


def _bounded(name: str, source: _Counted, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Chunks of a compressed stream, until it has grown beyond all reason."""
    given = 0
    for chunk in chunks:
        given += len(chunk)
        if given > EXPANSION_FREE and given > MAX_EXPANSION * source.taken:
            raise InputRejected(
                f"{name}: expands more than {MAX_EXPANSION} times, like a decompression bomb; "
                "unpack it yourself and name the plain file"
            )
        yield chunk


def _streamed(name: str, chunks: Iterator[bytes]) -> Iterator[Block]:
    """Blocks of whole lines from a stream; of an overlong line only the beginning is kept."""
    held, at, overlong = b"", 0, False
    for chunk in chunks:
        if overlong:
            newline = chunk.find(b"\n")
            if newline < 0:
                continue
            chunk, overlong = chunk[newline + 1 :], False
        held += chunk
        if len(held) < BLOCK:
            continue
        end = held.rfind(b"\n") + 1
        if end:
            yield _held(name, at, held[:end])
            held, at = held[end:], at + end
        if len(held) > MAX_LINE:
            yield Block(name, at, len(held), held)
            held, at, overlong = b"", at + len(held), True
    if held:
        yield _held(name, at, held)


def _held(name: str, at: int, content: bytes) -> Block:
    return Block(name, at, len(content), content.removeprefix(_BOM) if at == 0 else content)


def _reason(error: BaseException) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return (text or type(error).__name__).rstrip(".")
