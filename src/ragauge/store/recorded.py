"""A run as rows, and rows as a run."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Table, insert, select

from ragauge.contracts.gold import Gold, fingerprint
from ragauge.contracts.history import NewRun, RunRecord, UnitRow, canonical
from ragauge.errors import InputRejected
from ragauge.store.database import add_rows, insert_unless_there
from ragauge.store.tables import (
    gold_questions,
    regressions,
    run_files,
    run_labels,
    run_metrics,
    run_units,
    runs,
)

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


def check_record(run: NewRun) -> None:
    """Refuse a run that could not be found, or not be verified, later."""
    record, problems = run.record, []
    if not _MOMENT.fullmatch(record.recorded_at):
        problems.append(
            f"recorded_at: {record.recorded_at!r} is not like 2026-11-15T21:45:44.123456Z"
        )
    if record.units != len(run.units):
        problems.append(f"units: the record says {record.units:,}, given are {len(run.units):,}")
    if record.gold_sha256 is None and run.gold:
        problems.append("gold_sha256: the record names no gold set, and one is given")
    if record.gold_sha256 is not None and fingerprint(run.gold) != record.gold_sha256:
        problems.append("gold_sha256: the gold set is not the one the record names")
    if problems:
        raise InputRejected(*(f"run {run.id[:12]}: {problem}" for problem in problems))


def insert_run(connection: Connection, run: NewRun) -> int | None:
    """The number of a run that was not there before; None where it was."""
    row = {"id": run.id, **run_columns(run.record), "document": run.written.decode()}
    new = insert_unless_there(connection, runs).values(row).returning(runs.c.number)
    return connection.execute(new).scalar()


def insert_parts(
    connection: Connection, run: NewRun, number: int, units: Iterable[dict[str, Any]]
) -> None:
    """All rows of a run but its own; those of its units are encoded already."""
    _insert(connection, run_labels, number, label_rows(run.record))
    _insert(connection, run_metrics, number, metric_rows(run.record))
    _insert(connection, run_files, number, file_rows(run.record))
    _insert(connection, run_units, number, units)
    _insert(connection, regressions, number, _marks(run))
    if run.record.gold_sha256 is not None:
        _insert_gold(connection, run.record.gold_sha256, run.gold)


def _marks(run: NewRun) -> Iterator[dict[str, Any]]:
    for baseline in run.regressions:
        yield {"baseline": baseline, "seal": seal_of_mark(run.id, baseline)}


def seal_of_mark(id: str, mark: str) -> str:
    """What a tag or a mark of a run must have next to it."""
    return hashlib.sha256(canonical([id, mark])).hexdigest()


def run_columns(record: RunRecord) -> dict[str, Any]:
    """What runs are found by."""
    return {
        "name": plain(record.name),
        "command": plain(record.command),
        "recorded_at": record.recorded_at,
        "passed": record.passed is True,
        "git_commit": plain(record.git.commit) if record.git else None,
        "git_branch": plain(record.git.branch) if record.git else None,
        "gold_sha256": record.gold_sha256,
        "configuration_sha256": record.configuration_sha256,
    }


def label_rows(record: RunRecord) -> list[dict[str, Any]]:
    return [
        {"key": plain(key), "value": plain(value)} for key, value in sorted(record.labels.items())
    ]


def metric_rows(record: RunRecord) -> list[dict[str, Any]]:
    return [
        {
            "metric": plain(id),
            "version": metric.version,
            "better": metric.better,
            "total": metric.total,
            "value": metric.value,
            "low": metric.ci[0] if metric.ci else None,
            "high": metric.ci[1] if metric.ci else None,
            "n": metric.n,
            "of": metric.of,
            "reason": plain(metric.reason),
            "signature": plain(metric.signature),
        }
        for id, metric in sorted(record.metrics.items())
    ]


def file_rows(record: RunRecord) -> list[dict[str, Any]]:
    return [
        {"name": name, "sha256": seal.sha256, "size": seal.size}
        for name, seal in sorted(record.files.items())
    ]


def unit_columns(row: UnitRow) -> dict[str, Any]:
    """What units are found and sorted by."""
    return {
        "unit": plain(row.unit),
        "label": plain(row.label),
        "right": row.right,
        "values": {plain(metric): value for metric, value in row.values.items()},
    }


def gold_columns(question: Gold) -> dict[str, Any]:
    """What questions are found by."""
    return {
        "qid": plain(question.qid),
        "question": plain(question.question),
        "answerable": question.answerable,
    }


def plain(text: Any) -> Any:
    """Text as a column can hold it; what is hashed keeps every character.

    PostgreSQL has no U+0000, and what a terminal hands over may not be text at all.
    """
    if not text or (text.isascii() and "\0" not in text):
        return text
    spelled = text.encode(errors="backslashreplace").decode()
    return spelled.replace("\0", "\N{SYMBOL FOR NULL}")


def _insert(
    connection: Connection, table: Table, number: int, rows: Iterable[dict[str, Any]]
) -> None:
    add_rows(connection, insert(table), ({"run": number, **row} for row in rows))


def _insert_gold(connection: Connection, sha256: str, gold: Sequence[Gold]) -> None:
    known = select(gold_questions.c.place).where(gold_questions.c.gold_sha256 == sha256)
    if connection.execute(known.limit(1)).first() is not None:
        return
    rows = (
        {"gold_sha256": sha256, "place": place}
        | gold_columns(question)
        | {"line": canonical(question).decode()}
        for place, question in enumerate(gold)
    )
    add_rows(connection, insert_unless_there(connection, gold_questions), rows)
