"""Runs on their way: as an archive holds them, as a list shows them, and what became of them."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct, field

from ragauge.contracts.history import Checked, RecordedMetric, Run, RunRecord
from ragauge.contracts.report import Finding, Findings, Report, Score, Verdict

ARCHIVE_SCHEMA = "ragauge.archive/1"
RUNS_SCHEMA = "ragauge.runs/1"
SHOWN_SCHEMA = "ragauge.runs-shown/1"
TAGGED_SCHEMA = "ragauge.runs-tagged/1"
REMOVED_SCHEMA = "ragauge.runs-removed/1"
EXPORTED_SCHEMA = "ragauge.runs-exported/1"
IMPORTED_SCHEMA = "ragauge.runs-imported/1"
VERIFIED_SCHEMA = "ragauge.runs-verified/1"
CLEANED_SCHEMA = "ragauge.runs-cleaned/1"

CONTENTS = "contents.json"
"""The archive's member that is read first; the others follow from it."""

_FILE_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")


def is_file_name(name: str) -> bool:
    """Whether a run's file may have the name, in a history and in an archive.

    It leads out of no folder, and no two that differ are one on a disk that ignores case.

    >>> is_file_name("records.parquet"), is_file_name("../report.json"), is_file_name("Report.json")
    (True, False, False)
    """
    return _FILE_NAME.fullmatch(name) is not None


def gold_member(sha256: str) -> str:
    return f"gold/{sha256}.jsonl"


def record_member(id: str) -> str:
    return f"runs/{id}/record.json"


def units_member(id: str) -> str:
    return f"runs/{id}/units.jsonl"


def file_member(id: str, name: str) -> str:
    return f"runs/{id}/files/{name}"


class ArchivedRun(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run of an archive. The id is the hash of its record, and the record seals the rest."""

    id: str
    tags: tuple[str, ...]
    regressions: tuple[str, ...] = ()
    """Baselines against which it failed; left out where there are none, as older archives do."""


class Contents(Struct, frozen=True, kw_only=True):
    """The first member of an archive: which runs it holds, the oldest first."""

    schema: str = ARCHIVE_SCHEMA
    runs: tuple[ArchivedRun, ...]


class Envelope(Report, frozen=True, kw_only=True):
    """What every report has: a command that measures nothing passes, with nothing in it."""

    schema: str
    passed: bool | None = field(name="pass", default=True)
    metrics: dict[str, Score] = field(default_factory=dict)
    gates: tuple[Verdict, ...] = ()
    findings: tuple[Finding, ...] = ()
    finding_counts: dict[str, int] = field(default_factory=dict)
    coverage: dict[str, Any] = field(default_factory=dict)


class RunList(Envelope, frozen=True, kw_only=True):
    """What `ragauge runs list` says, the newest run first."""

    schema: str = RUNS_SCHEMA
    store: str
    runs: tuple[Run, ...]
    more: bool
    """There are older runs that match."""


class ShownRun(Envelope, frozen=True, kw_only=True):
    """What `ragauge runs show` says: the verdict and the numbers are those of the run.

    The places of its findings stand in the report it ended with.
    """

    schema: str = SHOWN_SCHEMA
    metrics: dict[str, RecordedMetric]  # type: ignore[assignment]  # frozen: nobody adds a plain one
    id: str
    record: RunRecord
    tags: tuple[str, ...]
    regressions: tuple[str, ...]
    """Baselines against which a gated comparison failed it, whatever it came to itself."""


class Tagged(Envelope, frozen=True, kw_only=True):
    """What `ragauge runs tag` did."""

    schema: str = TAGGED_SCHEMA
    tag: str
    run: str | None
    """The id of the run that it names now; None where it was taken away."""


class Removed(Envelope, frozen=True, kw_only=True):
    """What `ragauge runs rm` took away."""

    schema: str = REMOVED_SCHEMA
    runs: tuple[Run, ...]


class Exported(Envelope, frozen=True, kw_only=True):
    """What `ragauge runs export` wrote."""

    schema: str = EXPORTED_SCHEMA
    file: str
    size: int
    runs: tuple[str, ...]


class Imported(Envelope, frozen=True, kw_only=True):
    """What `ragauge runs import` did with an archive's runs.

    Its findings are tags that name another run here; they were left as they are.
    """

    schema: str = IMPORTED_SCHEMA
    file: str
    imported: tuple[str, ...]
    present: tuple[str, ...]
    """Runs that were there already."""
    tags: dict[str, str]
    """The run each tag of the archive names here, where it does."""


class Verified(Envelope, frozen=True, kw_only=True):
    """What `ragauge runs verify` found; each fault is a finding too."""

    schema: str = VERIFIED_SCHEMA
    whole: tuple[str, ...]
    faults: dict[str, tuple[str, ...]]
    leftovers: tuple[str, ...]

    @property
    def measured(self) -> bool:
        return not self.faults


class Cleaned(Envelope, frozen=True, kw_only=True):
    """What `ragauge runs gc` took away."""

    schema: str = CLEANED_SCHEMA
    removed: tuple[str, ...]
    bytes: int
    """Of the files among them; rows give their room to other rows."""


def shown_run(run: Run) -> ShownRun:
    """A run as a report of its own."""
    record = run.record
    return ShownRun(
        passed=record.passed,
        metrics=record.metrics,
        gates=record.gates,
        finding_counts=record.finding_counts,
        coverage=record.coverage,
        id=run.id,
        record=record,
        tags=run.tags,
        regressions=run.regressions,
    )


def verified(checked: Checked) -> Verified:
    """What was found of every run, as a report."""
    found = Findings()
    for id, faults in checked.faults.items():
        for fault in faults:
            found.add(Finding("not_whole", id, fault))
    return Verified(
        passed=not checked.faults,
        findings=tuple(found.kept()),
        finding_counts=found.counts,
        coverage={"runs": len(checked.whole) + len(checked.faults), "whole": len(checked.whole)},
        whole=checked.whole,
        faults=checked.faults,
        leftovers=checked.leftovers,
    )
