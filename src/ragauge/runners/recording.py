"""Recording: the outcome of a runner becomes a run of the history."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from ragauge import __version__
from ragauge.contracts.history import (
    RECORDS,
    REPORT,
    History,
    NewRun,
    RecordedMetric,
    Run,
    RunRecord,
    UnitRow,
    canonical,
    sealed_units,
)
from ragauge.contracts.kept import ANSWERS, DOCUMENTS, SUMMARY, document_key
from ragauge.contracts.report import Outcome, UnitRows
from ragauge.errors import UsageError
from ragauge.runners.git_state import git_state
from ragauge.runners.summaries import summary
from ragauge.store.files import pieces_of, seal_of
from ragauge.store.packed import pack

APART = ("gold_sha256", "metrics", "origin", "ragauge")
"""Parts of an identity that a run's record holds in places of their own."""


def record(
    outcome: Outcome[Any],
    history: History,
    *,
    name: str | None = None,
    labels: Mapping[str, str] | None = None,
    folder: Path | None = None,
    recorded_at: datetime | None = None,
    keep: bool = True,
    like: Run | None = None,
) -> Run:
    """The run, kept: whole and durable on return. The name is the command's where none is given.

    `folder` is where to look for the git commit; without it, in the current one. The time is now,
    unless an older run is put in its place. Without `keep`, neither answers nor the documents they
    cite go into the history. A run `like` another has its name, its labels and its commit.
    """
    moment = (recorded_at or _now()).astimezone(UTC)
    with tempfile.TemporaryDirectory() as made:
        files = dict(_files(outcome, Path(made), keep=keep))
        units = list(unit_rows(outcome.units))
        about = {
            "name": like.record.name if like else name or outcome.identity["command"],
            "labels": like.record.labels if like else dict(labels or {}),
            "recorded_at": moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "git": like.record.git if like else git_state(folder or Path.cwd(), os.environ),
        }
        kept = _record(outcome, units, files, about)
        return history.record(NewRun(record=kept, units=units, gold=outcome.gold, files=files))


def _files(outcome: Outcome[Any], folder: Path, *, keep: bool) -> Iterator[tuple[str, Path]]:
    """The files of a run by their names; most are written into the folder."""
    for name, told in ((REPORT, outcome.report), (SUMMARY, summary(outcome.report))):
        (folder / name).write_bytes(canonical(told))
        yield name, folder / name
    if outcome.record_rows is not None:
        yield RECORDS, Path(outcome.record_rows)
    if not keep:
        return
    answers = ((unit, canonical(one)) for unit, one in (outcome.answers or tuple)())
    cited = (outcome.documents or tuple)()
    documents = ((document_key(one.doc_id, one.rev), canonical(one)) for one in cited)
    for name, records in ((ANSWERS, answers), (DOCUMENTS, documents)):
        if pack(folder / name, records):
            yield name, folder / name


def unit_rows(units: UnitRows) -> Iterator[UnitRow]:
    """One row a unit, from the columns of an outcome, with Python's own numbers."""
    columns = [
        (id, measured.values.tolist(), list(map(tuple, measured.counts.tolist())))
        for id, measured in sorted(units.measured.items())
    ]
    for place, unit in enumerate(units.ids):
        # A metric that does not apply to the unit is NaN.
        present = [column for column in columns if column[1][place] == column[1][place]]
        yield UnitRow(
            unit=unit,
            label=units.labels[place],
            right=units.right[place],
            detail={name: column[place] for name, column in units.details.items()},
            values={id: values[place] for id, values, _ in present},
            counts={id: counts[place] for id, _, counts in present},
        )


def _record(
    outcome: Outcome[Any],
    units: Sequence[UnitRow],
    files: Mapping[str, Path],
    about: Mapping[str, Any],
) -> RunRecord:
    """The record of an outcome, with what is known about its making beside it."""
    report = outcome.report
    # As it will be read again: a record that is compared must not depend on where it came from.
    identity = msgspec.json.decode(canonical(outcome.identity))
    configuration = {key: value for key, value in identity.items() if key not in APART}
    made = RunRecord(
        **about,
        command=identity["command"],
        passed=report.passed,
        ragauge=__version__,
        gold_sha256=identity.get("gold_sha256"),
        configuration=configuration,
        configuration_sha256=hashlib.sha256(canonical(configuration)).hexdigest(),
        metrics={
            id: RecordedMetric(
                **{name: getattr(score, name) for name in score.__struct_fields__},
                version=measured.version,
                better=measured.better,
                total=measured.total,
            )
            for id, score in report.metrics.items()
            for measured in [outcome.units.measured[id]]
        },
        gates=report.verdicts,
        finding_counts=report.finding_counts,
        coverage=msgspec.to_builtins(report.coverage),
        identity=identity,
        units=len(units),
        units_sha256=sealed_units(units),
        files={name: seal_of(pieces_of(path)) for name, path in sorted(files.items())},
    )
    # As it will be read again, or its bytes would differ: a bound of 0 is read as 0.0.
    return msgspec.json.decode(canonical(made), type=RunRecord)


def _now() -> datetime:
    try:
        return datetime.now(UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(
            f"the system clock has no date that can be recorded ({error}); set the clock"
        ) from error
