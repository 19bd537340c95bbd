"""An audit as a comment, for CI servers, as annotations and as a page: what each must say."""

import json

import jsonschema
import msgspec
import pytest
from junitparser import Error, JUnitXml, Skipped

from ragauge.contracts.audit import AuditReport
from ragauge.contracts.kinds import KINDS
from ragauge.contracts.schemas import RECORDS, examples, schema
from ragauge.errors import UsageError
from ragauge.reports.document import Bars
from ragauge.reports.kinds.audit import document
from ragauge.reports.rendering import format_of, render
from tests.reports.audit.made import answer, code, finding, passing, telling

FORMS = KINDS[AuditReport].forms


def test_an_audit_has_sarif_and_no_spreadsheet(tmp_path):
    assert format_of(tmp_path / "audit.sarif", AuditReport) == "sarif"
    with pytest.raises(UsageError, match='an audit report has no form "csv"; it has text, json'):
        format_of(tmp_path / "audit.csv", AuditReport)


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


def test_junit_tells_traces_of_one_question_apart_and_names_those_without_one():
    rows = (answer(3), answer(4), answer(5, qid=None))
    named = [case.name for case in suites_of(passing(answers=rows))["ragauge answers"]]
    assert named == ["q1 (runs/traces.jsonl:3)", "q1 (runs/traces.jsonl:4)", "runs/traces.jsonl:5"]


def test_an_answer_that_is_an_error_is_one_and_none_turns_a_passed_run_red():
    rows = (answer(3, "model_reported_error", kind="error", cited=()),)
    for passed, kind in ((False, Error), (True, Skipped)):
        cases = suites_of(passing(passed=passed, answers=rows))["ragauge answers"]
        assert [type(case.result[0]) for case in cases] == [kind]


def test_an_answer_from_stdin_has_no_file_to_annotate():
    report = passing(answers=(answer(3, "missing_rev", file="stdin"),))
    [warning] = [line for line in render(report, "github").splitlines() if "warning" in line]
    assert warning.startswith("::warning title=missing_rev q1::missing_rev")


# The page


def test_the_shares_of_the_verdict_add_up_to_the_traces():
    [bars] = [block for block in document(telling()).blocks if isinstance(block, Bars)]
    shares = {name: times for _, name, times, _ in bars.bars}
    assert shares["do not hold"] == 32
    assert sum(shares.values()) == 412 + 18


def test_a_page_lists_more_places_of_a_code_than_a_terminal():
    found = tuple(finding("missing_rev", line, "rev: absent") for line in range(130))
    report = passing(codes=(code("missing_rev", 130, 130),), findings=found)
    assert render(report, "text").count("rev: absent") == 3
    assert "and 127 more" in render(report, "text")
    assert render(report, "html").count("rev: absent") == 100
    assert "and 30 more" in render(report, "html")
