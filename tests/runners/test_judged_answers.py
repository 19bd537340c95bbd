"""Answers judged by an endpoint: each thing asked once, and no run passes unheard."""

from __future__ import annotations

import json

import pytest

from ragauge import evaluate_answers
from ragauge.errors import UsageError
from ragauge.runners.answers.gathering import Asking
from ragauge.runners.answers.spending import read_budget, read_prices
from ragauge.store.reply_cache import open_replies
from tests.models.judge_server import chatting, says, status

ROWS = [
    {
        "id": f"r{number}",
        "question": "When did it open?",
        "answer": f"It opened in 180{number}.",
        "contexts": ["The museum opened in 1800.", "It is in Ede."],
        "reference": "In 1800.",
    }
    for number in range(3)
]


def filled(schema, words):
    """The plainest value that fits a schema; every verdict is yes."""
    match schema["type"]:
        case "object":
            return {name: filled(part, words) for name, part in schema["properties"].items()}
        case "array":
            return [filled(schema["items"], words) for _ in range(schema.get("minItems") or 1)]
        case "boolean":
            return True
        case "integer":
            return schema["maximum"]
    return words


def agreeable(asked):
    """Says yes to everything; the claims of each answer are its own."""
    schema = asked.body["response_format"]["json_schema"]["schema"]
    return says(json.dumps(filled(schema, f"It says {len(asked.user)}, {hash(asked.user)}.")))


def judged(server, rows=ROWS, asking=None, **options):
    given = {"judge": server.at("v1"), "judge_model": "small", "intervals": False}
    return evaluate_answers(rows, asking=asking, **given | options)


def test_a_judge_measures_what_nobody_else_can():
    with chatting(agreeable) as server:
        report = judged(server, metrics=("faithfulness", "context_recall", "rubric")).report
    assert report.passed
    assert report.metrics["answers.faithfulness"].value == 1.0
    assert report.metrics["answers.rubric"].value == 5.0
    assert report.detail.judge == "small"
    assert report.detail.usage.calls == len(server.requests)
    assert "|judge:small " in report.metrics["answers.faithfulness"].signature


def test_all_metrics_of_a_row_take_no_more_calls_than_were_announced():
    announced = []
    with chatting(agreeable) as server:
        judged(server, ROWS[:1], Asking(announce=announced.append))
    # One for the claims, one a context, one for agreement, one for questions, one for the rubric.
    assert len(server.requests) <= announced[0].calls == 6


def test_what_is_kept_is_not_asked_again(tmp_path):
    with chatting(agreeable) as server:
        reports, requests = [], []
        for _ in range(2):
            replies = open_replies(str(tmp_path / "store"))
            reports.append(judged(server, asking=Asking(replies=replies)).report)
            requests.append(len(server.requests))
            replies.close()
    assert requests[0] == requests[1] == reports[0].detail.usage.calls
    assert reports[1].detail.usage.calls == 0
    assert reports[0].metrics == reports[1].metrics


def test_a_budget_stops_the_judge_and_the_run_does_not_pass():
    with chatting(agreeable) as server:
        report = judged(server, metrics=("faithfulness", "token_f1"), budget="calls=4").report
    assert len(server.requests) == 4
    assert not report.passed
    assert report.finding_counts["budget_spent"] == 1
    assert report.metrics["answers.token_f1"].n == 3
    assert report.metrics["answers.faithfulness"].n == 1
    gate = next(gate for gate in report.gates if gate.metric == "answers.faithfulness")
    assert gate.verdict == "not_evaluated"
    assert "the judge stopped" in gate.reason


def test_a_judge_that_fails_is_a_record_and_the_run_does_not_pass():
    with chatting([status("401 Unauthorized")]) as server:
        outcome = judged(server, metrics=("faithfulness", "token_f1"))
    report = outcome.report
    assert not report.passed
    assert report.finding_counts["judge_failed"] == 3
    assert outcome.scores[0].scores["faithfulness"]["value"] is None
    assert outcome.scores[0].scores["faithfulness"]["reason"]
    assert report.metrics["answers.faithfulness"].of == 3


def test_one_failure_among_answers_lowers_the_coverage_alone():
    def script(asked):
        return status("401 Unauthorized") if "1802" in asked.user else agreeable(asked)

    with chatting(script) as server:
        report = judged(server, metrics=("faithfulness",)).report
    assert report.passed
    score = report.metrics["answers.faithfulness"]
    assert (score.value, score.n, score.of) == (1.0, 2, 3)


def test_costs_are_told_where_prices_are():
    announced = []
    with chatting(agreeable) as server:
        report = judged(
            server,
            ROWS[:1],
            Asking(announce=announced.append),
            metrics=("rubric",),
            prices="1000000,0",
        ).report
    assert announced[0].cost == announced[0].prompt_tokens
    assert report.detail.usage.cost == 12


@pytest.mark.parametrize("text", ["", "calls", "calls=x", "calls=1,calls=2", "money=3", "cost=a"])
def test_a_budget_that_cannot_be_read_is_refused(text):
    with pytest.raises(UsageError, match="--budget"):
        read_budget(text)


@pytest.mark.parametrize("text", ["", "1", "1,2,3", "a,b", "-1,2", "nan,1", "inf,1"])
def test_prices_that_cannot_be_read_are_refused(text):
    with pytest.raises(UsageError, match="--prices"):
        read_prices(text)


def test_a_budget_in_money_needs_prices():
    with pytest.raises(UsageError, match="--prices"):
        evaluate_answers(ROWS, judge="http://localhost:1/v1", judge_model="small", budget="cost=1")
