"""Runs as they are found again, with their tags and marks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, exists, select

from ragauge.contracts.history import Run, RunFilter, RunRecord
from ragauge.errors import UsageError
from ragauge.store.database import BATCH
from ragauge.store.recorded import plain
from ragauge.store.references import is_green, is_red
from ragauge.store.tables import regressions, run_labels, runs, tags

_record = msgspec.json.Decoder(RunRecord)


def read_runs(connection: Connection, numbers: Select[Any]) -> list[Run]:
    """The runs whose numbers a query gives, in its order."""
    return runs_numbered(connection, connection.execute(numbers).scalars().all())


def runs_numbered(connection: Connection, order: Sequence[int]) -> list[Run]:
    """The runs with these numbers, in this order."""
    found: dict[int, Any] = {}
    tagged: dict[int, list[str]] = {}
    marked: dict[int, list[str]] = {}
    for start in range(0, len(order), BATCH):
        some = order[start : start + BATCH]
        columns = select(runs.c.number, runs.c.id, runs.c.document)
        for row in connection.execute(columns.where(runs.c.number.in_(some))):
            found[row.number] = row
        for tag, run in connection.execute(
            select(tags.c.tag, tags.c.run).where(tags.c.run.in_(some))
        ):
            tagged.setdefault(run, []).append(tag)
        marks = select(regressions.c.run, regressions.c.baseline).where(regressions.c.run.in_(some))
        for run, baseline in connection.execute(marks):
            marked.setdefault(run, []).append(baseline)
    return [_run(found[number], tagged.get(number, ()), marked.get(number, ())) for number in order]


def matching(which: RunFilter) -> Select[Any]:
    """The numbers of the runs that a filter lets through, in no order."""
    wanted = {
        runs.c.name: which.name,
        runs.c.command: which.command,
        runs.c.git_branch: which.branch,
    }
    found = select(runs.c.number)
    for column, value in wanted.items():
        if value is not None:
            found = found.where(column == plain(value))
    if which.green is not None:
        found = found.where(is_green() if which.green else is_red())
    if which.before is not None:
        found = found.where(runs.c.recorded_at < which.before)
    for key, value in sorted(which.labels.items()):
        label = (run_labels.c.key == plain(key)) & (run_labels.c.value == plain(value))
        found = found.where(exists().where(run_labels.c.run == runs.c.number, label))
    return found


def run_number(connection: Connection, id: str) -> int:
    """The number of a run in its tables; raises UsageError where it is not there."""
    number = connection.execute(select(runs.c.number).where(runs.c.id == id)).scalar()
    if number is None:
        raise UsageError(f"run {id[:12]}: is not in this history")
    return int(number)


def _run(row: Any, tagged: Sequence[str], marked: Sequence[str]) -> Run:
    try:
        record = _record.decode(row.document)
    except msgspec.DecodeError as error:
        raise UsageError(
            f"run {row.id[:12]}: its record cannot be read: {error}; `ragauge runs verify` says "
            "which runs are whole; restore the database from a copy"
        ) from error
    return Run(
        id=row.id, record=record, tags=tuple(sorted(tagged)), regressions=tuple(sorted(marked))
    )
