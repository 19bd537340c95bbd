"""Files that appear whole or not at all: bytes and manifests."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import msgspec

from ragauge.contracts.history import Seal
from ragauge.contracts.manifest import Manifest
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


def make_folder(folder: Path) -> None:
    """Make a folder with those above it; on return the disk has them."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        sync(folder.parent)


def write_manifest(path: Path | str, manifest: Manifest) -> Manifest:
    """The manifest as it was written: with a hash over its fields where it had none.

    The file appears whole or not at all. What could not be read back is refused, all of it at
    once, and nothing is written.
    """
    from ragauge.ingest.fields import BadRecord
    from ragauge.ingest.lines import BadJson, decode
    from ragauge.ingest.manifest import NAMES, manifest_of

    if manifest == Manifest():
        raise UsageError(f"{path}: the manifest tells nothing; say how the index was made")
    try:
        made = manifest if manifest.hash else manifest.hashed()
        # The fields in order of their names, those of `extra` among the others.
        fields = msgspec.to_builtins(made)
        encoded = msgspec.json.encode({**fields.pop("extra", {}), **fields}, order="sorted")
        content = msgspec.json.format(encoded, indent=2) + b"\n"
    except (TypeError, ValueError, msgspec.MsgspecError) as error:
        raise UsageError(f"{path}: cannot be written as JSON: {error}") from None
    taken = sorted(NAMES & made.extra.keys())
    problems = [f"{path}: extra: {name} has a field of its own; put it there" for name in taken]
    try:
        manifest_of(decode(content))
    except BadRecord as bad:
        problems += [f"{path}: {field}" for field in bad.fields]
    except BadJson as fault:
        problems.append(f"{path}: {fault}")
    if problems:
        raise UsageError(*problems)
    write_whole(Path(path), content)
    return made
