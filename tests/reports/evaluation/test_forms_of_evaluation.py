"""An evaluation in every form: the numbers it must show, and what it never says."""

import json

import jsonschema
import msgspec
import pytest
from junitparser import JUnitXml, Skipped

from ragauge.contracts.evaluation import EvalReport
from ragauge.contracts.kinds import KINDS
from ragauge.contracts.schemas import examples, schema
from ragauge.errors import UsageError
from ragauge.reports.kinds import evaluation
from ragauge.reports.kinds import evaluation_rankings as rankings
from ragauge.reports.rendering import format_of, render
from tests.reports.evaluation.reports import (
    MAKERS,
    compared,
    nothing,
    retrieval,
    types,
)

FORMS = KINDS[EvalReport].forms
tasks = pytest.mark.parametrize("task", MAKERS)


def test_a_form_it_does_not_have_is_refused(tmp_path):
    with pytest.raises(UsageError, match='an evaluation report has no form "sarif"'):
        format_of(tmp_path / "x.sarif", EvalReport)


@pytest.mark.parametrize("form", FORMS)
def test_the_example_has_every_form(form):
    example = msgspec.convert(examples("eval-report")[0], EvalReport)
    assert "TMP" in render(example, form)


@tasks
def test_every_report_is_as_its_schema_says_and_reads_back(task):
    validator = jsonschema.Draft202012Validator(schema("eval-report"))
    validator.validate(json.loads(json.dumps(examples("eval-report")[0])))
    for made in (MAKERS[task](), nothing(task)):
        written = render(made, "json")
        validator.validate(json.loads(written))
        assert msgspec.json.decode(written, type=EvalReport) == made
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({**json.loads(written), "detail": {"task": "sums"}})


@tasks
@pytest.mark.parametrize("form", FORMS)
def test_a_report_of_nothing_says_so_and_has_no_number(task, form):
    written = render(nothing(task), form)
    assert "nan" not in written.lower()
    if form in ("text", "markdown", "html"):
        assert "nothing to evaluate" in written
        assert "NOT EVALUATED" in written
        assert "1.000" not in written


def test_the_adjusted_probability_decides():
    assert rankings.change_verdict(compared("retrieval.rr", 0.6, 0.5, 0.03, 0.09)) == "cannot tell"
    assert rankings.change_verdict(compared("retrieval.rr", 0.6, 0.5, 0.03, None)) == "better"
    assert rankings.change_verdict(compared("a.plugin", 0.4, 0.5, 0.01, 0.01)) == "worse"


def test_the_histogram_counts_every_query_with_a_value_once():
    [table] = evaluation.document(retrieval()).part("spread")
    assert [row.cells[1].value for row in table.rows] == [5, 5, 5, 5, 5, 4, 4, 5, 5, 6]
    for value, place in ((0.3, 3), (0.7, 7), (1.0, 9), (0.0, 0), (0.29999999999, 3)):
        assert rankings.tenths([value, None]).index(1) == place
    assert rankings.tenths([None]) == []


def test_macro_over_all_labels_names_the_absent_ones():
    for form in ("text", "markdown", "html"):
        written = " ".join(render(types(), form, width=140).split())
        assert "label set: heritage" in written.lower()
        assert "counts 2 labels that do not occur as 0" in written


def results_of(made):
    [gates, cases] = list(JUnitXml.fromstring(render(made, "junit").encode()))
    return gates, {case.name: case.result[0] if case.result else None for case in cases}


@tasks
def test_nothing_turns_a_passed_run_red(task):
    made = msgspec.structs.replace(MAKERS[task](), passed=True, gates=())
    _, found = results_of(made)
    assert {type(result) for result in found.values()} <= {type(None), Skipped}
