"""Every run read again and compared with its seals."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

import msgspec
from sqlalchemy import (
    Boolean,
    ColumnElement,
    Connection,
    Integer,
    Row,
    Select,
    Table,
    select,
    type_coerce,
)

from ragauge.contracts.history import ID_SHOWN, Checked, History, Run, RunRecord
from ragauge.contracts.kept import ANSWERS
from ragauge.errors import UsageError
from ragauge.store.column_filling import (
    TAKEN,
    gold_repacked,
    run_packed,
    units_repacked,
)
from ragauge.store.database import BATCH, Database
from ragauge.store.packed import groups_in
from ragauge.store.recorded import (
    decode_gold,
    decode_record,
    decode_unit,
    file_rows,
    gold_columns,
    label_rows,
    metric_rows,
    run_columns,
    seal_of_mark,
    unit_columns,
)
from ragauge.store.shelf import Shelf
from ragauge.store.tables import (
    gold_questions,
    packed_gold,
    packed_units,
    regressions,
    run_files,
    run_labels,
    run_metrics,
    run_units,
    run_words,
    runs,
    tags,
    unit_keys,
)

_DAMAGE = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "XX001", "XX002")
"""How SQLite, and PostgreSQL by the SQLSTATE of broken tables and indexes, names it."""
_UNREADABLE = "its rows cannot be read: the database is damaged; restore it from a copy"


_DAMAGED = "the database is damaged; restore it from a copy, or import what was exported"


NO_RUN = "none"
"""What stands in the place of an id where a row belongs to no run."""


class DamagedDatabase(Exception):
    """The database is not what was written."""


def is_damage(error: BaseException) -> bool:
    """Whether an error comes from a database that is not what was written."""
    cause: Any = error.__cause__
    if isinstance(cause, DamagedDatabase):
        return True
    failure = getattr(cause, "orig", None) or cause
    codes = (getattr(failure, name, None) for name in ("sqlite_errorname", "sqlstate"))
    # Python's own words for text that is none have no code.
    undecodable = str(failure).startswith("Could not decode")
    return undecodable or any(code and code.startswith(_DAMAGE) for code in codes)


def damage(history: History) -> str | None:
    """What is wrong with a history in which reading failed, and the remedy; None where it is whole.

    A damaged row can be anything, so that whatever reads it may raise anything.
    """
    try:
        faults = history.verify().faults
    except UsageError as error:
        return "; ".join(error.problems)
    if not faults:
        return None
    id, facts = min(faults.items())
    return (
        f"the database is damaged: run {id[:ID_SHOWN]}: {facts[0]}; restore it from a copy, or "
        "import what was exported; `ragauge runs verify` lists every fault"
    )


def checked(database: Database, shelf: Shelf) -> Checked:
    """The runs that are whole, the faults of those that are not, and files of no run."""
    with database.reading() as connection:
        if not database.is_sound(connection):
            raise UsageError(f"{database.shown}: {_DAMAGED}") from DamagedDatabase()
        ids = connection.execute(select(runs.c.id).order_by(runs.c.recorded_at, runs.c.id))
        known = list(ids.scalars())
    gold_faults: dict[str, list[str]] = {}
    faults = {id: found for id in known if (found := _faults(database, shelf, id, gold_faults))}
    with database.reading() as connection:
        for id, fault in _mark_faults(connection):
            faults.setdefault(id, []).append(fault)
    with database.reading() as connection:  # a run removed meanwhile is not a broken one
        there = set(connection.execute(select(runs.c.id)).scalars())
    return Checked(
        whole=tuple(id for id in known if id in there and id not in faults),
        faults={id: tuple(found) for id, found in faults.items() if id in {*there, NO_RUN}},
        leftovers=tuple(shelf.leftovers()),
    )


def _faults(
    database: Database, shelf: Shelf, id: str, gold_faults: dict[str, list[str]]
) -> list[str]:
    """What is wrong with a run; many runs share a gold set, whose faults are looked for once."""
    try:
        with database.reading() as connection:
            row = connection.execute(_raw(runs).where(runs.c.id == id)).first()
            if row is None:
                return []
            if hashlib.sha256(row.document.encode()).hexdigest() != id:
                return ["the record does not hash to the run's id"]
            try:
                record = decode_record(row.document)
            except msgspec.DecodeError as error:
                return [f"the record cannot be read: {error}"]
            found = [
                *_record_faults(connection, row, record),
                *_unit_faults(connection, row.number, record),
                *_unit_column_faults(connection, shelf, row.number, Run(id=id, record=record)),
                *_file_faults(connection, shelf, id, record),
            ]
            if (sha256 := record.gold_sha256) is None:
                return found
            if sha256 not in gold_faults:
                gold_faults[sha256] = list(_gold_set_faults(connection, sha256))
            return [*found, *gold_faults[sha256]]
    except UsageError as error:
        if is_damage(error):
            return [_UNREADABLE]
        raise
    except (AttributeError, TypeError, ValueError):
        # SQLite gives back whatever type the damaged bytes say: no JSON, no text, nothing.
        return [_UNREADABLE]


def _record_faults(connection: Connection, row: Row[Any], record: RunRecord) -> Iterator[str]:
    for name, value in run_columns(record).items():
        held = getattr(row, name)
        if held != value:
            held = bool(held) if isinstance(value, bool) and held in (0, 1) else held
            yield f"{name}: the table says {held!r}, the record {value!r}"
    parts = {
        "labels": (run_labels, label_rows(record)),
        "metrics": (run_metrics, metric_rows(record)),
        "files": (run_files, file_rows(record)),
    }
    for name, (table, rows) in parts.items():
        which = select(*(column for column in table.c if column.name != "run"))
        held_rows = connection.execute(which.where(table.c.run == row.number)).mappings()
        if _sorted_rows(map(dict, held_rows)) != _sorted_rows(rows):
            yield f"{name}: the table is not as the record"


def _mark_faults(connection: Connection) -> Iterator[tuple[str, str]]:
    """Tags and marks that are not as they were given, each with the run that has it now."""
    for table, column in ((tags, tags.c.tag), (regressions, regressions.c.baseline)):
        held = select(runs.c.id, column.label("mark"), table.c.seal)
        for row in connection.execute(held.select_from(table.outerjoin(runs))):
            if row.id is None:
                yield NO_RUN, f"{table.name}: {row.mark!r} belongs to a run that is not there"
            elif row.seal != seal_of_mark(str(row.id), str(row.mark)):
                yield row.id, f"{table.name}: {row.mark!r} was not given to this run by Ragauge"


def _raw(table: Table) -> Select[Any]:
    """All columns; of truth values what SQLite holds, which may be any number."""
    return select(
        *(
            type_coerce(column, Integer).label(column.name)
            if isinstance(column.type, Boolean)
            else column
            for column in table.c
        )
    )


def _sorted_rows(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """In the order of their first column: databases sort text each in its own way."""
    return sorted(rows, key=lambda row: str(next(iter(row.values()))))


def _lines(
    connection: Connection,
    table: Table,
    owner: ColumnElement[bool],
    draw: Callable[[str], dict[str, Any]],
) -> tuple[int, Any, int]:
    """How many rows there are, the hash of their lines, and how many are not drawn from theirs."""
    which = _raw(table).where(owner).order_by(table.c.place)
    digest, place, astray = hashlib.sha256(), -1, 0
    for place, row in enumerate(connection.execution_options(yield_per=BATCH).execute(which)):
        digest.update(b"\n" * (place > 0) + row.line.encode())
        held = row._asdict()
        if "values" in held:  # PostgreSQL writes 1.5e300 as an integer, not quite the float
            held["values"] = {name: float(value) for name, value in held["values"].items()}
        try:
            astray += not {**draw(row.line), "place": place}.items() <= held.items()
        except msgspec.DecodeError:
            astray += 1
    return place + 1, digest, astray


def _unit_faults(connection: Connection, number: int, record: RunRecord) -> Iterator[str]:
    owner = run_units.c.run == number
    rows, digest, astray = _lines(
        connection, run_units, owner, lambda line: unit_columns(decode_unit(line))
    )
    digest.update(b"\n" * (rows > 0))
    if rows != record.units:
        yield f"units: {rows:,} rows of {record.units:,} are there"
    elif digest.hexdigest() != record.units_sha256:
        yield "units: the rows do not hash to units_sha256"
    if astray:
        yield f"units: {astray:,} rows have columns that are not as their line"


def _file_faults(connection: Connection, shelf: Shelf, id: str, record: RunRecord) -> Iterator[str]:
    for name, seal in sorted(record.files.items()):
        found = shelf.found(connection, id, name)
        if found is None:
            yield f"{name}: the file is not there"
        elif found.size != seal.size:
            yield f"{name}: the file has {found.size:,} bytes, and had {seal.size:,}"
        elif found != seal:
            yield f"{name}: the file has changed since"


def _gold_set_faults(connection: Connection, sha256: str) -> Iterator[str]:
    owner = gold_questions.c.gold_sha256 == sha256
    _, digest, astray = _lines(
        connection, gold_questions, owner, lambda line: gold_columns(decode_gold(line))
    )
    if digest.hexdigest() != sha256:
        yield f"gold set {sha256[:12]}: the questions do not hash to gold_sha256"
    if astray:
        yield f"gold set {sha256[:12]}: {astray:,} rows have columns that are not as their line"
    kept = select(packed_gold).where(packed_gold.c.gold_sha256 == sha256)
    with suppress(msgspec.DecodeError):  # then the rows are at fault
        packed = gold_repacked(connection, sha256)
        if not _are(connection, kept.order_by(packed_gold.c.number), packed):
            yield f"gold set {sha256[:12]}: the columns are not as the rows"


def _unit_column_faults(
    connection: Connection, shelf: Shelf, number: int, run: Run
) -> Iterator[str]:
    """What is wrong with the columns of a run whose rows are complete."""
    record = run.record
    try:
        drawn = units_repacked(connection, number, record.gold_sha256)
    except msgspec.DecodeError:
        return  # the rows are reported
    kept = select(packed_units).where(packed_units.c.run == number)
    # Runs of earlier versions have no columns of what their answers took.
    if connection.execute(kept.where(packed_units.c.kind == TAKEN)).first():
        with suppress(UsageError, OSError), shelf.open(run, ANSWERS) as path:
            drawn.add_answers(groups_in(path))
    if not _are(connection, kept.order_by(packed_units.c.number), drawn.rows()):
        yield "units: the columns are not as the rows"
    places = select(unit_keys).where(unit_keys.c.run == number)
    if not _are(connection, places.order_by(unit_keys.c.key, unit_keys.c.place), drawn.keys()):
        yield "units: their places are not as the rows"
    words = select(run_words.c.words).where(run_words.c.run == number)
    if connection.execute(words).scalar() != run_packed(record, run.id):
        yield "words: the table is not as the record"


def _are(connection: Connection, kept: Any, drawn: Iterable[dict[str, Any]]) -> bool:
    """Whether the rows of a table are these, in this order."""
    found = connection.execute(kept).mappings().all()
    expected = list(drawn)
    return len(found) == len(expected) and all(
        {name: row[name] for name in one} == one for row, one in zip(found, expected, strict=True)
    )
