"""A history in the tables of an SQL database."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import msgspec
from sqlalchemy import delete, exists, insert, select, update

from ragauge.contracts.gold import Gold
from ragauge.contracts.history import Checked, NewRun, Run, RunFilter, UnitRow, canonical
from ragauge.contracts.paging import PagedHistory
from ragauge.errors import InputRejected, UsageError
from ragauge.store.database import BATCH, Database, insert_unless_there
from ragauge.store.recorded import (
    check_record,
    check_tag,
    decode_gold,
    decode_unit,
    insert_parts,
    insert_run,
    matching,
    newest_first,
    plain,
    read_runs,
    referred,
    repeated,
    run_number,
    runs_numbered,
    seal_of_mark,
    unit_columns,
)
from ragauge.store.shelf import Shelf
from ragauge.store.tables import (
    gold_questions,
    packed_gold,
    regressions,
    run_units,
    runs,
    tags,
)

SETTLED_S = 3_600.0
"""Files of no run that are younger may belong to a writer at work."""


class SqlHistory:
    """Runs in tables, their files on a shelf; a run becomes visible whole, or not at all."""

    def __init__(self, database: Database, shelf: Shelf) -> None:
        self._database, self._shelf = database, shelf

    @property
    def place(self) -> str:
        """Where the runs are, as a person may see it: without a password."""
        return self._database.shown

    @property
    def pages(self) -> PagedHistory:
        """The same history, a page at a time."""
        from ragauge.store.paging import SqlPages

        return SqlPages(self._database, self._shelf)

    def record(self, run: NewRun) -> Run:
        """Keep a run; on return it is durable. The same run a second time changes nothing."""
        id = run.id
        with self._database.reading() as connection:
            known = read_runs(connection, select(runs.c.number).where(runs.c.id == id))
        if known:
            return known[0]
        from ragauge.store.column_filling import columns_of

        check_record(run)
        # Whatever takes long is done before the database is locked.
        keep_columns = columns_of(run, self._database)
        with (
            encoded_units(run) as units,
            self._shelf.bring(run, id) as keep_files,
            self._database.writing() as connection,
        ):
            number = insert_run(connection, run)
            if number is not None:
                insert_parts(connection, run, number, units)
                keep_columns(connection, number)
                keep_files(connection, number)
        return Run(id=id, record=run.record, regressions=tuple(sorted(run.regressions)))

    def runs(self, which: RunFilter) -> list[Run]:
        """The runs that match, the newest first."""
        with self._database.reading() as connection:
            return read_runs(connection, newest_first(matching(which)).limit(which.limit))

    def find(self, reference: str, like: Run | None = None) -> Run:
        """The run a user names; raises UsageError with what is near."""
        with self._database.reading() as connection:
            number = referred(connection, reference, like)
            return runs_numbered(connection, [number])[0]

    def document(self, id: str) -> bytes:
        """The run's record as it was written, which hashes to its id."""
        with self._database.reading() as connection:
            kept = select(runs.c.document).where(runs.c.number == run_number(connection, id))
            return str(connection.execute(kept).scalar_one()).encode()

    def units(self, id: str) -> Iterator[UnitRow]:
        """The rows of a run, in the order they were recorded."""
        with self._database.reading() as connection:
            return self._units(runs_numbered(connection, [run_number(connection, id)])[0])

    def gold(self, sha256: str) -> list[Gold]:
        """The questions of a gold set that some run was measured with."""
        which = select(gold_questions.c.line).where(gold_questions.c.gold_sha256 == sha256)
        with self._database.reading() as connection:
            lines = connection.execute(which.order_by(gold_questions.c.place)).scalars().all()
        return [decode_gold(line) for line in lines]

    def file(self, run: Run, name: str) -> AbstractContextManager[Path]:
        """A file of the run, readable while the context lasts."""
        return self._shelf.open(run, name)

    def tag(self, id: str, tag: str, *, move: bool = False) -> None:
        """Name a run; raises UsageError where another run has the name and it may not move."""
        check_tag(tag)
        with self._database.altering() as connection:
            number = run_number(connection, id)
            held = connection.execute(select(tags.c.run).where(tags.c.tag == tag)).scalar()
            named = {"run": number, "seal": seal_of_mark(id, tag)}
            if held is None:
                connection.execute(insert(tags).values(tag=tag, **named))
            elif held != number:
                if not move:
                    which = select(runs.c.id).where(runs.c.number == held)
                    has = connection.execute(which).scalar_one()[:12]
                    raise UsageError(f"tag '{tag}': names run {has}; `--move` lets it name another")
                connection.execute(update(tags).where(tags.c.tag == tag).values(**named))

    def untag(self, tag: str) -> None:
        """Take a name away; raises UsageError where no run has it."""
        with self._database.altering() as connection:
            if not connection.execute(delete(tags).where(tags.c.tag == plain(tag))).rowcount:
                held = sorted(connection.execute(select(tags.c.tag)).scalars())
                raise UsageError(
                    f"tag '{repeated(tag)}': no run has it; tags: {', '.join(held) or 'none'}"
                )

    def regressed(self, id: str, baseline: str) -> None:
        """Mark for good that a gated comparison with the run `baseline` failed this one."""
        with self._database.writing() as connection:
            mark = {"run": run_number(connection, id), "baseline": baseline}
            mark["seal"] = seal_of_mark(id, baseline)
            connection.execute(insert_unless_there(connection, regressions).values(mark))

    def remove(self, ids: Sequence[str]) -> None:
        """Forget runs with all they have; raises UsageError where one is not there."""
        with self._database.altering() as connection:
            there = set(connection.execute(select(runs.c.id).where(runs.c.id.in_(ids))).scalars())
            if absent := [id for id in ids if id not in there]:
                raise UsageError(*(f"run {id[:12]}: is not in this history" for id in absent))
            connection.execute(delete(runs).where(runs.c.id.in_(ids)))
        self._shelf.clear(ids)

    def verify(self) -> Checked:
        """Every run read again and compared with its seals."""
        from ragauge.store.checking import checked

        return checked(self._database, self._shelf)

    def gc(self, older_than_s: float = SETTLED_S) -> list[str]:
        """Remove what no run needs: leftovers, and gold sets of removed runs; says what."""
        used = exists().where(runs.c.gold_sha256 == gold_questions.c.gold_sha256)
        unused = select(gold_questions.c.gold_sha256).where(~used).distinct()
        with self._database.altering() as connection:
            sets = sorted(connection.execute(unused).scalars())
            for table in (gold_questions, packed_gold):
                connection.execute(delete(table).where(table.c.gold_sha256.in_(sets)))
        return [*(f"gold set {sha256[:12]}" for sha256 in sets), *self._shelf.sweep(older_than_s)]

    def close(self) -> None:
        self._database.close()

    def _units(self, run: Run) -> Iterator[UnitRow]:
        """The rows some at a time, so that no transaction is open while the reader thinks."""
        which = select(run_units.c.line).join(runs, runs.c.number == run_units.c.run)
        for start in range(0, run.record.units, BATCH):
            stop = min(start + BATCH, run.record.units)
            batch = which.where(
                runs.c.id == run.id, run_units.c.place >= start, run_units.c.place < stop
            )
            with self._database.reading() as connection:
                lines = connection.execute(batch.order_by(run_units.c.place)).scalars().all()
            if len(lines) != stop - start:
                raise UsageError(
                    f"run {run.shown}: rows {start:,} to {stop:,} are not all there; it was "
                    "removed meanwhile, or `ragauge runs verify` says what is wrong"
                )
            yield from map(decode_unit, lines)


IN_MEMORY = 16 << 20
"""Bytes of encoded rows that are kept in memory; more wait in a temporary file."""
_LENGTH = 8
_batch = msgspec.msgpack.Decoder(list[dict[str, Any]])


@contextmanager
def encoded_units(run: NewRun) -> Iterator[Iterator[dict[str, Any]]]:
    """The rows as the table takes them, to be read once while the context lasts.

    Raises InputRejected where they are not those the run's record seals.
    """
    with SpooledTemporaryFile(max_size=IN_MEMORY) as spool:
        digest = hashlib.sha256()
        try:
            rows = _rows(run, digest)
            while batch := list(islice(rows, BATCH)):
                content = msgspec.msgpack.encode(batch)
                spool.write(len(content).to_bytes(_LENGTH, "big"))
                spool.write(content)
        except OSError as error:
            raise UsageError(
                f"the rows of the run cannot be written to a temporary file: "
                f"{error.strerror or error}; make room, or set TMPDIR to another folder"
            ) from error
        if digest.hexdigest() != run.record.units_sha256:
            raise InputRejected(
                f"run {run.id[:12]}: units_sha256: the unit rows are not those the record seals"
            )
        spool.seek(0)
        yield _read(spool)


def _rows(run: NewRun, digest: Any) -> Iterator[dict[str, Any]]:
    for place, row in enumerate(run.units):
        if not all(map(math.isfinite, row.values.values())):
            raise InputRejected(
                f"unit {row.unit!r}: values: NaN or Infinity; leave a metric that does not apply "
                "out"
            )
        line = canonical(row)
        digest.update(line + b"\n")
        columns = unit_columns(row)
        values = canonical(columns["values"])
        yield {"place": place, **columns, "values": values, "line": line.decode()}


def _read(spool: IO[bytes]) -> Iterator[dict[str, Any]]:
    while length := spool.read(_LENGTH):
        for row in _batch.decode(spool.read(int.from_bytes(length, "big"))):
            row["values"] = msgspec.Raw(row["values"])  # JSON already: written as it is
            yield row
