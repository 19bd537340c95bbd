"""`eval retrieval` on what `score` takes: a gold set and traces."""

import csv
import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ragauge import evaluate_retrieval, score
from ragauge.contracts.evaluation import EvalReport, RankingDetail
from ragauge.contracts.gold import GoldSet
from ragauge.errors import InputRejected
from ragauge.ingest.gold import read_gold
from tests.cli.command import ragauge

Records = list[dict[str, Any]]


def question(qid: str, *ids: str, **more: Any) -> dict[str, Any]:
    said = {"qid": qid, "question": f"{qid}?", "answerable": bool(ids), "gold_claim": "x"}
    return {**said, "gold_citations": list(ids), **more}


def trace(qid: str, *ids: str, **more: Any) -> dict[str, Any]:
    return {"qid": qid, "answer": "x", "retrieved_ids": list(ids), **more}


GOLD = [
    question("q1", "p1", "p2", strata={"language": "nl"}),
    question("q2", "p3", strata={"language": "en"}),
    question("q3"),
]
TRACES = [trace("q1", "p9", "p1"), trace("q2", "p3"), trace("q3", "p1")]


@pytest.fixture
def drawn(request: pytest.FixtureRequest) -> tuple[Records, Records]:
    """Questions and traces at random, some of them with nothing retrieved."""
    of = random.Random(7)
    ids = [f"p{number}" for number in range(30)]
    gold = [question(f"q{number}", *of.sample(ids, of.randint(0, 4))) for number in range(60)]
    traces = [trace(one["qid"], *of.sample(ids, of.randint(0, 25))) for one in gold[:55]]
    return gold, traces


def lines(path: Path, records: Records) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def values(report: EvalReport) -> dict[str, Any]:
    return {id: (one.value, one.ci, one.n, one.of) for id, one in report.metrics.items()}


def trec(folder: Path, gold: Records, traces: Records) -> tuple[Path, Path]:
    qrels, run = folder / "qrels.txt", folder / "run.txt"
    asked = [one["qid"] for one in gold if one["answerable"]]
    judged = [f"{one['qid']} 0 {id} 1\n" for one in gold for id in one["gold_citations"]]
    qrels.write_text("".join(judged))
    run.write_text(
        "".join(
            f"{one['qid']} Q0 {id} {rank} {100 - rank} t\n"
            for one in traces
            for rank, id in enumerate(one["retrieved_ids"])
            if one["qid"] in asked
        )
    )
    return qrels, run


def test_the_numbers_are_those_of_a_trec_pair(drawn: Any, tmp_path: Path) -> None:
    gold, traces = drawn
    qrels, run = trec(tmp_path, gold, traces)
    ours = evaluate_retrieval(lines(tmp_path / "g", gold), lines(tmp_path / "t", traces)).report
    theirs = evaluate_retrieval(qrels, run, no_rel="exclude").report
    assert isinstance(ours.detail, RankingDetail)
    assert isinstance(theirs.detail, RankingDetail)
    # A query that retrieved nothing has no line in a TREC file.
    there = {id: one for id, one in values(ours).items() if not id.endswith("coverage")}
    assert there == {id: values(theirs)[id] for id in there}
    assert ours.detail.queries == theirs.detail.queries
    assert values(evaluate_retrieval(gold, run, no_rel="exclude").report) == values(theirs)
    mixed = values(evaluate_retrieval(qrels, traces, no_rel="exclude").report)
    assert mixed == values(ours)


def test_the_numbers_are_those_of_score_where_both_measure_the_same(drawn: Any) -> None:
    gold, traces = drawn
    asked = [one for one in gold[:55] if one["answerable"]]
    scored = score(gold[:55], traces).units
    column = scored.measured["quality.gold_retrieved@5"]
    found = dict(zip(scored.ids, column.values, strict=True))
    detail = evaluate_retrieval(gold[:55], traces, measures=["recall@5"]).report.detail
    assert isinstance(detail, RankingDetail)
    every = {one.query: float(one.values["retrieval.recall@5"] == 1) for one in detail.queries}
    assert every == {one["qid"]: found[one["qid"]] for one in asked}
    assert 0 < sum(every.values()) < len(every)


def test_what_is_left_out_is_said_and_counted() -> None:
    again = [*TRACES, trace("q1", "p2"), trace("q9", "p1"), {"qid": "q2", "answer": "x"}]
    report = evaluate_retrieval(GOLD, again, measures=["rr"]).report
    assert report.metrics["retrieval.rr"].value == 0.75
    assert report.coverage["queries"] == 2
    assert report.coverage["unanswerable"] == 1
    assert report.coverage["unknown"] == 1
    counts = report.finding_counts
    assert counts["unanswerable_question"] == counts["repeated_query"] == 1
    assert counts["unknown_query"] == 1
    silent = evaluate_retrieval(GOLD, [TRACES[0], {"qid": "q2", "answer": "x"}]).report
    assert silent.coverage["missing"] == silent.finding_counts["nothing_told"] == 1


def test_strata_of_the_gold_set_are_shown() -> None:
    report = evaluate_retrieval(GOLD, TRACES, measures=["rr"], by=["language"]).report
    shown = {
        name: one["retrieval.rr"].value for name, one in report.per_stratum["language"].items()
    }
    assert shown == {"en": 1.0, "nl": 0.5}


@pytest.mark.parametrize("key", ["relevance", "judgements", "gold_citations"])
def test_a_question_may_have_grades(key: str) -> None:
    gold = [question("q1", "p1") | {key: {"p1": 1, "p2": 3}}]
    report = evaluate_retrieval(gold, [trace("q1", "p1", "p2")], measures=["rr(rel=2)"]).report
    assert report.metrics["retrieval.rr(rel=2)"].value == 0.5


def test_the_order_of_a_trace_counts_and_scores_go_along() -> None:
    chunks = [{"id": "p9", "text": "a", "score": 0.1}, {"id": "p1", "text": "b", "score": 0.9}]
    odd = {"q": "q1?", "answer": "x", "chunks": chunks}
    outcome = evaluate_retrieval(GOLD[:1], [odd], measures=["rr"])
    assert outcome.report.metrics["retrieval.rr"].value == 0.5
    assert outcome.report.finding_counts["rank_score_disagree"] == 1
    even = {**odd, "chunks": chunks[::-1]}
    outcome = evaluate_retrieval(GOLD[:1], [even], measures=["rr"])
    assert "rank_score_disagree" not in outcome.report.finding_counts
    assert outcome.answers is not None
    ((_, kept),) = outcome.answers()
    assert [one["score"] for one in kept.trace.retrieved or ()] == [0.9, 0.1]


def test_every_form_of_both_is_recognised(tmp_path: Path) -> None:
    table = tmp_path / "gold.csv"
    with table.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "query", "answerable", "gold_ids", "strata.language"])
        writer.writerows(
            [one["qid"], one["question"], one["answerable"], "|".join(one["gold_citations"]), "nl"]
            for one in GOLD
        )
    padded = [{**one, "note": "long " * 8_000} for one in GOLD]
    wrapped, listed = tmp_path / "gold.json", tmp_path / "list.json"
    wrapped.write_text(json.dumps({"version": "1", "questions": padded}))
    listed.write_text(json.dumps(padded))
    named = tmp_path / "named.jsonl"
    lines(named, [{"name": "a set", "refusal": "exact"}, *GOLD])
    framed = tmp_path / "traces.parquet"
    pl.DataFrame(TRACES).write_parquet(framed)
    questions = read_gold(named)
    assert isinstance(questions, GoldSet)
    expected = values(evaluate_retrieval(GOLD, TRACES).report)
    for gold in (table, wrapped, listed, named, questions):
        assert values(evaluate_retrieval(gold, framed).report) == expected
    assert values(evaluate_retrieval(GOLD, pl.DataFrame(TRACES)).report) == expected


def test_bad_lines_of_traces_are_refused_and_can_be_accepted(tmp_path: Path) -> None:
    bad = lines(tmp_path / "traces.jsonl", TRACES)
    bad.write_text(bad.read_text() + "{broken\n" * 150)
    with pytest.raises(InputRejected, match=r"traces\.jsonl:4: "):
        evaluate_retrieval(GOLD, bad, max_bad="149")
    report = evaluate_retrieval(GOLD, bad, max_bad="150").report
    assert report.coverage["rejected"] == report.finding_counts["bad_line"] == 150


def test_a_gold_set_is_no_run() -> None:
    with pytest.raises(InputRejected, match="name the gold set first"):
        evaluate_retrieval(TRACES, GOLD)
    with pytest.raises(InputRejected, match="name the gold set first"):
        evaluate_retrieval(GOLD)


def test_records_of_results_and_of_what_is_relevant_need_no_second_file(tmp_path: Path) -> None:
    both = [
        {"query": "who?", "results": ["x", "y"], "gold_relevant": ["y"]},
        {"query": "why?", "results": [{"id": "x", "score": 2}], "gold_relevant": ["x"]},
    ]
    path = lines(tmp_path / "both.jsonl", both)
    for given in ([path], [path, path]):
        done = ragauge(
            "eval", "retrieval", *map(str, given), "--measures", "rr", "--format", "json"
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["metrics"]["retrieval.rr"]["value"] == 0.75
        assert b"itself" not in done.stderr
    report = evaluate_retrieval(iter(both), measures=["rr"]).report
    assert report.metrics["retrieval.rr"].value == 0.75
