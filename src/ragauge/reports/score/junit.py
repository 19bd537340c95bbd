"""JUnit XML for CI servers: a suite of gates and a suite of questions."""

from __future__ import annotations

from collections import Counter
from xml.etree import ElementTree as ET

from ragauge.contracts.score import QuestionRow, ScoreReport
from ragauge.metrics.quality import GOOD_LABELS
from ragauge.reports import testsuites
from ragauge.reports.foreign import shown
from ragauge.reports.score import story


def render(report: ScoreReport) -> str:
    """The XML document."""
    root = testsuites.document()
    gates = testsuites.suite(root, "gates")
    for gate in report.gates:
        testsuites.add_gate(gates, gate)
    questions = testsuites.suite(root, "questions")
    times = Counter(row.qid for row in report.questions)
    for row in report.questions:
        name = row.qid if times[row.qid] == 1 or not row.where else f"{row.qid} ({row.where})"
        _question(questions, row, name, report.passed is not False)
    return testsuites.written(root)


def _question(suite: ET.Element, row: QuestionRow, name: str, passed: bool) -> None:
    """A test case. The gates alone decide: in a run that passed, no question turns CI red."""
    case = testsuites.case(suite, "questions", name)
    if row.label in GOOD_LABELS:
        return
    kind = "error" if row.label in story.NO_ANSWER else "failure"
    kind = "skipped" if passed else kind
    said = shown(row.claim or row.reason or "")
    message = f"{shown(row.label)}: {said}" if said else shown(row.label)
    found = ET.SubElement(case, kind, message=message, type=shown(row.label))
    found.text = testsuites.facts(
        {
            "triage": row.triage,
            "claim": row.claim,
            "cited": ", ".join(row.cited) if row.cited else None,
            "reason": row.reason,
            "where": row.where,
        }
    )
