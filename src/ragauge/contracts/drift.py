"""Drift: how an index differs from the one that citations were made with."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from ragauge.contracts.report import Report, Score, Verdict

DRIFT_SCHEMA = "ragauge.drift/1"
DIFFERENCES_KEPT = 10_000
"""Differences that stand in a report; beyond that only their counts grow."""


class Difference(Struct, frozen=True, kw_only=True):
    """One thing in which two manifests differ, and what follows for citations."""

    code: str
    field: str
    """The manifest's field, with a dot before what is inside it."""
    doc_id: str | None = None
    was: Any = None
    now: Any = None
    follows: str
    """What it does to citations of the index that was."""
    tip: str
    """The next step."""


class ComparedManifest(Struct, frozen=True, kw_only=True):
    """One of the two manifests, as a report names it."""

    name: str
    hash: str | None
    documents: int | None
    """None where it does not tell its documents."""


class DriftCoverage(Struct, frozen=True, kw_only=True):
    """What was compared of what the manifests tell."""

    compared: tuple[str, ...]
    """Fields that both tell."""
    untold: tuple[str, ...]
    """Fields that only one of them tells: they could not be compared."""
    documents: int | None
    """Documents of the two taken together; None where one does not tell them."""
    same: int | None
    """Of these, those of the same revision in both."""


class DriftReport(Report, frozen=True, kw_only=True):
    """What `ragauge audit --drift` says, versioned."""

    schema: str = DRIFT_SCHEMA
    passed: bool = field(name="pass")
    """The hash, or text_preproc and doc_revs, were compared, and nothing differs."""
    metrics: dict[str, Score] = field(default_factory=dict)
    gates: tuple[Verdict, ...] = ()
    was: ComparedManifest
    now: ComparedManifest
    differences: tuple[Difference, ...]
    difference_count: int
    coverage: DriftCoverage
