"""A history in an SQLite file."""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import QueuePool

from ragauge.contracts.history import NoHistory
from ragauge.errors import UsageError
from ragauge.store.database import Database, bring_up_to_date, json_text
from ragauge.store.folder import make_folder
from ragauge.store.places import LocalPlace
from ragauge.store.tables import HEAD

_WRITABLE, _READABLE, _FROZEN = "mode=rwc", "mode=ro", "mode=ro&immutable=1"

_WORDS = {
    "SQLITE_FULL": "the disk is full: nothing of this was kept, and what was recorded before is "
    "safe; make room and try again",
    "SQLITE_READONLY": "cannot be written; look who owns the file and its folder, or name another "
    "store",
    "SQLITE_NOTADB": "is no SQLite database; move the file away, or name another store",
    "SQLITE_CANTOPEN": "cannot be opened; look who owns the file and its folder, or name another "
    "store",
    "SQLITE_CORRUPT": "the database is damaged; restore it from a copy, or move it away and import "
    "what was exported",
    "SQLITE_IOERR": "the disk refused: it is full or failing; nothing of this was kept",
}


class Sqlite(Database):
    """SQLite: one writer at a time, readers beside it."""

    reads = {"ragauge_begin": "BEGIN"}  # noqa: RUF012 (never changed)
    writes = {"ragauge_begin": "BEGIN IMMEDIATE"}  # noqa: RUF012

    def __init__(self, path: Path, patience_s: float, mode: str) -> None:
        self._path, self._mode = path, mode
        super().__init__(_engine(path, patience_s, mode), str(path), patience_s)

    def queue_up(self, connection: Connection, *, alone: bool = False) -> None:
        """Nothing: BEGIN IMMEDIATE has waited already, and SQLite has one writer at a time."""

    def is_sound(self, connection: Connection) -> bool:
        """Whether SQLite finds its own pages and indexes in order."""
        return str(connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar()) == "ok"

    def prepare(self, version: str | None) -> None:
        """Let readers and a writer work beside each other, for good (a write-ahead log)."""
        if self._mode != _WRITABLE:
            raise UsageError(
                f"{self.shown}: the history is of version {version or 'none'} and has to be "
                f"brought to {HEAD}, but it cannot be written; let its owner open it once"
            )
        try:
            with _alone(self._path.parent), closing(self._engine.raw_connection()) as connection:
                connection.cursor().execute("PRAGMA journal_mode = WAL")
        except sqlite3.Error as error:
            raise UsageError(f"{self.shown}: {self.words(error)}") from error

    def words(self, failure: BaseException) -> str:
        name = getattr(failure, "sqlite_errorname", "")
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return (
                f"another process has kept it locked for {self.patience_s:g} s; try again when "
                "that has ended"
            )
        for beginning, words in _WORDS.items():
            if name.startswith(beginning):
                return words
        return str(failure)


def open_sqlite(place: LocalPlace, *, create: bool, patience_s: float) -> Sqlite:
    """The database of a place, made or upgraded where need be; raises UsageError."""
    path = place.database
    if path.is_dir():
        raise UsageError(f"{path}: is a folder, where the history's database should be")
    if not _is_there(path):
        if not create:
            raise NoHistory(f"{path}: there is no history yet; record a run with --record")
        _make_folder(place)
    database = Sqlite(path, patience_s, _mode(path))
    try:
        bring_up_to_date(database, create=create)
    except BaseException:
        database.close()
        raise
    return database


def _is_there(path: Path) -> bool:
    """Whether there is a file; raises UsageError for a loop of links, which is no empty history."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        looped = error.errno == errno.ELOOP
        fact = "is a link that leads back to itself" if looped else error.strerror
        raise UsageError(f"{path}: {fact}; name another store") from error
    return True


def _engine(path: Path, patience_s: float, mode: str) -> Engine:
    address = f"file:{quote(str(path.absolute()))}?{mode}"

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(
            address, uri=True, timeout=patience_s, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA synchronous = FULL")
        except UnicodeDecodeError as error:  # SQLite quotes the damage, and that is no text
            connection.close()
            raise sqlite3.DatabaseError(_WORDS["SQLITE_CORRUPT"]) from error
        return connection

    engine = create_engine(
        "sqlite://", creator=connect, poolclass=QueuePool, json_serializer=json_text
    )
    event.listen(engine, "begin", _begin)
    return engine


def _begin(connection: Connection) -> None:
    """Begin by hand: left alone, Python begins late, and then a writer may find it is too late."""
    connection.exec_driver_sql(connection.get_execution_options().get("ragauge_begin", "BEGIN"))


def _make_folder(place: LocalPlace) -> None:
    folder = place.database.parent
    try:
        make_folder(folder)
        if place.own_folder and not any(folder.iterdir()):
            (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    except FileExistsError as error:
        raise UsageError(
            f"{error.filename}: is a file, where a folder should be; name another store"
        ) from error
    except OSError as error:
        raise UsageError(
            f"{error.filename or folder}: cannot be made: {error.strerror}; name another store"
        ) from error


def _mode(path: Path) -> str:
    """How to open the file: for reading only where it cannot be written.

    SQLite then needs the shared memory of a writer at work. Where there is none and none can be
    made, the file stands still and is read as it is, unless a writer left changes beside it.
    """
    if os.access(path if path.exists() else path.parent, os.W_OK) and os.access(
        path.parent, os.W_OK
    ):
        return _WRITABLE
    if not path.exists():
        raise UsageError(f"{path.parent}: cannot be written; name another store")
    log = path.with_name(f"{path.name}-wal")
    left = log.exists() and log.stat().st_size > 0
    return _READABLE if left else _FROZEN


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Others wait here: SQLite does not queue those who set the journal mode of a new file."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network folders cannot be locked; then the first may win
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
