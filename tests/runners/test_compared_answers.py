"""What a comparison of two evaluations of answers is about when the user names no metric."""

from typing import get_args

import pytest

from ragauge.contracts.evaluation import Task
from ragauge.contracts.report import Rule, Score
from ragauge.gates.rules import decide
from ragauge.metrics.names import HEADLINES
from ragauge.runners.compare import compare
from tests.runners.recorded import ones, record

COVERAGE = "answers.coverage"
N = 40


def answers(history, minute, command="eval answers", **values):
    """A recorded evaluation with the gate on coverage that each has unless told otherwise."""
    metrics = {COVERAGE: ones(N), **{f"answers.{name}": one for name, one in values.items()}}
    covered = decide(Rule(metric=COVERAGE, op=">=", bound=1), Score(value=1.0, n=N, of=N))
    return record(history, metrics, command=command, minute=minute, gates=(covered,))


def gated(history, before, after, command="eval answers"):
    was = answers(history, 0, command, **before)
    now = answers(history, 1, command, **after)
    return compare(history, was.id, now.id, gate="no-regression")


@pytest.mark.parametrize("command", ["eval answers", "eval qa"])
@pytest.mark.parametrize("name", ["groundedness", "token_recall", "faithfulness", "rubric"])
def test_a_loss_of_a_headline_is_a_regression(history, command, name):
    report = gated(history, {name: ones(N)}, {name: ones(N, range(30))}, command)
    assert not report.passed
    assert report.compared[f"answers.{name}"].verdict == "worse"


def test_an_evaluation_of_answers_is_compared_by_what_it_measured(history):
    measured = {"groundedness": ones(N), "token_recall": [None] * N, "chrf": ones(N)}
    report = gated(history, measured, measured)
    assert {gate.metric: gate.verdict for gate in report.gates} == {
        COVERAGE: "pass",
        "answers.groundedness": "pass",
        "answers.token_recall": "not_applicable",
    }
    assert report.compared["answers.chrf"].verdict == "not_tested"


@pytest.mark.parametrize("absent", [{}, {"groundedness": [None] * N}])
def test_where_no_headline_was_measured_all_is_tested_and_not_coverage_alone(history, absent):
    report = gated(history, {"chrf": ones(N), **absent}, {"chrf": ones(N, range(30)), **absent})
    assert not report.passed
    assert report.compared["answers.chrf"].verdict == "worse"


def test_every_task_has_headlines():
    assert {f"eval {task}" for task in get_args(Task)} <= HEADLINES.keys()
