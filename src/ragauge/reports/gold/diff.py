"""What `ragauge gold diff` says."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.gold_report import DiffReport, Revision
from ragauge.reports.gold.page import finding_lines, first, told
from ragauge.reports.numbers import counted

QIDS_SHOWN = 8


def lines(report: DiffReport) -> Iterator[str]:
    covered = report.coverage
    yield (
        f"{counted(covered['old'], 'question')} before, {covered['gold']:,} after: "
        f"{len(report.added):,} added, {len(report.removed):,} removed, "
        f"{len(report.changed):,} changed, {len(report.edited):,} edited, "
        f"{covered['same']:,} the same"
    )
    if report.added:
        yield told(f"added: {first(report.added, QIDS_SHOWN)}")
    if report.edited:
        yield told(f"edited: {first(map(_revised, report.edited), QIDS_SHOWN)}")
    yield from finding_lines(report)
    yield ""
    if report.passed:
        yield "Still the same set: every question that is left means what it meant."
    else:
        yield f"Not the same set: mend {counted(report.errors, 'error')}, then compare again."


def _revised(revision: Revision) -> str:
    return f"{revision.qid} ({', '.join(revision.fields)})"
