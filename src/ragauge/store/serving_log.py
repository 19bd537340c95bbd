"""A serving log in the tables of a database: an entry that is there never changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from msgspec.structs import asdict, replace
from sqlalchemy import Connection, RowMapping, collate, select

from ragauge.contracts.history import NoHistory
from ragauge.contracts.serving_log import LogEntry
from ragauge.errors import InputRejected
from ragauge.store.database import BATCH, Database, insert_unless_there, open_database
from ragauge.store.places import LocalPlace, ServerPlace, located
from ragauge.store.tables import rag_traces


def write_entries(place: str, run: str, entries: Iterable[LogEntry]) -> int:
    """How many of the entries are new there; on return all are durable, after an error none.

    An entry whose run, question and segment are there already is passed over where it is the
    same, and refused with all others like it where it is not. All entries are read first, so
    that nobody waits for whoever makes them.
    """
    found = located(place)
    wanted = _distinct(run, entries)
    if isinstance(found, ServerPlace):  # before PostgreSQL would refuse the first of them
        _refuse(
            [
                f"{found}: {_named(entry)}: {name} has U+0000, which PostgreSQL does not hold; "
                "take it out, or write to SQLite"
                for entry in wanted
                for name, value in asdict(entry).items()
                if any("\0" in text for text in _texts(value))
            ]
        )
    with _opened(found, create=True) as database, database.writing() as connection:
        new, problems = 0, []
        for start in range(0, len(wanted), BATCH):
            some = wanted[start : start + BATCH]
            there = _there_before(connection, some)
            new += len(some) - len(there)
            problems += _conflicts(connection, database.shown, there)
        _refuse(problems)
    return new


def read_entries(place: str, run: str | None = None) -> Iterator[LogEntry]:
    """The entries of one run or of all, by time, then run, question and segment.

    They are of one moment: what is written while they are read is not among them. Nothing is
    opened before the first is asked for.
    """
    found = located(place)
    with _opened(found, create=False) as database, database.reading() as connection:
        columns = rag_traces.c
        texts: list[Any] = [columns.run, columns.qid]
        if connection.dialect.name == "postgresql":  # whatever language it sorts by
            texts = [collate(text, "C") for text in texts]
        which = select(rag_traces).order_by(columns.ts, *texts, columns.seg)
        if run is not None:
            which = which.where(rag_traces.c.run == run)
        with connection.execute(which.execution_options(yield_per=BATCH)) as rows:
            for row in rows.mappings():
                yield _entry(row, database.shown)


@contextmanager
def _opened(place: LocalPlace | ServerPlace, *, create: bool) -> Iterator[Database]:
    try:
        database = open_database(place, create=create)
    except NoHistory as error:
        raise NoHistory(f"{place}: there is no serving log yet; write entries first") from error
    try:
        yield database
    finally:
        database.close()


def _distinct(run: str, entries: Iterable[LogEntry]) -> list[LogEntry]:
    """The entries with their run, each once, in the order every writer takes.

    Two writers who took rows in different orders could wait for each other for ever.
    """
    kept: dict[tuple[str, int], LogEntry] = {}
    problems = []
    for given in entries:
        entry = replace(given, run=run)
        first = kept.setdefault((entry.qid, entry.seg), entry)
        if given.run not in (None, run):
            problems.append(f"{_named(given)}: is of another run than {run!r}; write it there")
        if entry != first:
            differs = _differences(entry, first)
            problems.append(f"{_named(entry)}: is given twice, with another {differs}; keep one")
    _refuse(problems)
    return [kept[key] for key in sorted(kept)]


def _there_before(connection: Connection, entries: Sequence[LogEntry]) -> list[LogEntry]:
    """Insert entries; those whose place was taken, also by a writer who was not yet done."""
    # Times so that the order of their texts is theirs.
    rows = [
        asdict(entry) | {"ts": entry.ts.isoformat(timespec="microseconds").replace("+00:00", "Z")}
        for entry in entries
    ]
    keys = (rag_traces.c.qid, rag_traces.c.seg)
    statement = insert_unless_there(connection, rag_traces).returning(*keys)
    new = {(qid, seg) for qid, seg in connection.execute(statement, rows)}
    return [entry for entry in entries if (entry.qid, entry.seg) not in new]


def _conflicts(connection: Connection, shown: str, entries: Sequence[LogEntry]) -> list[str]:
    """What is there already and differs from what was to be written."""
    if not entries:
        return []
    which = select(rag_traces).where(
        rag_traces.c.run == entries[0].run, rag_traces.c.qid.in_({entry.qid for entry in entries})
    )
    kept = {}
    for row in connection.execute(which).mappings():
        kept[row["qid"], row["seg"]] = _entry(row, shown)
    problems = []
    for entry in entries:
        other = kept.get((entry.qid, entry.seg))
        if other is None:
            problems.append(f"{shown}: {_named(entry)}: was removed meanwhile; try again")
        elif other != entry:
            differs = _differences(entry, other)
            fact = f"is there already, with another {differs}; write it under another run"
            problems.append(f"{shown}: {_named(entry)}: {fact}")
    return problems


def _differences(entry: LogEntry, other: LogEntry) -> str:
    names = entry.__struct_fields__
    return ", ".join(name for name in names if getattr(entry, name) != getattr(other, name))


def _texts(value: Any) -> list[str]:
    members = value if isinstance(value, tuple) else (value,)
    return [member for member in members if isinstance(member, str)]


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        raise InputRejected(*problems)


def _entry(row: RowMapping, shown: str) -> LogEntry:
    try:
        return LogEntry(**{**row, "ts": datetime.fromisoformat(row["ts"])})
    except (InputRejected, ValueError) as error:
        place = f"{shown}: rag_traces: run {row['run']!r}, qid {row['qid']!r}, seg {row['seg']}"
        raise InputRejected(f"{place}: {error}; mend the row, or remove it") from error


def _named(entry: LogEntry) -> str:
    return f"run {entry.run!r}, qid {entry.qid!r}, segment {entry.seg}"
