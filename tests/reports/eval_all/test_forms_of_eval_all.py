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
from ragauge.reports.rendering import format_of, render
from tests.reports.evaluation.reports import everything, gate

FORMS = KINDS[EvalAllReport].forms
FAILED = "the knowledge base could not be read"


def squeezed(written):
    return [" ".join(line.split()) for line in written.splitlines()]


def test_a_form_it_does_not_have_is_refused(tmp_path):
    with pytest.raises(UsageError, match='an eval-all report has no form "csv"'):
        format_of(tmp_path / "x.csv", EvalAllReport)


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


@pytest.mark.parametrize("form", ["text", "markdown", "html", "junit"])
def test_a_failure_is_told_in_every_form(form):
    assert FAILED in render(everything(), form)


def test_gates_of_no_task_are_shown_with_their_families():
    own = gate("answers.grounding", 0.8, 0.71, 80)
    made = everything(gates=(*everything().gates, own))
    [others] = [
        one
        for one in JUnitXml.fromstring(render(made, "junit").encode())
        if one.name == "ragauge gates"
    ]
    assert [case.name for case in others] == ["answers.grounding>=0.8"]
    rows = squeezed(render(made, "text", width=80))
    assert any(row.startswith("answers.grounding 0.710 [0.670, 0.750]") for row in rows)


def test_a_run_without_a_task_is_told_all_the_same():
    made = everything(tasks={}, metrics={}, gates=(), passed=True, failures=(), summary={})
    for form in FORMS:
        assert render(made, form)
    assert squeezed(render(made, "text"))[0] == "PASS 0 of 0 numbers measured; no gates"
