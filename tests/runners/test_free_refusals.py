"""Refusals in free words, in scores and sweeps: shown under every strength, counted by default."""

import json

import msgspec
import pytest

from ragauge import score
from ragauge.contracts.score import ScoreReport
from ragauge.reports.rendering import render
from ragauge.runners.stability import stability

FREE = "I'm sorry, but the documents do not say who painted it."
OPEN = "The documents do not name the painter, but the frame was carved by Anna Visser in 1874."
SAID = {
    "q1": "The Harbour Museum opened in 1874.",
    "q2": FREE,
    "q3": OPEN,
    "q4": "Dat staat niet in de documenten.",
    "q5": "not in context",
    "q6": "- not in context.",
    "q7": "",
}
UNANSWERABLE = ("q2", "q4", "q5", "q6")


def gold_line(qid):
    answerable = qid not in UNANSWERABLE
    told = {"gold_claim_substr": ["1874"], "gold_citations": ["p1#1"]} if answerable else {}
    question = f"What is asked by {qid}?"
    return {"qid": qid, "question": question, "answerable": answerable, **told}


def trace_line(qid, said, cited=()):
    claim = {"claim": said, "citations": list(cited)}
    return {"qid": qid, "retrieved_ids": ["p1#1"], "answer_json": claim}


def written(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


@pytest.fixture
def files(tmp_path):
    gold = written(tmp_path / "gold.jsonl", map(gold_line, SAID))
    traces = [
        trace_line(q, said, ["p1#1"] if q in ("q1", "q3") else []) for q, said in SAID.items()
    ]
    return gold, written(tmp_path / "traces.jsonl", traces)


def scored(files, **options):
    return score(*files, **options).report


def labels(report):
    return {row.qid: row.label for row in report.questions}


@pytest.mark.parametrize("strength", ["exact", "near", "free", "auto"])
def test_how_answers_refuse_is_told_under_every_strength(files, strength):
    report = scored(files, refusal=strength)
    assert report.refusals == {"exact": 1, "free": 2, "near": 1, "undetermined": 1}
    assert [row.refusal for row in report.questions] == [
        *("none", "free", "undetermined", "free", "exact", "near", "none")
    ]
    noted = [f for f in report.findings if f.code == "free_refusal"]
    assert [f.message.split(":")[0] for f in noted] == ["q2", "q4"]
    assert report.finding_counts["free_refusal"] == 2
    assert report.finding_counts["undetermined_refusal"] == 1
    word = "counted as one" if strength in ("free", "auto") else "counted as an answer"
    assert all(word in f.message for f in noted)


def test_the_strengths_exact_and_near_do_not_count_them(files):
    exact, near, free = (scored(files, refusal=strength) for strength in ("exact", "near", "free"))
    assert labels(exact)["q2"] == labels(near)["q2"] == "HALLUCINATION"
    assert labels(free)["q2"] == labels(free)["q4"] == "REFUSAL_OK"
    assert labels(free)["q3"] == labels(exact)["q3"] == "OK"
    under = "quality.under_refusal"
    assert [r.metrics[under].value for r in (exact, near, free)] == [0.75, 0.5, 0.0]
    assert "refusal:free" in free.metrics[under].signature


def test_by_default_every_refusal_counts_as_one(files):
    report = scored(files)
    kept = labels(report)
    assert {kept[qid] for qid in UNANSWERABLE} == {"REFUSAL_OK"}
    assert "REFUSAL_MALFORMED" not in report.labels
    assert report.metrics["quality.under_refusal"].value == 0.0
    compliance = report.metrics["quality.compliance"]
    assert "|v2|" in compliance.signature
    assert "refusal:auto" in compliance.signature
    # Of seven, the empty answer alone is not compliant; the exact token is all that counts else.
    assert compliance.value == pytest.approx(6 / 7)
    exact = scored(files, refusal="exact").metrics["quality.compliance"]
    assert exact.value == pytest.approx(3 / 7)


def test_the_presets_that_promise_the_token_demand_it(files):
    assert labels(scored(files, preset="example08"))["q2"] == "HALLUCINATION"
    assert labels(scored(files, preset="example08", refusal="auto"))["q2"] == "REFUSAL_OK"
    assert labels(scored(files, preset="ship"))["q2"] == "REFUSAL_OK"


def test_an_empty_answer_stays_an_error(files):
    for strength in ("exact", "near", "free", "auto"):
        assert labels(scored(files, refusal=strength))["q7"] == "ERROR"


def test_an_empty_answer_can_be_declared_a_refusal(tmp_path):
    gold = written(tmp_path / "gold.jsonl", map(gold_line, ("q2", "q4", "q5", "q6", "q1")))
    lines = [
        {"qid": "q2", "answer": ""},
        {"qid": "q4", "answer": " \n"},
        {"qid": "q5", "answer_json": {"claim": "", "citations": []}},
        {"qid": "q6", "answer": None},
        {"qid": "q1", "answer": "", "status": "error", "error": "timeout"},
    ]
    files = gold, written(tmp_path / "traces.jsonl", lines)
    found = labels(scored(files, refusal_tokens=[""], refusal="exact"))
    assert found == {
        **dict.fromkeys(("q2", "q4", "q5"), "REFUSAL_OK"),
        **dict.fromkeys(("q6", "q1"), "ERROR"),
    }


def test_a_free_refusal_of_an_answerable_question_counts_against_it(tmp_path):
    gold = written(tmp_path / "gold.jsonl", [gold_line("q1")])
    traces = written(tmp_path / "traces.jsonl", [trace_line("q1", FREE)])
    assert labels(scored((gold, traces))) == {"q1": "OVER_REFUSAL"}
    assert labels(scored((gold, traces), refusal="exact")) == {"q1": "ANS_NO_HIT"}


def test_cited_refusals_in_free_words_stay_compliant(tmp_path):
    gold = written(tmp_path / "gold.jsonl", [gold_line("q1")])
    traces = written(tmp_path / "traces.jsonl", [trace_line("q1", FREE, ["p1#1"])])
    assert scored((gold, traces)).metrics["quality.compliance"].value == 1.0


def test_every_form_of_the_report_names_them(files):
    report = scored(files)
    for form in ("text", "json", "markdown", "html"):
        assert "free_refusal" in render(report, form)


def test_a_report_from_before_is_still_a_baseline(files):
    told = msgspec.to_builtins(scored(files))
    del told["refusals"]
    assert msgspec.convert(told, ScoreReport).refusals == {}


def swept(tmp_path, strength):
    gold = written(tmp_path / "gold.jsonl", [gold_line("q2"), gold_line("q1")])
    said = {"q2": (FREE, FREE, "not in context", OPEN), "q1": (SAID["q1"],) * 4}
    runs = [
        trace_line(qid, claim, ["p1#1"] if qid == "q1" else []) | {"seed": seed}
        for qid, claims in said.items()
        for seed, claim in enumerate(claims)
    ]
    return stability(gold, written(tmp_path / "runs.jsonl", runs), **strength).report


RATES = [
    ({"refusal": "exact"}, 0.25),
    ({"refusal": "near"}, 0.25),
    ({"refusal": "free"}, 0.75),
    ({}, 0.75),
    ({"profile": "reference"}, 0.25),
    ({"profile": "reference", "refusal": "auto"}, 0.75),
]


@pytest.mark.parametrize(("strength", "rate"), RATES)
def test_a_sweep_tells_them_by_question(tmp_path, strength, rate):
    report = swept(tmp_path, strength)
    assert report.details["q2"].refusal_rate == rate
    assert report.finding_counts["free_refusal"] == 2
    assert report.finding_counts["undetermined_refusal"] == 1
    noted = {f.code: f for f in report.findings}
    assert noted["free_refusal"].where == "q2"
    assert "2 of 4 runs refuse in free words" in noted["free_refusal"].message
