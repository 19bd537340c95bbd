"""The parts of a JUnit document, which CI servers read."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from ragauge.contracts.verdict import Verdict
from ragauge.reports import envelope, numbers
from ragauge.reports.foreign import shown

KINDS = {"failure": "failures", "error": "errors", "skipped": "skipped"}
"""What a test case can hold besides success, and the attribute that counts it."""


def document() -> ET.Element:
    return ET.Element("testsuites", name="ragauge")


def suite(root: ET.Element, name: str) -> ET.Element:
    return ET.SubElement(root, "testsuite", name=f"ragauge {name}")


def case(suite: ET.Element, classname: str, name: str) -> ET.Element:
    return ET.SubElement(suite, "testcase", classname=classname, name=shown(name))


def written(root: ET.Element) -> str:
    """The document with its counts; no times, so that the same report gives the same bytes."""
    for suite in (*root, root):
        suite.set("tests", str(len(list(suite.iter("testcase")))))
        for kind, attribute in KINDS.items():
            suite.set(attribute, str(len(list(suite.iter(kind)))))
    ET.indent(root)
    # ElementTree would name the encoding of the locale.
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def gate_kind(gate: Verdict) -> str | None:
    """What the gate's test case holds; None where it passed."""
    if gate.verdict == "pass":
        return None
    if gate.verdict == "fail":
        return "failure"
    return "skipped" if gate.holds else "error"


def add_gate(suite: ET.Element, gate: Verdict) -> None:
    """A test case for a gate, with its value and its bound where it did not pass."""
    made = case(suite, "gates", gate.rule)
    kind = gate_kind(gate)
    if kind is None:
        return
    value = numbers.value_beside(gate.value, gate.bound)
    note = envelope.gate_note(gate)
    message = f"{gate.metric} is {value}, must be {numbers.bound(gate)}"
    if gate.value is None:
        message = f"{gate.metric} was {envelope.gate_word(gate).lower()}"
    found = ET.SubElement(made, kind, message=shown(f"{message}: {note}" if note else message))
    if kind != "skipped":
        found.set("type", gate.verdict)
        interval = numbers.interval(gate.ci)
        found.text = shown(f"value {value} {interval} over {numbers.count(gate.n)}")


def facts(told: dict[str, str | None]) -> str:
    """A line for each fact there is."""
    return "\n".join(f"{fact}: {shown(text)}" for fact, text in told.items() if text)
