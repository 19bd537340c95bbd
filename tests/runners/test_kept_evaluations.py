"""Evaluations keep what their answers were made from, and the rankings that were measured."""

from __future__ import annotations

import pytest

from ragauge import evaluate_all, evaluate_answers, evaluate_ner, evaluate_retrieval
from ragauge.contracts.history import REPORT
from ragauge.contracts.kept import SUMMARY, KeptAnswer
from ragauge.contracts.trace import Trace
from ragauge.runners.components import retrieval_runs
from ragauge.runners.components.retrieval_runs import RESULTS_KEPT
from ragauge.runners.recording import record
from tests.runners.kept_files import kept_answers
from tests.runners.test_evaluate_all import ENTRIES, QRELS_ROWS, QUERIES, Perfect
from tests.runners.test_evaluate_retrieval_streaming import SMALL, files, written

ROWS = [
    {"id": "a1", "question": "When?", "answer": "In 1800.", "reference": "1800",
     "contexts": ["It opened in 1800.", "It closed."]},
    {"id": "a2", "question": "Who?", "answer": None},
]  # fmt: skip


def test_an_answer_is_kept_with_its_contexts_and_what_is_right(history):
    outcome = evaluate_answers(ROWS, intervals=False)
    kept = kept_answers(history, record(outcome, history))
    [first], [second] = kept["a1"], kept["a2"]
    assert first.trace.answer == "In 1800."
    assert [one["text"] for one in first.trace.retrieved or ()] == ROWS[0]["contexts"]
    assert first.trace.retrieved_ids == tuple(one["id"] for one in first.trace.retrieved or ())
    assert first.trace.extra == {"references": ["1800"]}
    assert second.trace == Trace(qid="a2", q="Who?", status="error")


def test_entities_have_no_answers_to_keep(history):
    marked = [{"id": "d1", "text": "Delft", "entities": [{"start": 0, "end": 5, "type": "LOC"}]}]
    run = record(evaluate_ner(marked, marked, intervals=False), history)
    assert run.record.files.keys() == {REPORT, SUMMARY}


def test_a_ranking_is_kept_in_the_order_that_is_measured(history):
    qrels = {"q1": {"d1": 2, "d2": 0, "d9": 1}, "q2": {"d1": 1}, "q3": {"d1": 1}}
    run = {"q1": {"d2": 0.5, "d1": 0.9, "d3": 0.5}, "q2": {}, "q7": {"d1": 1.0}}
    outcome = evaluate_retrieval(qrels, run, intervals=False)
    kept = kept_answers(history, record(outcome, history))
    assert kept["q1"] == [
        KeptAnswer(
            trace=Trace(
                qid="q1",
                retrieved_ids=("d1", "d3", "d2"),
                retrieved=(
                    {"id": "d1", "rank": 1, "score": 0.9, "grade": 2},
                    {"id": "d3", "rank": 2, "score": 0.5},
                    {"id": "d2", "rank": 3, "score": 0.5, "grade": 0},
                ),
                extra={"relevant": {"d1": 2, "d9": 1}},
            )
        )
    ]
    assert kept.keys() == {"q1", "q2"}
    assert kept["q2"][0].trace.retrieved_ids == ()


def test_of_a_long_ranking_the_first_results_are_kept(history):
    run = {"q1": {f"d{n:03}": float(1_000 - n) for n in range(300)}}
    outcome = evaluate_retrieval({"q1": {"d000": 1}}, run, intervals=False)
    [kept] = kept_answers(history, record(outcome, history))["q1"]
    assert kept.trace.retrieved_ids == tuple(f"d{n:03}" for n in range(RESULTS_KEPT))


@pytest.mark.parametrize("held", [True, False])
def test_a_run_that_is_read_in_pieces_keeps_the_same(tmp_path, monkeypatch, held):
    judged, ranked = files()
    qrels, run = written(tmp_path / "qrels", judged), written(tmp_path / "run", ranked)
    whole = list(evaluate_retrieval(qrels, run, intervals=False).answers())
    monkeypatch.setattr(retrieval_runs, "PIECE", SMALL)
    monkeypatch.setattr(retrieval_runs, "CUT_FROM", SMALL)
    monkeypatch.setattr(retrieval_runs, "HELD_UP_TO", 1 << 20 if held else 0)
    pieces = list(evaluate_retrieval(qrels, run, intervals=False).answers())
    assert sorted(pieces, key=lambda pair: pair[0]) == sorted(whole, key=lambda pair: pair[0])
    assert len(whole) == len({query for query, _ in whole}) > 20


def test_what_was_used_up_cannot_be_kept():
    rows = iter([{"query": "q1", "document": "d1", "score": 1.0}])
    assert evaluate_retrieval({"q1": {"d1": 1}}, rows, intervals=False).answers is None


def test_all_tasks_keep_theirs_under_the_ids_of_their_units(history):
    outcome = evaluate_all(ENTRIES, Perfect(), queries=QUERIES, qrels=QRELS_ROWS, intervals=False)
    kept = kept_answers(history, record(outcome, history))
    assert kept.keys() == {"retrieval/q1", "retrieval/q2"}
    assert kept.keys() <= set(outcome.units.ids)
    [answer] = kept["retrieval/q1"]
    assert (answer.trace.qid, answer.trace.retrieved_ids) == ("q1", ("d1",))
