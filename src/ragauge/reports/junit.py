"""JUnit XML for CI servers: a suite of gates and a suite of questions."""

from __future__ import annotations

from collections import Counter
from xml.etree import ElementTree as ET

from ragauge.contracts.score import QuestionRow, ScoreReport
from ragauge.contracts.verdict import Verdict
from ragauge.metrics.quality import GOOD_LABELS
from ragauge.reports import numbers, story
from ragauge.reports.foreign import shown

KINDS = {"failure": "failures", "error": "errors", "skipped": "skipped"}
"""What a test case can hold besides success, and the attribute that counts it."""


def render(report: ScoreReport) -> str:
    """The XML document; no times, so that the same report gives the same bytes."""
    root = ET.Element("testsuites", name="ragauge")
    gates = ET.SubElement(root, "testsuite", name="ragauge gates")
    for gate in report.gates:
        _gate(gates, gate)
    questions = ET.SubElement(root, "testsuite", name="ragauge questions")
    times = Counter(row.qid for row in report.questions)
    for row in report.questions:
        name = row.qid if times[row.qid] == 1 or not row.where else f"{row.qid} ({row.where})"
        _question(questions, row, name, report.passed)
    for suite in (gates, questions, root):
        _count(suite)
    ET.indent(root)
    # ElementTree would name the encoding of the locale.
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _gate(suite: ET.Element, gate: Verdict) -> None:
    case = ET.SubElement(suite, "testcase", classname="gates", name=shown(gate.rule))
    kind = _gate_kind(gate)
    if kind is None:
        return
    value = numbers.value_beside(gate.value, gate.bound)
    note = story.gate_note(gate)
    message = f"{gate.metric} is {value}, must be {numbers.bound(gate)}"
    if gate.value is None:
        message = f"{gate.metric} was {story.gate_word(gate).lower()}"
    found = ET.SubElement(case, kind, message=shown(f"{message}: {note}" if note else message))
    if kind != "skipped":
        found.set("type", gate.verdict)
        interval = numbers.interval(gate.ci)
        found.text = shown(f"value {value} {interval} over {numbers.count(gate.n)}")


def _gate_kind(gate: Verdict) -> str | None:
    if gate.verdict == "pass":
        return None
    if gate.verdict == "fail":
        return "failure"
    return "skipped" if gate.holds else "error"


def _question(suite: ET.Element, row: QuestionRow, name: str, passed: bool) -> None:
    """A test case. The gates alone decide: in a run that passed, no question turns CI red."""
    case = ET.SubElement(suite, "testcase", classname="questions", name=shown(name))
    if row.label in GOOD_LABELS:
        return
    kind = "error" if row.label in story.NO_ANSWER else "failure"
    kind = "skipped" if passed else kind
    said = shown(row.claim or row.reason or "")
    message = f"{shown(row.label)}: {said}" if said else shown(row.label)
    found = ET.SubElement(case, kind, message=message, type=shown(row.label))
    facts = {
        "triage": row.triage,
        "claim": row.claim,
        "cited": ", ".join(row.cited) if row.cited else None,
        "reason": row.reason,
        "where": row.where,
    }
    found.text = "\n".join(f"{fact}: {shown(text)}" for fact, text in facts.items() if text)


def _count(suite: ET.Element) -> None:
    suite.set("tests", str(len(list(suite.iter("testcase")))))
    for kind, attribute in KINDS.items():
        suite.set(attribute, str(len(list(suite.iter(kind)))))
