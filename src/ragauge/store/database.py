"""A database that holds a history: whole transactions, and failures in words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from sqlalchemy import Connection, Engine, Table, Text, column, inspect, select, table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError

from ragauge.contracts.history import NoHistory, canonical
from ragauge.errors import InputRejected, UsageError
from ragauge.store.tables import HEAD, VERSION_TABLE, metadata
from ragauge.text.visible import one_line

BATCH = 2_000
"""Rows sent at a time: enough to be quick, too few to matter in memory."""


class Database(ABC):
    """One of the two kinds of database, opened."""

    reads: dict[str, Any]
    writes: dict[str, Any]

    def __init__(self, engine: Engine, shown: str, patience_s: float) -> None:
        self._engine, self.shown, self.patience_s = engine, shown, patience_s

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A snapshot: however many questions are asked, the answers are of one moment."""
        with self._transaction(self.reads) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is durable when the context ends, or leaves nothing."""
        with self._transaction(self.writes) as connection:
            self.queue_up(connection)
            _refuse_newer(version_of(connection), self.shown)
            yield connection

    @contextmanager
    def altering(self) -> Iterator[Connection]:
        """A transaction during which nobody else writes."""
        with self._transaction(self.writes) as connection:
            self.queue_up(connection, alone=True)
            _refuse_newer(version_of(connection), self.shown)
            yield connection

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


def bring_up_to_date(database: Database, *, create: bool) -> None:
    """Make or upgrade the tables where need be; raises UsageError where that may not be."""
    with database.reading() as connection:
        version = version_of(connection)
        _refuse_newer(version, database.shown)
        if version == HEAD:
            return
        _refuse_unknown(connection, version, database.shown)
        if version is None and not create:
            raise NoHistory(
                f"{database.shown}: there is no history yet; record a run with --record"
            )
        if version is None:
            _refuse_foreign(connection, database.shown)
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


def _refuse_unknown(connection: Connection, version: str | None, shown: str) -> None:
    """Refuse a version that no Ragauge has written."""
    from ragauge.store.migrations import written_versions

    if version is None and not connection.dialect.has_table(connection, VERSION_TABLE):
        return
    if version not in written_versions():
        raise UsageError(
            f'{shown}: the history is of version "{one_line(version or "", 40)}", which no '
            "Ragauge has written; restore the database from a copy, or name another store"
        )


def _refuse_foreign(connection: Connection, shown: str) -> None:
    """Refuse another program's SQLite file, and a schema in which it has tables by our names."""
    theirs = sorted(inspect(connection).get_table_names())
    if connection.dialect.name == "postgresql":
        theirs = [name for name in theirs if name in metadata.tables]
    if theirs:
        raise UsageError(
            f"{shown}: is another program's: it has a table {theirs[0]} and none that says it is "
            "Ragauge's; name another store, or give Ragauge a schema of its own"
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
