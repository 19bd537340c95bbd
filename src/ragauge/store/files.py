"""Files that appear whole or not at all: bytes, rows as Parquet, manifests."""

from __future__ import annotations

import hashlib
import os
import queue
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import msgspec

from ragauge.contracts.history import Seal
from ragauge.contracts.manifest import Manifest
from ragauge.errors import UsageError

if TYPE_CHECKING:
    import polars as pl

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
    from ragauge.ingest.manifest import NAMES, manifest_of
    from ragauge.ingest.records import BadJson, BadRecord, decode

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


GROUP_ROWS = 32_768
"""Rows of a Parquet row group: what is held in memory while it is encoded."""
AHEAD = 4
PATIENCE_S = 0.1


class RowWriter:
    """Takes frames one after the other; polars writes them in a thread of its own.

    Polars pulls frames from a source, while a runner pushes them as blocks are scored: a short
    queue joins the two, and leaves the main thread free to be interrupted.
    """

    def __init__(self, part: Path, path: Path) -> None:
        self._part, self._path = part, path
        self._frames: queue.Queue[pl.DataFrame | None] = queue.Queue(maxsize=AHEAD)
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None

    def add(self, frame: pl.DataFrame) -> None:
        """Take a frame; raises UsageError once the file can no longer be written."""
        self._refuse_failure()
        if self._thread is None:
            self._thread = threading.Thread(target=self._write, args=(frame.schema,), daemon=True)
            self._thread.start()
        self._put(frame)

    def close(self) -> None:
        """End the file; raises UsageError where it could not be written."""
        if self._thread is not None:
            self._put(None)
            self._thread.join()
        self._refuse_failure()

    def _refuse_failure(self) -> None:
        if self._failure is not None:
            raise UsageError(f"{self._path}: cannot be written: {self._failure}")

    def _put(self, frame: pl.DataFrame | None) -> None:
        """Hand a frame over, unless nobody will ever take it."""
        while self._thread is not None and self._thread.is_alive():
            try:
                self._frames.put(frame, timeout=PATIENCE_S)
                return
            except queue.Full:
                continue

    def _write(self, schema: Any) -> None:
        from polars.io.plugins import register_io_source

        try:
            rows = register_io_source(self._taken, schema=schema)
            rows.sink_parquet(self._part, row_group_size=GROUP_ROWS, statistics=False)
        except BaseException as failure:  # it belongs to the thread that called `add`
            self._failure = failure

    def _taken(self, *_unused: object) -> Iterator[pl.DataFrame]:
        while (frame := self._frames.get()) is not None:
            yield frame


@contextmanager
def parquet_rows(path: Path) -> Iterator[RowWriter]:
    """A writer whose rows become the file `path` when all went well, and nothing otherwise."""
    import polars  # noqa: F401 (for its handler)

    # Ctrl-C has to reach the main thread while polars works in another. Polars puts a handler of
    # its own below Python's when it is imported, and a query would keep the signal to itself;
    # setting Python's handler again takes that back.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.getsignal(signal.SIGINT))
    with whole(path) as part:
        writer = RowWriter(part, path)
        try:
            yield writer
        finally:
            writer.close()
