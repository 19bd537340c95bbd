"""A trace evaluation in every form: codes before knobs, and λ question by question."""

import json
import re

import jsonschema
import msgspec
import pytest
from junitparser import Error, Failure, JUnitXml, Skipped

from ragauge.contracts.audit import STATES
from ragauge.contracts.kinds import KINDS
from ragauge.contracts.schemas import examples, schema
from ragauge.contracts.trace_eval import TraceEvalCoverage, TraceEvalReport
from ragauge.errors import UsageError
from ragauge.reports import html
from ragauge.reports.forms import form_of, render
from ragauge.reports.trace_eval import story
from ragauge.reports.trace_eval.view import View
from tests.reports.test_html import Page
from tests.reports.trace_eval.made import passing, question, report, telling

FORMS = KINDS[TraceEvalReport].forms
STYLES = re.compile(r"\x1b\[[0-9;]*m")
KNOBS = "codes come before knobs"


def squeezed(written):
    return [" ".join(line.split()) for line in written.splitlines()]


def test_a_form_it_does_not_have_is_refused(tmp_path):
    with pytest.raises(UsageError, match='a trace-eval report has no form "sarif"'):
        form_of(tmp_path / "x.sarif", TraceEvalReport)


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


def test_the_verdict_says_how_many_converge_and_match_and_how_they_were_asked():
    rows = squeezed(render(telling(), "text"))
    assert rows[:2] == [
        "FAIL 7 of 12 questions converge; 43 of 63 answers cite the gold",
        "3 wordings × 2 seeds at temperature 0.2: 72 runs planned, 70 made, 2 failed",
    ]
    assert squeezed(render(passing(), "text"))[0] == (
        "PASS 2 of 2 questions converge; 6 of 6 answers cite the gold"
    )


def test_without_an_answer_to_match_the_verdict_is_silent_of_matches():
    refused = report([question("q1", "rrrrrr", answerable=False)])
    assert render(refused, "text").splitlines()[0] == "PASS  1 of 1 question converges"


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_codes_stand_right_after_the_gates_below_the_target_and_else_below_the_questions(form):
    titles = {
        "text": ("Codes", "λ  ", "Questions  ", "Advice  "),
        "markdown": ("### Codes", "### λ", "<summary>8 of 12", "### Advice"),
        "html": ("<h2>Codes</h2>", "<h2>λ</h2>", "<h2>Questions</h2>", "<h2>Advice</h2>"),
    }[form]
    for first in (True, False):
        written = render(telling(codes_first=first), form, width=100)
        places = [written.index(f"\n{title}") for title in titles]
        assert (places[0] == min(places)) is first
        assert places[1:] == sorted(places[1:])
        assert places[0] < places[3]
        assert (KNOBS in written) is first


def test_the_states_of_retrieval_and_of_answers_are_counted_with_bars():
    rows = squeezed(render(telling(), "text", width=80))
    assert f"convergent {'█' * 20} 8 {'█' * 17}▌ 7" in rows
    assert "divergent 0 █████ 2" in rows
    assert rows[rows.index("divergent 0 █████ 2") + 1] == "some runs agree, the others do not"
    assert "| divergent | 0 | 2 | some runs agree, the others do not |" in render(
        telling(), "markdown"
    )


def test_the_questions_that_do_not_converge_stand_first():
    ranked = [one.qid for one in story.ranked(telling())]
    assert ranked == [
        "keys-07",
        "keys-05",
        "policies/keys-09",
        "keys-06",
        "keys-08",
        "keys-12",
        "keys-03",
        "keys-02",
        "keys-01",
        "keys-04",
        "keys-10",
        "keys-11",
    ]


def test_a_question_says_where_it_breaks_how_it_matches_and_its_codes():
    rows = squeezed(render(telling(), "text"))
    place = rows.index("keys-05 convergent divergent after retrieval 4 of 6 0.812")
    assert rows[place + 1] == "mismatch_index_hash 2"
    assert "keys-04 convergent convergent – –" in rows
    assert "keys-10 – convergent 6 of 6 –" in rows
    assert (
        "| `keys-05` | convergent | divergent | after retrieval | 4 of 6 | 0.812 |"
        " `mismatch_index_hash 2` |"
    ) in render(telling(), "markdown")


def test_every_state_has_a_meaning_and_a_rank():
    assert set(story.MEANINGS) == set(STATES) == set(story.WORST_FIRST)


def test_many_questions_are_cut_with_a_count():
    many = report([question(f"q{n:03d}", "++++++") for n in range(250)])
    assert "and 230 more; --report FILE.html shows them" in render(many, "text")
    assert "0 of 250 questions are not right every time, 40 shown" in render(many, "markdown")
    assert "50 questions not shown" in render(many, "html")


def test_the_coverage_tells_of_wordings_that_are_missing_and_where_the_runs_are():
    found = TraceEvalCoverage(questions=2, planned=12, runs=9, failed=1, missing=2, short=1)
    assert squeezed(render(passing(coverage=found), "text", width=160))[-1] == (
        "Coverage 2 questions; 12 runs planned, 9 made, 1 failed, 2 missing;"
        " 1 question with too few wordings for the recipe; the runs are in trace-eval.jsonl"
    )


def test_color_adds_styles_and_nothing_else():
    colored = render(telling(), "text", color=True, width=90)
    assert "\x1b[" in colored
    assert STYLES.sub("", colored) == render(telling(), "text", width=90)


def results_of(made):
    suites = JUnitXml.fromstring(render(made, "junit").encode())
    [_, questions] = list(suites)
    return {case.name: case.result[0] if case.result else None for case in questions}


def test_junit_fails_a_question_that_parts_or_does_not_hold_or_match():
    found = results_of(telling())
    passed = {qid for qid, result in found.items() if result is None}
    assert passed == {"keys-01", "keys-04", "keys-10", "keys-11"}
    assert isinstance(found["keys-08"], Error)
    told = found["keys-05"]
    assert isinstance(told, Failure)
    assert (told.type, told.message) == (
        "divergent",
        "retrieval convergent, answers divergent; 4 of 6 match; mismatch_index_hash 2",
    )
    assert "breaks: after retrieval" in told.text
    assert (
        "keys-05#seed=0;p=2 a citation does not hold: mismatch_index_hash [hb24-sec-keys-0007]"
        in told.text
    )
    assert "keys-08#seed=1;p=2 failed: timed out after 30 s []" in found["keys-08"].text


def test_no_question_turns_a_passed_run_red():
    found = results_of(telling(passed=True)).values()
    assert {type(result) for result in found} == {type(None), Skipped}


def test_every_part_of_the_page_is_a_fragment_and_on_the_page():
    page, plain = render(telling(), "html"), json.loads(render(telling(), "json"))
    for part in View.parts:
        fragment = str(html.fragment(part, plain)).strip()
        assert fragment
        assert fragment in page
    assert Page(page).text_of("title")[0] == "Ragauge trace-eval: FAIL"
    for made in (passing(), report([])):
        Page(render(made, "html"))


def test_the_matrix_counts_the_questions_in_both_states():
    columns, rows = story.matrix(telling())
    assert columns == ["convergent", "divergent", "recursive", "chaotic", "incomplete"]
    assert dict(rows) == {
        "convergent": [6, 2, 0, 0, 0],
        "recursive": [0, 0, 1, 0, 0],
        "chaotic": [0, 0, 0, 1, 0],
        "incomplete": [0, 0, 0, 0, 1],
        "not known": [1, 0, 0, 0, 0],
    }
    shades = [shade for _, counts in View(telling()).matrix[1] for _, shade in counts if shade]
    assert shades == [4, 2, 1, 1, 1, 1]


def test_a_square_is_a_run_and_says_what_it_came_to():
    fragment = html.fragment("trace_eval_questions", msgspec.to_builtins(telling()))
    titles = Page(fragment).text_of("title")
    assert len(titles) == 72
    assert titles[:4] == [
        "keys-07#seed=0;p=0: a citation does not hold: mismatch_index_hash",
        "keys-07#seed=1;p=0: holds, without the gold: hb24-sec-keys-0007",
        "keys-07#seed=0;p=1: answers without a citation: empty_citations",
        "keys-07#seed=1;p=1: refuses",
    ]
    assert "keys-08#seed=0;p=2: failed: timed out after 30 s" in titles
    drawn = [rect["class"] for rect in Page(fragment).all("rect")]
    legend = 6
    assert len(drawn) == 72 + legend
