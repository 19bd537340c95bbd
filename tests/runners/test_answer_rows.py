"""The rows of `eval answers --out`: one a row of the input, under one name, with its reason."""

from __future__ import annotations

import csv
import io
import json

import polars as pl
import pytest

from ragauge import evaluate_answers
from ragauge.errors import UsageError
from ragauge.reports.rendering import render
from ragauge.runners.answers.scores import write_scores

CONTEXT = "The museum opened in 1800."
GOOD = {"answer": "It opened in 1800.", "contexts": [CONTEXT], "reference": "1800"}
NAMES = "groundedness,grounded,containment"


def evaluated(rows, **options):
    return evaluate_answers(rows, **{"intervals": False, "metrics": NAMES, **options})


def rows_of(outcome, file):
    write_scores(outcome, str(file))
    match file.suffix:
        case ".jsonl":
            return [json.loads(line) for line in file.read_text().splitlines()]
        case ".csv":
            return list(csv.DictReader(io.StringIO(file.read_text(), newline="")))
    return pl.read_parquet(file).to_dicts()


@pytest.fixture
def broken(tmp_path):
    file = tmp_path / "rows.jsonl"
    lines = (
        json.dumps({"id": "a", **GOOD, "strata": {"country": "NL"}}),
        json.dumps({"id": "b", **GOOD, "contexts": [3], "kind": "poem"}),
        '{"id": "c", ',
        json.dumps(GOOD),
    )
    file.write_text("\n".join(lines))
    return str(file)


def test_rejected_rows_stand_in_their_place_without_a_value(broken, tmp_path):
    outcome = evaluated(broken, max_bad="50%")
    lines = rows_of(outcome, tmp_path / "out.jsonl")
    assert [line["id"] for line in lines] == ["a", "b", "3", "4"]
    values = [line["scores"]["containment"]["value"] for line in lines]
    assert values == [1.0, None, None, 1.0]
    reason = lines[1]["scores"]["groundedness"]["reason"]
    assert reason.startswith("rejected: contexts[0]: expected text")
    assert 'kind: "poem" is none of' in reason
    assert "not JSON" in lines[2]["scores"]["grounded"]["reason"]
    assert {*lines[1]["scores"]} == {*lines[0]["scores"]}
    assert outcome.report.metrics["answers.containment"].of == 2


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_table_has_the_same_rows_with_reasons(broken, tmp_path, ending):
    outcome = evaluated(broken, max_bad="50%")
    lines = rows_of(outcome, tmp_path / "out.jsonl")
    cells = rows_of(outcome, tmp_path / f"out.{ending}")
    assert [*cells[0]] == [
        *("id", "unit", "strata.country", "containment", "containment_reason", "coverage"),
        *("coverage_reason", "grounded", "grounded_reason", "groundedness", "groundedness_reason"),
    ]
    for line, row in zip(lines, cells, strict=True):
        assert (row["id"], row["unit"]) == (line["id"], line["unit"])
        assert (row["grounded_reason"] or None) == line["scores"]["grounded"]["reason"]
        value = row["containment"]
        assert (float(value) if value not in ("", None) else None) == (
            line["scores"]["containment"]["value"]
        )


def test_a_reason_that_nobody_has_is_a_column_of_text_all_the_same(tmp_path):
    write_scores(evaluated([GOOD]), str(tmp_path / "out.parquet"))
    frame = pl.read_parquet(tmp_path / "out.parquet")
    assert frame.schema["containment_reason"] == pl.String
    assert frame.schema["containment"] == pl.Float64


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_ids_that_stand_twice_are_told_apart_in_one_way_everywhere(tmp_path, ending):
    rows = [{"id": "a", **GOOD}, {"id": 7, **GOOD}, {"id": "a", **GOOD}]
    outcome = evaluated(rows)
    found = rows_of(outcome, tmp_path / f"out.{ending}")
    assert [str(row["id"]) for row in found] == ["a", "7", "a"]
    assert [row["unit"] for row in found] == ["a", "7", "a#2"]
    assert sorted(row["unit"] for row in found) == list(outcome.units.ids)
    [finding] = [one for one in outcome.report.findings if one.code == "duplicate_id"]
    assert finding.message.endswith("a#2")
    assert [one.id for one in outcome.report.detail.answers] == ["7", "a", "a#2"]


def test_the_same_rows_have_the_same_ids_in_every_format(tmp_path):
    lines, table = tmp_path / "rows.jsonl", tmp_path / "rows.csv"
    lines.write_text('\n{"answer": "a"}\n\n{"answer": "b"}\n')
    table.write_text("answer\na\nb\n")
    units = [
        evaluated(str(file), metrics="relevance,token_f1").units.ids for file in (lines, table)
    ]
    assert units == [["1", "2"], ["1", "2"]]


@pytest.mark.parametrize("nothing", ["", " , ", [], [""]])
def test_metrics_that_name_nothing_are_a_mistake(nothing):
    with pytest.raises(UsageError, match="--metrics: names nothing"):
        evaluated([GOOD], metrics=nothing)


def test_metrics_are_a_text_with_commas_or_several():
    def measured(metrics):
        return {*evaluated([GOOD], metrics=metrics).report.metrics} - {"answers.coverage"}

    assert measured("groundedness") == {"answers.groundedness"}
    rouge = "rouge1(tokenizer=rouge155,stemmer=porter)"
    assert measured(f"token_f1, {rouge}") == {"answers.token_f1", f"answers.{rouge}"}
    assert measured(["token_f1", "containment"]) == {"answers.token_f1", "answers.containment"}
    assert len(measured(None)) > 10
    with pytest.raises(UsageError, match="is not a name"):
        measured([7])


def test_refusals_in_free_words_are_called_as_the_score_command_calls_them():
    said = {"id": "x", **GOOD, "answer": "The documents do not say when it opened."}
    assert evaluated([said], refusal="exact").report.finding_counts["free_refusal"] == 1


def test_every_answer_stands_in_the_report(tmp_path):
    rows = [{"id": f"{n:02}", **GOOD} for n in range(30)]
    rows[29] |= {"answer": "It burned down in 1911.", "reference": "1800"}
    report = evaluated(rows, gates="grounded>=1").report
    cells = list(csv.DictReader(io.StringIO(render(report, "csv"), newline="")))
    assert [row["id"] for row in cells] == [row["id"] for row in rows]
    assert [row["right"] for row in cells] == [*["true"] * 29, "false"]
    assert cells[29]["groundedness_reason"] == report.detail.answers[29].reasons[
        "answers.groundedness"
    ].replace("\n", " ")
    assert '<testsuite name="ragauge answers" tests="30" failures="1"' in render(report, "junit")


def test_what_nothing_tells_is_skipped_and_a_wrong_answer_fails():
    rows = [
        {"id": "a", "answer": "x y", "reference": "x"},
        {"id": "b", "answer": "x y", "reference": "z"},
        {"id": "c", "answer": "x y"},
        {"id": "d", "answer": None, "reference": "z"},
    ]
    report = evaluated(rows, metrics="containment", gates="containment>=1").report
    assert [one.right for one in report.detail.answers] == [True, False, None, False]
    written = render(report, "junit")
    assert '<testsuite name="ragauge answers" tests="4" failures="1" errors="1" skipped="1"' in (
        written
    )
