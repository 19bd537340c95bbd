"""The gates of an audit and of a trace evaluation: the preset, the user's, and ΔS."""

import pytest

from ragauge.contracts.calibration import Calibration
from ragauge.contracts.score import Score
from ragauge.errors import UsageError
from ragauge.gates.decide import decide
from ragauge.gates.presets import (
    about_deltas,
    audit_rules,
    deltas_rule,
    trace_eval_rules,
    uncalibrated,
    with_deltas,
)
from ragauge.gates.rules import parse_rules
from ragauge.metrics.table import find, table

VALID = "traceability.valid=1"
CHECKED = "traceability.checked=1"
AUDITED = [VALID, CHECKED, "traceability.unanswered=0"]
MATCH = "traceability.match_rate>=0.95"
COVERAGE = "traceability.coverage>=0.7"
LAMBDA = [
    "traceability.answer_convergent>=0.8",
    "traceability.answer_chaotic<=0",
    "traceability.answer_recursive<=0.1",
]


def audited(name):
    return find(name, "audit")


def traced(name):
    return find(name, "audit", "audited_runs")


def texts(rules):
    return [str(rule) for rule in rules]


@pytest.mark.parametrize(
    ("gold", "targets", "expected"),
    [
        (False, False, AUDITED),
        (True, False, [*AUDITED, MATCH]),
        (True, True, [*AUDITED, MATCH, COVERAGE]),
    ],
)
def test_an_audit_is_gated_on_what_it_can_know(gold, targets, expected):
    assert texts(audit_rules(gold, targets, None, audited)) == expected


def test_a_trace_evaluation_is_gated_on_what_the_recipe_asks_for():
    known = texts(trace_eval_rules(False, True, None, traced))
    assert known == [MATCH, COVERAGE, CHECKED, *LAMBDA]
    assert texts(trace_eval_rules(False, False, None, traced)) == [MATCH, CHECKED, *LAMBDA]


def test_strict_wants_every_question_convergent():
    strict = texts(trace_eval_rules(True, False, None, traced))
    assert strict == [MATCH, CHECKED, *LAMBDA[1:], "traceability.answer_convergent=1"]


def test_own_rules_take_the_presets_place_or_stand_beside():
    own = "coverage>=0.9,payload>=0.99,match_rate<=0.999"
    found = texts(audit_rules(True, True, own, audited))
    others = ["traceability.payload>=0.99", "traceability.match_rate<=0.999"]
    assert found == [*AUDITED, MATCH, "traceability.coverage>=0.9", *others]
    found = texts(trace_eval_rules(True, False, "answer_convergent>=0.9", traced))
    assert found == [MATCH, CHECKED, *LAMBDA[1:], "traceability.answer_convergent>=0.9"]


def test_every_gated_metric_is_in_the_table():
    rules = (*trace_eval_rules(True, True, None, traced), deltas_rule(0.4))
    assert {rule.metric for rule in rules} <= set(table())


def test_rules_on_metrics_of_other_commands_are_refused():
    with pytest.raises(UsageError, match="errors belongs to `ragauge score`"):
        audit_rules(True, True, "errors<=0", audited)
    with pytest.raises(UsageError, match="answer_convergent belongs to `ragauge trace-eval`"):
        audit_rules(True, True, "answer_convergent>=1", audited)


def test_a_calibrated_embedder_brings_its_threshold():
    rule = deltas_rule(0.412)
    assert str(rule) == "traceability.deltaS_chunk<=0.412"
    assert decide(rule, Score(value=0.4, n=9, of=9)).verdict == "pass"
    assert decide(rule, Score(value=0.42, n=9, of=9)).verdict == "fail"


@pytest.mark.parametrize("name", ["context", "chunk", "anchor", "decoy"])
def test_a_gate_on_delta_s_without_calibration_is_not_evaluated(name):
    [rule] = parse_rules(f"deltaS_{name}<=0.45", audited)
    assert about_deltas(rule)
    found = uncalibrated(rule, Score(value=0.1, n=9, of=9), "AUC 0.71 is below 0.8")
    assert (found.verdict, found.value, found.holds) == ("not_evaluated", None, False)
    assert found.reason == "AUC 0.71 is below 0.8"


def test_a_gate_on_delta_s_that_may_stay_unevaluated_does_not_fail():
    [rule] = parse_rules("deltaS_context<=0.45?", audited)
    assert uncalibrated(rule, Score(value=0.1, n=9, of=9), "not calibrated").holds


@pytest.mark.parametrize("threshold", [0.412, None])
def test_a_calibration_always_brings_its_gate_so_that_an_unusable_one_is_seen(threshold):
    fitted = Calibration(
        embedder="ngram:v1:1024",
        gold_sha256="0" * 64,
        pairs=12,
        auc=0.9,
        auc_ci=(0.8, 1.0),
        threshold=threshold,
        threshold_ci=None,
        refusal=None,
    )
    rules = audit_rules(False, False, None, audited)
    *_, gate = with_deltas(rules, fitted)
    assert (gate.metric, gate.bound) == ("traceability.deltaS_chunk", threshold or 0.45)
    own = audit_rules(False, False, "deltaS_chunk<=0.3", audited)
    assert with_deltas(own, fitted) == own
    assert with_deltas(rules, None) == rules


def test_other_gates_need_no_calibration():
    assert not any(about_deltas(rule) for rule in trace_eval_rules(True, True, None, traced))
