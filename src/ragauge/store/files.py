"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ragauge.errors import UsageError


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
