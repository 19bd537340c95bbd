"""Lines of a text file, in blocks that depend on the file alone, never on who reads them."""

from __future__ import annotations

import codecs
import errno
import io
import json
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from mmap import mmap
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO, cast

import msgspec
from msgspec import Struct

from ragauge.errors import InputRejected, UsageError
from ragauge.text import json_hooks
from ragauge.text.json_hooks import JsonFault

BLOCK = 8 << 20
"""Bytes a worker takes at a time: large enough to be worth the hand-over, small in memory."""
MAX_LINE = 16 << 20
MAX_EXPANSION = 200
"""A compressed file that grows beyond this many times, past the first 32 MiB, is refused."""
EXPANSION_FREE = 32 << 20
MAX_WHOLE = 2 << 30
"""Bytes of a file that is read into memory as one; traces and TREC files are read in blocks."""
OVERLONG = f"the line is longer than {MAX_LINE >> 20} MiB"
STDIN = "-"

_BOM = b"\xef\xbb\xbf"
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_BITE = 1024
"""Compressed bytes unpacked at a time; small, because a few of them can stand for megabytes."""
_ZLIB_SAYS = "Error -3 while decompressing data: "
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UTF16 = (b"{\0", b"[\0", b"\0{", b"\0[")
_HTML = (b"<!doctype html", b"<html")
_UNPACK = "; unpack it, or pack it with gzip or zstd"
_FOREIGN = {
    b"PAR1": "is a Parquet file, not JSON text",
    b"PK\x03\x04": "is a zip archive" + _UNPACK,
    b"BZh": "is packed with bzip2" + _UNPACK,
    b"\xfd7zXZ": "is packed with xz" + _UNPACK,
    b"SQLite": "is a database, not JSON text",
}


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
        if len(content) < self.size:
            content += b"\n"  # a line that was cut is still a line, or the next have wrong numbers
        return content.removeprefix(_BOM) if self.start == 0 else content


def blocks(name: str) -> Iterator[Block]:
    """The blocks of a file; `.gz` and `.zst` by their first bytes, `-` for standard input."""
    if name == STDIN:
        yield from _streamed("stdin", _opened(sys.stdin.buffer, "stdin"))
        return
    with open_bytes(name) as file:
        head = file.peek(8192)[:8192]
        if head.startswith((_GZIP, _ZSTD, *_UTF16_MARKS)) or not Path(name).is_file():
            yield from _streamed(name, _opened(file, name))
        else:
            _refuse_binary(name, head)
            size, start = file.seek(0, os.SEEK_END), 0
            while start < size:
                end = _line_end(file, min(start + BLOCK, size), size)
                yield Block(name, start, end - start)
                start = end


def chunks_of(name: str) -> Iterator[bytes]:
    """The bytes of a file or of standard input, unpacked, in pieces that break anywhere."""
    if name == STDIN:
        yield from _opened(sys.stdin.buffer, "stdin")
        return
    with open_bytes(name) as file:
        yield from _opened(file, name)


def read_whole(name: str, *, long_lines: bool = False) -> bytes:
    """A small file's text, decompressed, without a byte order mark.

    Raises InputRejected where a line is longer than MAX_LINE, unless the reader looks itself.
    Lines that end with CR alone, as old Mac files do, end with LF; every position stays the same.
    """
    content = read_as_is(name)
    if not long_lines:
        refuse_long_lines(name, content, len(content))
    return content.replace(b"\r", b"\n") if b"\r" in content and b"\n" not in content else content


def read_as_is(name: str) -> bytes:
    """The same with line ends as they are, for texts in which offsets count."""
    parts, size = [], 0
    for block in blocks(name):
        parts.append(block.read())
        size += len(parts[-1])
        if size > MAX_WHOLE:
            raise InputRejected(
                f"{name}: is larger than {MAX_WHOLE >> 30} GiB, and is read into memory; split it"
            )
    return b"".join(parts)


def refuse_long_lines(name: str, content: bytes | mmap, size: int) -> None:
    """Raise InputRejected where a line is longer than MAX_LINE; few bytes are looked at."""
    start = 0
    while size - start > MAX_LINE:
        end = max(content.rfind(mark, start, start + MAX_LINE + 1) for mark in (b"\n", b"\r"))
        if end < 0:
            line = content[:start].count(b"\n") + 1
            raise InputRejected(f"{name}:{line}: {OVERLONG}; write one record a line")
        start = end + 1


def read_rows(name: str) -> bytes:
    """A file that must hold rows; raises InputRejected where it is empty."""
    content = read_whole(name)
    if not content.strip():
        fact = "has only empty lines" if content else "is empty"
        raise InputRejected(f"{name}: the file {fact}; write one row a line")
    return content


def head_of(name: str) -> bytes | None:
    """The first bytes of a file; None of a pipe, which could be read only once."""
    try:
        if not stat.S_ISREG(Path(name).stat().st_mode):
            return None
        with Path(name).open("rb") as file:
            return file.read(1 << 16)
    except (OSError, ValueError):
        return None


def beginning(name: str) -> bytes:
    """The first bytes of a file's text, unpacked; nothing of a pipe."""
    head = head_of(name) or b""
    if head.startswith((_GZIP, _ZSTD, *_UTF16_MARKS)):
        first = next(blocks(name), None)
        head = first.read()[: 1 << 16] if first else b""
    return head.removeprefix(_BOM)


def nothing_in(name: str) -> str | None:
    """That a file is empty, or has nothing but empty lines; None where there is something."""
    head = head_of(name)
    if head is None:
        return None
    if not head:
        return "the file is empty"
    return None if head.strip() or len(head) == 1 << 16 else "the file has only empty lines"


def size_of(name: str) -> int | None:
    """The bytes a progress bar counts to, None for a stream or a file that cannot be found."""
    try:
        return None if name == STDIN else Path(name).stat().st_size
    except (OSError, ValueError):
        return None


def open_bytes(name: str) -> io.BufferedReader:
    """A file to read bytes from; raises UsageError or InputRejected with the reason."""
    path = Path(name)
    try:
        return cast(io.BufferedReader, path.open("rb", buffering=1 << 16))
    except FileNotFoundError:
        raise UsageError(f"{name}: no such file") from None
    except IsADirectoryError:
        raise InputRejected(f"{name}: is a folder; name the files in it") from None
    except (OSError, ValueError) as error:
        if getattr(error, "errno", None) == errno.ELOOP:
            raise InputRejected(
                f"{name}: is a link that leads back to itself; name the file"
            ) from None
        raise InputRejected(f"{name}: cannot be read: {_reason(error)}") from None


def _refuse_binary(name: str, head: bytes) -> None:
    """Refuse what is not UTF-8 text at all; zeros within JSON lines are those lines' fault."""
    fact = next((fact for magic, fact in _FOREIGN.items() if head.startswith(magic)), None)
    if head.startswith(_UTF16):
        fact = "is UTF-16 text without a byte order mark; save it as UTF-8"
    elif head.removeprefix(_BOM).lstrip()[:20].lower().startswith(_HTML):
        fact = "is an HTML page, not data; a download may have given a sign-in or error page"
    elif b"\0" in head and not head.removeprefix(_BOM).lstrip().startswith((b"{", b"[")):
        fact = fact or "is binary, not JSON text"
    if fact:
        raise InputRejected(f"{name}: {fact}")


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
    source = _Counted(file)
    head = source.head()
    packed = head.startswith((_GZIP, _ZSTD))
    chunks = (
        _bounded(name, source, _unpacked(source, head))
        if packed
        else iter(lambda: source.read(1 << 20), b"")
    )
    try:
        first = next(chunks, b"")
        if first.startswith(_UTF16_MARKS):
            yield from _recoded(name, first, chunks)
            return
        _refuse_binary(name, first[:8192])
        yield first
        yield from chunks
    except (OSError, EOFError) as error:
        fact = "the compressed data is damaged" if packed else "cannot be read"
        raise InputRejected(f"{name}: {fact}: {_reason(error)}") from None


def _recoded(name: str, first: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """UTF-16 text as UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-16")()
    try:
        yield decoder.decode(first).encode()
        for chunk in chunks:
            yield decoder.decode(chunk).encode()
        decoder.decode(b"", final=True)
    except UnicodeError as error:
        raise InputRejected(f"{name}: is damaged UTF-16 text: {error}; save it as UTF-8") from None


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


def _unpacked(stream: _Counted, head: bytes) -> Iterator[bytes]:
    """The text of each gzip member or zstd frame in turn, as `cat a.gz b.gz` leaves them."""
    import zstandard

    zstd = head.startswith(_ZSTD)
    begin: Callable[[], Any] = (
        zstandard.ZstdDecompressor().decompressobj if zstd else partial(zlib.decompressobj, 31)
    )
    part, rest, parts = begin(), b"", 1
    while bite := rest or stream.read(_BITE):
        if part.eof:
            bite = bite.lstrip(b"\0")  # tapes and some tools pad with zeros
            if not bite:
                rest = b""
                continue
            part, parts = begin(), parts + 1
        try:
            yield part.decompress(bite)
        except (zlib.error, zstandard.ZstdError) as error:
            raise OSError(str(error) if parts == 1 else "other bytes follow its end") from None
        rest = part.unused_data if part.eof else b""
    if not part.eof:
        raise EOFError("it ends too early")


def _bounded(name: str, source: _Counted, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Chunks of a compressed stream, until it has grown beyond all reason."""
    given = 0
    for chunk in chunks:
        given += len(chunk)
        refuse_expansion(name, given, source.taken)
        yield chunk


def refuse_expansion(name: str, given: int, taken: int) -> None:
    """Raise InputRejected where the bytes taken from a file have grown beyond all reason."""
    if given > EXPANSION_FREE and given > MAX_EXPANSION * taken:
        raise InputRejected(
            f"{name}: expands more than {MAX_EXPANSION} times, like a decompression bomb; "
            "unpack it yourself and name the plain file"
        )


def _streamed(name: str, chunks: Iterator[bytes]) -> Iterator[Block]:
    """Blocks of whole lines from a stream; of an overlong line only the beginning is kept."""
    held, at, overlong = bytearray(), 0, False
    for chunk in chunks:
        if overlong:
            newline = chunk.find(b"\n")
            if newline < 0:
                continue
            overlong = False
            held += chunk[newline + 1 :]
        else:
            held += chunk
        if len(held) < BLOCK:
            continue
        end = held.rfind(b"\n") + 1
        if end:
            yield _held(name, at, bytes(held[:end]))
            del held[:end]
            at += end
        if len(held) > MAX_LINE:
            yield _held(name, at, bytes(held) + b"\n")
            at += len(held)
            held, overlong = bytearray(), True
    if held:
        yield _held(name, at, bytes(held))


def _held(name: str, at: int, content: bytes) -> Block:
    return Block(name, at, len(content), content.removeprefix(_BOM) if at == 0 else content)


def _reason(error: BaseException) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text.removeprefix(_ZLIB_SAYS).rstrip(".") or type(error).__name__


MAX_NESTING = 64
AT_ONCE = 1 << 28
"""Bytes of lines that are decoded together."""
_FLAT_ARRAYS = MAX_NESTING - 3
"""Arrays a line may hold and still not be too deep, where all its keys stand at the top."""

_decode = msgspec.json.Decoder().decode
_decode_lines = msgspec.json.Decoder().decode_lines
_encode = msgspec.json.Encoder().encode
_OUTSIDE_TEXTS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{\]}]', re.DOTALL)
_CUT_OFF = "; the text is cut off"
_REMEDIES = {"Extra data": "; write one object a line"}


class BadJson(Exception):
    """A text is not the JSON we accept; the message is the fact, without a place."""


def decode(line: bytes) -> Any:
    """The value of one JSON text: no duplicate keys, no NaN, no lone surrogates, no deep nesting.

    Each key is written with a colon, so a duplicate shows as a colon the decoded value does not
    account for: a clean line is decoded once, and only a suspect one again, by the slow reader
    that explains.
    """
    try:
        value = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadJson(_fault(line) or "not JSON") from None
    # A colon written as an escape would make up for a duplicate key's.
    if b"\\" not in line or b"\\u003" not in line or b"\\u003a" not in line.lower():
        colons = line.count(b":")
        arrays = line.count(b"[")
        if arrays <= _FLAT_ARRAYS and colons == _colons_of_flat(value):
            return value
        shallow = arrays + line.count(b"{") <= MAX_NESTING or _nesting_within_bounds(value)
        if shallow and colons == _encode(value).count(b":"):
            return value
    fault = _fault(line)
    if fault:
        raise BadJson(fault)
    return value


def decode_lines(content: bytes) -> list[Any] | None:
    """The values of lines of JSON objects, each as `decode` gives it, several times as quickly.

    None where they are not as clean as most are: then each line is to be decoded by itself.
    """
    return _decoded_lines(content, _decode_lines)


def decode_columns(content: bytes) -> dict[str, list[Any]] | None:
    """The same by key, where all lines have the keys of the first, and nothing is nested."""
    try:
        first = _decode(content.partition(b"\n")[0])
        if type(first) is not dict:
            return None
        names = {f"_{place}": key for place, key in enumerate(first)}
        fields = [(name, Any) for name in names]
        kind = msgspec.defstruct("Line", fields, rename=names, gc=False, forbid_unknown_fields=True)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError):
        return None
    values = _decoded_lines(content, msgspec.json.Decoder(kind).decode_lines, len(names))
    if values is None:
        return None
    return {key: [*map(attrgetter(name), values)] for name, key in names.items()}


def _decoded_lines(
    content: bytes, decoded: Callable[[bytes], list[Any]], keys: int | None = None
) -> list[Any] | None:
    """The values of lines, in each of which there are so many keys, where that is known."""
    lines = content.count(b"\n") + (not content.endswith(b"\n"))
    ends = content.count(b"}\n{") or content.count(b"}\r\n{")
    # A line end between two objects is one between two values; inside a value there is a comma.
    escaped = b"\\" in content and b"\\u003" in content
    if ends != lines - 1 or len(content) > AT_ONCE or escaped:
        return None
    flat = b"[" not in content and content.count(b"{") == lines
    try:
        values = decoded(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if len(values) != lines:
        return None
    if not flat and not (type(values[0]) is dict and _nesting_within_bounds(values)):
        return None
    if len(content) > MAX_LINE and max(map(len, content.split(b"\n"))) > MAX_LINE:
        return None
    colons = content.count(b":")
    if keys is not None and flat and colons == keys * lines:
        return values
    return values if colons == _encode(values).count(b":") else None


def _colons_of_flat(value: Any) -> int:
    """The colons of a record as most are: texts, flat objects, lists of flat objects.

    Colons in the texts of its parts are not looked for: a record that has some is counted in full.
    """
    if type(value) is not dict:
        return -1
    colons = len(value)
    for member in value.values():
        kind = type(member)
        if kind is str:
            if ":" in member:
                colons += member.count(":")
        elif kind is list:
            if member and type(member[0]) is dict:
                colons += sum([len(part) for part in member if type(part) is dict])
        elif kind is dict:
            colons += len(member)
    return colons


def _nesting_within_bounds(value: Any) -> bool:
    """Whether objects and arrays stand at most MAX_NESTING deep in each other."""
    level = [value]
    for _ in range(MAX_NESTING + 1):
        inner: list[Any] = []
        for part in level:
            if type(part) is dict:
                inner.append(part.values())
            elif type(part) is list:
                inner.append(part)
        if not inner:
            return True
        level = [member for part in inner for member in part]
    return False


def _fault(line: bytes) -> str | None:
    """What is wrong with a text, in words; None where nothing is."""
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        byte = f"byte {error.start + 1} (0x{line[error.start]:02x})"
        return f"not UTF-8 at {byte}; save the file as UTF-8"
    if text.startswith("\ufeff"):
        return "begins with a byte order mark, which only a file may; remove it"
    if _nesting(text) > MAX_NESTING:
        return f"nested deeper than {MAX_NESTING} levels"
    try:
        value = json.loads(
            text,
            object_pairs_hook=json_hooks.without_duplicates,
            parse_constant=json_hooks.no_constant,
            parse_float=json_hooks.finite,
            parse_int=json_hooks.integer,
        )
    except json.JSONDecodeError as error:
        return _syntax_fault(error, text)
    except JsonFault as fault:
        return str(fault)
    return _lone_surrogate(value)


def _syntax_fault(error: json.JSONDecodeError, text: str) -> str:
    line = f"line {error.lineno}, " if error.lineno > 1 else ""
    fact = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
    cut_off = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
    remedy = _CUT_OFF if cut_off else _REMEDIES.get(error.msg, "")
    return f"not JSON: {fact} at {line}column {error.colno}{remedy}"


def _nesting(text: str) -> int:
    """How deep brackets go, those inside strings aside."""
    depth = deepest = 0
    for match in _OUTSIDE_TEXTS.finditer(text):
        if match[0] in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif match[0] in "]}":
            depth -= 1
    return deepest


def _lone_surrogate(value: Any) -> str | None:
    text = json.dumps(value, ensure_ascii=False)
    lone = re.search("[\ud800-\udfff]", text)
    if not lone:
        return None
    return f"lone surrogate \\u{ord(lone[0]):04x} in a string: half a character; remove it"
