"""A summary has the numbers of its report, and the worst of its lists."""

from __future__ import annotations

import json

import msgspec
import pytest

from ragauge import audit, evaluate_answers, evaluate_ner, evaluate_retrieval, score, stability
from ragauge.contracts.history import REPORT, canonical
from ragauge.contracts.kept import SUMMARY
from ragauge.contracts.score import ScoreReport
from ragauge.metrics.quality import GOOD_LABELS
from ragauge.runners.recording import record
from ragauge.runners.summaries import FEWEST, SUMMARY_BYTES, SUMMARY_ROWS, summary
from tests.runners.audited import C1, trace
from tests.runners.traced_system import evaluated

MANY = 3 * SUMMARY_ROWS
WRONG = 7
"""Every so many answers one is wrong."""


def qid(n: int) -> str:
    return f"q{n:04}"


@pytest.fixture
def files(tmp_path):
    gold, traces = tmp_path / "gold.jsonl", tmp_path / "traces.jsonl"
    questions = [
        {"qid": qid(n), "question": f"What is {n}?", "answerable": True,
         "gold_claim_substr": [f"number {n}"], "gold_citations": ["c1"]}
        for n in range(MANY)
    ]  # fmt: skip
    answers = [
        {"qid": qid(n), "retrieved_ids": ["c1"], "answer_json": {
            "claim": "nothing" if n % WRONG == 0 else f"number {n}",
            "citations": ["c9" if n % WRONG == 0 else "c1"]}}
        for n in range(MANY)
    ]  # fmt: skip
    gold.write_text("".join(json.dumps(one) + "\n" for one in questions))
    traces.write_text("".join(json.dumps(one) + "\n" for one in answers))
    return gold, traces


def same_but(report, made, *lists):
    """Whether two reports differ in these fields alone."""
    whole, cut = msgspec.to_builtins(report), msgspec.to_builtins(made)
    return {name for name in whole if whole[name] != cut[name]} == set(lists)


def test_of_a_score_the_wrong_questions_stay(files):
    report = score(*files).report
    made = summary(report)
    assert same_but(report, made, "questions")
    assert len(made.questions) == SUMMARY_ROWS
    wrong = [row for row in report.questions if row.label not in GOOD_LABELS]
    assert len(wrong) > 50
    assert list(made.questions[: len(wrong)]) == wrong
    assert made.coverage.gold == MANY


def test_of_a_sweep_questions_and_their_rows_stay_together(files):
    gold, traces = files
    report = stability(gold, [traces, traces]).report
    made = summary(report)
    assert same_but(report, made, "details", "cells")
    assert made.details.keys() == made.cells.keys()
    assert len(made.details) == SUMMARY_ROWS
    failing = {qid for qid, one in report.details.items() if one.verdict != "stable_pass"}
    assert failing and failing <= made.details.keys()


def test_of_an_audit_the_answers_that_do_not_hold_stay(tmp_path):
    lines = [trace(qid(n), ["c9" if n % WRONG == 0 else "c1"], C1) for n in range(MANY)]
    path = tmp_path / "traces.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    report = audit(path).report
    made = summary(report)
    assert same_but(report, made, "answers")
    codes = [row.code for row in made.answers]
    wrong = [row.code for row in report.answers if row.code != "ok"]
    assert (len(codes), codes[: len(wrong)]) == (SUMMARY_ROWS, wrong)


def test_of_an_evaluation_of_entities_some_errors_of_each_kind_stay():
    def marked(type: str, missing: int):
        found = [{"start": 0, "end": 5, "type": type}]
        return [
            {"id": qid(n), "text": "Delft", "entities": [] if n < missing else found}
            for n in range(MANY)
        ]

    report = evaluate_ner(marked("LOC", 0), marked("ORG", 10), intervals=False).report
    made = summary(report)
    assert same_but(report, made, "detail")
    assert made.detail.error_counts == report.detail.error_counts
    assert len(made.detail.errors) == SUMMARY_ROWS
    kinds = [one.kind for one in made.detail.errors]
    assert (kinds.count("missed"), kinds.count("type")) == (10, SUMMARY_ROWS - 10)


def test_of_rankings_the_worst_queries_stay_and_the_first_of_them_first():
    qrels = {qid(n): {"d1": 1} for n in range(MANY)}
    run = {qid(n): {"d1": 1.0, "d2": 2.0 if n % WRONG == 0 else 0.5} for n in range(MANY)}
    report = evaluate_retrieval(qrels, run, intervals=False).report
    made = summary(report)
    ranks = [row.first_relevant for row in made.detail.queries]
    assert len(ranks) == SUMMARY_ROWS
    assert ranks == sorted(ranks, reverse=True)
    assert ranks.count(2) == sum(row.first_relevant == 2 for row in report.detail.queries)


def test_rows_that_are_long_are_fewer():
    rows = [
        {"id": qid(n), "answer": f"number {n} " * 1_500, "reference": f"number {n}"}
        for n in range(MANY)
    ]
    report = evaluate_answers(rows, metrics=("containment",), intervals=False).report
    made = summary(report)
    assert len(canonical(report)) > 2 * SUMMARY_BYTES > 2 * len(canonical(made))
    assert FEWEST <= len(made.detail.answers) < SUMMARY_ROWS


def test_of_a_trace_evaluation_the_questions_that_do_not_converge_stay(tmp_path, monkeypatch):
    monkeypatch.setattr("ragauge.runners.summaries.SUMMARY_ROWS", 1)
    script = {"steady": ["a<ab"] * 6, "wild": ["a<ab", "b<ab", "c<abc", "d<abd", "-<ab", "<ab"]}
    report = evaluated(tmp_path, script).report
    assert [one.qid for one in summary(report).questions] == ["wild"]


def test_a_reader_knows_by_the_seals_whether_it_is_cut(history, files, tmp_path):
    gold, traces = files
    first = tmp_path / "first.jsonl"
    first.write_text("".join(gold.read_text().splitlines(keepends=True)[:9]))
    short, long = score(first, traces), score(gold, traces)
    whole, cut = (record(one, history).record.files for one in (short, long))
    assert whole[SUMMARY] == whole[REPORT]
    assert cut[SUMMARY].size < cut[REPORT].size


def test_a_summary_is_read_as_its_report(history, files):
    run = record(score(*files), history)
    with history.file(run, SUMMARY) as path:
        read = msgspec.json.decode(path.read_bytes(), type=ScoreReport)
    assert len(read.questions) == SUMMARY_ROWS


def test_what_has_no_lists_is_as_it_was():
    assert summary({"some": "record"}) == {"some": "record"}
