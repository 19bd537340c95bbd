"""JUnit XML, which CI servers read: suites of cases, each with its problem if it has one.

In a run that did not fail, problems are skipped, so that none turns CI red. No times are written,
so that the same report gives the same bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from xml.etree import ElementTree as ET

from ragauge.reports.cases import Suite
from ragauge.text.visible import shown

COUNTED = {"failure": "failures", "error": "errors", "skipped": "skipped"}
"""The elements that a failed or skipped test case contains, and the attribute that counts each."""


def render(suites: Iterable[Suite], passed: bool | None) -> str:
    root = ET.Element("testsuites", name="ragauge")
    for suite in suites:
        suite_element = ET.SubElement(root, "testsuite", name=f"ragauge {shown(suite.name)}")
        cases, red = list(suite.cases), passed is False and not suite.passed
        times = Counter((case.group, case.name) for case in cases)
        for case in cases:
            group = shown(case.group or suite.group or suite.name)
            alone = times[case.group, case.name] == 1 or not case.where
            name = case.name if alone else f"{case.name} ({case.where})"
            element = ET.SubElement(suite_element, "testcase", classname=group, name=shown(name))
            if case.problem:
                tag = case.kind if red else "skipped"
                found = ET.SubElement(element, tag, message=shown(case.problem))
                if case.type:
                    found.set("type", shown(case.type))
                if lines := [*case.lines, case.where] if case.where else case.lines:
                    found.text = "\n".join(map(shown, lines))
    for counting in (*root, root):
        counting.set("tests", str(len(list(counting.iter("testcase")))))
        for kind, attribute in COUNTED.items():
            counting.set(attribute, str(len(list(counting.iter(kind)))))
    ET.indent(root)
    # ElementTree would name the encoding of the locale.
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'
