"""A row a question, for a spreadsheet."""

import csv
import io
from typing import get_type_hints

from ragauge.contracts.stability import QuestionStability
from ragauge.metrics.stability import METRICS
from ragauge.reports.stability.csv import COLUMNS, render
from ragauge.reports.stability.story import MEANINGS, NUMBERS
from tests.reports import sweeps

NOT_IN_CELLS = {"ci", "reasons", "factors", "examples"}


def rows(report):
    read = csv.DictReader(io.StringIO(render(report), newline=""))
    return {row["qid"]: row for row in read}


def test_every_plain_field_has_a_column():
    assert set(QuestionStability.__struct_fields__) - NOT_IN_CELLS <= set(COLUMNS)


def test_every_number_of_a_question_and_every_metric_has_a_meaning():
    hints = get_type_hints(QuestionStability)
    assert set(NUMBERS) == {name for name, hint in hints.items() if hint == float | None}
    assert {metric.name for metric in METRICS} <= set(MEANINGS)


def test_a_row_has_numbers_intervals_reasons_and_its_runs():
    found = rows(sweeps.telling())
    assert len(found) == 12
    row = found["h013"]
    assert (row["verdict"], row["acr"], row["acr_low"]) == ("flaky", "0.75", "0.5313")
    assert (row["refusal_rate"], row["refusal_rate_low"]) == ("", "")
    assert (row["explained_by"], row["jitter_disagreement"]) == ("jitter", "0.5")
    assert row["failed"] == "acr 0.75 < 0.95"
    assert row["cells"] == "'+++++++++++++++ccccc"
    assert found["h001"]["noop"] == "syn"


def test_the_header_does_not_depend_on_the_questions():
    for report in (sweeps.steady(), sweeps.reference()):
        assert render(report).splitlines()[0] == ",".join(COLUMNS)
