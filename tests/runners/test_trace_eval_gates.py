"""The gates of a trace evaluation: the recipe's, the user's, and those on ΔS."""

from __future__ import annotations

import json
from math import isclose

import pytest

from ragauge.reports.rendering import render
from ragauge.runners.calibrate import calibrate_deltas
from ragauge.runners.trace_eval import trace_eval
from tests.runners.calibrated import corpus, read, swap
from tests.runners.traced_system import (
    ALL_STATES,
    HALF,
    gates,
    question,
    report_of,
    value,
)

# Gates.


def test_strict_wants_every_question_convergent(tmp_path):
    script = {f"q{n}": ["a<ab"] * 6 for n in range(19)} | {"split": ALL_STATES["split"]}
    lenient = report_of(tmp_path, script)
    assert lenient.passed
    strict = report_of(tmp_path, script, strict=True)
    assert not strict.passed
    assert [gate.rule for gate in strict.gates if gate.verdict == "fail"] == [
        "traceability.answer_convergent=1"
    ]


def test_a_rule_of_the_users_takes_the_place_of_the_recipes_or_joins_it(tmp_path):
    own = "match_rate>=0.5, retrieval_convergent>=0.9"
    report = report_of(tmp_path, {"q": ALL_STATES["split"]}, gates=own)
    rules = {gate.rule: gate.verdict for gate in report.gates}
    assert rules["traceability.match_rate>=0.5"] == "pass"
    assert rules["traceability.retrieval_convergent>=0.9"] == "pass"
    assert "traceability.match_rate>=0.95" not in rules
    assert rules["traceability.answer_convergent>=0.8"] == "fail"


@pytest.mark.parametrize(
    ("gate", "verdict"),
    [
        ("answer_convergent>=1 where language=en", "pass"),
        ("answer_convergent>=1 where language=nl", "fail"),
        ("answer_convergent>=1 per question", "fail"),
        ("answer_convergent>=1 per question 1 of 2", "pass"),
        ("match_rate>=0.6 per question", "pass"),
    ],
)
def test_a_rule_may_be_of_some_questions_or_of_each(tmp_path, gate, verdict):
    asked = [question("steady", strata={"language": "en"})]
    asked.append(question("split", strata={"language": "nl"}))
    script = {qid: ALL_STATES[qid] for qid in ("steady", "split")}
    report = report_of(tmp_path, script, questions=asked, gates=gate)
    told = {one.rule.removeprefix("traceability."): one.verdict for one in report.gates}
    assert told[gate] == verdict


@pytest.mark.parametrize(
    ("gate", "cause"),
    [
        ("coverage>=0.9", "target_cut"),
        ("span_precision>=0.9", "cites_too_much"),
        ("span_recall>=0.9", "cites_a_part"),
        ("cited_coverage>=0.9", "cites_a_part"),
    ],
)
def test_a_gate_that_fails_is_explained_by_the_questions_beyond_its_bound(tmp_path, gate, cause):
    anchors = {
        # Chunk a reaches beyond the first, and does not reach the end of the second.
        "span_precision>=0.9": {"start": 0, "end": 4},
        "span_recall>=0.9": {"start": 0, "end": HALF + 20},
    }
    place = {"doc_id": "handbook", "section_id": "keys"}
    asked = question("q", anchor=place | anchors.get(gate, {"start": 0, "end": HALF}))
    report = report_of(tmp_path, {"q": ["a<a"] * 6}, questions=[asked], gates=gate)
    assert gates(report)[gate.partition(">")[0]] == "fail"
    assert f"traceability.{cause}" in {one.id for one in report.advice}
    loose = report_of(
        tmp_path, {"q": ["a<a"] * 6}, questions=[asked], gates=gate.replace("0.9", "0.01")
    )
    assert f"traceability.{cause}" not in {one.id for one in loose.advice}


def test_a_question_beyond_the_bound_of_a_gate_that_passes_is_no_cause(tmp_path):
    script = {f"q{n}": ["a<ab"] * 6 for n in range(4)} | {"half": ["a<a"] * 6}
    report = report_of(tmp_path, script)
    assert report.questions[-1].coverage < 0.7
    assert report.passed
    assert report.advice == ()


def test_a_gate_on_some_questions_is_explained_by_those_alone(tmp_path):
    languages = {"en1": "en", "en2": "en", "nl1": "nl"}
    asked = [question(qid, strata={"language": name}) for qid, name in languages.items()]
    report = report_of(
        tmp_path,
        dict.fromkeys(languages, ["a<a"] * 6),
        questions=asked,
        gates="coverage>=0.9 where language=nl, coverage>=0.1",
    )
    [advice] = [one for one in report.advice if one.id == "traceability.target_cut"]
    assert advice.questions == ("nl1",)


# ΔS.


def towns(folder):
    """Questions with anchors and decoys, and a system that retrieves one of the two."""
    gold, docs = corpus(folder)
    rows = {row["question"]: row for row in read(gold)}

    class Retrieving:
        identity = {"kind": "retrieving"}  # noqa: RUF012

        def __init__(self, span):
            self._span = span

        async def ask(self, ask):
            span = rows[ask.q][self._span]
            text = (docs / f"{span['doc_id']}.md").read_text()
            chunk = {"id": ask.q, "text": text[span["start"] : span["end"]]}
            return {"answer": "not in context", "retrieved": [chunk]}

        async def close(self):
            pass

    return gold, docs, Retrieving


def calibration(folder, gold, docs):
    path = folder / "calibration.json"
    path.write_text(render(calibrate_deltas(gold, embedder="ngram", docs=docs).report, "json"))
    return path


def deltas_gate(folder, gold, system, **options):
    one_wording = {"wordings": 1}
    found = trace_eval(
        gold, system, folder / "deltas.jsonl", recipe=one_wording, embedder="ngram", **options
    )
    told = [gate for gate in found.outcome.report.gates if "deltaS" in gate.metric]
    return found.outcome.report, told


@pytest.mark.parametrize(("span", "verdict"), [("anchor", "pass"), ("decoy", "fail")])
def test_a_calibrated_embedder_brings_a_gate_on_deltas(tmp_path, span, verdict):
    gold, docs, retrieving = towns(tmp_path)
    fitted = calibration(tmp_path, gold, docs)
    report, [gate] = deltas_gate(tmp_path, gold, retrieving(span), docs=docs, calibration=fitted)
    assert (gate.metric, gate.verdict) == ("traceability.deltaS_chunk", verdict)
    assert isclose(gate.bound, json.loads(fitted.read_text())["thresholds"][0]["threshold"])
    far = "traceability.far_context" in {one.id for one in report.advice}
    assert far is (verdict == "fail")
    assert value(report, "deltaS_anchor") < value(report, "deltaS_decoy")
    assert "embedder:ngram:v1:1024" in report.metrics["traceability.deltaS_chunk"].signature


def test_a_gate_on_an_unusable_calibration_is_not_evaluated(tmp_path):
    gold, docs, retrieving = towns(tmp_path)
    swap(gold)
    fitted = calibration(tmp_path, gold, docs)
    swap(gold)
    for rule in (None, "deltaS_chunk<=0.9"):
        report, [gate] = deltas_gate(
            tmp_path, gold, retrieving("anchor"), docs=docs, calibration=fitted, gates=rule
        )
        assert gate.verdict == "not_evaluated"
        assert "AUC" in gate.reason
        assert not report.passed


@pytest.mark.parametrize("embedder", ["ngram", None])
def test_a_gate_on_deltas_without_a_calibration_is_not_evaluated_and_fails(tmp_path, embedder):
    report = report_of(
        tmp_path, {"q": ["a<ab"] * 6}, gates="deltaS_context<=0.9", embedder=embedder
    )
    [gate] = [gate for gate in report.gates if "deltaS" in gate.metric]
    assert gate.verdict == "not_evaluated"
    assert "not calibrated" in gate.reason
    assert not report.passed
