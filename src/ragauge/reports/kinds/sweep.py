"""The report of `ragauge sweep`: what became of the planned runs, and what to do next."""

from __future__ import annotations

import shlex

from ragauge.contracts.sweep import SweepReport
from ragauge.reports import document as doc
from ragauge.reports.envelope import count, counted

AGAIN = {
    "interrupted": "Interrupted: run the same command to continue where this one stopped.",
    "error_budget": "Stopped, because the error budget is spent: fix the system and run the same "
    "command to continue, or raise --error-budget.",
}


def document(report: SweepReport, scoring: str | None = None) -> doc.Document:
    """`scoring` is the command that scores the runs."""
    found = report.coverage
    kinds = ", ".join(f"{kind} {count(times)}" for kind, times in report.errors.items())
    words = doc.listed(
        f"{count(found.done)} of {counted(found.planned, 'run')} done",
        found.resumed and f"{count(found.resumed)} of them before",
        found.saved and f"{count(found.saved)} not needed",
        found.failed and f"{count(found.failed)} failed ({kinds})",
    )
    steps = [AGAIN[report.ended]] if report.ended in AGAIN else []
    if not steps and found.failed:
        steps = ["Run the same command to try the failed runs again, or score the others:"]
    if report.ended == "complete":
        steps.append(scoring or f"ragauge stability GOLD {shlex.quote(report.out)}")
    promise = [report.promise] if report.promise else []
    verdict = doc.Verdict("", f"{words}: {report.out}", meaning=promise)
    return doc.Document("sweep", [verdict, doc.findings(report), *doc.steps(steps)])
