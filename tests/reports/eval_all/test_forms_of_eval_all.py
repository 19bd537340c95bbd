"""The evaluation of all components in every form: eight numbers, each task, each failure."""

import json

import jsonschema
import msgspec
import pytest
from junitparser import JUnitXml

from ragauge.contracts.evaluation import EvalAllReport
from ragauge.contracts.kinds import KINDS
from ragauge.contracts.schemas import examples, schema
from ragauge.errors import UsageError
from ragauge.reports import html
from ragauge.reports.eval_all import story
from ragauge.reports.eval_all.view import View
from ragauge.reports.forms import form_of, render
from tests.reports.evaluation.reports import everything, gate
from tests.reports.test_html import Page

FORMS = KINDS[EvalAllReport].forms
FAILED = "the knowledge base could not be read"


def squeezed(written):
    return [" ".join(line.split()) for line in written.splitlines()]


def test_a_form_it_does_not_have_is_refused(tmp_path):
    with pytest.raises(UsageError, match='an eval-all report has no form "csv"'):
        form_of(tmp_path / "x.csv", EvalAllReport)


@pytest.mark.parametrize("form", FORMS)
def test_the_example_has_every_form(form):
    example = msgspec.convert(examples("eval-all-report")[0], EvalAllReport)
    assert FAILED in render(example, form)


def test_every_report_is_as_its_schema_says_and_reads_back():
    validator = jsonschema.Draft202012Validator(schema("eval-all-report"))
    validator.validate(json.loads(json.dumps(examples("eval-all-report")[0])))
    written = render(everything(), "json")
    validator.validate(json.loads(written))
    assert msgspec.json.decode(written, type=EvalAllReport) == everything()


def test_the_summary_has_its_numbers_with_their_metrics_and_reasons():
    rows = squeezed(render(everything(), "text"))
    assert rows[0] == (
        "FAIL 6 of 8 numbers measured; 4 of 9 gates failed; 1 task could not be finished"
    )
    assert rows[1] == "model: baseline"
    at = rows.index("linking_hits_1 – 0 linking.hits@1")
    assert rows[at + 1] == FAILED
    assert any(
        row.startswith("ner_f1_strict 0.748 [0.718, 0.778] 120 >= 0.85 FAIL entities.f1_strict")
        for row in rows
    )
    assert len(story.summary(everything()).rows) == 8


@pytest.mark.parametrize("form", ["text", "markdown", "html", "junit"])
def test_a_failure_is_told_in_every_form(form):
    assert FAILED in render(everything(), form)


def test_the_numbers_of_each_task_follow():
    rows = squeezed(render(everything(), "text"))
    for words in (
        "Entities FAIL",
        "f1_strict 0.748 [0.708, 0.788] 120 of 120 >= 0.85 FAIL",
        "Types FAIL",
        "Retrieval FAIL",
        "ndcg_exp@10 0.470 [0.430, 0.510] 49 of 50 >= 0.60 FAIL",
        "answers.grounding 0.710 [0.670, 0.750] 80 of 80",
    ):
        assert words in rows


def test_gates_of_no_task_are_shown_with_their_families():
    own = gate("answers.grounding", 0.8, 0.71, 80)
    made = everything(gates=(*everything().gates, own))
    assert [one.rule for one in story.other_gates(made)] == ["answers.grounding>=0.8"]
    rows = squeezed(render(made, "text"))
    assert "answers.grounding 0.710 [0.670, 0.750] 80 of 80 >= 0.80 FAIL" in rows


def test_the_page_holds_each_task_with_its_errors():
    made = everything()
    page, plain = render(made, "html"), json.loads(render(made, "json"))
    for part in View.parts:
        assert str(html.fragment(part, plain)).strip() in page
    taken = Page(page)
    assert taken.text_of("title")[0] == "Ragauge eval-all: FAIL"
    assert len([one for one in taken.all("details") if one.get("class") == "question"]) == 3
    assert "Confusion matrix" in page
    assert '<mark class="predicted">Nederlandse</mark>' in page
    groups = {one["name"] for one in taken.all("input")}
    assert groups == {"ner-kind", "ner-type"}


def test_junit_has_a_suite_of_tasks_and_those_of_each():
    suites = {one.name: one for one in JUnitXml.fromstring(render(everything(), "junit").encode())}
    tasks = suites["ragauge tasks"]
    assert (tasks.tests, tasks.errors, tasks.failures) == (4, 1, 3)
    assert suites["ragauge gates of ner"].failures == 2
    assert suites["ragauge queries of retrieval"].tests == 50


def test_a_run_without_a_task_is_told_all_the_same():
    made = everything(tasks={}, metrics={}, gates=(), passed=True, failures=(), summary={})
    for form in FORMS:
        assert render(made, form)
    assert squeezed(render(made, "text"))[0] == "PASS 0 of 0 numbers measured; no gates"
