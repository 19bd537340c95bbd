"""A row a question, for a spreadsheet."""

import csv
import io
import json
from typing import get_type_hints

from ragauge.contracts.stability import QuestionStability
from ragauge.metrics.stability import METRICS
from ragauge.reports.kinds.stability import COLUMNS, NUMBERS
from ragauge.reports.rendering import render
from ragauge.runners.stability import stability
from tests.reports import sweeps

NOT_IN_CELLS = {"ci", "reasons", "factors", "examples"}


def rows(report):
    read = csv.DictReader(io.StringIO(render(report, "csv"), newline=""))
    return {row["qid"]: row for row in read}


def test_every_plain_field_has_a_column():
    assert set(QuestionStability.__struct_fields__) - NOT_IN_CELLS <= set(COLUMNS)


def test_every_number_of_a_question_and_every_metric_has_its_place():
    hints = get_type_hints(QuestionStability)
    assert set(NUMBERS) == {name for name, hint in hints.items() if hint == float | None}
    assert {metric.name for metric in METRICS} <= {*NUMBERS}


def swept(tmp_path):
    """The report of two questions of three runs each, all of them wrong."""
    gold = [
        {
            "qid": "q1",
            "question": "Does X reject null keys?",
            "answerable": True,
            "gold_claim_substr": ["rejects null keys"],
            "gold_citations": ["p1#2"],
            "constraints": ["X rejects null keys."],
        },
        {"qid": "q2", "question": "Who made X?", "answerable": False},
    ]
    answer = {"claim": "X rejects null keys.", "citations": ["p1#2"]}
    runs = [
        {"qid": qid, "retrieved_ids": ["p1#2"], "seed": seed, "answer_json": answer}
        for qid in ("q1", "q2")
        for seed in range(3)
    ]
    paths = tmp_path / "gold.jsonl", tmp_path / "runs.jsonl"
    for path, records in zip(paths, (gold, runs), strict=True):
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return stability(*paths).report


def test_the_interval_columns_are_those_of_the_numbers_that_have_one(tmp_path):
    report = swept(tmp_path)
    found = rows(report)
    columns = {name.removesuffix("_low") for name in COLUMNS if name.endswith("_low")}
    assert columns == {name for one in report.details.values() for name in one.ci}
    assert {"success", "acr"} < columns
    for name in columns:
        assert any(row[f"{name}_low"] and row[f"{name}_high"] for row in found.values()), name


def test_the_header_does_not_depend_on_the_questions():
    for report in (sweeps.steady(), sweeps.reference()):
        assert render(report, "csv").splitlines()[0] == ",".join(COLUMNS)
