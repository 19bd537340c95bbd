"""Gates on answers stand on replies that came: none passes because calls failed."""

from __future__ import annotations

import pytest

from ragauge import evaluate_answers
from ragauge.contracts.metric import Absent, Row
from ragauge.contracts.report import Findings
from ragauge.gates.rules import known_rules
from ragauge.runners.answers.evaluation import note_parts
from tests.models.judge_server import chatting, refuses, status
from tests.runners.test_judged_answers import ROWS, agreeable, judged

SIX = [
    {**ROWS[0], "id": f"r{number}", "answer": f"It opened in 180{number}."} for number in range(6)
]


def failing_at(*words, line=None):
    """A judge that says yes to all, but refuses calls that hold one of these words."""
    refused = status(line) if line else refuses("this answer is not judged")
    return lambda asked: refused if any(word in asked.user for word in words) else agreeable(asked)


def gate_on(report, metric):
    return next(gate for gate in report.gates if gate.metric == f"answers.{metric}")


def test_a_gate_does_not_pass_on_the_one_answer_of_six_that_was_judged():
    script = failing_at(*(f"180{number}." for number in range(1, 6)))
    with chatting(script) as server:
        report = judged(server, SIX, metrics=("rubric",), gates="rubric>=3").report
    gate = gate_on(report, "rubric")
    assert (gate.verdict, gate.value, gate.n) == ("not_evaluated", 5.0, 1)
    assert gate.reason.startswith("5 of 6 answers lost: the judge failed: http_400")
    assert "run again" in gate.reason
    assert not report.passed
    assert report.coverage["lost_to_failed_calls"] == 5
    assert report.coverage["errors"] == 0


def test_one_lost_answer_is_enough_and_a_gate_that_fails_without_it_fails():
    with chatting(failing_at("1805.")) as server:
        lost = judged(server, SIX, metrics=("rubric",), gates="rubric>=3,rubric<=2").report
    floor, ceiling = (gate for gate in lost.gates if gate.metric == "answers.rubric")
    assert (floor.verdict, ceiling.verdict) == ("not_evaluated", "fail")


def test_who_accepts_that_it_may_be_unevaluated_is_let_through():
    with chatting(failing_at("1805.")) as server:
        report = judged(server, SIX, metrics=("rubric",), gates="rubric>=3?").report
    assert gate_on(report, "rubric").verdict == "not_evaluated"
    assert report.passed is None


def test_answers_lost_elsewhere_do_not_close_a_gate_on_a_stratum():
    rows = [{**row, "strata": {"half": "ab"[place // 3]}} for place, row in enumerate(SIX)]
    gates = "rubric>=3 where half=a,rubric>=3 where half=b"
    with chatting(failing_at("1805.")) as server:
        report = judged(server, rows, metrics=("rubric",), gates=gates).report
    first, second = (gate for gate in report.gates if gate.metric == "answers.rubric")
    assert (first.verdict, second.verdict) == ("pass", "not_evaluated")
    assert "1 of 3 answers lost" in second.reason


def test_a_context_that_the_judge_failed_at_closes_the_gate_too():
    """What the contexts that were heard support would look better than all of it."""
    script = failing_at('"passage":"It is in Ede."')
    with chatting(script) as server:
        report = judged(
            server, SIX, metrics=("faithfulness", "rubric"), gates="faithfulness>=0.1,rubric>=3"
        ).report
    assert gate_on(report, "faithfulness").verdict == "not_evaluated"
    assert gate_on(report, "rubric").verdict == "pass"


@pytest.mark.parametrize("metric", ["rubric", "faithfulness", "hallucination"])
def test_a_judge_that_fails_everywhere_is_one_gate_within_the_metric_s_bounds(metric):
    with chatting([status("401 Unauthorized")]) as server:
        report = judged(server, metrics=(metric, "token_f1")).report
    (gate,) = (gate for gate in report.gates if gate.metric == f"answers.{metric}")
    assert gate.rule == f"answers.{metric}>={1 if metric == 'rubric' else 0}"
    assert gate.verdict == "not_evaluated"
    assert not report.passed


def test_no_gate_stands_twice():
    with chatting([status("401 Unauthorized")]) as server:
        alone = judged(server, metrics=("faithfulness",)).report
        demanded = judged(server, metrics=("rubric",), gates="rubric>=3").report
    assert [gate.metric for gate in alone.gates] == ["answers.coverage", "answers.faithfulness"]
    assert [gate.rule for gate in demanded.gates] == ["answers.coverage=1", "answers.rubric>=3"]


def test_answers_without_contexts_are_left_out_of_a_gate_and_that_is_said():
    rows = [row if place < 2 else {**row, "contexts": None} for place, row in enumerate(SIX)]
    report = evaluate_answers(
        rows, metrics=("groundedness",), gates="groundedness>=0.1 over 20%", intervals=False
    ).report
    gate = gate_on(report, "groundedness")
    assert (gate.verdict, gate.n, gate.reason) == ("pass", 2, "over 2 of 6 answers")
    assert report.passed
    (finding,) = (one for one in report.findings if one.code == "gate_over_part")
    assert "its gate is decided over 2 of 6 answers; " in finding.message
    assert "contexts (4)" in finding.message


def test_a_gate_over_all_answers_or_none_needs_no_such_finding():
    rules, findings = list(known_rules("answers.rubric>=3")), Findings()
    note_parts(rules, {"answers.rubric": [Row((1, 1)), Row((1, 1))]}, findings)
    note_parts(rules, {"answers.rubric": [Absent("no answer")]}, findings)
    assert not findings.counts


RIGHT = {"id": "a", "question": "Who founded it?", "answer": "Louis Bonaparte, in the year 1808."}


def test_a_preset_s_bound_on_meaning_is_not_held_against_spelling():
    found = evaluate_answers([RIGHT], preset="heritage", judge="lexical", intervals=False).report
    gate = gate_on(found, "relevance")
    assert gate.value < 0.75
    assert gate.verdict == "not_evaluated"
    assert "an embedder that knows meaning, such as minilm" in gate.reason
    assert not found.passed


def test_a_bound_of_the_user_s_own_is_decided_with_any_embedder():
    given = {"preset": "heritage", "judge": "lexical", "intervals": False}
    for rule, verdict in (("relevance>=-0.5", "pass"), ("relevance>=0.75", "fail")):
        report = evaluate_answers([RIGHT], gates=rule, **given).report
        assert gate_on(report, "relevance").verdict == verdict
