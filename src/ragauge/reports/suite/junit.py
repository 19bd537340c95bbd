"""JUnit XML for CI servers: a suite of tasks, and one of gates for each task."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from ragauge.contracts.suite import SuiteReport, TaskReport
from ragauge.contracts.verdict import Verdict
from ragauge.reports import testsuites
from ragauge.reports.foreign import shown
from ragauge.reports.kinds import suite as story


def render(report: SuiteReport) -> str:
    """The XML document."""
    root = testsuites.document()
    tasks = testsuites.suite(root, "tasks")
    for task in report.tasks:
        _task(tasks, report, task)
    for task in report.tasks:
        if gates := story.gates_of(report, task):
            suite = testsuites.suite(root, f"gates of {shown(task.name)}")
            for gate in gates:
                _gate(suite, task, gate)
    return testsuites.written(root)


def _task(suite: ET.Element, report: SuiteReport, task: TaskReport) -> None:
    case = testsuites.case(suite, "tasks", task.name)
    if task.status in ("passed", "ungated"):
        return
    if task.status == "skipped":
        ET.SubElement(case, "skipped", message="not asked for")
        return
    kind = "error" if task.status == "error" else "failure"
    told = task.problems or tuple(gate.rule for gate in story.stopping(report, task))
    found = ET.SubElement(case, kind, message=shown("; ".join(told[:1])), type=task.status)
    found.text = "\n".join(shown(line) for line in told)


def _gate(suite: ET.Element, task: TaskReport, gate: Verdict) -> None:
    """A test case. The task decides: in one that passed, no gate turns CI red."""
    if gate.holds or task.status not in ("passed", "ungated"):
        testsuites.add_gate(suite, gate)
        return
    case = testsuites.case(suite, "gates", gate.rule)
    ET.SubElement(case, "skipped", message=shown(f"{gate.verdict}; the task passed without it"))
