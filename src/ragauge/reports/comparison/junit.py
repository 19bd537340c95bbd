"""JUnit XML for CI servers: a suite of gates and a suite of the questions that flipped."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from ragauge.contracts.comparison import ComparisonReport, Flip
from ragauge.contracts.verdict import Verdict
from ragauge.reports import testsuites
from ragauge.reports.comparison import story
from ragauge.reports.foreign import shown


def render(report: ComparisonReport) -> str:
    """The XML document."""
    root = testsuites.document()
    gates = testsuites.suite(root, "gates")
    for gate in report.gates:
        _gate(gates, gate)
    questions = testsuites.suite(root, "questions")
    for flip in report.flips:
        _question(questions, flip, report.passed is not False)
    return testsuites.written(root)


def _gate(suite: ET.Element, gate: Verdict) -> None:
    case = testsuites.case(suite, "gates", gate.rule)
    kind = testsuites.gate_kind(gate)
    if kind is not None:
        found = ET.SubElement(case, kind, message=shown(story.gate_words(gate)))
        if kind != "skipped":
            found.set("type", gate.verdict)


def _question(suite: ET.Element, flip: Flip, passed: bool) -> None:
    """A test case. The gates alone decide: in a comparison that passed, none turns CI red."""
    case = testsuites.case(suite, "questions", flip.qid)
    if flip.way == "mended":
        return
    kind = "skipped" if passed else "failure"
    message = f"broken: {flip.was.label} before, {flip.now.label} after"
    found = ET.SubElement(case, kind, message=shown(message), type="broken")
    found.text = testsuites.facts(
        {
            "question": flip.question,
            "said before": flip.was.claim,
            "cited before": " ".join(flip.was.cited),
            "explained before by": flip.was.why,
            "said after": flip.now.claim,
            "cited after": " ".join(flip.now.cited),
            "explained after by": flip.now.why,
        }
    )
