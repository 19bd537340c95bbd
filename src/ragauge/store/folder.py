"""The files of runs in a folder beside an SQLite file."""

from __future__ import annotations

import math
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from sqlalchemy import Connection, select

from ragauge.contracts.history import NewRun, Run, Seal
from ragauge.errors import UsageError
from ragauge.store.database import Database
from ragauge.store.files import pieces_of, seal_of, sync
from ragauge.store.shelf import Brought, check_names, check_seal, given_pieces, missing, part_within
from ragauge.store.tables import runs


class FolderShelf:
    """One folder a run, which gets its name when all in it is on the disk.

    It is renamed while the database is locked for writing. So whoever holds that lock and finds
    a folder with the name of no run knows that a kill left it.
    """

    def __init__(self, folder: Path, database: Database) -> None:
        self._folder, self._database = folder, database

    @contextmanager
    def bring(self, run: NewRun, id: str) -> Iterator[Brought]:
        check_names(run)
        if not run.files:
            yield _Nothing()
            return
        part = self._folder / f".{id[:12]}-{uuid.uuid4().hex}.part"
        with _disk_words(self._folder):
            make_folder(self._folder)
            part.mkdir()
        brought = _Part(part, self._folder / id)
        try:
            _fill(part, run)
            yield brought
        except BaseException:
            if brought.kept:  # and yet the run did not become visible
                with suppress(UsageError):
                    self.clear([id])
            raise
        finally:
            shutil.rmtree(part, ignore_errors=True)

    @contextmanager
    def open(self, run: Run, name: str) -> Iterator[Path]:
        path = self._folder / run.id / name
        if name not in run.record.files or not path.is_file():
            raise missing(run, name)
        yield path

    def part(self, run: Run, name: str, start: int, stop: int) -> bytes:
        first, last = part_within(run, name, start, stop)
        try:
            with (self._folder / run.id / name).open("rb") as file:
                file.seek(first)
                return file.read(last - first)
        except OSError as error:
            raise missing(run, name) from error

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
                _remove(path)
        return [str(path) for path in swept]

    def _of_no_run(self, connection: Connection) -> list[Path]:
        if not self._folder.is_dir():
            return []
        # The folder is read first: a run that becomes visible meanwhile is then not taken for
        # a leftover.
        found = sorted(self._folder.iterdir())
        known = set(connection.execute(select(runs.c.id)).scalars())
        return [path for path in found if path.name not in known]


class _Nothing:
    """A run without files."""

    def keep(self, connection: Connection, number: int) -> None:
        return


class _Part:
    """A run's folder, under a temporary name until it is kept."""

    def __init__(self, part: Path, place: Path) -> None:
        self._part, self._place, self.kept = part, place, False

    def keep(self, connection: Connection, number: int) -> None:
        with _disk_words(self._place):
            if self._place.exists():  # of a writer killed before its run was visible
                shutil.rmtree(self._place)
            self._part.rename(self._place)
            self.kept = True
            sync(self._place.parent)


def make_folder(folder: Path) -> None:
    """Make a folder with those above it; on return the disk has them."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        sync(folder.parent)


def _fill(part: Path, run: NewRun) -> None:
    with _disk_words(part.parent):
        for name, path in sorted(run.files.items()):
            with (part / name).open("wb") as copy:
                seal = seal_of(_written(given_pieces(path), copy))
                copy.flush()
                os.fsync(copy.fileno())
            check_seal(path, run.record, name, seal)
        sync(part)


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
    return [path for path in paths if now - _last_change(path) >= older_than_s]


def _last_change(path: Path) -> float:
    try:
        inside = path.iterdir() if path.is_dir() else ()
        return max(float(each.stat().st_mtime) for each in (path, *inside))
    except FileNotFoundError:  # its writer has just given it its name
        return math.inf


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def _disk_words(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"{error.filename or path}: cannot be written: {error.strerror or error}; nothing of "
            "the run was kept"
        ) from error
