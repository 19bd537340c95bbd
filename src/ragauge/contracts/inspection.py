"""What `ragauge inspect` reports of a file."""

from __future__ import annotations

from msgspec import Struct, field

from ragauge.contracts.report import Count, Report, Score, Verdict

INSPECTION_SCHEMA = "ragauge.inspection/1"


class ColumnSeen(Struct, frozen=True, kw_only=True):
    """A column of the file, or a key of its objects."""

    name: str
    filled: Count
    """Rows that have something there."""
    feeds: str | None
    """The field that reads it; None where none does."""
    meant: str | None = None
    """The field that it may be meant for, where none reads it."""


class Lacking(Struct, frozen=True, kw_only=True):
    """A metric that cannot be computed, and what is missing for it."""

    metric: str
    needs: str


class InspectionCoverage(Struct, frozen=True, kw_only=True):
    """How much of the file was read."""

    rows: Count
    unreadable: Count
    unread_columns: tuple[str, ...]


class InspectionReport(Report, frozen=True, kw_only=True):
    """What a file holds, as Ragauge reads it, versioned."""

    schema: str = INSPECTION_SCHEMA
    passed: bool | None = field(name="pass", default=None)
    metrics: dict[str, Score] = field(default_factory=dict)
    gates: tuple[Verdict, ...] = ()
    file: str
    form: str
    """Such as `JSON Lines` or `CSV`."""
    kind: str | None
    """What its records are; None where no kind of record has such fields."""
    others: tuple[str, ...]
    """What else its records can be read as."""
    columns: tuple[ColumnSeen, ...]
    samples: tuple[dict[str, str], ...]
    """The first rows, by our names of the fields."""
    computable: tuple[str, ...]
    """Metrics that have a value on the rows that were looked at."""
    lacking: tuple[Lacking, ...]
    coverage: InspectionCoverage

    @property
    def measured(self) -> bool:
        return self.kind is not None
