"""JUnit XML for CI servers: a suite of gates and a suite of questions."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from ragauge.contracts.stability import StabilityReport
from ragauge.reports import testsuites
from ragauge.reports.foreign import shown
from ragauge.reports.stability.gates import Gate, gates_of
from ragauge.reports.stability.runs import outcome


def render(report: StabilityReport) -> str:
    """The XML document."""
    root = testsuites.document()
    gates = testsuites.suite(root, "gates")
    for gate in gates_of(report):
        _gate(gates, gate, report.passed)
    questions = testsuites.suite(root, "questions")
    for qid in report.details:
        _question(questions, report, qid)
    return testsuites.written(root)


def _gate(suite: ET.Element, gate: Gate, passed: bool) -> None:
    """A test case. The stable share decides: with enough of it, no other gate turns CI red."""
    case = testsuites.case(suite, "gates", gate.rule)
    if gate.word == "pass":
        return
    held = f"holds for {gate.good} of {gate.of} questions"
    message = gate.word.lower() if gate.good is None else held
    kind = "skipped" if gate.holds or passed else "error" if gate.good is None else "failure"
    told = f"{gate.name} {message}: {gate.note}" if gate.note else f"{gate.name} {message}"
    found = ET.SubElement(case, kind, message=shown(told))
    if kind != "skipped":
        found.set("type", gate.word.lower())


def _question(suite: ET.Element, report: StabilityReport, qid: str) -> None:
    """A test case. The gates alone decide: in a run that passed, no question turns CI red."""
    case = testsuites.case(suite, "questions", qid)
    one = report.details[qid]
    if one.verdict == "stable_pass":
        return
    kind = "error" if one.verdict == "incomplete" else "failure"
    kind = "skipped" if report.passed or one.verdict == "not_evaluated" else kind
    failed = "; ".join(one.failed)
    message = f"{one.verdict}: {failed}" if failed else one.verdict
    found = ET.SubElement(case, kind, message=shown(message), type=one.verdict)
    facts = {
        "question": one.question,
        "explained by": one.explained_by.words if one.explained_by else None,
        "runs": report.cells[qid],
    }
    lines = [testsuites.facts(facts)]
    for run in one.examples:
        said = run.error or run.claim
        told = f"{outcome(run.cell)}: {said} [{' '.join(run.cited)}]"
        lines.append(shown(f"{run.run_id} {told}"))
    found.text = "\n".join(lines)
