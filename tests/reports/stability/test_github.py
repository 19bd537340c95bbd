"""Annotations of a stability report."""

from msgspec import structs

from ragauge.reports.stability.github import render
from tests.reports import sweeps
from tests.reports.score.test_github import parsed


def test_gates_are_errors_and_questions_warnings():
    found = parsed(render(sweeps.telling()))
    kinds = [kind for kind, _, _ in found]
    assert kinds == ["notice"] + ["error"] * 6 + ["warning"] * 7
    assert found[0][1:] == (
        {"title": "Ragauge stability FAIL"},
        "5 of 12 questions stable; 5 flaky, 1 stable fail, 1 incomplete\n"
        "230 runs planned: 210 made, 1 failed, 1 missing, 18 saved",
    )
    assert found[1][2] == "FAIL: stable >= 1 holds for 5 of 12 questions"


def test_a_question_says_gates_reason_and_two_answers():
    [found] = [one for one in parsed(render(sweeps.telling())) if "h013" in one[1]["title"]]
    assert found[1]["title"] == "flaky h013"
    assert found[2].splitlines() == [
        "acr 0.75 < 0.95",
        "jitter: 15 of 30 pairs differ",
        "right: The Night Watch hangs in the Rijksmuseum in Amsterdam.",
        "claim wrong: The Night Watch is kept in the Mauritshuis in The Hague.",
    ]


def test_at_most_ten_questions_then_the_count():
    found = parsed(render(sweeps.large()))
    assert [kind for kind, _, _ in found].count("warning") == 10
    assert found[-1][2] == "10 of 55 questions that failed are annotated"


def test_a_run_that_passed_has_no_errors():
    passed = structs.replace(sweeps.telling(), passed=True)
    assert "error" not in [kind for kind, _, _ in parsed(render(passed))]
    assert render(sweeps.steady()).count("\n") == 1


def test_the_gates_of_the_reference_are_its_verdicts():
    found = parsed(render(sweeps.reference()))
    assert [message for kind, _, message in found if kind == "error"] == [
        "FAIL: stable >= 1 holds for 0 of 1 question",
        "FAIL: acr >= 0.95 holds for 0 of 1 question (1 of 1 fail: A0001)",
        "FAIL: css_all >= 0.70 holds for 0 of 1 question (1 of 1 fail: A0001)",
    ]


def test_a_gate_that_was_not_evaluated_is_an_error_with_its_reason():
    errors = [one for one in parsed(render(sweeps.unanswered())) if one[0] == "error"]
    assert len(errors) == 7
    assert errors[0][2] == "NOT EVALUATED: stable >= 1 (no question has a finished run)"
