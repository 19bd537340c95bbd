"""JUnit XML for CI servers: a suite of gates and a suite of questions."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from ragauge.contracts.trace_eval import TracedQuestion, TraceEvalReport
from ragauge.reports import testsuites
from ragauge.reports.foreign import shown
from ragauge.reports.trace_eval import story


def render(report: TraceEvalReport) -> str:
    """The XML document."""
    root = testsuites.document()
    gates = testsuites.suite(root, "gates")
    for gate in report.gates:
        testsuites.add_gate(gates, gate)
    questions = testsuites.suite(root, "questions")
    for one in report.questions:
        _question(questions, one, report.passed)
    return testsuites.written(root)


def _question(suite: ET.Element, one: TracedQuestion, passed: bool) -> None:
    """A test case. The gates alone decide: in a run that passed, no question turns CI red."""
    case = testsuites.case(suite, "questions", one.qid)
    if story.right(one):
        return
    kind = "error" if one.answer == "incomplete" else "failure"
    codes = story.codes_of(one)
    parts = [
        f"retrieval {story.state_word(one.retrieval)}, answers {story.state_word(one.answer)}",
        f"{story.matched_words(one)} match" if one.answerable and one.answered else "",
        codes,
    ]
    message = "; ".join(part for part in parts if part)
    found = ET.SubElement(case, "skipped" if passed else kind, message=shown(message))
    found.set("type", one.answer or "unmatched")
    facts = testsuites.facts(
        {"question": one.question, "breaks": one.broken, "codes": codes or None}
    )
    runs = [
        f"{run.run_id} {story.OUTCOMES[story.outcome(run)]}: "
        f"{run.error or run.code} [{' '.join(run.cited)}]"
        for run in one.runs
    ]
    found.text = "\n".join((facts, *map(shown, runs)))
