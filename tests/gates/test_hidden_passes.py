"""No run passes because nobody asked about quality, or because values are missing."""

from __future__ import annotations

import json

import pytest

from ragauge import diagnose, evaluate_answers, score
from ragauge.errors import UsageError
from ragauge.gates.presets import component_rules
from ragauge.gates.rules import is_quality, known_rules
from ragauge.metrics.table import find
from ragauge.reports.kinds.evaluation import verdict_text
from ragauge.runners.recording import record
from ragauge.runners.stability import stability
from ragauge.store.history import open_history
from tests.cli.command import ragauge
from tests.models.judge_server import chatting, says
from tests.runners.test_judged_answers import agreeable


@pytest.fixture
def set_of(tmp_path):
    """Writes a gold set and traces of which all but the first `answered` are errors."""

    def written(answered: int, of: int = 80) -> tuple[str, str]:
        gold, traces = tmp_path / "gold.jsonl", tmp_path / "traces.jsonl"
        questions, lines = [], []
        for place in range(of):
            qid = f"q{place}"
            questions.append(
                {
                    "qid": qid,
                    "question": f"What is {place}?",
                    "answerable": True,
                    "gold_claim_substr": [f"number {place}"],
                    "gold_citations": [f"p{place}"],
                }
            )
            answer = {"claim": f"It is number {place}.", "citations": [f"p{place}"]}
            ok = {"qid": qid, "retrieved_ids": [f"p{place}"], "answer_json": answer}
            failed = {"qid": qid, "status": "error", "error": "the model timed out"}
            lines.append(ok if place < answered else failed)
        gold.write_text("".join(json.dumps(line) + "\n" for line in questions))
        traces.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return str(gold), str(traces)

    return written


def test_a_run_without_a_quality_gate_does_not_pass(set_of):
    files = set_of(80)
    done = ragauge("score", *files)
    assert done.returncode == 0
    head = done.stdout.decode().splitlines()
    assert head[0] == "No quality gate set  2 of 2 gates hold; 80 of 80 questions scored"
    assert "--preset ship" in head[1]
    assert b"PASS" not in done.stdout
    assert json.loads(ragauge("score", *files, "--format", "json").stdout)["pass"] is None
    assert ragauge("score", *files, "--require-gates").returncode == 1
    assert ragauge("score", *files, "--require-gates", "--gates", "compliance>=0.9").returncode == 0


def test_a_failed_coverage_gate_fails_a_run_without_a_quality_gate(set_of):
    gold, traces = set_of(79)
    done = ragauge("score", gold, traces)
    assert done.returncode == 1
    assert done.stdout.startswith(b"FAIL")
    assert b"79 of 80 questions scored" in done.stdout.splitlines()[0]


@pytest.mark.parametrize("form", ["markdown", "html", "github", "junit"])
def test_no_format_calls_an_ungated_run_a_pass(set_of, form):
    done = ragauge("score", *set_of(80), "--format", form)
    assert done.returncode == 0
    assert b"PASS" not in done.stdout
    assert b"<failure" not in done.stdout
    assert b".." not in done.stdout
    if form != "junit":
        assert b"No quality gate set" in done.stdout


def test_an_ungated_run_is_never_green(set_of, tmp_path):
    history = open_history(str(tmp_path / "store"))
    kept = {"name": "main", "labels": {}, "folder": tmp_path}
    gated = record(score(*set_of(80), gates="precision_cited>=0.8"), history, **kept)
    ungated = record(score(*set_of(80)), history, **kept)
    assert (gated.green, ungated.green) == (True, False)
    assert history.find("latest").id == ungated.id
    assert history.find("green").id == gated.id
    listed = ragauge("runs", "list", "--red", "--store", tmp_path / "store", "--format", "json")
    assert json.loads(listed.stdout)["runs"] == []
    shown = ragauge("runs", "list", "--store", tmp_path / "store").stdout.decode()
    assert "No quality gate" in shown


def test_a_gate_over_one_answer_of_eighty_is_not_evaluated(set_of):
    report = score(*set_of(1), gates="precision_strict>=0.9").report
    [gate] = report.gates
    assert (report.passed, gate.value, gate.verdict) == (False, 1.0, "not_evaluated")
    assert gate.reason == ("only 1 of 80 have a value, and the gate needs 90 %: no answer (79)")


@pytest.mark.parametrize(
    ("answered", "options", "passed"),
    [
        (72, {"gates": "precision_strict>=0.9"}, True),
        (71, {"gates": "precision_strict>=0.9"}, False),
        (64, {"gates": "precision_strict>=0.9 over 80%"}, True),
        (63, {"gates": "precision_strict>=0.9 over 80%"}, False),
        (40, {"gates": "precision_strict>=0.9", "min_coverage": 0.5}, True),
        (40, {"gates": "claim_containment>=1 per question"}, False),
        (40, {"gates": "claim_containment>=1 per question over 0.5"}, True),
    ],
)
def test_how_many_values_a_gate_needs(set_of, answered, options, passed):
    assert score(*set_of(answered), **options).report.passed is passed


def test_units_outside_a_metric_are_in_neither_count(tmp_path):
    gold, traces = tmp_path / "gold.jsonl", tmp_path / "traces.jsonl"
    gold_of = {"gold_claim_substr": ["yes"], "gold_citations": ["p"]}
    answerable = {"question": "A?", "answerable": True, **gold_of}
    gold.write_text(
        "\n".join(
            json.dumps(one)
            for one in ({"qid": "a", **answerable}, {"qid": "b", **answerable, "question": "B?"})
        )
        + '\n{"qid": "u", "question": "U?", "answerable": false}\n'
    )
    refusal = {"retrieved_ids": [], "answer_json": {"claim": "not in context", "citations": []}}
    answer = {"retrieved_ids": ["p"], "answer_json": {"claim": "Yes.", "citations": ["p"]}}
    lines = ({"qid": "a", **answer}, {"qid": "b", **refusal}, {"qid": "u", **refusal})
    traces.write_text("".join(json.dumps(line) + "\n" for line in lines))
    metrics = score(gold, traces, gates="precision_cited>=0.9,under_refusal<=0.05").report.metrics
    told = {name: (metrics[f"quality.{name}"].n, metrics[f"quality.{name}"].of) for name in (
        "precision_cited", "under_refusal", "over_refusal"
    )}  # fmt: skip
    assert told == {"precision_cited": (1, 1), "under_refusal": (1, 1), "over_refusal": (2, 2)}


def test_groundedness_over_one_answer_with_contexts_is_not_evaluated():
    row = {"question": "When?", "answer": "It opened in 1800."}
    rows = [{**row, "id": "first", "contexts": ["It opened in 1800."]}]
    rows += [{**row, "id": f"r{place}"} for place in range(38)]
    report = evaluate_answers(rows, gates="groundedness>=0.5", intervals=False).report
    gate = next(gate for gate in report.gates if gate.metric == "answers.groundedness")
    assert (report.passed, gate.verdict) == (False, "not_evaluated")
    assert "only 1 of 39" in gate.reason
    words = "groundedness 0.913 over 1 of 39 answers; 1 of 2 gates hold, 1 not evaluated"
    assert verdict_text(report) == ("FAIL", words)


def test_answers_without_claims_count_against_a_faithfulness_gate():
    def first_claims(asked):
        named = asked.body["response_format"]["json_schema"]["schema"]["properties"]
        if "answer_claims" in named and "answer 0." not in asked.user:
            return says(json.dumps({name: [] for name in named}))
        return agreeable(asked)

    rows = [
        {"id": f"r{n}", "question": "Q?", "answer": f"It is answer {n}.", "contexts": ["It is."]}
        for n in range(20)
    ]
    with chatting(first_claims) as server:
        report = evaluate_answers(
            rows,
            judge=server.at("v1"),
            judge_model="small",
            metrics=("faithfulness",),
            gates="faithfulness>=0.8",
            intervals=False,
        ).report
    faithfulness = report.metrics["answers.faithfulness"]
    assert (faithfulness.value, faithfulness.n, faithfulness.of) == (1.0, 1, 20)
    gate = next(gate for gate in report.gates if gate.metric == "answers.faithfulness")
    assert (report.passed, gate.verdict) == (False, "not_evaluated")


def test_a_diagnosis_does_not_pass_on_one_valid_value():
    rows = [{"sample_id": f"s{n}", "faithfulness": 0.95 if n == 0 else None} for n in range(49)]
    report = diagnose(rows)
    [found] = report.diagnoses
    assert (report.passed, found.severity) == (False, "not_evaluable")
    assert found.reason == "only 1 of 49 samples have a valid value; 90 % are required"
    assert diagnose(rows, min_coverage=0.01).passed


def test_a_comparison_does_not_pass_for_lack_of_values(set_of, tmp_path):
    history = open_history(str(tmp_path / "store"))
    kept = {"name": "main", "labels": {}, "folder": tmp_path}
    record(score(*set_of(80), gates="precision_strict>=0.9"), history, **kept)
    record(score(*set_of(2), gates="compliance>=0.01"), history, **kept)
    history.close()
    compared = ("compare", "green", "latest", "--store", tmp_path / "store", "--format", "json")
    gated = (*compared, "--gate", "no-regression", "--metric", "precision_strict")
    report = json.loads(ragauge(*gated).stdout)
    [gate] = report["gates"]
    assert (report["pass"], gate["verdict"]) == (False, "not_evaluated")
    assert "only 2 of 80 units of the run after" in gate["reason"]
    assert json.loads(ragauge(*compared).stdout)["pass"] is None


def test_a_preset_needs_a_judge_for_faithfulness():
    rows = [
        {
            "id": "r",
            "question": "Does X accept null keys?",
            "answer": "X accepts null keys.",
            "contexts": ["X rejects null keys."],
        }
    ]
    how = {"judge": "lexical", "intervals": False}
    report = evaluate_answers(rows, preset="heritage", **how).report
    gate = next(gate for gate in report.gates if gate.metric == "answers.faithfulness")
    assert (report.passed, gate.verdict) == (False, "not_evaluated")
    assert "--judge" in gate.reason


@pytest.mark.parametrize("preset", [None, "heritage"])
def test_a_gate_on_lexical_faithfulness_takes_the_place_of_the_preset_s(preset):
    """Who writes it knows that it compares words: it is measured and decided without a judge."""
    row = {"id": "r", "question": "Q?", "answer": "It is red.", "contexts": ["It is red."]}
    gate = "lexical_faithfulness>=0.5"
    report = evaluate_answers([row], preset=preset, gates=gate, intervals=False).report
    found = {one.metric: one.verdict for one in report.gates if "faithfulness" in one.metric}
    assert found == {"answers.lexical_faithfulness": "pass"}
    for other in ("lexical_faithfulness<=0.5", "lexical_faithfulness>=0.5 where lang=nl"):
        rules = component_rules("answers", "heritage", other, lambda name: find(name, "answers"))
        assert "answers.faithfulness" in {rule.metric for rule in rules}
    with_judge = component_rules(
        "answers", "heritage", gate, lambda name: find(name, "answers"), judged=True
    )
    assert "answers.faithfulness" in {rule.metric for rule in with_judge}


@pytest.mark.parametrize(
    ("gate", "fact"),
    [
        ("over_refusal<=10", "did you mean 0.10?"),
        ("precision_cited>=80", "did you mean 0.80?"),
        ("precision_cited>=-1", "can never fail"),
        ("precision_cited>=0", "can never fail"),
        ("under_refusal<=1", "can never fail"),
        ("precision_cited>=0.0000000001", "can never fail"),
        ("under_refusal<=0.9999999999", "can never fail"),
        ("precision_cited>0.9999999999", "can never pass"),
        ("under_refusal<0", "can never pass"),
        ("precision_cited>1", "can never pass"),
        ("precision_cited>=1@95", "can never pass"),
        ("under_refusal<=0@95", "can never pass"),
        ("precision_cited=0.8", "write >=0.8"),
        ("over_refusal=0.1", "write <=0.1"),
        ("claim_containment>=1 per question 1 of 1000000", "write for example 9 of 10"),
        ("precision_cited>=0.8 over 0%", "over 80%"),
        ("precision_cited>=0.8 over 180%", "over 80%"),
    ],
)
def test_a_gate_that_decides_nothing_is_refused(set_of, gate, fact):
    with pytest.raises(UsageError, match=fact.replace("?", r"\?")):
        score(*set_of(1, of=1), gates=gate)


def test_exact_bounds_at_the_ends_of_a_metric_stay_allowed(set_of):
    assert score(*set_of(80), gates="out_of_scope=0,precision_strict=1").report.passed is True


def test_a_stability_gate_that_cannot_fail_is_refused(set_of):
    with pytest.raises(UsageError, match="--min-stable 0 can never fail"):
        stability(*set_of(1, of=1), min_stable=0)


def test_how_much_can_be_compared_is_not_quality():
    gates = known_rules("linking.consistency_coverage>=0.5,linking.accuracy>=0.5")
    assert [is_quality(gate) for gate in gates] == [False, True]


@pytest.mark.parametrize("command", ["score", "audit", "diagnose", "stability"])
def test_a_fraction_above_one_is_refused_with_the_name_of_its_flag(set_of, command):
    gold, traces = set_of(1, of=1)
    flag = "--min-stable" if command == "stability" else "--min-coverage"
    files = (traces,) if command in ("audit", "diagnose") else (gold, traces)
    done = ragauge(command, *files, flag, "90")
    assert done.returncode == 2
    assert done.stderr.decode() == f"ragauge: {command}: {flag}: expected a number <= 1.0\n"
