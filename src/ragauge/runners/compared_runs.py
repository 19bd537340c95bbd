"""The runs of a comparison, as its report tells them."""

from __future__ import annotations

from typing import Any

import msgspec

from ragauge import __version__
from ragauge.contracts.comparison import ComparedRun, ComparisonCoverage, ComparisonReport
from ragauge.contracts.finding import Finding
from ragauge.contracts.history import Run, canonical
from ragauge.runners.compare_options import CompareOptions


def told_run(run: Run) -> ComparedRun:
    """Enough of a run to know which it is."""
    git = run.record.git
    return ComparedRun(
        id=run.id,
        name=run.record.name,
        recorded_at=run.record.recorded_at,
        commit=git.commit if git else None,
        dirty=git.dirty if git else False,
        branch=git.branch if git else None,
        tags=run.tags,
        labels=run.record.labels,
        passed=run.record.passed,
    )


def identity_of(before: Run | None, after: Run, options: CompareOptions) -> dict[str, Any]:
    """What makes a comparison come out as it does."""
    return {
        "command": "compare",
        "options": msgspec.json.decode(canonical(options)),
        "ragauge": __version__,
        "runs": [run.id for run in (before, after) if run is not None],
        "gold_sha256": after.record.gold_sha256,
    }


def without_baseline(reference: str, after: Run, options: CompareOptions) -> ComparisonReport:
    """A report that says there is nothing to compare with yet, and passes."""
    message = f"no run is {reference} yet; there is nothing to compare with, as allowed"
    return ComparisonReport(
        passed=None,
        before=None,
        after=told_run(after),
        metrics={},
        gates=(),
        compared={},
        slices=(),
        flips=(),
        flip_counts={"broken": 0, "mended": 0},
        correction=options.correction,
        alpha=options.alpha,
        findings=(Finding("no_baseline", reference, message),),
        finding_counts={"no_baseline": 1},
        coverage=ComparisonCoverage(
            both=0, only_before=0, only_after=after.record.units, changed_meaning=0
        ),
        identity=identity_of(None, after, options),
    )
