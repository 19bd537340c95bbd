"""A database that holds a history: complete transactions, failures in words; SQLite, PostgreSQL."""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import (
    Connection,
    Engine,
    Table,
    Text,
    column,
    create_engine,
    event,
    inspect,
    make_url,
    select,
    table,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import QueuePool

from ragauge.contracts.history import NoHistory, canonical
from ragauge.errors import InputRejected, UsageError
from ragauge.store.files import make_folder
from ragauge.store.history import PATIENCE_S
from ragauge.store.places import LocalPlace, ServerPlace
from ragauge.store.tables import HEAD, VERSION_TABLE, metadata
from ragauge.text.visible import one_line

BATCH = 2_000
"""Rows sent at a time: enough to be quick, too few to matter in memory."""


class Database(ABC):
    """One of the two kinds of database, opened."""

    reads: dict[str, Any]
    writes: dict[str, Any]
    opened = False
    """Whether it was reached once, and its tables are those of today."""

    def __init__(self, engine: Engine, shown: str, patience_s: float) -> None:
        self._engine, self.shown, self.patience_s = engine, shown, patience_s

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A snapshot: however many questions are asked, the answers are of one moment."""
        with self._transaction(self.reads) as connection:
            yield connection

    @contextmanager
    def writing(self, *, alone: bool = False) -> Iterator[Connection]:
        """A transaction that is durable when the context ends, or leaves nothing."""
        with self._transaction(self.writes) as connection:
            self.queue_up(connection, alone=alone)
            _refuse_newer(version_of(connection), self.shown)
            yield connection

    def altering(self) -> AbstractContextManager[Connection]:
        """A transaction during which nobody else writes."""
        return self.writing(alone=True)

    @abstractmethod
    def queue_up(self, connection: Connection, *, alone: bool = False) -> None:
        """Wait until this transaction may write."""

    def is_sound(self, connection: Connection) -> bool:
        """Whether the database finds no damage in itself; a server looks after its own."""
        return True

    @abstractmethod
    def prepare(self, version: str | None) -> None:
        """What has to be done before the tables of that version can be made or upgraded."""

    @abstractmethod
    def words(self, failure: BaseException) -> str:
        """What a failure of the database means for its user, and what to do."""

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def _transaction(self, options: dict[str, Any]) -> Iterator[Connection]:
        try:
            with self._engine.connect() as plain:
                connection = plain.execution_options(**options)
                with connection.begin():
                    yield connection
        except DBAPIError as error:
            raise UsageError(f"{self.shown}: {self.words(error.orig or error)}") from error
        except OverflowError as error:
            raise InputRejected(
                f"{self.shown}: a number is too large for a database; nothing of this was kept"
            ) from error


def version_of(connection: Connection) -> str | None:
    """The version of the tables; None where there is no history yet."""
    if not connection.dialect.has_table(connection, VERSION_TABLE):
        return None
    held = select(column("version_num", Text)).select_from(table(VERSION_TABLE))
    return ", ".join(map(str, connection.execute(held).scalars())) or None


def open_database(
    place: LocalPlace | ServerPlace, *, create: bool, patience_s: float = PATIENCE_S
) -> Database:
    """The database of a place, made or upgraded where need be; raises UsageError."""
    database: Database
    if isinstance(place, LocalPlace):
        database = Sqlite(place, patience_s, create=create)
    else:
        database = Postgres(place, patience_s)
    try:
        bring_up_to_date(database, create=create)
    except BaseException:
        database.close()
        raise
    database.opened = True
    return database


def bring_up_to_date(database: Database, *, create: bool) -> None:
    """Make or upgrade the tables where need be; raises UsageError where that may not be."""
    shown = database.shown
    with database.reading() as connection:
        version = version_of(connection)
        _refuse_newer(version, shown)
        if version == HEAD:
            return
        from ragauge.store.migrations import written_versions

        versioned = connection.dialect.has_table(connection, VERSION_TABLE)
        if (version is not None or versioned) and version not in written_versions():
            raise UsageError(
                f'{shown}: the history is of version "{one_line(version or "", 40)}", which no '
                "Ragauge has written; restore the database from a copy, or name another store"
            )
        if version is None and not create:
            raise NoHistory(f"{shown}: there is no history yet; record a run with --record")
        if version is None:
            # Another program's SQLite file, or a schema in which it has tables by our names.
            theirs = sorted(inspect(connection).get_table_names())
            if connection.dialect.name == "postgresql":
                theirs = [name for name in theirs if name in metadata.tables]
            if theirs:
                raise UsageError(
                    f"{shown}: is another program's: it has a table {theirs[0]} and none that "
                    "says it is Ragauge's; name another store, or give Ragauge a schema of its own"
                )
    database.prepare(version)
    with database.altering() as connection:
        version = version_of(connection)  # another process may have been first
        if version != HEAD:
            from ragauge.store.migrations import upgrade

            upgrade(connection, version)


def _refuse_newer(version: str | None, shown: str) -> None:
    """Refuse tables that a later Ragauge made: it may mean something else by them.

    Also of a history that is open already: another process may have upgraded it meanwhile.
    """
    if version is not None and version > HEAD:
        raise UsageError(
            f"{shown}: the history is of version {version}, and this Ragauge knows versions up to "
            f"{HEAD}; upgrade Ragauge (pip install --upgrade ragauge), or name another store"
        )


def add_rows(connection: Connection, statement: Any, rows: Iterable[dict[str, Any]]) -> None:
    """Insert rows as they come, some at a time."""
    coming = iter(rows)
    while batch := list(islice(coming, BATCH)):
        connection.execute(statement, batch)


def insert_unless_there(connection: Connection, table: Table) -> Any:
    """An insert that passes over rows whose key is taken, also by a writer not yet done."""
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    return dialect.insert(table).on_conflict_do_nothing()


def json_text(value: Any) -> str:
    """What a JSON column is given."""
    return canonical(value).decode()


_WRITABLE, _READABLE, _FROZEN = "mode=rwc", "mode=ro", "mode=ro&immutable=1"
_SQLITE_WORDS = {
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

    def __init__(self, place: LocalPlace, patience_s: float, *, create: bool) -> None:
        self._path = path = place.database
        if path.is_dir():
            raise UsageError(f"{path}: is a folder, where the history's database should be")
        if not _is_there(path):
            if not create:
                raise NoHistory(f"{path}: there is no history yet; record a run with --record")
            _make_folder(place)
        self._mode = _mode(path)
        address = f"file:{quote(str(path.absolute()))}?{self._mode}"

        def connect() -> sqlite3.Connection:
            connection = sqlite3.connect(
                address, uri=True, timeout=patience_s, isolation_level=None, check_same_thread=False
            )
            try:
                connection.execute("PRAGMA foreign_keys = ON")
                connection.execute("PRAGMA synchronous = FULL")
            except UnicodeDecodeError as error:  # SQLite quotes the damage, and that is no text
                connection.close()
                raise sqlite3.DatabaseError(_SQLITE_WORDS["SQLITE_CORRUPT"]) from error
            return connection

        engine = create_engine(
            "sqlite://", creator=connect, poolclass=QueuePool, json_serializer=json_text
        )
        event.listen(engine, "begin", _begin)
        super().__init__(engine, str(path), patience_s)

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
        for beginning, words in _SQLITE_WORDS.items():
            if name.startswith(beginning):
                return words
        return str(failure)


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


_OURS = 0x7261_6761_7567_65
"""The number of the advisory lock: "ragauge" in ASCII."""
_CONNECT_S = "10"
LONGEST_FACT = 300
_POSTGRES_WORDS = {
    "3F": "the schema does not exist; make it with `CREATE SCHEMA`",
    "42501": "the user may not do that in this database; ask its owner for the right",
    "53100": "the server's disk is full: nothing of this was kept",
    "53300": "the server takes no more connections; try again later",
    "55P03": "another process has kept it locked for {patience:g} s; try again when that has ended",
    "25006": "the server is read-only; name its primary",
}


class Postgres(Database):
    """PostgreSQL: writers beside each other, but for those who upgrade or remove."""

    reads = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}  # noqa: RUF012
    writes = {"isolation_level": "READ COMMITTED"}  # noqa: RUF012

    def __init__(self, place: ServerPlace, patience_s: float) -> None:
        try:
            import psycopg  # noqa: F401 (is it there?)
        except ImportError as error:
            raise UsageError(
                f"{place}: PostgreSQL needs an extra: pip install 'ragauge[postgres]'"
            ) from error
        try:
            url = make_url(place.url).set(drivername="postgresql+psycopg")
        except ArgumentError as error:
            raise UsageError(f"{place}: the URL is not well formed") from error
        usual = {"connect_timeout": _CONNECT_S, "application_name": "ragauge"}
        engine = create_engine(
            url,
            connect_args={key: value for key, value in usual.items() if key not in url.query},
            json_serializer=json_text,
            pool_pre_ping=True,
            hide_parameters=True,
        )
        super().__init__(engine, str(place), patience_s)

    def queue_up(self, connection: Connection, *, alone: bool = False) -> None:
        patience = f"{round(self.patience_s * 1_000)}ms"
        connection.execute(text("SELECT set_config('lock_timeout', :t, true)"), {"t": patience})
        lock = "pg_advisory_xact_lock" if alone else "pg_advisory_xact_lock_shared"
        connection.execute(text(f"SELECT {lock}(:number)"), {"number": _OURS})

    def prepare(self, version: str | None) -> None:
        """Nothing: tables are made in the transaction that upgrades them."""

    def words(self, failure: BaseException) -> str:
        state = getattr(failure, "sqlstate", None) or ""
        for beginning, words in _POSTGRES_WORDS.items():
            if state.startswith(beginning):
                return words.format(patience=self.patience_s)
        fact = one_line(str(failure).strip() or type(failure).__name__, LONGEST_FACT)
        if state and not state.startswith(("08", "57P")):
            return fact
        if self.opened:
            return (
                f"the server went away: {fact}; try again: a run that was kept after all is not "
                "kept twice"
            )
        return f"no connection to the server: {fact}; look at the URL, and whether it runs"
