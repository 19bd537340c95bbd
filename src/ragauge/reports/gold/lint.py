"""What `ragauge gold lint` says."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.gold_report import LintReport
from ragauge.reports.gold.page import finding_lines, first, table, told
from ragauge.reports.numbers import counted

VALUES_SHOWN = 5


def lines(report: LintReport) -> Iterator[str]:
    held = report.summary
    yield (
        f"{counted(report.coverage['gold'], 'question')}: "
        f"{held.answerable:,} answerable, {held.unanswerable:,} unanswerable"
    )
    yield (
        f"with gold citations {held.with_citations:,}, with paraphrases "
        f"{held.with_paraphrases:,}, with constraints {held.with_constraints:,}"
    )
    for key, values in held.strata.items():
        yield told(f"by {key}: {_commonest(values)}")
    if report.locks:
        yield ""
        yield from table([(qid, lock) for qid, lock in report.locks.items()], left=2)
    yield from finding_lines(report)
    yield ""
    yield _advice(report)


def _commonest(values: dict[str, int]) -> str:
    ranked = sorted(values.items(), key=lambda pair: (-pair[1], pair[0]))
    return first((f"{value} {count:,}" for value, count in ranked), VALUES_SHOWN)


def _advice(report: LintReport) -> str:
    warnings = counted(report.warnings, "warning")
    if report.errors:
        errors = counted(report.errors, "error")
        beside = f"; {warnings} can wait" if report.warnings else ""
        return f"Not ready: mend {errors} before scoring with this set{beside}."
    if not report.warnings:
        return "Ready: nothing to mend."
    if report.passed:
        return f"Ready: no errors. Have a look at {warnings}; --strict would fail here."
    return f"Not ready: mend {warnings}, which --strict does not let pass."
