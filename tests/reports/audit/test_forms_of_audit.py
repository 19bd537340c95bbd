"""An audit as a comment, for CI servers, as annotations and as a page: what each must say."""

import json
from collections import Counter

import jsonschema
import msgspec
import pytest
from junitparser import Error, Failure, JUnitXml, Skipped

from ragauge.contracts.audit import AuditReport
from ragauge.contracts.kinds import KINDS
from ragauge.contracts.schemas import RECORDS, examples, schema
from ragauge.errors import UsageError
from ragauge.reports import html
from ragauge.reports.audit.view import View
from ragauge.reports.forms import form_of, render
from tests.reports.audit.made import answer, code, finding, passing, telling
from tests.reports.test_html import Page

FORMS = KINDS[AuditReport].forms


def test_an_audit_has_sarif_and_no_spreadsheet(tmp_path):
    assert form_of(tmp_path / "audit.sarif", AuditReport) == "sarif"
    with pytest.raises(UsageError, match='an audit report has no form "csv"; it has text, json'):
        form_of(tmp_path / "audit.csv", AuditReport)


@pytest.mark.parametrize("name", ["audit-report", "auditable-answer", "trace-eval-report"])
def test_the_published_examples_are_valid_and_read_back(name):
    found = schema(name)
    jsonschema.Draft202012Validator.check_schema(found)
    [example] = examples(name)
    example = json.loads(json.dumps(example))
    jsonschema.Draft202012Validator(found).validate(example)
    assert msgspec.convert(example, RECORDS[name])


@pytest.mark.parametrize("form", FORMS)
def test_the_example_has_every_form(form):
    report = msgspec.convert(examples("audit-report")[0], AuditReport)
    assert "mismatch_index_hash" in render(report, form)


def test_every_report_is_as_its_schema_says_and_reads_back():
    validator = jsonschema.Draft202012Validator(schema("audit-report"))
    for report in (telling(), passing()):
        written = render(report, "json")
        validator.validate(json.loads(written))
        assert msgspec.json.decode(written, type=AuditReport) == report


# A comment


def test_a_comment_says_code_next_step_and_places():
    written = render(telling(), "markdown")
    assert written.startswith("## Ragauge audit: FAIL\n\n32 of 381 answers have citations")
    assert (
        "| `missing_rev` | 5 | 5 | A field the payload must have is absent or empty. |" in written
    )
    place = 'traces.jsonl:80 keys-080 citations[2].index_hash: "2f7d9a", expected "8c01e2"`'
    assert f"- `runs/{place}" in written
    assert "32 answers do not hold, 25 shown" in written
    assert "| payload | 386 of 405 | 95.3 % |" in written


def test_a_comment_stays_below_what_github_takes():
    long = "x" * 3000
    names = [f"missing_{'f' * 60}{n}" for n in range(20)]
    report = telling(
        long,
        codes=tuple(code(name, 9, 9) for name in names),
        findings=tuple(finding(name, 3, long, long) for name in names for _ in range(9)),
        answers=tuple(
            answer(n, names[n % 20], long, 3, long, cited=(long,) * 9) for n in range(99)
        ),
    )
    assert len(render(report, "markdown")) < 65_536
    assert len(render(report, "github").splitlines()) < 30


# CI servers


def suites_of(report):
    found = JUnitXml.fromstring(render(report, "junit").encode())
    return {suite.name: list(suite) for suite in found}


def test_junit_has_a_case_a_gate_and_a_case_an_answer():
    suites = suites_of(telling())
    assert len(suites["ragauge gates"]) == 3
    cases = suites["ragauge answers"]
    assert len(cases) == 33
    assert Counter(type(case.result[0]) for case in cases if case.result) == {Failure: 32}
    [told] = cases[0].result
    assert (told.message, told.type) == ("empty_citations", "empty_citations")
    assert "where: runs/traces.jsonl:10" in told.text
    assert "empty_citations: citations: [] under an answer" in told.text


def test_junit_tells_all_codes_of_an_answer_and_what_it_could_not_keep():
    found = [finding(name, 3, name) for name in ("missing_rev", "bad_order", "missing_rev")]
    report = passing(
        passed=False, answers=(answer(3, "missing_rev", findings=7),), findings=tuple(found)
    )
    [told] = suites_of(report)["ragauge answers"][0].result
    assert told.message == "missing_rev, bad_order"
    assert told.text.endswith("missing_rev: missing_rev\nand 4 more")


def test_junit_tells_traces_of_one_question_apart_and_names_those_without_one():
    rows = (answer(3), answer(4), answer(5, qid=None))
    named = [case.name for case in suites_of(passing(answers=rows))["ragauge answers"]]
    assert named == ["q1 (runs/traces.jsonl:3)", "q1 (runs/traces.jsonl:4)", "runs/traces.jsonl:5"]


def test_an_answer_that_is_an_error_is_one_and_none_turns_a_passed_run_red():
    rows = (answer(3, "model_reported_error", kind="error", cited=()),)
    for passed, kind in ((False, Error), (True, Skipped)):
        cases = suites_of(passing(passed=passed, answers=rows))["ragauge answers"]
        assert [type(case.result[0]) for case in cases] == [kind]


def test_annotations_point_at_the_trace_line_and_say_what_to_do():
    lines = render(telling(), "github").splitlines()
    kinds = Counter(line.split(" ")[0] for line in lines)
    assert kinds == {"::notice": 2, "::error": 2, "::warning": 10}
    assert lines[0] == (
        "::notice title=Ragauge audit FAIL::32 of 381 answers have citations that do not hold"
    )
    [first] = [line for line in lines if "line=10," in line]
    assert first.startswith(
        "::warning file=runs/traces.jsonl,line=10,title=empty_citations keys-010::"
        "citations: [] under an answer%0A→ Enforce cite-first"
    )
    annotated = [line.split("title=")[1].split(" ")[0] for line in lines if "::warning" in line]
    assert set(annotated) == {one.code for one in telling().codes}
    assert lines[-1].endswith("::10 of 32 answers that failed are annotated")


def test_an_answer_from_stdin_has_no_file_to_annotate():
    report = passing(answers=(answer(3, "missing_rev", file="stdin"),))
    [warning] = [line for line in render(report, "github").splitlines() if "warning" in line]
    assert warning == "::warning title=missing_rev q1::missing_rev"


# The page


def test_every_part_of_the_page_is_a_fragment_and_on_the_page():
    page, plain = render(telling(), "html"), json.loads(render(telling(), "json"))
    for part in View.parts:
        fragment = str(html.fragment(part, plain)).strip()
        assert fragment
        assert fragment in page
    for report in (telling(), passing(), passing(depths={}, answers=(), gates=())):
        Page(render(report, "html"))


def test_the_page_shows_three_places_and_folds_the_others():
    fragment = html.fragment("audit_codes", msgspec.to_builtins(telling()))
    page = Page(fragment)
    assert page.text_of("summary") == ["2 more places", "6 more places"] + ["1 more place"] * 2
    assert "20 findings not shown." in fragment
    assert page.text_of("p")[1:3] == ["An answer without a citation.", telling().codes[0].tip]


def test_the_page_draws_what_held_in_each_depth():
    page = Page(html.fragment("audit_depths", msgspec.to_builtins(telling())))
    drawn = [rect["width"] for rect in page.all("rect") if rect["class"] == "good"]
    assert drawn == ["98.5", "95.3", "98.1"]
    bare = Page(html.fragment("audit_depths", msgspec.to_builtins(passing(depths={}))))
    assert bare.all("rect") == []
    assert "not looked at; --depth text does" in bare.text_of("td")


def test_the_page_lists_the_answers_that_do_not_hold():
    fragment = html.fragment("audit_answers", msgspec.to_builtins(telling()))
    page = Page(fragment)
    assert len(page.all("tr")) == 33
    assert "coverage" not in page.text_of("th")
    rows = tuple(answer(n, "missing_rev", f"q{n}", coverage=0.5) for n in range(1, 204))
    many = html.fragment("audit_answers", msgspec.to_builtins(passing(answers=rows)))
    assert "3 answers not shown" in many
    assert "coverage" in Page(many).text_of("th")


def test_the_shares_of_the_verdict_add_up_to_the_traces():
    told = {name: times for _, name, times in View(telling()).shares}
    assert told["do not hold"] == 32
    assert sum(told.values()) == 412 + 18
