"""Labels that are neither in gold nor predicted fill no table; the files for machines list them."""

import csv
import io
import json

import pytest
from msgspec.structs import replace

from ragauge.reports.document import Table
from ragauge.reports.kinds.evaluation_tables import of_labels
from ragauge.reports.rendering import render
from tests.reports.evaluation.reports import types

NOWHERE = {"precision": None, "recall": None, "f1": None, "support": 0, "predicted": 0}
PREDICTED_ALONE = {"precision": 0.0, "recall": None, "f1": 0.0, "support": 0, "predicted": 3}
MISSED_ALONE = {"precision": None, "recall": 0.0, "f1": 0.0, "support": 2, "predicted": 0}


@pytest.fixture
def report():
    whole = types()
    added = {"UNSEEN": NOWHERE, "GUESSED": PREDICTED_ALONE, "OVERLOOKED": MISSED_ALONE}
    return replace(whole, per_type={**whole.per_type, **added})


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_a_reader_sees_the_labels_that_occur(report, form):
    told = render(report, form)
    assert "GUESSED" in told
    assert "OVERLOOKED" in told
    if form != "html":
        assert "UNSEEN" not in told


def test_the_table_has_no_row_of_dashes(report):
    tables = [one for one in of_labels(report, report.detail) if isinstance(one, Table)]
    [table] = [one for one in tables if one.title == "Labels"]
    shown = {row.cells[0].text for row in table.rows}
    assert shown == report.per_type.keys() - {"UNSEEN", "P"}  # P is in neither, too
    assert "do not occur" in table.remark


def test_files_for_machines_have_every_label(report):
    rows = list(csv.DictReader(io.StringIO(render(report, "csv"), newline="")))
    assert {row["label"] for row in rows} == report.per_type.keys()
    assert json.loads(render(report, "json"))["per_type"]["UNSEEN"] == NOWHERE


def test_without_a_label_that_occurs_there_is_no_table(report):
    nothing = replace(report, per_type={"UNSEEN": NOWHERE})
    assert "Labels" not in {one.title for one in of_labels(nothing, nothing.detail)}
