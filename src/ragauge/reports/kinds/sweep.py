"""The report of `ragauge sweep`: what became of the planned runs, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from ragauge.contracts.sweep import SweepReport
from ragauge.reports.document import Block, Document, Facts, Steps, Verdict, Words, theirs
from ragauge.reports.numbers import count

REMARKABLE = ("set_aside", "torn_line", "unplanned_run")
"""What happened to the journal, and the user should know."""


def document(report: SweepReport, scoring: str | None = None) -> Document:
    """`scoring` is the command that scores the runs."""
    command = scoring or f"ragauge stability GOLD {shlex.quote(report.out)}"
    return Document("sweep", list(_blocks(report, command)))


def _blocks(report: SweepReport, scoring: str) -> Iterator[Block]:
    found = report.coverage
    parts = [f"{count(found.done)} of {count(found.planned)} runs done"]
    parts += [f"{count(found.resumed)} of them before"] if found.resumed else []
    parts += [f"{count(found.saved)} not needed"] if found.saved else []
    parts += [f"{count(found.failed)} failed"] if found.failed else []
    yield Verdict("", f"{', '.join(parts)}: {report.out}")
    noop = ", ".join(f"{jitter} on {count(times)}" for jitter, times in report.noop.items())
    facts: list[tuple[str, Words]] = [
        ("runs left out", report.promise or ""),
        *(("", theirs(one.message)) for one in report.findings if one.code in REMARKABLE),
        *(("failed", theirs(_failure(report, kind, n))) for kind, n in report.errors.items()),
        (
            "jitters that changed nothing, and were not run",
            theirs(f"{noop} questions" if noop else ""),
        ),
    ]
    yield Facts(facts)
    if report.ended == "interrupted":
        yield Steps(["Interrupted: run the same command to continue where this one stopped."])
    elif report.ended == "error_budget":
        yield Steps(
            [
                "Stopped, because the error budget is spent: fix the system and run the same "
                "command to continue, or raise --error-budget."
            ]
        )
    elif found.failed:
        yield Steps(
            ["Run the same command to try the failed runs again, or score the others:", scoring]
        )
    else:
        yield Steps([scoring])


def _failure(report: SweepReport, kind: str, times: int) -> str:
    """A kind of failure, with the first run that failed in this way in its own words."""
    examples = (
        f"{one.message.removeprefix(f'{kind}: ')} ({one.where})"
        for one in report.findings
        if one.code == "failed_run" and one.message.startswith(kind)
    )
    return f"{kind} ({count(times)}): {next(examples, 'see the journal')}"
