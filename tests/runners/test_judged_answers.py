"""Answers judged by an endpoint: each thing asked once, and no run passes unheard."""

from __future__ import annotations

import json

import pytest
from msgspec import structs

from ragauge import evaluate_answers
from ragauge.errors import UsageError
from ragauge.runners.answers.gathering import Asking
from ragauge.runners.answers.options import read_budget, read_prices
from ragauge.store.reply_cache import open_replies
from tests.models.judge_server import chatting, refuses, says, status

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
    assert report.passed is None
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
    assert report.passed is None
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


def announced_by(server, replies, **options):
    """What a run announces, and how many requests it makes."""
    announced, before = [], len(server.requests)
    judged(server, asking=Asking(replies=replies, announce=announced.append), **options)
    return announced[0], len(server.requests) - before


def test_what_is_known_already_is_announced_as_such(tmp_path):
    replies = open_replies(str(tmp_path / "store"))
    with chatting(agreeable) as server:
        metrics = ("faithfulness", "context_recall", "rubric", "answer_relevancy")
        first, made = announced_by(server, replies, metrics=metrics)
        again, none = announced_by(server, replies, metrics=metrics)
        more, new = announced_by(server, replies, metrics=(*metrics, "factual_correctness"))
    replies.close()
    assert (first.calls, first.cached) == (made, 0)
    assert (again.calls, again.cached, none) == (0, made, 0)
    assert again.prompt_tokens == again.completion_tokens == 0
    assert (more.calls, more.cached, new) == (3, made, 3)


def test_a_refusal_is_not_announced_as_if_it_were_judged():
    announced = []
    rows = [{**ROWS[0], "answer": "not in context"}]
    with chatting(agreeable) as server:
        judged(server, rows, Asking(announce=announced.append), metrics=("faithfulness",))
    assert announced[0].calls == len(server.requests) == 0


def test_the_seed_reaches_every_call_and_the_signature():
    with chatting(agreeable) as server:
        report = judged(server, metrics=("faithfulness", "rubric", "token_f1"), seed=7).report
        other = judged(server, metrics=("faithfulness",)).report
    asked = {body["seed"] for body in server.bodies}
    assert asked == {0, 7}
    assert "|seed:7|" in report.metrics["answers.faithfulness"].signature
    assert "|seed:7|" in report.metrics["answers.rubric"].signature
    assert "seed" not in report.metrics["answers.token_f1"].signature
    assert "|seed:0|" in other.metrics["answers.faithfulness"].signature
    assert report.identity["options"]["seed"] == 7


def test_a_rubric_of_one_s_own_is_asked_by_and_stands_in_the_signature_by_its_hash():
    own = "5: it rhymes.\n1: it does not.\n"
    with chatting(agreeable) as server:
        report = judged(server, metrics=("rubric",), rubric=own).report
        usual = judged(server, metrics=("rubric",)).report
    told = [body["messages"][0]["content"] for body in server.bodies]
    assert sum("5: it rhymes." in text for text in told) == 3
    signature = report.metrics["answers.rubric"].signature
    assert "|judge:small rubric/1 rubric:" in signature
    assert "|judge:small rubric/1 default_rubric/1|" in usual.metrics["answers.rubric"].signature
    assert "rhymes" not in repr(report.identity)
    assert report.identity != usual.identity


@pytest.mark.parametrize(
    ("given", "fact"),
    [
        ({"metrics": ("faithfulness",), "rubric": "5: good"}, "--rubric: the metric rubric is not"),
        ({"metrics": ("rubric",), "rubric": " \n"}, "--rubric: is empty"),
    ],
)
def test_a_rubric_that_would_not_be_used_is_refused(given, fact):
    with pytest.raises(UsageError, match=fact):
        evaluate_answers(ROWS, judge="http://localhost:1/v1", judge_model="small", **given)


def test_a_seed_and_a_rubric_belong_to_an_endpoint():
    with pytest.raises(UsageError) as refused:
        evaluate_answers(ROWS, seed=1, rubric="5: good")
    assert [problem.partition(":")[0] for problem in refused.value.problems] == [
        "--seed",
        "--rubric",
    ]


def test_how_sure_the_judge_is_stands_in_the_reason_where_its_endpoint_tells():
    reply = says('{"reason": "It says so.", "score": 4}', logprobs=[-0.1, -0.3])
    with chatting([reply]) as server:
        outcome = judged(server, ROWS[:1], metrics=("rubric",))
        assert server.bodies[0]["logprobs"] is True
    assert outcome.scores[0].scores["rubric"]["reason"] == "It says so. (sure: 0.82)"


def test_an_endpoint_without_logprobs_is_asked_without():
    def script(asked):
        return (
            refuses("logprobs is not supported") if "logprobs" in asked.body else agreeable(asked)
        )

    with chatting(script) as server:
        report = judged(server, ROWS[:1], metrics=("rubric",)).report
    assert report.metrics["answers.rubric"].value == 5.0
    (finding,) = (one for one in report.findings if one.code == "judge_takes_no")
    assert finding.message.endswith("does not take logprobs; how sure the judge is, is not told")


def test_only_the_calls_of_a_run_tell_a_first_run_from_one_of_kept_replies(tmp_path):
    with chatting(agreeable) as server:
        replies = open_replies(str(tmp_path / "store"))
        asking = Asking(replies=replies)
        first, again = (judged(server, asking=asking, metrics=("rubric",)) for _ in range(2))
        replies.close()
    assert first.report.detail.usage != again.report.detail.usage
    assert first.identity == again.identity
    assert first.report.metrics == again.report.metrics
    without = [
        structs.replace(one.report, detail=structs.replace(one.report.detail, usage=None))
        for one in (first, again)
    ]
    assert without[0] == without[1]
