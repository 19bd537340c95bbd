"""JUnit XML for CI servers: a suite of gates and a suite of answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from ragauge.contracts.audit import OK, AuditedAnswer, AuditFinding, AuditReport
from ragauge.reports import testsuites
from ragauge.reports.audit import story
from ragauge.reports.foreign import shown


def render(report: AuditReport) -> str:
    """The XML document."""
    root = testsuites.document()
    gates = testsuites.suite(root, "gates")
    for gate in report.gates:
        testsuites.add_gate(gates, gate)
    answers = testsuites.suite(root, "answers")
    times = Counter(story.answer_name(row) for row in report.answers)
    found = story.findings_by_answer(report)
    for row in report.answers:
        name = story.answer_name(row)
        unique = name if times[name] == 1 else f"{name} ({row.where})"
        _answer(answers, row, unique, found.get((row.where, row.qid), ()), report.passed)
    return testsuites.written(root)


def _answer(
    suite: ET.Element,
    row: AuditedAnswer,
    name: str,
    found: Sequence[AuditFinding],
    passed: bool,
) -> None:
    """A test case. The gates alone decide: in an audit that passed, no answer turns CI red."""
    case = testsuites.case(suite, "answers", name)
    if row.code == OK:
        return
    kind = "skipped" if passed else "error" if row.kind == "error" else "failure"
    codes = [row.code, *(finding.code for finding in found)]
    message = shown(", ".join(dict.fromkeys(codes)))
    told = ET.SubElement(case, kind, message=message, type=shown(row.code))
    facts = testsuites.facts({"cited": ", ".join(row.cited), "where": row.where})
    lines = [f"{finding.code}: {finding.message}" for finding in found]
    left_out = row.findings - len(found)
    if left_out > 0:
        lines.append(f"and {left_out} more")
    told.text = "\n".join(filter(None, (facts, *map(shown, lines))))
