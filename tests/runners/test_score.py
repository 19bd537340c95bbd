"""The score from Python: its options, and what belongs together staying together."""

from __future__ import annotations

import json

import polars as pl
import pytest

from ragauge import RagaugeError, score
from ragauge.contracts.report import ROWS_KEPT, Rule
from ragauge.errors import InputRejected, UsageError
from ragauge.reports.rendering import render


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
    gate = score(gold, [traces], gates=f"compliance<=0.999 where {where}").report.gates[0]
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
def test_traces_in_an_array_are_read_as_lines_are(parity, indent):
    gold, traces = parity
    lines = score(gold, [traces]).report
    records = [json.loads(line) for line in traces.read_text().splitlines()]
    traces.write_text(json.dumps(records, indent=indent))
    assert score(gold, [traces]).report == lines
    assert score(gold, records).report.metrics == lines.metrics


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


def test_rows_are_written_where_the_first_file_has_none(parity, tmp_path):
    gold, traces = parity
    unknown, rows = tmp_path / "unknown.jsonl", tmp_path / "rows.parquet"
    unknown.write_text('{"qid": "zz", "answer": "x"}\n')
    score(gold, [unknown, traces], out=rows)
    assert pl.read_parquet(rows).height == 4


@pytest.mark.parametrize(
    ("trace", "label"),
    [
        ({"answer_json": {"claim": "X is a constrained mapping. citations: [p1#1]"}}, "OK"),
        ({"answer_json": {}, "answer": "X maps.", "citations": ["p1#1"]}, "OK"),
        ({"answer_json": {"claim": "X maps.", "citations": []}}, "ANS_NO_HIT"),
    ],
    ids=["list in the claim", "empty fields beside an answer", "an empty list beats the text"],
)
def test_an_answer_is_looked_for_wherever_it_may_be(parity, trace, label):
    gold, traces = parity
    traces.write_text(json.dumps({"qid": "q1"} | trace))
    assert score(gold, [traces]).report.questions[0].label == label


@pytest.mark.parametrize(("allowed", "passes"), [("29%", True), ("28.9%", False), ("29", True)])
def test_a_share_of_bad_lines_is_exact(parity, allowed, passes):
    gold, traces = parity
    good = traces.read_text().splitlines()[0]
    traces.write_text("\n".join([good] * 71 + ["{"] * 29))
    if passes:
        assert score(gold, [traces], max_bad=allowed).report.coverage.rejected == 29
    else:
        with pytest.raises(InputRejected):
            score(gold, [traces], max_bad=allowed)


def baseline_of(gold, traces, tmp_path, **options):
    path = tmp_path / "before.json"
    path.write_text(render(score(gold, [traces], **options).report, "json"))
    return path


def test_a_baseline_of_another_gold_set_says_so_and_leaves_the_changed_questions_out(
    parity, tmp_path
):
    gold, traces = parity
    before = baseline_of(gold, traces, tmp_path)
    changed = json.loads(gold.read_text())
    changed[2] |= {"answerable": True, "gold_claim": "Z", "gold_ids": ["p3"]}
    gold.write_text(json.dumps(changed))
    comparison = score(gold, [traces], baseline=before).report.baseline
    assert "the gold set is not the one" in comparison.note
    assert comparison.changed == ()
    assert comparison.metrics["quality.over_refusal"].change == 0


def test_a_preset_alone_changes_no_label_against_the_baseline(parity, tmp_path):
    gold, traces = parity
    before = baseline_of(gold, traces, tmp_path, preset="example08")
    again = score(gold, [traces], baseline=before, refusal="exact").report
    assert again.baseline.changed == ()


def test_a_baseline_too_large_for_its_rows_compares_totals_only(tmp_path):
    gold, traces = tmp_path / "gold.jsonl", tmp_path / "traces.jsonl"
    many = ROWS_KEPT + 100
    asked = [{"qid": f"q{n}", "question": f"{n}?", "answerable": False} for n in range(many)]
    gold.write_text("".join(json.dumps(question) + "\n" for question in asked))

    def answer(refused):
        texts = ["not in context" if n < refused else "It is." for n in range(many)]
        lines = [json.dumps({"qid": f"q{n}", "answer": text}) for n, text in enumerate(texts)]
        traces.write_text("\n".join(lines))

    answer(many)
    before = baseline_of(gold, traces, tmp_path)
    answer(ROWS_KEPT)  # only questions beyond the rows of a report went wrong
    comparison = score(gold, [traces], baseline=before).report.baseline
    change = comparison.metrics["quality.under_refusal"]
    assert change.change == pytest.approx(100 / many)
    assert change.ci is None
    assert "more questions than a report holds" in comparison.note


def test_sums_beyond_64_bits_stay_exact():
    import numpy as np

    from ragauge.contracts.metric import SCALE, Metric, Row, ratio
    from ragauge.metrics.sums import Sums

    metric = Metric(
        id="acme.large",
        version=1,
        better="lower",
        bounds=(0, None),
        unit="question",
        columns=("value", "of"),
        needs=frozenset({"claim"}),
        measure=lambda facts: None,
        finish=ratio,
        rate=False,
        doc="",
    )
    total = Sums.zero(metric, 2)
    large = 1000 * SCALE
    for _ in range(12):
        total.add(Sums.of(metric, [Row((large, 1))] * 1000), np.zeros(1000, dtype=np.int64))
    assert total.total() == (12_000 * large, 12_000)
    assert (total + total).total() == (24_000 * large, 24_000)
