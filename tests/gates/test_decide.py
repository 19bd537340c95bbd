"""Verdicts: what a rule says of a score, and that nothing passes unseen."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge import score
from ragauge.contracts.calibration import Calibration
from ragauge.contracts.report import Score
from ragauge.errors import UsageError
from ragauge.gates.presets import (
    about_deltas,
    audit_rules,
    deltas_rule,
    trace_eval_rules,
    uncalibrated,
    with_deltas,
)
from ragauge.gates.rules import decide, decide_each, known_rules, parse_rules
from ragauge.metrics.table import find, table


def verdict(text, value, ci=None, reason=None):
    rule = known_rules(text)[0]
    return decide(
        rule, Score(value=value, n=0 if value is None else 20, of=20, ci=ci, reason=reason)
    )


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("x>=0.8", 0.8, "pass"),
        ("x>=0.8", 0.79, "fail"),
        ("x>0.8", 0.8, "fail"),
        ("x>0.8", 0.81, "pass"),
        ("x>0.3", 0.1 + 0.2, "fail"),
        ("x<=0.3", 0.1 + 0.2, "pass"),
        ("x<=0.3", 0.3001, "fail"),
        ("x<0.3", 0.1 + 0.2, "fail"),
        ("x>=0.3", 0.3 - 1e-12, "pass"),
        ("x=0.3", 0.1 + 0.2, "pass"),
        ("x=0", 0.01, "fail"),
        ("x>=0", None, "not_evaluated"),
        ("x<=1", None, "not_evaluated"),
        ("x<=1?", None, "not_evaluated"),
    ],
)
def test_a_value_meets_its_bound(text, value, expected):
    found = verdict(text, value)
    assert found.verdict == expected
    assert found.holds == (expected == "pass" or text.endswith("?"))
    assert value is not None or found.reason


@pytest.mark.parametrize(
    ("text", "ci", "expected"),
    [
        ("x<=0.05@95", (0.0, 0.05), "pass"),
        ("x<=0.05@95", (0.0, 0.06), "fail"),
        ("x<0.05@95", (0.0, 0.05), "fail"),
        ("x>=0.03@95", (0.03, 0.9), "pass"),
        ("x>=0.03@95", (0.02, 0.9), "fail"),
        ("x>0.03@95", (0.03, 0.9), "fail"),
        ("x<=0.05@95", None, "not_evaluated"),
    ],
)
def test_a_confident_rule_looks_at_the_worse_end(text, ci, expected):
    found = verdict(text, 0.04, ci)
    assert found.verdict == expected
    assert (found.reason is None) == (expected == "pass")


def test_a_reason_says_whether_more_questions_would_help():
    assert "more questions" in verdict("x<=0.05@95", 0.04, (0.0, 0.2)).reason
    assert verdict("x<=0.05@95", 0.5, (0.3, 0.7)).reason is None


@pytest.mark.parametrize(
    ("text", "values", "expected", "share"),
    [
        ("x>=1 per question", [1, 1, 1], "pass", 1),
        ("x>=1 per question", [1, 0, 1], "fail", 2 / 3),
        ("x>=1 per question", [1, None, 1], "pass", 1),
        ("x>=1 per question", [None, None], "not_evaluated", None),
        ("x>=1 per question", [], "not_evaluated", None),
        ("x>=1 per question 2 of 3", [1, 0, 1], "pass", 2 / 3),
        ("x>=1 per question 2 of 3", [1, 0, None, 1], "pass", 2 / 3),
        ("x>=1 per question 9 of 10", [1] * 17 + [0] * 2, "fail", 17 / 19),
        ("x>=1 per question 9 of 10", [1] * 18 + [0] * 2, "pass", 0.9),
    ],
)
def test_rules_per_question_count_questions(text, values, expected, share):
    qids = [f"q{number}" for number in range(len(values))]
    found = decide_each(
        known_rules(text)[0], [(q, v, True) for q, v in zip(qids, values, strict=True)]
    )
    assert (found.verdict, found.value) == (expected, share)
    assert found.n == sum(value is not None for value in values)
    if 0 in values:
        first = qids[values.index(0)]
        assert first in found.reason


@given(st.sampled_from((">=", "<=", ">", "<", "=")), st.floats(0, 1), st.booleans())
def test_what_was_not_scored_never_passes(op, bound, each):
    text = f"x{op}{bound:.6f}"
    found = (
        decide_each(known_rules(f"{text} per question")[0], [("q1", None, True)])
        if each
        else verdict(text, None, reason="no answers")
    )
    assert (found.verdict, found.holds) == ("not_evaluated", False)


# The same through files: q1 and q2 are Dutch, q3 English, q4 has no answer to be had.


@pytest.fixture
def gated(tmp_path):
    gold = [
        {
            "qid": f"q{number}",
            "question": f"{number}?",
            "answerable": number < 4,
            "gold_claim": "the claim",
            "gold_citations": ["a"],
            "strata": {"language": language, "tier": number},
        }
        for number, language in enumerate(("nl", "nl", "en", "en"), 1)
    ]
    claims = ("not in context", "the claim", "the claim", "not in context")
    traces = [
        {"qid": f"q{number}", "answer_json": {"claim": claim, "citations": ["a"]}}
        for number, claim in enumerate(claims, 1)
    ]
    for name, records in (("gold", gold), ("traces", traces)):
        (tmp_path / name).write_text("\n".join(map(json.dumps, records)))

    def decided(gates, **options):
        report = score(tmp_path / "gold", tmp_path / "traces", gates=gates, **options).report
        return report.passed, [(v.verdict, v.value, v.n) for v in report.gates]

    return decided


@pytest.mark.parametrize(
    ("gates", "passed", "found"),
    [
        ("over_refusal<=0.4", True, ("pass", 1 / 3, 3)),
        ("over_refusal<=0.4@95", False, ("fail", 1 / 3, 3)),
        ("over_refusal<=0.7@95", False, ("fail", 1 / 3, 3)),
        ("over_refusal<=0.7@80", True, ("pass", 1 / 3, 3)),
        ("over_refusal<=0.4 where language=nl", False, ("fail", 0.5, 2)),
        ("over_refusal<=0.4 where language=en", True, ("pass", 0.0, 1)),
        ("over_refusal<=0.4 where tier=3", True, ("pass", 0.0, 1)),
        ("over_refusal<=0.4 where language=nl and tier=2", True, ("pass", 0.0, 1)),
        ("compliance>=1 where answerable", True, ("pass", 1.0, 3)),
        ("compliance>=1 where unanswerable", True, ("pass", 1.0, 1)),
        ("over_refusal<=0.9 where unanswerable", False, ("not_evaluated", None, 0)),
        ("over_refusal<=0.9 where unanswerable?", None, ("not_evaluated", None, 0)),
        ("over_refusal<=0.9 where language=fr", False, ("not_evaluated", None, 0)),
        ("precision_strict>=0.1", False, ("not_evaluated", None, 0)),
        ("precision_strict>=0.1?", None, ("not_evaluated", None, 0)),
        ("citation_hit_rate>=1 per question", False, ("fail", 2 / 3, 3)),
        ("citation_hit_rate>=1 per question 2 of 3", True, ("pass", 2 / 3, 3)),
        ("citation_hit_rate>=1 per question where language=en", True, ("pass", 1.0, 1)),
        ("citation_hit_rate>=1 per question where unanswerable", False, ("not_evaluated", None, 0)),
    ],
)
def test_gates_over_files(gated, gates, passed, found):
    assert gated(gates) == (passed, [found])


@pytest.mark.parametrize("gates", [None, "", ()])
def test_no_gates_means_the_integrity_gates(gated, gates):
    assert gated(gates) == (None, [("pass", 1.0, 4), ("pass", 0.0, 4)])


def test_a_preset_and_own_rules_hold_together(gated):
    passed, verdicts = gated(
        "over_refusal<=0.4,citation_hit_rate>=0.6,precision_strict>=0.1?", preset="example08"
    )
    assert passed
    assert len(verdicts) == 8


def test_an_unknown_stratum_is_an_error_with_the_known_ones(gated):
    with pytest.raises(UsageError, match='no question has "lang"; there are answerable, language'):
        gated("over_refusal<=0.4 where lang=nl")


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
