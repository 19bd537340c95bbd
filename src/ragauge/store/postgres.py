"""A history on a PostgreSQL server."""

from __future__ import annotations

from sqlalchemy import Connection, Engine, create_engine, make_url, text
from sqlalchemy.exc import ArgumentError

from ragauge.errors import UsageError
from ragauge.store.database import Database, bring_up_to_date, json_text
from ragauge.store.places import ServerPlace
from ragauge.text.visible import one_line

_OURS = 0x7261_6761_7567_65
"""The number of the advisory lock: "ragauge" in ASCII."""
_CONNECT_S = "10"
LONGEST_FACT = 300

_WORDS = {
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
    opened = False

    def queue_up(self, connection: Connection, *, alone: bool = False) -> None:
        patience = f"{round(self.patience_s * 1_000)}ms"
        connection.execute(text("SELECT set_config('lock_timeout', :t, true)"), {"t": patience})
        lock = "pg_advisory_xact_lock" if alone else "pg_advisory_xact_lock_shared"
        connection.execute(text(f"SELECT {lock}(:number)"), {"number": _OURS})

    def prepare(self, version: str | None) -> None:
        """Nothing: tables are made in the transaction that upgrades them."""

    def words(self, failure: BaseException) -> str:
        state = getattr(failure, "sqlstate", None) or ""
        for beginning, words in _WORDS.items():
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


def open_postgres(place: ServerPlace, *, create: bool, patience_s: float) -> Postgres:
    """The database of a place, made or upgraded where need be; raises UsageError."""
    database = Postgres(_engine(place), str(place), patience_s)
    try:
        bring_up_to_date(database, create=create)
    except BaseException:
        database.close()
        raise
    database.opened = True
    return database


def _engine(place: ServerPlace) -> Engine:
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
    defaults = {"connect_timeout": _CONNECT_S, "application_name": "ragauge"}
    given = {key: value for key, value in defaults.items() if key not in url.query}
    return create_engine(
        url,
        connect_args=given,
        json_serializer=json_text,
        pool_pre_ping=True,
        hide_parameters=True,
    )
