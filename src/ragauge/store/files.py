"""Files that appear whole or not at all, and what their bytes are."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from ragauge.contracts.history import Seal
from ragauge.errors import UsageError

PIECE = 1 << 20
"""Bytes of a file that are in memory at a time, and of its pieces on a server: another number
would make the files of older histories unreadable in part."""


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under a temporary name, make it durable, then give it its own name."""
    with whole(path) as part:
        part.write_bytes(content)


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A temporary neighbour to write to, renamed to `path` when all went well, else removed."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.touch()
        yield part
        sync(part)
        part.replace(path)
        sync(path.parent)
    except FileNotFoundError as error:
        raise UsageError(
            f"{path}: the folder {path.parent} does not exist; make it first"
        ) from error
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            part.unlink()


def sync(path: Path) -> None:
    """Return when the disk has what is in a file, or the names that are in a folder."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def pieces_of(path: Path) -> Iterator[bytes]:
    """The content of a file, a piece at a time; an empty file is one empty piece."""
    with path.open("rb") as file:
        yield from pieces_in(file)


def pieces_in(file: IO[bytes]) -> Iterator[bytes]:
    """The rest of an open file, a piece at a time; one empty piece where there is none."""
    piece = file.read(PIECE)
    yield piece
    while piece := file.read(PIECE):
        yield piece


def seal_of(pieces: Iterable[bytes]) -> Seal:
    """The hash and the length of what the pieces make up."""
    digest, size = hashlib.sha256(), 0
    for piece in pieces:
        digest.update(piece)
        size += len(piece)
    return Seal(sha256=digest.hexdigest(), size=size)
