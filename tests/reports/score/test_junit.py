"""CI servers read the JUnit report: the counts are right, and any text is XML."""

import pytest
from junitparser import JUnitXml

from ragauge.reports import rendering


def render(report, **how):
    return rendering.render(report, "junit", **how)


@pytest.fixture
def suites(plain):
    return {suite.name: suite for suite in JUnitXml.fromstring(render(plain).encode())}


def results(suite):
    return [[type(result) for result in case.result] for case in suite]


def test_a_wrong_question_in_a_run_that_passed_does_not_turn_ci_red(make):
    row = make["row"]("q1", "ANS_NO_HIT", claim="no")
    root = JUnitXml.fromstring(render(make["report"](passed=True, questions=(row,))).encode())
    assert (root.failures, root.errors, root.skipped) == (0, 0, 1)


def test_what_xml_forbids_is_spelled_out(make):
    claim = "\x00\x0b\x1b\ufffe\uffff\ud800]]><x>&"
    row = make["row"]("q1", "ANS_NO_HIT", claim=claim)
    root = JUnitXml.fromstring(render(make["report"](questions=(row,))).encode())
    [_, [case]] = list(root)
    assert "\\x00" in case.result[0].text
    assert "\\x1b\\ufffe\\uffff\\ud800]]><x>&" in case.result[0].text


def test_hostile_text_is_read_back(hostile):
    root = JUnitXml.fromstring(render(hostile).encode())
    assert (root.tests, root.failures, root.errors) == (10, 4, 3)


def test_traces_of_one_question_are_told_apart(make):
    rows = tuple(make["row"]("q1", where=f"t.jsonl:{line}") for line in (1, 2))
    [_, suite] = list(JUnitXml.fromstring(render(make["report"](questions=rows)).encode()))
    assert [case.name for case in suite] == ["q1 (t.jsonl:1)", "q1 (t.jsonl:2)"]
