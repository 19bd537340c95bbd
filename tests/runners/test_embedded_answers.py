"""Answers compared by an endpoint's embedder: each text asked for once, failures as records."""

from __future__ import annotations

import pytest

from ragauge import evaluate_answers
from ragauge.errors import UsageError
from ragauge.models.embedders import embedder
from ragauge.runners.answers import gathering
from ragauge.runners.answers.gathering import Asking
from ragauge.store.reply_cache import open_replies
from tests.models.judge_server import chatting, refuses, status
from tests.models.test_endpoint_embedder import embeddings
from tests.runners.test_judged_answers import ROWS, agreeable
from tests.runners.test_settled_answers import gate_on


def both(asked):
    return embeddings(asked.body["input"]) if "input" in asked.body else agreeable(asked)


def deaf(asked):
    """Judges, and embeds nothing."""
    return status("404 Not Found") if "input" in asked.body else agreeable(asked)


def evaluated(server, rows=ROWS, asking=None, **options):
    name = f"{server.at('v1')}#small"
    return evaluate_answers(rows, asking=asking, embedder=name, intervals=False, **options)


def requests_for(server, ending):
    return sum(request.path.endswith(ending) for request in server.requests)


def test_a_second_run_asks_the_endpoint_for_nothing(tmp_path):
    with chatting(both) as server:
        reports, asked = [], []
        for _ in range(2):
            kept = open_replies(str(tmp_path / "store"))
            asking = Asking(vectors=kept)
            metrics = ("semantic_similarity", "lexical_answer_relevancy")
            reports.append(evaluated(server, asking=asking, metrics=metrics).report)
            asked.append(len(server.requests))
            kept.close()
    assert asked[0] == asked[1] > 0
    assert reports[0] == reports[1]
    assert reports[1].detail.embedder == "endpoint:small:6"
    assert reports[1].metrics["answers.semantic_similarity"].n == 3


def test_the_vectors_of_another_place_are_not_taken(tmp_path):
    with chatting(both) as one, chatting(both) as other:
        for server in (one, other):
            kept = open_replies(str(tmp_path / "store"))
            evaluated(server, asking=Asking(vectors=kept), metrics=("relevance",))
            kept.close()
    assert len(one.requests) == len(other.requests) > 0


def test_a_dead_embedder_costs_its_own_metrics_alone():
    with chatting(deaf) as server:
        outcome = evaluated(
            server,
            judge=server.at("v1"),
            judge_model="small",
            metrics=("rubric", "relevance", "lexical_answer_relevancy", "token_f1"),
        )
    report = outcome.report
    assert report.metrics["answers.rubric"].value == 5.0
    assert report.metrics["answers.token_f1"].n == 3
    assert report.metrics["answers.relevance"].value is None
    assert "the embedder failed: embedder small: http_404" in str(
        outcome.scores[0].scores["relevance"]["reason"]
    )
    assert report.finding_counts["embedder_failed"] == 2
    for name in ("relevance", "lexical_answer_relevancy"):
        gate = gate_on(report, name)
        assert gate.verdict == "not_evaluated"
    assert not report.passed
    assert report.detail.embedder == "endpoint:small"


def test_a_gate_on_what_an_embedder_lost_in_part_does_not_pass(monkeypatch):
    monkeypatch.setattr(gathering, "AT_A_TIME", 1)

    def script(asked):
        lost = any("1801" in text for text in asked.body["input"])
        return refuses("too long") if lost else embeddings(asked.body["input"])

    with chatting(script) as server:
        report = evaluated(server, metrics=("relevance",), gates="relevance>=-0.99").report
    gate = gate_on(report, "relevance")
    assert (gate.n, gate.verdict) == (2, "not_evaluated")
    assert "1 of 3 answers lost: the embedder failed" in gate.reason


def test_one_that_is_down_is_not_asked_again(monkeypatch):
    monkeypatch.setattr(gathering, "AT_A_TIME", 1)
    with chatting(lambda asked: status("503 Service Unavailable")) as server:
        report = evaluated(server, metrics=("relevance",)).report
    assert len(server.requests) == 4  # the attempts of one call
    assert report.finding_counts["embedder_failed"] == 1
    assert report.coverage["lost_to_failed_calls"] == 3


def test_a_report_tells_no_address_of_an_embedder():
    with chatting(both) as server:
        name = server.at("v1").replace("http://", "http://login:canary-41d0@")
        report = evaluate_answers(
            ROWS, embedder=f"{name}#small", metrics=("relevance",), intervals=False
        ).report
    assert report.identity["options"]["embedder"] == "endpoint:small:6"
    assert "canary" not in repr(report)


def test_vectors_without_numbers_are_no_vectors():
    empty = {"data": [{"index": 0, "embedding": []}]}
    with (
        chatting(lambda asked: empty) as server,
        pytest.raises(UsageError, match="a vector has no numbers"),
    ):
        _ = embedder(f"{server.at('v1')}#m").dimension
