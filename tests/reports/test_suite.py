"""What decides a task of a suite, as each form of its report shows it."""

from __future__ import annotations

import re

import msgspec
import pytest

from ragauge.contracts.report import Rule, Score, Verdict
from ragauge.contracts.suite import SuiteCoverage, SuiteReport, TaskReport
from ragauge.gates.rules import decide_each
from ragauge.gates.stability import STABLE, rule_verdict, stable_gate
from ragauge.reports.rendering import render

QUESTIONS = 80
FAILING = [f"q{n}" for n in range(17)]


def suite(kind: str, gates: list[Verdict]) -> SuiteReport:
    """A suite of one task, named with a dot, as the runner names its gates."""
    passed = all(gate.holds for gate in gates)
    named = [
        msgspec.structs.replace(gate, rule=f"t.1/{gate.rule}", metric=f"t.1/{gate.metric}")
        for gate in gates
    ]
    status = "passed" if passed else "failed"
    task = TaskReport(name="t.1", kind=kind, dataset="d", status=status, exit_code=0, run=None)
    return SuiteReport(
        passed=passed,
        suite="all",
        exit_code=0,
        metrics={},
        gates=tuple(named),
        tasks=(task,),
        findings=(),
        finding_counts={},
        coverage=SuiteCoverage(tasks=1, passed=passed, failed=not passed, error=0, skipped=0),
        identity={},
    )


def stability(least: float) -> SuiteReport:
    rule = Rule(metric="stability.acr", op=">=", bound=0.95, per="question")
    share = (QUESTIONS - len(FAILING)) / QUESTIONS
    return suite(
        "stability",
        [
            stable_gate(Score(value=share, n=QUESTIONS, of=QUESTIONS), least),
            rule_verdict(rule, 56, 0, FAILING, QUESTIONS, least),
        ],
    )


@pytest.mark.parametrize(("least", "most", "word"), [(0.6, 32, "pass"), (0.9, 8, "FAIL")])
def test_a_rule_for_each_question_shows_how_many_may_fail_it(least, most, word):
    report = stability(least)
    text = render(report, "text")
    row = rf"stability\.acr >= 0\.95 +39 of 56 hold +56 +at most {most} fail +{word}\n"
    assert re.search(row, text)
    assert re.search(rf"{STABLE} .* >= {least:.2f} +{word}\n", text)
    cells = [cell.strip(" `*") for cell in render(report, "markdown").splitlines()[-1].split("|")]
    assert cells[1:3] == ["stability.acr >= 0.95", "39 of 56 hold"]
    assert cells[5:7] == [f"at most {most} fail", word]


def test_a_workflow_command_says_what_was_wanted():
    written = render(stability(0.9), "github")
    assert "::error title=FAIL t.1::" in written
    assert "FAIL: t.1/stability.acr >= 0.95 holds for 39 of 56 (per question; " in written
    assert re.search(rf"FAIL: t\.1/{STABLE} is 0\.787 .*over 80, must be >= 0\.90", written)


def test_gates_of_a_task_that_passed_turn_no_server_red():
    failed = stability(0.9)
    assert 'failures="3"' in render(failed, "junit")
    passed = msgspec.structs.replace(failed.tasks[0], status="passed")
    report = msgspec.structs.replace(failed, tasks=(passed,))
    assert 'failures="0" errors="0" skipped="2"' in render(report, "junit")
    assert "::error" not in render(report, "github")


@pytest.mark.parametrize(("share", "demand"), [((3, 4), "3 of 4 hold"), (None, "all hold")])
def test_in_a_score_task_the_rule_says_itself_how_many_must_hold_it(share, demand):
    rule = Rule(metric="quality.compliance", op=">=", bound=0.5, per="question", at_least=share)
    verdict = decide_each(
        rule, [("q1", 1.0, True), ("q2", 1.0, True), ("q3", 1.0, True), ("q4", 0.0, True)]
    )
    text = render(suite("score", [verdict]), "text")
    assert re.search(rf"quality\.compliance >= 0\.50 +3 of 4 hold +4 +{demand} ", text)
