"""JUnit XML, which CI servers read: suites of cases, each with its problem if it has one.

No times are written, so that the same report gives the same bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal
from xml.etree import ElementTree as ET

from msgspec import Struct

from ragauge.contracts.report import Verdict
from ragauge.reports import envelope, numbers
from ragauge.text.visible import shown

COUNTED = {"failure": "failures", "error": "errors", "skipped": "skipped"}
"""What a test case can hold besides success, and the attribute that counts it."""


class Problem(Struct, frozen=True):
    """Why a case is not a success; all texts may be foreign."""

    kind: Literal["failure", "error", "skipped"]
    message: str
    type: str = ""
    lines: tuple[str, ...] = ()


class Case(Struct, frozen=True):
    name: str
    problem: Problem | None = None
    group: str = ""  # its `classname`; that of its suite where it has none
    where: str | None = None  # its place, which separates cases of the same name


class Suite(Struct, frozen=True):
    name: str
    cases: Iterable[Case]
    group: str = ""  # the `classname` of its cases; its name where it has none
    decides: bool = True  # else its problems are skipped: in a run that passed, none turns CI red


def render(suites: Iterable[Suite]) -> str:
    root = ET.Element("testsuites", name="ragauge")
    for suite in suites:
        made = ET.SubElement(root, "testsuite", name=f"ragauge {shown(suite.name)}")
        cases = list(suite.cases)
        times = Counter(case.name for case in cases)
        for case in cases:
            group = shown(case.group or suite.group or suite.name)
            alone = times[case.name] == 1 or not case.where
            name = case.name if alone else f"{case.name} ({case.where})"
            element = ET.SubElement(made, "testcase", classname=group, name=shown(name))
            if problem := case.problem:
                tag = problem.kind if suite.decides else "skipped"
                found = ET.SubElement(element, tag, message=shown(problem.message))
                if problem.type:
                    found.set("type", shown(problem.type))
                if problem.lines:
                    found.text = "\n".join(map(shown, problem.lines))
    for counting in (*root, root):
        counting.set("tests", str(len(list(counting.iter("testcase")))))
        for kind, attribute in COUNTED.items():
            counting.set(attribute, str(len(list(counting.iter(kind)))))
    ET.indent(root)
    # ElementTree would name the encoding of the locale.
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def facts(given: Mapping[str, str | None]) -> tuple[str, ...]:
    """A line for each fact there is."""
    return tuple(f"{fact}: {shown(text)}" for fact, text in given.items() if text)


def gate_suite(gates: Iterable[Verdict]) -> Suite:
    return Suite("gates", map(gate_case, gates))


def gate_case(gate: Verdict) -> Case:
    """A test case for a gate, with its value and its bound where it did not pass."""
    kind, value = gate_kind(gate), numbers.value_beside(gate.value, gate.bound)
    if kind is None:
        return Case(gate.rule)
    message = f"{gate.metric} is {value}, must be {numbers.bound(gate)}"
    if gate.value is None:
        message = f"{gate.metric} was {envelope.gate_word(gate).lower()}"
    message = ": ".join(filter(None, (message, envelope.gate_note(gate))))
    if kind == "skipped":
        return Case(gate.rule, Problem(kind, message))
    line = f"value {value} {numbers.interval(gate.ci)} over {numbers.count(gate.n)}"
    return Case(gate.rule, Problem(kind, message, gate.verdict, (line,)))


def gate_kind(gate: Verdict) -> Literal["failure", "error", "skipped"] | None:
    """What the gate's test case holds; None where it passed."""
    if gate.verdict == "pass":
        return None
    if gate.verdict == "fail":
        return "failure"
    return "skipped" if gate.holds else "error"
