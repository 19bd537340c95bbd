"""CI servers read the stability report: flaky is a failure, incomplete an error."""

import pytest
from junitparser import Error, JUnitXml, Skipped
from msgspec import structs

from ragauge.reports.rendering import render
from tests.reports import sweeps


def suites(report):
    root = JUnitXml.fromstring(render(report, "junit").encode())
    return {suite.name: suite for suite in root}


@pytest.fixture(scope="module")
def telling():
    return suites(sweeps.telling())


def results(suite):
    return {case.name: [type(one) for one in case.result] for case in suite}


def test_a_gate_that_was_not_evaluated_is_an_error_with_its_reason():
    gates = suites(sweeps.unanswered())["ragauge gates"]
    assert set(map(tuple, results(gates).values())) == {(Error,)}
    assert (gates.tests, gates.errors, gates.skipped) == (7, 7, 0)
    [stable, *_] = gates
    [error] = stable.result
    assert error.message.startswith("NOT EVALUATED: stability.stable is –")
    assert error.message.endswith("must be >= 1 (no question has a finished run)")
    assert error.type == "not_evaluated"


def test_a_run_with_enough_stable_questions_does_not_turn_ci_red():
    passed = suites(structs.replace(sweeps.telling(), passed=True))
    assert results(passed["ragauge questions"])["h013"] == [Skipped]
    for suite in passed.values():
        assert (suite.failures, suite.errors) == (0, 0)


def test_a_gate_that_applies_to_no_question_is_skipped():
    gates = results(suites(sweeps.steady())["ragauge gates"])
    name = "stability.refusal_rate>=0.98 per question where answerable=false"
    assert gates[name] == [Skipped]
