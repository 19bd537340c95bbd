"""CI servers read the stability report: flaky is a failure, incomplete an error."""

import pytest
from junitparser import Error, Failure, JUnitXml, Skipped
from msgspec import structs

from ragauge.reports.stability.junit import render
from tests.reports import sweeps


def suites(report):
    root = JUnitXml.fromstring(render(report).encode())
    return {suite.name: suite for suite in root}


@pytest.fixture(scope="module")
def telling():
    return suites(sweeps.telling())


def results(suite):
    return {case.name: [type(one) for one in case.result] for case in suite}


def test_a_question_is_a_test_case(telling):
    found = results(telling["ragauge questions"])
    assert len(found) == 12
    assert found["h041"] == found["h013"] == [Failure]
    assert found["h049"] == [Error]
    assert found["h005"] == []


def test_the_counts_are_right(telling):
    for name, counts in (("ragauge gates", (7, 6, 0, 0)), ("ragauge questions", (12, 6, 1, 0))):
        suite = telling[name]
        assert (suite.tests, suite.failures, suite.errors, suite.skipped) == counts
        suite.update_statistics()
        assert (suite.tests, suite.failures, suite.errors, suite.skipped) == counts


def test_a_failure_says_gates_reason_runs_and_answers(telling):
    [case] = [case for case in telling["ragauge questions"] if case.name == "h013"]
    failure = case.result[0]
    assert (failure.type, failure.message) == ("flaky", "flaky: acr 0.75 < 0.95")
    assert failure.text.splitlines() == [
        "question: What museum holds The Night Watch?",
        "explained by: jitter: 15 of 30 pairs differ",
        "runs: +++++++++++++++ccccc",
        "h013#seed=0;t=0;j=none;p=0 right: The Night Watch hangs in the Rijksmuseum in Amsterdam."
        " [p1#1]",
        "h013#seed=0;t=0;j=syn;p=0 claim wrong: The Night Watch is kept in the Mauritshuis in The"
        " Hague. [p1#1]",
    ]


def test_a_gate_says_how_many_questions_hold_it(telling):
    messages = [case.result[0].message for case in telling["ragauge gates"] if case.result]
    assert messages[0] == "stable >= 1 holds for 5 of 12 questions"
    assert messages[-1] == "error_rate <= 0 holds for 11 of 12 questions: 1 of 12 fail: h049"


def test_the_gates_of_the_reference_are_its_verdicts():
    found = results(suites(sweeps.reference())["ragauge gates"])
    assert found == {
        "stability.stable>=1": [Failure],
        "stability.acr>=0.95 per question where answerable=true": [Failure],
        "stability.cghc>=0.95 per question where answerable=true": [],
        "stability.css_all>=0.7 per question where answerable=true": [Failure],
        "stability.ned50<=0.2 per question where answerable=true": [],
        "stability.rcr>=0.98 per question where answerable=false": [Skipped],
        "stability.scu_cons=1 per question": [],
        "stability.error_rate<=0 per question": [],
    }


def test_a_gate_that_was_not_evaluated_is_an_error_with_its_reason():
    gates = suites(sweeps.unanswered())["ragauge gates"]
    assert set(map(tuple, results(gates).values())) == {(Error,)}
    assert (gates.tests, gates.errors, gates.skipped) == (7, 7, 0)
    [stable, *_] = gates
    [error] = stable.result
    assert error.message == "stable >= 1 not evaluated: no question has a finished run"
    assert error.type == "not evaluated"


def test_a_run_with_enough_stable_questions_does_not_turn_ci_red():
    passed = suites(structs.replace(sweeps.telling(), passed=True))
    assert results(passed["ragauge questions"])["h013"] == [Skipped]
    for suite in passed.values():
        assert (suite.failures, suite.errors) == (0, 0)


def test_a_gate_that_applies_to_no_question_is_skipped():
    gates = results(suites(sweeps.steady())["ragauge gates"])
    name = "stability.refusal_rate>=0.98 per question where answerable=false"
    assert gates[name] == [Skipped]
