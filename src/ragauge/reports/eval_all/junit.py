"""JUnit XML for CI servers: a suite of tasks, and the suites of each."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from ragauge.contracts.evaluation import EvalAllReport
from ragauge.reports import testsuites
from ragauge.reports.eval_all import story
from ragauge.reports.evaluation import junit
from ragauge.reports.evaluation import story as evaluation
from ragauge.reports.foreign import shown


def render(report: EvalAllReport) -> str:
    """The XML document."""
    root = testsuites.document()
    _tasks(root, report)
    others = testsuites.suite(root, "gates")
    for gate in story.other_gates(report):
        testsuites.add_gate(others, gate)
    for name, one in story.tasks(report):
        junit.add(root, one, f" of {shown(name)}")
    return testsuites.written(root)


def _tasks(root: ET.Element, report: EvalAllReport) -> None:
    """A case for each task: what could not be finished is an error."""
    suite = testsuites.suite(root, "tasks")
    for failure in report.failures:
        case = testsuites.case(suite, "tasks", failure.task)
        ET.SubElement(case, "error", message=shown(failure.error), type="failed")
    for name, one in story.tasks(report):
        case = testsuites.case(suite, "tasks", name)
        if one.passed is False:
            message = evaluation.verdict_words(one)[1]
            ET.SubElement(case, "failure", message=shown(message), type="gates")
