"""The report of `ragauge sweep`: how the planned runs ended, what to do next, and what it
will take, in words."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from ragauge.contracts.sweep import SweepEstimate, SweepReport
from ragauge.reports import document as doc
from ragauge.reports.phrasing import count, pluralize

AGAIN = {
    "interrupted": "Interrupted: run the same command to continue where this one stopped.",
    "error_budget": "Stopped, because the error budget is spent: fix the system and run the same "
    "command to continue, or raise --error-budget.",
}


def document(report: SweepReport, scoring: str | None = None) -> doc.Document:
    """`scoring` is the command that scores the runs."""
    found = report.coverage
    kinds = ", ".join(f"{kind} {count(times)}" for kind, times in report.errors.items())
    text = doc.listed(
        f"{count(found.done)} of {pluralize(found.planned, 'run')} done",
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
    verdict = doc.Verdict("", f"{text}: {report.out}", meaning=promise)
    return doc.Document("sweep", [verdict, doc.findings(report), *doc.steps(steps)])


def estimate_lines(taking: SweepEstimate) -> Iterator[str]:
    """What a sweep will take: its calls, its time, its cost, and what it cannot show."""
    of = f" (the first of {taking.of:,})" if taking.questions < taking.of else ""
    parts = [f"{pluralize(taking.questions, 'question')}{of}, {pluralize(taking.grid, 'run')}"]
    parts += (
        [f"{taking.noop:,} left out because the wording does not change"] if taking.noop else []
    )
    parts += [f"{taking.finished:,} finished before"] if taking.finished else []
    most = "at most " if taking.adaptive else ""
    yield f"{most}{pluralize(taking.calls, 'call')} to make: {'; '.join(parts)}"
    if taking.calls:
        yield pace_text(taking)
    if taking.single:
        one = pluralize(taking.single, "question has", "questions have")
        yield f"{one} one run, and stability needs two: add seeds, jitters or --repeats 2"


def pace_text(taking: SweepEstimate) -> str:
    """How long the calls will take, and what they will cost."""
    how = "the first call took that long" if taking.measured else "assumed"
    at_once = min(taking.concurrency, max(1, taking.calls))
    text = f"about {_duration(taking.seconds)}"
    text += f" at {taking.call_s:.2g} s per call ({how}), {at_once:,} at a time"
    if taking.measured:
        text = f"{pluralize(taking.calls, 'call')} left: {text}"
    if taking.cost is not None and taking.tokens:
        known = "as the first call reported" if taking.measured_tokens else "assumed"
        went, came = taking.tokens
        text += (
            f"; about {taking.cost:,.2f} at {went:,} tokens in and {came:,} out per call ({known})"
        )
    return text


def _duration(seconds: float) -> str:
    """
    >>> _duration(0.3), _duration(95), _duration(7300)
    ('1 s', '1 min 35 s', '2 h 1 min')
    """
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
