"""Runs on their way: as an archive holds them, as a list shows them, and what became of them."""

from __future__ import annotations

from msgspec import Struct, field

from ragauge.contracts.finding import Finding
from ragauge.contracts.history import Run

ARCHIVE_SCHEMA = "ragauge.archive/1"
RUNS_SCHEMA = "ragauge.runs/1"
REMOVED_SCHEMA = "ragauge.runs-removed/1"
EXPORTED_SCHEMA = "ragauge.runs-exported/1"
IMPORTED_SCHEMA = "ragauge.runs-imported/1"
VERIFIED_SCHEMA = "ragauge.runs-verified/1"
CLEANED_SCHEMA = "ragauge.runs-cleaned/1"

CONTENTS = "contents.json"
"""The archive's member that is read first; the others follow from it."""


def gold_member(sha256: str) -> str:
    return f"gold/{sha256}.jsonl"


def record_member(id: str) -> str:
    return f"runs/{id}/record.json"


def units_member(id: str) -> str:
    return f"runs/{id}/units.jsonl"


def file_member(id: str, name: str) -> str:
    return f"runs/{id}/files/{name}"


class ArchivedRun(Struct, frozen=True, kw_only=True):
    """A run of an archive. The id is the hash of its record, and the record seals the rest."""

    id: str
    tags: tuple[str, ...]


class Contents(Struct, frozen=True, kw_only=True):
    """The first member of an archive: which runs it holds, the oldest first."""

    schema: str = ARCHIVE_SCHEMA
    runs: tuple[ArchivedRun, ...]


class RunList(Struct, frozen=True, kw_only=True):
    """What `ragauge runs list` says, the newest run first."""

    schema: str = RUNS_SCHEMA
    store: str
    runs: tuple[Run, ...]
    more: bool
    """There are older runs that match."""


class Removed(Struct, frozen=True, kw_only=True):
    """What `ragauge runs rm` took away."""

    schema: str = REMOVED_SCHEMA
    runs: tuple[Run, ...]


class Exported(Struct, frozen=True, kw_only=True):
    """What `ragauge runs export` wrote."""

    schema: str = EXPORTED_SCHEMA
    file: str
    size: int
    runs: tuple[str, ...]


class Imported(Struct, frozen=True, kw_only=True):
    """What `ragauge runs import` did with an archive's runs."""

    schema: str = IMPORTED_SCHEMA
    file: str
    imported: tuple[str, ...]
    present: tuple[str, ...]
    """Runs that were there already."""
    tags: dict[str, str]
    """The run each tag of the archive names here, where it does."""
    findings: tuple[Finding, ...]
    """Tags that name another run here; they were left as they are."""


class Verified(Struct, frozen=True, kw_only=True):
    """What `ragauge runs verify` found."""

    schema: str = VERIFIED_SCHEMA
    passed: bool = field(name="pass")
    whole: tuple[str, ...]
    faults: dict[str, tuple[str, ...]]
    leftovers: tuple[str, ...]


class Cleaned(Struct, frozen=True, kw_only=True):
    """What `ragauge runs gc` took away."""

    schema: str = CLEANED_SCHEMA
    removed: tuple[str, ...]
    bytes: int
    """Of the files among them; rows give their room to other rows."""
