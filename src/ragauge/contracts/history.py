"""A run as history keeps it: what was measured, with what, and what each unit came to."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import msgspec
from msgspec import Struct

from ragauge.contracts.gold import Gold
from ragauge.contracts.metric import Better
from ragauge.contracts.report import Score, Verdict
from ragauge.errors import UsageError

if TYPE_CHECKING:
    from ragauge.contracts.paging import PagedHistory

RUN_SCHEMA = "ragauge.run/1"
ID_SHOWN = 12
"""Characters of an id that a person is shown; any unambiguous beginning names the run."""

REPORT, RECORDS = "report.json", "records.parquet"
"""The files a run may have: the whole report, and one row for each trace."""


class GitState(Struct, frozen=True, kw_only=True):
    """The code a run was made from."""

    commit: str
    branch: str | None
    """None on a detached head, unless a CI server says which branch it builds."""
    dirty: bool
    """Files differed from the commit."""


class RecordedMetric(Score, frozen=True, kw_only=True):
    """A metric's score, with what is needed to compare it."""

    version: int
    better: Better
    total: Literal["sums", "mean"]
    """How the set's value comes from its units'."""


class Seal(Struct, frozen=True, kw_only=True):
    """What bytes must be, so that a run can be verified."""

    sha256: str
    size: int


class RunRecord(Struct, frozen=True, kw_only=True):
    """The identity and the numbers of a run. It never changes: its hash is the run's id."""

    schema: str = RUN_SCHEMA
    name: str
    command: str
    recorded_at: str
    """UTC to the microsecond, so that text order is time order: 2026-11-15T21:45:44.123456Z."""
    passed: bool | None
    """None where no gate said anything of quality."""
    ragauge: str
    git: GitState | None
    gold_sha256: str | None
    configuration: dict[str, Any]
    configuration_sha256: str
    labels: dict[str, str]
    """What the user wants to compare by, such as model, index and prompt."""
    metrics: dict[str, RecordedMetric]
    gates: tuple[Verdict, ...]
    finding_counts: dict[str, int]
    coverage: dict[str, Any]
    identity: dict[str, Any]
    """As the runner gave it: command, options, versions, hashes."""
    units: int
    units_sha256: str
    """Over the unit rows' canonical lines, in order."""
    files: dict[str, Seal]

    @property
    def id(self) -> str:
        return hashlib.sha256(canonical(self)).hexdigest()


class UnitRow(Struct, frozen=True, kw_only=True):
    """What one question came to in a run."""

    unit: str
    label: str | None
    right: bool | None
    """None where the run did not tell."""
    detail: dict[str, Any]
    """For a reader: triage, where it stands, the claim, what it cites."""
    values: dict[str, float]
    """By metric id; a metric that does not apply to the unit is not there."""
    counts: dict[str, tuple[int, ...]]
    """The metric's columns, summed over the unit."""


class Run(Struct, frozen=True, kw_only=True):
    """A recorded run as it is found again; tags may move, the record may not."""

    id: str
    record: RunRecord
    tags: tuple[str, ...] = ()
    regressions: tuple[str, ...] = ()
    """The ids of the baselines against which a gated comparison failed it."""

    @property
    def green(self) -> bool:
        """It passed, and no gated comparison failed it."""
        return self.record.passed is True and not self.regressions

    @property
    def shown(self) -> str:
        return self.id[:ID_SHOWN]


class NewRun(Struct, frozen=True, kw_only=True):
    """All that is recorded at once: it becomes visible whole, or not at all."""

    record: RunRecord
    units: Sequence[UnitRow]
    gold: Sequence[Gold]
    files: Mapping[str, Path]
    regressions: Sequence[str] = ()
    """What is known already of a run that comes from another history."""
    document: bytes | None = None
    """The record as another history wrote it; its hash is the run's id."""

    @property
    def written(self) -> bytes:
        """The bytes of the record that are kept and hashed."""
        return canonical(self.record) if self.document is None else self.document

    @property
    def id(self) -> str:
        return hashlib.sha256(self.written).hexdigest()


class RunFilter(Struct, frozen=True, kw_only=True):
    """Which runs to list; what is None does not matter."""

    name: str | None = None
    command: str | None = None
    branch: str | None = None
    green: bool | None = None
    """It passed and no gated comparison failed it, or not so."""
    labels: dict[str, str] = {}
    before: str | None = None
    """Recorded before this time."""
    limit: int | None = None


class Checked(Struct, frozen=True, kw_only=True):
    """What `runs verify` found: runs that are whole, faults of those that are not, leftovers."""

    whole: tuple[str, ...]
    faults: dict[str, tuple[str, ...]]
    """By run id: what is missing or not as it was sealed."""
    leftovers: tuple[str, ...]
    """Files of no run: a writer is at work, or a kill left them, and `runs gc` removes them."""


class NoHistory(UsageError):
    """There is none at that place yet; who only reads finds nothing recorded."""


class History(Protocol):
    """Runs kept for good. Several processes may write and read at once."""

    @property
    def pages(self) -> PagedHistory:
        """The same history, a page at a time."""
        ...

    def record(self, run: NewRun) -> Run:
        """Keep a run; on return it is durable. The same run a second time changes nothing."""
        ...

    def runs(self, which: RunFilter) -> list[Run]:
        """The runs that match, the newest first."""
        ...

    def find(self, reference: str, like: Run | None = None) -> Run:
        """The run a user names; raises UsageError with what is near.

        A reference is the beginning of an id (four characters at least), a tag, `latest`, `green`
        (the last that passed and that no gated comparison failed), one of these two on a branch:
        `green@main`, or the last run at a commit: `commit:5d2c9e` (four characters at least).
        With `like`, all but ids and tags mean a run of the same command and name, recorded before
        it.
        """
        ...

    def document(self, id: str) -> bytes:
        """The run's record as it was written, which hashes to its id."""
        ...

    def units(self, id: str) -> Iterator[UnitRow]:
        """The rows of a run, in the order they were recorded."""
        ...

    def gold(self, sha256: str) -> list[Gold]:
        """The questions of a gold set that some run was measured with."""
        ...

    def file(self, run: Run, name: str) -> AbstractContextManager[Path]:
        """A file of the run, readable while the context lasts."""
        ...

    def tag(self, id: str, tag: str, *, move: bool = False) -> None:
        """Name a run; raises UsageError where another run has the name and it may not move."""
        ...

    def untag(self, tag: str) -> None: ...

    def regressed(self, id: str, baseline: str) -> None:
        """Mark for good that a gated comparison with the run `baseline` failed this one.

        On return it is durable, and the run is not `green` any more; a second time changes
        nothing.
        """
        ...

    def remove(self, ids: Sequence[str]) -> None: ...

    def verify(self) -> Checked:
        """Every run read again and compared with its seals."""
        ...

    def gc(self) -> list[str]:
        """Remove what no run needs: leftovers, and gold sets of removed runs; says what."""
        ...

    def close(self) -> None: ...


def canonical(record: Any) -> bytes:
    """The one way a record is written where its bytes count."""
    return msgspec.json.encode(record, order="sorted")


def sealed_units(rows: Sequence[UnitRow]) -> str:
    """The hash of the rows, as a run's record holds it."""
    digest = hashlib.sha256()
    for row in rows:
        digest.update(canonical(row) + b"\n")
    return digest.hexdigest()
