"""What a consistency report tells, in the order it is told; the forms only write it down."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.contracts.consistency import ConsistencyCoverage, ConsistencyReport, Disagreement
from ragauge.contracts.finding import Finding
from ragauge.reports import envelope, numbers
from ragauge.reports.numbers import count, counted

COLUMNS = ("qid", "label_a", "label_b", "final", "why", "reason_a", "reason_b")
"""What a disagreement is written down as, in every form of rows."""


def verdict_words(report: ConsistencyReport) -> tuple[str, str]:
    """PASS or FAIL, and how far the judges agree: `agree on 45 of 50 questions, κ 0.81`."""
    word = "PASS" if report.passed else "FAIL"
    both = report.coverage.both
    if not both:
        return word, "no question was judged by both"
    agreed = both - report.disagreement_count
    kappa = numbers.value(report.metrics["consistency.kappa"].value)
    return word, f"the judges agree on {count(agreed)} of {counted(both, 'question')}, κ {kappa}"


def label_rows(report: ConsistencyReport) -> list[tuple[str, int, int, int, float | None, int]]:
    """For each label that was given: by A, by B, by both, their agreement on it, final."""
    return [
        (label, one.a, one.b, one.both, one.agreement, report.final[label])
        for label, one in report.labels.items()
        if one.a or one.b
    ]


def confused_labels(report: ConsistencyReport) -> list[str]:
    """The labels that are worth a row and a column."""
    return [label for label, *_ in label_rows(report)]


def judge_words(report: ConsistencyReport) -> list[str]:
    """Who the judges are, and how often each abstained."""
    found = []
    for name, judge in report.judges.items():
        share = numbers.share(judge.labels["ABSTAIN"], judge.judged)
        labels = counted(judge.judged, "label")
        found.append(f"{name.upper()} is {judge.file}: {labels}, {share} of them ABSTAIN")
    return found


def cells(one: Disagreement) -> list[str | None]:
    """A disagreement under COLUMNS."""
    return [getattr(one, column) for column in COLUMNS]


def coverage_words(coverage: ConsistencyCoverage) -> str:
    parts = [
        f"{count(coverage.both)} of {counted(coverage.questions, 'question')} judged by both",
        coverage.only_a and f"{count(coverage.only_a)} by A alone",
        coverage.only_b and f"{count(coverage.only_b)} by B alone",
    ]
    return ", ".join(part for part in parts if part)


def findings(report: ConsistencyReport) -> list[tuple[str, int, Sequence[Finding]]]:
    return envelope.findings_by_code(report.findings, report.finding_counts)
