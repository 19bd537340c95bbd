"""Annotations of a stability report."""

from ragauge.reports.rendering import render
from tests.reports import sweeps
from tests.reports.score.test_github import parsed


def test_at_most_ten_questions_then_the_count():
    found = parsed(render(sweeps.large(), "github"))
    assert [kind for kind, _, _ in found].count("warning") == 10
    assert found[-1][2] == "questions: and 45 more"


def test_a_gate_that_was_not_evaluated_is_an_error_with_its_reason():
    errors = [one for one in parsed(render(sweeps.unanswered(), "github")) if one[0] == "error"]
    assert len(errors) == 7
    assert errors[0][2].startswith("NOT EVALUATED: stability.stable is –")
    assert errors[0][2].endswith("must be >= 1 (no question has a finished run)")
