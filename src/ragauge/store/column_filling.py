"""Columns put beside a run's rows: of a run that is recorded, and of those from before columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Connection, Select, insert, select

from ragauge.contracts.gold import Gold
from ragauge.contracts.history import NewRun, RunRecord, UnitRow, canonical
from ragauge.store.column_making import UnitColumns, gold_packed, run_packed, units_packed
from ragauge.store.database import BATCH, Database, add_rows, insert_unless_there
from ragauge.store.recorded import unit_columns
from ragauge.store.tables import (
    gold_questions,
    packed_gold,
    packed_units,
    run_units,
    run_words,
    runs,
    unit_keys,
)

Kind = TypeVar("Kind")

_record = msgspec.json.Decoder(RunRecord)
_unit = msgspec.json.Decoder(UnitRow)
_gold = msgspec.json.Decoder(Gold)


class RunColumns:
    """The columns of a run that is to be recorded, and of its gold set where that is new."""

    def __init__(self, run: NewRun, database: Database) -> None:
        self._run, self._units = run, units_packed(run)
        with database.reading() as connection:
            known = _has_columns(connection, run.record.gold_sha256)
        self._gold = [] if known else list(gold_packed(map(_as_read, run.gold)))

    def keep(self, connection: Connection, number: int) -> None:
        """Put them beside the run's rows."""
        record = self._run.record
        _insert_columns(connection, number, self._units, record, self._run.id)
        if record.gold_sha256 is not None:
            # Packed now only where the set was there a moment ago, and then removed.
            gold = self._gold or gold_packed(map(_as_read, self._run.gold))
            _insert_gold(connection, record.gold_sha256, gold)


def fill_columns(connection: Connection) -> None:
    """Draw the columns of every run and gold set from their rows.

    Rows that cannot be read are passed over: who would look for the damage must be able to open
    the history, and a page of that run says that its columns are gone.
    """
    sets = select(gold_questions.c.gold_sha256).distinct()
    for sha256 in connection.execute(sets).scalars().all():
        with suppress(msgspec.DecodeError):
            _insert_gold(connection, sha256, gold_repacked(connection, sha256))
    known = select(runs.c.number, runs.c.id, runs.c.gold_sha256, runs.c.document)
    for number in connection.execute(select(runs.c.number)).scalars().all():
        run = connection.execute(known.where(runs.c.number == number)).one()
        with suppress(msgspec.DecodeError):
            columns = units_repacked(connection, number, run.gold_sha256)
            _insert_columns(connection, number, columns, _record.decode(run.document), run.id)


def units_repacked(connection: Connection, number: int, sha256: str | None) -> UnitColumns:
    """The columns of a run's units, drawn from their rows."""
    columns = UnitColumns(_qids(connection, sha256))
    which = select(run_units.c.line).where(run_units.c.run == number).order_by(run_units.c.place)
    for row in _decoded(connection, which, _unit):
        columns.add(unit_columns(row))
    return columns


def gold_repacked(connection: Connection, sha256: str) -> list[dict[str, Any]]:
    """The columns of a gold set, drawn from its rows."""
    which = select(gold_questions.c.line).where(gold_questions.c.gold_sha256 == sha256)
    return list(gold_packed(_decoded(connection, which.order_by(gold_questions.c.place), _gold)))


def _as_read(question: Gold) -> Gold:
    """A question as it will be read again: the keys in a stratum's value are sorted by then."""
    return _gold.decode(canonical(question))


def _insert_columns(
    connection: Connection, number: int, columns: UnitColumns, record: RunRecord, id: str
) -> None:
    add_rows(connection, insert(packed_units), _of(number, columns.rows()))
    add_rows(connection, insert(unit_keys), _of(number, columns.keys()))
    connection.execute(insert(run_words), {"run": number, "words": run_packed(record, id)})


def _insert_gold(connection: Connection, sha256: str, rows: Iterable[dict[str, Any]]) -> None:
    if not _has_columns(connection, sha256):
        new = ({"gold_sha256": sha256, **row} for row in rows)
        add_rows(connection, insert_unless_there(connection, packed_gold), new)


def _has_columns(connection: Connection, sha256: str | None) -> bool:
    known = select(packed_gold.c.number).where(packed_gold.c.gold_sha256 == sha256)
    return connection.execute(known.limit(1)).first() is not None


def _of(number: int, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    return ({"run": number, **row} for row in rows)


def _qids(connection: Connection, sha256: str | None) -> Sequence[str]:
    which = select(gold_questions.c.qid).where(gold_questions.c.gold_sha256 == sha256)
    return connection.execute(which.order_by(gold_questions.c.place)).scalars().all()


def _decoded(
    connection: Connection, lines: Select[Any], decoder: msgspec.json.Decoder[Kind]
) -> Iterator[Kind]:
    """The rows of a table, some in memory at a time; decoded here, so that a failure closes it."""
    with connection.execute(lines.execution_options(yield_per=BATCH)) as found:
        for line in found.scalars():
            yield decoder.decode(line)
