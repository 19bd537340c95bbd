"""Recorded runs: what was measured and gated then is diagnosed, and nothing is made up."""

import json

import msgspec
import pytest
from msgspec import structs

from ragauge import diagnose_run, diagnose_traces, evaluate_answers, record, score, stability
from ragauge.contracts.history import REPORT, NewRun
from ragauge.errors import InputRejected, UsageError
from ragauge.runners.diagnosis.recorded import recorded_material
from ragauge.store.files import pieces_of, seal_of
from ragauge.store.history import open_history
from tests.runners.recorded import ones
from tests.runners.recorded import record as record_by_hand

QUESTIONS = 12
CONTEXT = "The museum opened in 1800 and has 12,000 paintings."
ANSWERS = [
    {
        "id": f"a{n}",
        "question": "When did it open?",
        "answer": "It opened in 1801." if n % 2 else "The museum opened in 1800.",
        "contexts": [CONTEXT],
        "reference": "The museum opened in 1800.",
    }
    for n in range(8)
]


@pytest.fixture
def history(tmp_path):
    opened = open_history(str(tmp_path / "store"))
    yield opened
    opened.close()


def write(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def gold(tmp_path):
    """Twelve questions, the last three of them unanswerable."""
    lines = [
        {
            "qid": f"q{n:02}",
            "question": f"What is {n}?",
            "answerable": n < QUESTIONS - 3,
            "gold_claim": f"It is {n}.",
            "gold_citations": [f"p{n}"],
            "strata": {"country": ("NL", "BE")[n % 2]},
        }
        for n in range(QUESTIONS)
    ]
    return write(tmp_path / "gold.jsonl", lines)


def answer(n, claim=None, cited=None, **told):
    """A trace of a question: right, unless told otherwise."""
    answerable = n < QUESTIONS - 3
    right = f"It is {n}." if answerable else "not in context"
    citations = [f"p{n}"] if answerable else []
    given = {
        "claim": right if claim is None else claim,
        "citations": citations if cited is None else cited,
    }
    retrieved = [f"p{n}", "p99"]
    return {"qid": f"q{n:02}", "retrieved_ids": retrieved, "answer_json": given, **told}


@pytest.fixture
def traces(tmp_path):
    def written(**wrong):
        """All questions answered right, but for those told: `q3={"cited": []}`."""
        lines = [answer(n, **wrong.get(f"q{n}", {})) for n in range(QUESTIONS)]
        return write(tmp_path / "traces.jsonl", lines)

    return written


def severities(report):
    return {one.metric: one.severity for one in report.diagnoses}


def likely(report):
    return [cause.id for cause in report.causes if cause.standing == "likely"]


UNCITED = {f"q{n}": {"cited": []} for n in range(6)}
MISCITED = {f"q{n}": {"cited": ["p99"]} for n in range(6)}


# A score.


def test_a_run_that_was_right_has_no_cause_and_passes(history, gold, traces):
    run = record(score(gold, traces(), preset="ship"), history)
    report = diagnose_run(history, run)
    assert report.passed
    assert report.causes == ()
    assert report.symptoms == {}
    assert set(severities(report).values()) == {"none"}


def test_the_citations_of_right_answers_are_not_missed_though_they_are_not_kept(
    history, gold, traces
):
    """The report of a score keeps the ids of what went wrong alone."""
    report = diagnose_run(history, record(score(gold, traces(q1={"cited": ["p99"]})), history))
    assert "uncited" not in report.symptoms
    assert "cause.cites_nothing" not in likely(report)


@pytest.mark.parametrize(
    ("wrong", "cause"), [(UNCITED, "cause.cites_nothing"), (MISCITED, "cause.wrong_ids")]
)
def test_the_cause_is_told_from_the_questions_of_a_score(history, gold, traces, wrong, cause):
    run = record(score(gold, traces(**wrong), preset="ship"), history)
    report = diagnose_run(history, run)
    assert likely(report)[0] == cause
    assert report.causes[0].samples == ("q00", "q01", "q02", "q03", "q04")


def test_one_wrong_answer_of_many_makes_nothing_likely(history, gold, traces):
    run = record(score(gold, traces(q1={"cited": ["p99"]})), history)
    report = diagnose_run(history, run)
    assert report.symptoms == {"cites_wrong": 1}
    assert likely(report) == []


def test_a_recorded_score_names_the_same_first_cause_as_its_traces(history, gold, traces):
    file = traces(**UNCITED)
    recorded = diagnose_run(history, record(score(gold, file, preset="ship"), history))
    traced = diagnose_traces(file, gold)
    assert recorded.causes[0].id == traced.causes[0].id
    assert recorded.symptoms == traced.symptoms


def test_every_trace_counts_once_where_each_was_scored(history, gold, traces):
    file = traces(**UNCITED)
    file.write_text(file.read_text() * 2)
    run = record(score(gold, file, each="trace", preset="ship"), history)
    cause = diagnose_run(history, run).causes[0]
    assert (cause.id, cause.explains, cause.of) == ("cause.cites_nothing", 12, 12)
    assert cause.samples[:2] == ("q00", "q01")


def test_a_failed_gate_is_critical_and_a_passed_one_fine(history, gold, traces):
    gates = "citation_hit_rate>=0.9,over_refusal<=0.1"
    run = record(score(gold, traces(**MISCITED), gates=gates), history)
    report = diagnose_run(history, run)
    assert severities(report)["quality.citation_hit_rate"] == "critical"
    assert severities(report)["quality.over_refusal"] == "none"
    assert report.gates == run.record.gates
    (found,) = [d for d in report.diagnoses if d.metric == "quality.citation_hit_rate"]
    assert (found.limits.warning, found.threshold) == (0.9, 0.9)
    assert [sample.id for sample in found.worst] == ["q00", "q01", "q02"]


def test_of_two_gates_on_a_metric_the_one_that_failed_speaks(history, gold, traces):
    for gates in (
        "citation_hit_rate>=0.1,citation_hit_rate>=0.9",
        "citation_hit_rate>=0.9,citation_hit_rate>=0.1",
    ):
        run = record(score(gold, traces(**MISCITED), gates=gates), history)
        (found,) = diagnose_run(history, run, ["quality.citation_hit_rate"]).diagnoses
        assert (found.severity, found.limits.warning) == ("critical", 0.9)


def test_what_a_gate_could_not_evaluate_is_not_evaluable(history, gold, tmp_path):
    bare = [answer(n, retrieved_ids=None) for n in range(QUESTIONS)]
    file = write(tmp_path / "bare.jsonl", bare)
    run = record(score(gold, file, gates="precision_strict>=0.8"), history)
    report = diagnose_run(history, run)
    assert severities(report)["quality.precision_strict"] == "not_evaluable"
    assert not report.passed


@pytest.mark.parametrize(("fail_on", "passed"), [("critical", False), ("never", True)])
def test_a_failed_gate_fails_unless_nothing_may(history, gold, traces, fail_on, passed):
    run = record(score(gold, traces(**MISCITED), gates="citation_hit_rate>=0.9"), history)
    assert diagnose_run(history, run, fail_on=fail_on).passed is passed


def test_without_gates_the_usual_bounds_make_warnings(history, gold, traces):
    run = record(score(gold, traces(**MISCITED)), history)
    report = diagnose_run(history, run)
    assert severities(report)["quality.citation_hit_rate"] == "warning"
    assert report.passed
    assert not diagnose_run(history, run, fail_on="warning").passed


def test_metrics_that_nothing_speaks_of_are_a_finding_and_not_listed(history, gold, traces):
    run = record(score(gold, traces(), preset="ship"), history)
    report = diagnose_run(history, run)
    unspoken = run.record.metrics.keys() - severities(report).keys()
    assert unspoken
    (finding,) = [one for one in report.findings if one.code == "no_rule"]
    assert all(name in finding.message for name in unspoken)


UNSEEN = {f"q{n}": {"retrieved_ids": None} for n in range(QUESTIONS)}
"""Nothing tells what was retrieved, and so nothing whether a citation is in scope."""


def test_a_run_that_passed_is_not_failed_for_what_nobody_asked_of_it(history, gold, traces):
    run = record(score(gold, traces(**UNSEEN), gates="citation_hit_rate>=0.9"), history)
    assert run.record.passed
    report = diagnose_run(history, run)
    assert "quality.out_of_scope" not in severities(report)
    (finding,) = [one for one in report.findings if one.code == "no_value"]
    assert "quality.out_of_scope" in finding.message
    assert report.passed
    asked = diagnose_run(history, run, ["quality.out_of_scope", "quality.citation_hit_rate"])
    assert severities(asked)["quality.out_of_scope"] == "not_evaluable"
    assert not asked.passed


@pytest.mark.parametrize(("optional", "passed"), [("?", True), ("", False)])
def test_a_gate_that_may_be_absent_fails_nothing(history, gold, traces, optional, passed):
    gates = f"citation_hit_rate>=0.9, out_of_scope=0{optional}"
    run = record(score(gold, traces(**UNSEEN), gates=gates), history)
    assert run.record.passed is passed
    assert diagnose_run(history, run).passed is passed


def test_a_metric_that_is_asked_for_is_told_though_it_has_no_rule(history, gold, traces):
    run = record(score(gold, traces(), preset="ship"), history)
    report = diagnose_run(history, run, ["quality.claim_containment"])
    assert severities(report) == {"quality.claim_containment": "no_rule"}
    assert report.metrics["quality.claim_containment"].value == 1.0
    assert "no_rule" not in report.finding_counts


def test_a_threshold_of_ones_own_gives_a_recorded_metric_its_rule(history, gold, traces, tmp_path):
    rules = tmp_path / "rules.toml"
    rules.write_text(
        '[[threshold]]\nmetric = "quality.claim_containment"\nbetter = "higher"\nwarning = 0.95\n'
    )
    wrong = {f"q{n}": {"claim": "Nobody knows."} for n in range(3)}
    run = record(score(gold, traces(**wrong)), history)
    assert "quality.claim_containment" not in severities(diagnose_run(history, run))
    told = severities(diagnose_run(history, run, rules=str(rules)))
    assert told["quality.claim_containment"] == "warning"


def test_samples_have_what_the_gold_set_and_the_run_know_of_them(history, gold, traces):
    run = record(score(gold, traces(**MISCITED), keep_answers=True), history)
    report = diagnose_run(history, run, ["quality.citation_hit_rate"])
    sample = report.diagnoses[0].worst[0]
    assert (sample.id, sample.question, sample.reference) == ("q00", "What is 0?", "It is 0.")
    assert sample.answer == "It is 0."
    assert sample.contexts is None
    assert sample.symptoms == ("cites_wrong",)
    assert report.identity["run"] == run.id
    assert (report.identity["form"], report.identity["of"]) == ("run", "score")


def test_what_the_run_does_not_tell_is_unknown(history, gold, traces, tmp_path):
    never = {"no_contexts", "no_payloads", "no_other_wordings", "no_claims", "no_replay"}
    run = record(score(gold, traces()), history)
    assert set(recorded_material(history, run).unknown) == never
    plain = [json.loads(line) | {"strata": {}} for line in gold.read_text().splitlines()]
    bare = [answer(n, retrieved_ids=None) for n in range(QUESTIONS)]
    outcome = score(write(tmp_path / "g.jsonl", plain), write(tmp_path / "t.jsonl", bare))
    told = recorded_material(history, record(outcome, history)).unknown
    assert set(told) == never | {"no_retrieved_ids", "no_strata"}


def test_units_that_are_not_right_are_those_that_went_wrong(history, gold, traces):
    run = record(score(gold, traces(**MISCITED)), history)
    assert recorded_material(history, run).wrong == 6


# Other commands.


def test_a_stability_run_is_told_by_its_own_advice(history, gold, tmp_path):
    lines = [
        answer(n, cited=["p99"] if n < 6 and seed % 2 else None, seed=seed)
        for n in range(QUESTIONS)
        for seed in range(4)
    ]
    run = record(stability(gold, write(tmp_path / "runs.jsonl", lines)), history)
    report = diagnose_run(history, run)
    told = severities(report)
    assert told["stability.cghc"] == "critical"
    assert not report.passed
    assert all(cause.id.startswith("stability.") for cause in report.causes)
    assert report.causes[0].explains == 6
    assert set(report.causes[0].samples) <= {f"q{n:02}" for n in range(6)}
    (moved,) = [one for one in report.diagnoses if one.metric == "stability.cghc"]
    assert moved.causes
    assert [sample.id for sample in moved.worst] == ["q00", "q01", "q02"]


def test_an_evaluation_of_answers_is_diagnosed_by_the_thresholds_of_the_judged(history):
    run = record(evaluate_answers(ANSWERS, intervals=False, judge="lexical"), history)
    report = diagnose_run(history, run)
    told = {one.metric: one for one in report.diagnoses}
    unfaithful = told["answers.lexical_faithfulness"]
    assert (unfaithful.severity, unfaithful.value, unfaithful.limits.warning) == (
        "warning",
        0.5,
        0.7,
    )
    assert told["answers.coverage"].severity == "none"
    assert [sample.id for sample in unfaithful.worst] == ["a1", "a3", "a5"]
    assert {(one.question, one.reference) for one in unfaithful.worst} == {(None, None)}
    assert report.coverage["samples"] == len(ANSWERS)
    by_plain_name = diagnose_run(history, run, ["faithfulness"])
    assert [one.metric for one in by_plain_name.diagnoses] == ["answers.lexical_faithfulness"]


# Runs that cannot be told.


def test_a_metric_that_the_run_does_not_have_is_refused_where_nothing_else_is_asked(
    history, gold, traces
):
    run = record(score(gold, traces()), history)
    with pytest.raises(InputRejected, match="valid value of faithfulness"):
        diagnose_run(history, run, ["faithfulness"])


def test_a_report_of_another_shape_is_refused_in_words(history, gold, traces, tmp_path):
    outcome = score(gold, traces())
    run = record(outcome, history)
    other = tmp_path / "report.json"
    whole = msgspec.to_builtins(outcome.report) | {"questions": [{"qid": 7}]}
    other.write_bytes(msgspec.json.encode(whole))
    sealed = {REPORT: seal_of(pieces_of(other))}
    again = NewRun(
        record=structs.replace(run.record, files=sealed),
        units=list(history.units(run.id)),
        gold=list(outcome.gold),
        files={REPORT: other},
    )
    with pytest.raises(InputRejected, match="its report cannot be read"):
        diagnose_run(history, history.record(again))


def test_a_run_without_its_report_is_refused_in_words(history):
    run = record_by_hand(history, {"quality.citation_hit_rate": ones(4)})
    with pytest.raises((InputRejected, UsageError)):
        diagnose_run(history, run)
