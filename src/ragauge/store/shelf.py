"""The files of runs: in a folder next to an SQLite file, or in the tables of a server."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO

from sqlalchemy import ColumnElement, Connection, LargeBinary, Select, func, insert, select

from ragauge.contracts.archive import is_file_name
from ragauge.contracts.history import NewRun, Run, RunRecord, Seal
from ragauge.errors import InputRejected, UsageError
from ragauge.store.database import Database
from ragauge.store.files import PIECE, make_folder, pieces_of, seal_of, sync
from ragauge.store.tables import file_pieces, runs

Keep = Callable[[Connection, int], None]
"""Gives files their place, inside the transaction that makes the run of that number visible."""


class Shelf(ABC):
    """The place of the files."""

    @abstractmethod
    def bring(self, run: NewRun, id: str) -> AbstractContextManager[Keep]:
        """Take copies; raises InputRejected where a file is not as the record seals it."""

    @abstractmethod
    def open(self, run: Run, name: str) -> AbstractContextManager[Path]:
        """A file, readable while the context lasts."""

    @abstractmethod
    def found(self, connection: Connection, id: str, name: str) -> Seal | None:
        """What a file is now; None where it is not there."""

    @abstractmethod
    def _bytes(self, id: str, name: str, first: int, last: int) -> bytes:
        """What a file has between two bytes; raises OSError or LookupError where it has not."""

    def part(self, run: Run, name: str, start: int, stop: int) -> bytes:
        """Bytes of a file, fewer where it ends before; no more of it is read."""
        seal = run.record.files.get(name)
        if seal is None:
            raise _missing(run, name)
        first = min(max(start, 0), seal.size)
        try:
            return self._bytes(run.id, name, first, min(max(stop, first), seal.size))
        except (OSError, LookupError) as error:
            raise _missing(run, name) from error

    def clear(self, ids: Iterable[str]) -> None:
        """Remove the files of runs that are gone; those in tables went with their runs."""
        return

    def leftovers(self) -> list[str]:
        """Files of no run; among them may be those of a writer at work."""
        return []

    def sweep(self, older_than_s: float) -> list[str]:
        """Remove the leftovers of that age; what was removed."""
        return []


def _check_names(run: NewRun) -> None:
    """Refuse files other than the record has sealed, and names that lead out of the folder."""
    sealed, given = set(run.record.files), set(run.files)
    problems = [
        *(f"{name}: is sealed in the run's record and not given" for name in sealed - given),
        *(f"{name}: is given and not sealed in the run's record" for name in given - sealed),
        *(f"{name!r}: is no name for a file" for name in given if not is_file_name(name)),
    ]
    if problems:
        raise InputRejected(*sorted(problems))


def _check_seal(path: Path, record: RunRecord, name: str, seal: Seal) -> None:
    """Refuse a file that is not what the run's record says."""
    if seal != record.files[name]:
        raise InputRejected(
            f"{path}: is not the file the run's record has sealed as {name}; it may have changed "
            "since"
        )


def _missing(run: Run, name: str) -> UsageError:
    """The error for a file that is not there."""
    if name in run.record.files:
        return UsageError(
            f"run {run.shown}: its file {name} is gone; `ragauge runs verify` says what else is"
        )
    has = ", ".join(sorted(run.record.files)) or "none"
    return UsageError(f"run {run.shown}: was recorded without {name}; the files it has: {has}")


def _given_pieces(path: Path) -> Iterator[bytes]:
    """The content of a file to be kept; raises UsageError where it cannot be read."""
    try:
        yield from pieces_of(path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error


class FolderShelf(Shelf):
    """One folder a run, which gets its name when all in it is on the disk.

    It is renamed while the database is locked for writing. So whoever holds that lock and finds
    a folder with the name of no run knows that a kill left it.
    """

    def __init__(self, folder: Path, database: Database) -> None:
        self._folder, self._database = folder, database

    @contextmanager
    def bring(self, run: NewRun, id: str) -> Iterator[Keep]:
        _check_names(run)
        if not run.files:
            yield lambda connection, number: None
            return
        part, place = self._folder / f".{id[:12]}-{uuid.uuid4().hex}.part", self._folder / id
        kept = False

        def keep(connection: Connection, number: int) -> None:
            nonlocal kept
            with _disk_words(place):
                if place.exists():  # of a writer killed before its run was visible
                    shutil.rmtree(place)
                part.rename(place)
                kept = True
                sync(self._folder)

        with _disk_words(self._folder):
            make_folder(self._folder)
            part.mkdir()
        try:
            with _disk_words(self._folder):
                for name, path in sorted(run.files.items()):
                    with (part / name).open("wb") as copy:
                        seal = seal_of(_written(_given_pieces(path), copy))
                        copy.flush()
                        os.fsync(copy.fileno())
                    _check_seal(path, run.record, name, seal)
                sync(part)
            yield keep
        except BaseException:
            if kept:  # and yet the run did not become visible
                with suppress(UsageError):
                    self.clear([id])
            raise
        finally:
            shutil.rmtree(part, ignore_errors=True)

    @contextmanager
    def open(self, run: Run, name: str) -> Iterator[Path]:
        path = self._folder / run.id / name
        if name not in run.record.files or not path.is_file():
            raise _missing(run, name)
        yield path

    def _bytes(self, id: str, name: str, first: int, last: int) -> bytes:
        with (self._folder / id / name).open("rb") as file:
            file.seek(first)
            return file.read(last - first)

    def found(self, connection: Connection, id: str, name: str) -> Seal | None:
        try:
            return seal_of(pieces_of(self._folder / id / name))
        except OSError:
            return None

    def clear(self, ids: Iterable[str]) -> None:
        with self._database.altering() as connection:
            for id in ids:
                known = connection.execute(select(runs.c.number).where(runs.c.id == id)).first()
                if known is None:
                    shutil.rmtree(self._folder / id, ignore_errors=True)

    def leftovers(self) -> list[str]:
        with self._database.reading() as connection:
            return [str(path) for path in self._of_no_run(connection)]

    def sweep(self, older_than_s: float) -> list[str]:
        with self._database.altering() as connection:
            swept = _settled(self._of_no_run(connection), self._folder, older_than_s)
            for path in swept:
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink(missing_ok=True)
        return [str(path) for path in swept]

    def _of_no_run(self, connection: Connection) -> list[Path]:
        if not self._folder.is_dir():
            return []
        # The folder is read first: a run that becomes visible meanwhile is then not taken for
        # a leftover.
        found = sorted(self._folder.iterdir())
        known = set(connection.execute(select(runs.c.id)).scalars())
        return [path for path in found if path.name not in known]


def _written(pieces: Iterable[bytes], copy: BinaryIO) -> Iterator[bytes]:
    for piece in pieces:
        copy.write(piece)
        yield piece


def _settled(paths: list[Path], folder: Path, older_than_s: float) -> list[Path]:
    """The paths that nothing was done to for so long, by the clock of the disk they are on."""
    if not paths:
        return []
    with tempfile.NamedTemporaryFile(dir=folder) as touched:
        now = Path(touched.name).stat().st_mtime
    settled = []
    for path in paths:
        with suppress(FileNotFoundError):  # its writer has just given it its name
            inside = path.iterdir() if path.is_dir() else ()
            if now - max(each.stat().st_mtime for each in (path, *inside)) >= older_than_s:
                settled.append(path)
    return settled


@contextmanager
def _disk_words(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"{error.filename or path}: cannot be written: {error.strerror or error}; nothing of "
            "the run was kept"
        ) from error


class PieceShelf(Shelf):
    """Files cut into rows; they come and go with their run, in its transactions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @contextmanager
    def bring(self, run: NewRun, id: str) -> Iterator[Keep]:
        _check_names(run)

        def keep(connection: Connection, number: int) -> None:
            for name, path in sorted(run.files.items()):
                seal = seal_of(_sent(connection, number, name, _given_pieces(path)))
                _check_seal(path, run.record, name, seal)

        yield keep

    @contextmanager
    def open(self, run: Run, name: str) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="ragauge-") as folder:
            path = Path(folder) / name
            with self._database.reading() as connection:
                if name not in run.record.files or not _has(connection, run.id, name):
                    raise _missing(run, name)
                with path.open("wb") as file:
                    file.writelines(_kept(connection, run.id, name))
            yield path

    def _bytes(self, id: str, name: str, first: int, last: int) -> bytes:
        with self._database.reading() as connection:
            return b"".join(_cut(connection, id, name, first, last))

    def found(self, connection: Connection, id: str, name: str) -> Seal | None:
        return seal_of(_kept(connection, id, name)) if _has(connection, id, name) else None


def _sent(
    connection: Connection, number: int, name: str, pieces: Iterable[bytes]
) -> Iterator[bytes]:
    for place, piece in enumerate(pieces):
        row = {"run": number, "name": name, "number": place, "content": piece}
        connection.execute(insert(file_pieces), row)
        yield piece


def _has(connection: Connection, id: str, name: str) -> bool:
    return next(_kept(connection, id, name), None) is not None


def _kept(connection: Connection, id: str, name: str) -> Iterator[bytes]:
    """The pieces of a file, fetched one by one."""
    for place in count():
        row = connection.execute(_piece(file_pieces.c.content, id, name, place)).first()
        if row is None:
            return
        yield bytes(row[0])


def _cut(connection: Connection, id: str, name: str, first: int, last: int) -> Iterator[bytes]:
    """What the pieces have between two bytes; raises LookupError where one is not there.

    The server cuts them, so that what is not asked for does not travel. All pieces but the last
    are of one size.
    """
    end = max(last - 1, 0)
    for place in range(min(first, end) // PIECE, end // PIECE + 1):
        start = max(first - place * PIECE, 0)
        length = min(last - place * PIECE, PIECE) - start
        cut = func.substr(file_pieces.c.content, start + 1, length, type_=LargeBinary)
        row = connection.execute(_piece(cut, id, name, place)).first()
        if row is None or len(row[0]) != length:
            raise LookupError
        yield bytes(row[0])


def _piece(content: ColumnElement[bytes], id: str, name: str, place: int) -> Select[Any]:
    return (
        select(content)
        .join(runs, runs.c.number == file_pieces.c.run)
        .where(runs.c.id == id, file_pieces.c.name == name, file_pieces.c.number == place)
    )
