"""A trace evaluation in every form: codes before knobs, and λ question by question."""

import json
import re

import jsonschema
import msgspec
import pytest
from junitparser import JUnitXml, Skipped

from ragauge.contracts.audit import STATES
from ragauge.contracts.kinds import KINDS
from ragauge.contracts.schemas import examples, schema
from ragauge.contracts.trace_eval import TraceEvalReport
from ragauge.errors import UsageError
from ragauge.reports.kinds.trace_eval import MEANINGS
from ragauge.reports.rendering import format_of, render
from tests.reports.trace_eval.made import passing, question, report, telling

FORMS = KINDS[TraceEvalReport].forms
STYLES = re.compile(r"\x1b\[[0-9;]*m")
KNOBS = "ix the codes before you tune retrieval"


def test_a_form_it_does_not_have_is_refused(tmp_path):
    with pytest.raises(UsageError, match='a trace-eval report has no form "sarif"'):
        format_of(tmp_path / "x.sarif", TraceEvalReport)


@pytest.mark.parametrize("form", FORMS)
def test_the_example_has_every_form(form):
    example = msgspec.convert(examples("trace-eval-report")[0], TraceEvalReport)
    assert "mismatch_index_hash" in render(example, form)


def test_every_report_is_as_its_schema_says_and_reads_back():
    validator = jsonschema.Draft202012Validator(schema("trace-eval-report"))
    for made in (telling(), passing()):
        written = render(made, "json")
        validator.validate(json.loads(written))
        assert msgspec.json.decode(written, type=TraceEvalReport) == made


def test_without_an_answer_to_match_the_verdict_is_silent_of_matches():
    refused = report([question("q1", "rrrrrr", answerable=False)])
    assert render(refused, "text").splitlines()[0] == "PASS  1 of 1 question convergent"


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_codes_come_before_what_tuning_can_change(form):
    for first in (True, False):
        written = render(telling(codes_first=first), form, width=100)
        titles = ("Codes", "Convergence (λ)", "Questions", "Advice")
        places = [re.search(rf"^(### |<h2>)?{re.escape(title)}", written, re.M) for title in titles]
        starts = [place.start() for place in places]
        assert starts == sorted(starts)
        assert (KNOBS in written) is first


def test_every_state_has_a_meaning_and_a_rank():
    assert set(MEANINGS) == set(STATES)


def test_many_questions_are_cut_with_a_count():
    many = report([question(f"q{n:03d}", "++++++") for n in range(250)])
    assert "and 230 more; see --format json" in render(many, "text")
    assert "0 of 250 not correct in every run" in render(many, "markdown")
    assert "And 200 more" in render(many, "markdown")
    assert "And 50 more" in render(many, "html")


def test_the_runs_of_a_question_are_marks_in_text_and_squares_on_a_page():
    assert "✓✓✓✓!!" in render(telling(), "text")
    page = render(telling(), "html")
    assert "<title>keys-08#seed=0;p=2: failed: timed out after 30 s</title>" in page
    assert page.count('class="squares"') == 12


def test_color_adds_styles_and_nothing_else():
    colored = render(telling(), "text", color=True, width=90)
    assert "\x1b[" in colored
    assert STYLES.sub("", colored) == render(telling(), "text", width=90)


def results_of(made):
    suites = JUnitXml.fromstring(render(made, "junit").encode())
    [_, questions] = list(suites)
    return {case.name: case.result[0] if case.result else None for case in questions}


def test_no_question_turns_a_passed_run_red():
    found = results_of(telling(passed=True)).values()
    assert {type(result) for result in found} == {type(None), Skipped}
