"""The score from Python: its options, and what belongs together staying together."""

from __future__ import annotations

import json

import polars as pl
import pytest

from ragauge import RagaugeError, score
from ragauge.contracts.score import ROWS_KEPT
from ragauge.contracts.verdict import Rule
from ragauge.errors import InputRejected, UsageError


@pytest.mark.parametrize(
    "options",
    [
        {"refusal": "exakt"},
        {"each": "trce"},
        {"canon": "ascii"},
        {"preset": "shipp"},
        {"gates": (Rule(metric="no_such", op=">=", bound=1),)},
        {"gates": (Rule(metric="compliance", op=">=", bound=1, at_least=(1, 2)),)},
        {"max_bad": "-1"},
        {"max_bad": "101%"},
        {"max_bad": "nan"},
        {"workers": 0},
        {"no_such_option": 1},
    ],
    ids=str,
)
def test_a_wrong_option_is_a_usage_error(parity, options):
    gold, traces = parity
    with pytest.raises(UsageError):
        score(gold, [traces], **options)


def test_rules_may_be_records(parity):
    gold, traces = parity
    rule = Rule(metric="compliance", op=">=", bound=0.7)
    assert score(gold, traces, gates=(rule,)).report.passed


def test_rows_and_report_use_the_same_labels(parity, tmp_path):
    gold, traces = parity
    rows = tmp_path / "rows.parquet"
    for preset in ("example08", "ship"):
        report = score(gold, [traces], preset=preset, out=rows).report
        labels = pl.read_parquet(rows)["label"].to_list()
        assert labels == [row.label for row in report.questions]


def test_rejected_input_leaves_no_rows(parity, tmp_path):
    gold, traces = parity
    traces.write_text(traces.read_text() + "{broken\n")
    with pytest.raises(RagaugeError):
        score(gold, [traces], out=tmp_path / "rows.parquet")
    assert not list(tmp_path.glob("*rows*"))


@pytest.mark.parametrize(
    ("stratum", "where", "questions"),
    [("true", "flag=true", 1), (True, "flag=true", 1), (1, "flag=1", 1), ("NL", "flag=NL", 1)],
)
def test_a_condition_meets_the_value_as_it_is_written(tmp_path, stratum, where, questions):
    gold, traces = tmp_path / "gold.jsonl", tmp_path / "traces.jsonl"
    asked = {"question": "?", "answerable": True, "gold_claim": "x", "gold_citations": ["c"]}
    records = [
        {"qid": "q1", "strata": {"flag": stratum}, **asked},
        {"qid": "q2", "strata": {"flag": "other"}, **asked},
    ]
    gold.write_text("".join(json.dumps(record) + "\n" for record in records))
    traces.write_text("".join(f'{{"qid": "q{n}", "answer": "x"}}\n' for n in (1, 2)))
    gate = score(gold, [traces], gates=f"compliance<=1 where {where}").report.gates[0]
    assert gate.n == questions


def test_more_questions_than_a_report_holds_are_all_counted(tmp_path):
    gold, traces = tmp_path / "gold.jsonl", tmp_path / "traces.jsonl"
    many = ROWS_KEPT + 50
    with gold.open("w") as asked, traces.open("w") as answered:
        for n in range(many):
            question = {"qid": f"q{n}", "question": f"What is {n}?", "answerable": False}
            asked.write(json.dumps(question) + "\n")
            answered.write(json.dumps({"qid": f"q{n}", "answer": "It is so."}) + "\n")
    report = score(gold, [traces]).report
    assert report.metrics["quality.under_refusal"].n == many
    assert len(report.questions) == ROWS_KEPT
    assert f"among the first {ROWS_KEPT:,} of {many:,}" in report.advice[0].evidence


def test_a_file_given_twice_is_numbered_twice(parity):
    gold, traces = parity
    rows = score(gold, [traces, traces], each="trace").report.questions
    assert [row.where for row in rows] == [f"{traces}:{n}" for n in (1, 2, 3, 4)] * 2


@pytest.mark.parametrize("indent", [None, 1])
def test_traces_in_an_array_are_refused_in_one_line(parity, indent):
    gold, traces = parity
    records = [json.loads(line) for line in traces.read_text().splitlines()]
    traces.write_text(json.dumps(records, indent=indent))
    with pytest.raises(InputRejected, match="is a JSON array; traces are JSON Lines") as refusal:
        score(gold, [traces])
    assert len(refusal.value.problems) == 1


def test_standard_input_can_be_read_once_only():
    with pytest.raises(UsageError, match="standard input"):
        score("-", ["-"])


def test_foreign_text_in_a_finding_is_short_and_shows_its_escapes(parity):
    gold, traces = parity
    traces.write_text(traces.read_text() + json.dumps({"qid": "\x1b[31m" * 1000, "answer": "x"}))
    [finding] = score(gold, [traces]).report.findings
    assert finding.code == "unknown_question"
    assert "\x1b" not in finding.message
    assert len(finding.message) <= 400
