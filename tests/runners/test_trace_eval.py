"""A trace evaluation: what is asked, and numbers computed by hand."""

from __future__ import annotations

import json
from math import isclose, log2

import jsonschema
import pytest

from ragauge.citations.log_line import parse_line
from ragauge.contracts.schemas import schema
from ragauge.contracts.trace_eval import Recipe
from ragauge.errors import UsageError
from ragauge.reports.rendering import render
from ragauge.runners.trace_eval import trace_eval
from ragauge.store.serving_log import read_entries
from tests.runners.traced_system import (
    ALL_STATES,
    HALF,
    SECTIONS,
    Scripted,
    evaluated,
    gates,
    question,
    report_of,
    value,
    write_gold,
    write_handbook,
)

# The recipe.


def test_each_question_is_asked_in_its_own_words_and_two_others_under_two_seeds(tmp_path):
    asked = question("q") | {"paraphrases": [f"q in wording {n}?" for n in (1, 2, 3, 4)]}
    system = Scripted({"q": ["a<ab"] * 6})
    trace_eval(write_gold(tmp_path, [asked]), system, tmp_path / "runs.jsonl")
    sent = [(ask.q, ask.seed, ask.temperature, ask.jitter) for ask in system.asked]
    assert sorted(sent) == [
        (f"q in wording {w}?", s, 0.2, "none") for w in range(3) for s in (0, 1)
    ]


def test_the_recipe_can_be_another(tmp_path):
    recipe = {"wordings": 2, "seeds": [4, 7, 9], "temperature": 0.7}
    system = Scripted({"q": ["a<ab"] * 12})
    gold = write_gold(tmp_path, [question("q")])
    found = trace_eval(gold, system, tmp_path / "runs.jsonl", recipe=recipe)
    assert {(ask.q[-2], ask.seed, ask.temperature) for ask in system.asked} == {
        (wording, seed, 0.7) for wording in "01" for seed in (4, 7, 9)
    }
    assert found.outcome.report.recipe == Recipe(wordings=2, seeds=(4, 7, 9), temperature=0.7)
    assert found.outcome.report.coverage.planned == 6


def test_a_question_with_too_few_wordings_is_incomplete_and_said_to_be(tmp_path):
    questions = [
        question("whole"),
        question("bare") | {"paraphrases": []},
        question("twice") | {"paraphrases": ["twice in wording 1?", "twice in wording 0?"]},
    ]
    script = dict.fromkeys(("whole", "bare", "twice"), ["a<ab"] * 6)
    report = report_of(tmp_path, script, questions=questions)
    assert {one.qid: one.answer for one in report.questions} == {
        "whole": "convergent",
        "bare": "incomplete",
        "twice": "incomplete",
    }
    short = [(one.where, one.message) for one in report.findings if one.code == "few_wordings"]
    assert short == [
        ("bare", "has 1 of the recipe's 3 wordings; add paraphrases"),
        ("twice", "has 2 of the recipe's 3 wordings; add paraphrases"),
    ]
    found = report.coverage
    assert (found.questions, found.planned, found.runs, found.missing) == (3, 18, 12, 6)
    assert (found.failed, found.short) == (0, 2)
    assert [one.id for one in report.advice] == ["traceability.few_wordings"]
    assert not report.passed


# Numbers computed by hand.


@pytest.fixture
def all_states(tmp_path):
    return report_of(tmp_path, ALL_STATES)


def test_match_rate_and_coverage_are_those_of_the_script(all_states):
    """Matched: 6 + 4 + 3 + 1 + 2 + 5, of 6 + 6 + 5 + 5 + 6 + 5 answers to answerable questions."""
    assert isclose(value(all_states, "match_rate"), 21 / 33)
    half = HALF / len(SECTIONS["keys"])
    assert isclose(value(all_states, "coverage"), (4 * 6 + 2 * half + 5) / 35)
    cited = {"a": half, "b": 1 - half, "c": 0, "d": 0, "": 0}
    answers = [run.partition("<")[0] for runs in ALL_STATES.values() for run in runs if "<" in run]
    each = [cited[answer] for answer in answers if answer != "-"]
    assert isclose(value(all_states, "cited_coverage"), sum(each) / len(each))


def test_lambda_names_each_state_and_where_the_runs_part(all_states):
    told = {one.qid: (one.retrieval, one.answer, one.broken) for one in all_states.questions}
    assert told == {
        "steady": ("convergent", "convergent", None),
        "split": ("convergent", "recursive", "after retrieval"),
        "drifting": ("convergent", "divergent", "after retrieval"),
        "wild": ("convergent", "chaotic", "after retrieval"),
        "lost": ("divergent", "divergent", "retrieval"),
        "failing": ("incomplete", "incomplete", None),
        "unknown": ("convergent", "convergent", None),
    }
    assert all_states.states == {
        "retrieval": {
            "convergent": 5, "divergent": 1, "recursive": 0, "chaotic": 0, "incomplete": 1,
        },
        "answer": {
            "convergent": 2, "divergent": 2, "recursive": 1, "chaotic": 1, "incomplete": 1,
        },
    }  # fmt: skip
    for side, counts in all_states.states.items():
        for state, times in counts.items():
            assert isclose(value(all_states, f"{side}_{state}"), times / 7)


def test_each_question_says_how_many_runs_matched_and_what_they_came_to(all_states):
    told = {one.qid: (one.matched, one.answered, one.codes) for one in all_states.questions}
    assert told == {
        "steady": (6, 6, {}),
        "split": (4, 6, {}),
        "drifting": (3, 5, {}),
        "wild": (1, 5, {"empty_citations": 1}),
        "lost": (2, 6, {}),
        "failing": (5, 5, {"error_record": 1}),
        "unknown": (0, 0, {}),
    }
    lost = next(one for one in all_states.questions if one.qid == "lost")
    assert isclose(lost.coverage, HALF / len(SECTIONS["keys"]) / 3)
    wild = next(one for one in all_states.questions if one.qid == "wild")
    assert [(run.run_id, run.kind, run.matched) for run in wild.runs] == [
        ("wild#seed=0;t=0.2;j=none;p=0", "answer", True),
        ("wild#seed=1;t=0.2;j=none;p=0", "answer", False),
        ("wild#seed=0;t=0.2;j=none;p=1", "answer", False),
        ("wild#seed=1;t=0.2;j=none;p=1", "answer", False),
        ("wild#seed=0;t=0.2;j=none;p=2", "refusal", None),
        ("wild#seed=1;t=0.2;j=none;p=2", "uncited", False),
    ]
    failed = next(one for one in all_states.questions if one.qid == "failing").runs[2]
    assert (failed.kind, failed.error) == ("error", "raised: the model is away")
    assert (failed.matched, failed.coverage) == (None, None)


def test_what_became_of_the_planned_runs_adds_up(all_states):
    found = all_states.coverage
    assert (found.questions, found.planned, found.runs) == (7, 42, 41)
    assert (found.failed, found.missing, found.short) == (1, 0, 0)
    assert isclose(value(all_states, "valid"), 32 / 33), "refusals are not in it"


def test_match_rate_and_coverage_come_first(all_states):
    assert [gate.metric.partition(".")[2] for gate in all_states.gates] == [
        "match_rate",
        "coverage",
        "checked",
        "answer_convergent",
        "answer_chaotic",
        "answer_recursive",
    ]
    assert not all_states.passed


def test_a_system_that_is_right_every_time_passes(tmp_path):
    report = report_of(tmp_path, {"q": ["a<ab"] * 6, "unknown": ["-<ab"] * 6})
    assert report.passed
    assert set(gates(report).values()) == {"pass"}
    assert (report.codes, report.codes_first, report.advice, report.findings) == ((), False, (), ())


def test_runs_that_do_not_tell_what_they_retrieved_leave_retrieval_unknown(tmp_path):
    report = report_of(tmp_path, {"q": ["a<?", "a<?", "c<?", "d<?", "-<?", "a<?"]})
    (one,) = report.questions
    assert (one.retrieval, one.answer, one.broken, one.coverage) == (None, "divergent", None, None)
    assert report.metrics["traceability.retrieval_convergent"].value is None
    assert gates(report)["coverage"] == "not_evaluated"
    assert "what was retrieved is unknown" in report.metrics["traceability.coverage"].reason


def test_a_match_that_nobody_can_tell_is_not_counted_as_a_miss(tmp_path):
    bare = {name: v for name, v in question("q").items() if name != "gold_citations"}
    report = report_of(tmp_path, {"q": ["a<ab"] * 6}, questions=[bare])
    assert (report.questions[0].matched, report.questions[0].answered) == (0, 0)
    assert gates(report)["match_rate"] == "not_evaluated"
    assert not report.passed


# Reranking.


@pytest.mark.parametrize(
    ("runs", "flipped", "cause"),
    [
        (["a<ab"] * 6, 0, None),
        (["a<ab"] * 5 + ["a<ba"], 5, "order_changes"),
        (["a<ab"] * 4 + ["a<ba"] * 2, 8, "order_follows_wording"),
    ],
)
def test_chunks_that_change_their_order_are_told_with_what_changes_it(
    tmp_path, runs, flipped, cause
):
    """Fifteen pairs of runs, each with one pair of chunks in common."""
    report = report_of(tmp_path, {"q": runs})
    assert isclose(value(report, "rerank_flips"), flipped / 15)
    turned = sum(run == "a<ba" for run in runs)
    assert isclose(value(report, "rerank_tau"), (6 - 2 * turned) / 6)
    assert isclose(value(report, "rerank_uplift"), turned * (1 / log2(3) - 1) / 6, abs_tol=1e-9)
    wanted = {f"traceability.{name}" for name in (cause, "reranker_demotes")} if cause else set()
    assert {one.id for one in report.advice} == wanted


def test_the_order_of_a_run_that_failed_is_not_compared(tmp_path):
    """An empty answer is a failure, though it tells what was retrieved."""

    def emptied(ask, said):
        chunks = said["retrieved"]
        return {"answer": "", "retrieved": chunks} if chunks[0]["snippet_id"] == "b" else said

    report = report_of(tmp_path, {"q": ["a<ab"] * 5 + ["a<ba"]}, change=emptied)
    assert report.coverage.failed == 1
    assert value(report, "rerank_flips") == 0
    assert [one.id for one in report.advice] == ["traceability.runs_fail"]


# What is handed over.


def test_the_report_is_as_its_schema_says(all_states):
    validator = jsonschema.Draft202012Validator(schema("trace-eval-report"))
    validator.validate(json.loads(render(all_states, "json")))


def test_each_question_is_a_unit_with_its_worst_in_a_word(tmp_path):
    units = evaluated(tmp_path, ALL_STATES | {"missed": ["c<abc"] * 6}).units
    assert dict(zip(units.ids, units.labels, strict=True)) == {
        "steady": "ok",
        "split": "unmatched",
        "drifting": "unmatched",
        "wild": "empty_citations",
        "lost": "unmatched",
        "failing": "error_record",
        "unknown": "ok",
        "missed": "unmatched",
    }
    assert [units.ids[place] for place, right in enumerate(units.right) if right] == [
        "steady",
        "unknown",
    ]


def test_the_identity_tells_what_changes_numbers_and_not_the_gates(tmp_path):
    docs, manifest = write_handbook(tmp_path)
    script = {"q": ["a<ab"] * 6}
    one = evaluated(tmp_path, script, docs=docs, manifest=manifest).identity
    gated = evaluated(tmp_path, script, docs=docs, manifest=manifest, strict=True).identity
    assert one == gated
    assert one["options"]["depth"] == "text"
    assert one["manifest"] == "2f7d9a"
    assert one["sweeps"][0]["system"] == {"kind": "scripted"}
    assert evaluated(tmp_path, script).identity != one


# The log.


def test_lambda_and_delta_s_reach_the_log_line_and_the_table(tmp_path):
    log, place = tmp_path / "serving.log", str(tmp_path / "log.sqlite")
    script = {"steady": ALL_STATES["steady"], "split": ALL_STATES["split"]}
    options = {"log": log, "to_db": place, "run": "nightly", "embedder": "ngram"}
    outcome = evaluated(tmp_path, script, **options)
    entries = [parse_line(line) for line in log.read_text(encoding="utf-8").splitlines()]
    runs = [run.run_id for one in outcome.report.questions for run in one.runs]
    assert [entry.qid for entry in entries] == runs
    states = {entry.qid.partition("#")[0]: entry.lambda_state for entry in entries}
    assert states == {"steady": "convergent", "split": "recursive"}
    assert all(entry.deltaS is not None and 0 <= entry.deltaS <= 1 for entry in entries)
    found = {(entry.qid, entry.lambda_state, entry.deltaS) for entry in read_entries(place)}
    assert found == {(entry.qid, entry.lambda_state, entry.deltaS) for entry in entries}


def test_without_an_embedder_the_log_has_lambda_alone(tmp_path):
    log = tmp_path / "serving.log"
    evaluated(tmp_path, {"q": ["a<ab"] * 6}, log=log)
    for line in log.read_text(encoding="utf-8").splitlines():
        assert " deltaS=null lambda=convergent k=2 store=faiss " in line
    again = tmp_path / "again.log"
    evaluated(tmp_path, {"q": ["a<ab"] * 6}, log=again)
    assert again.read_bytes() == log.read_bytes()


def test_a_database_needs_the_name_of_the_run_before_anything_is_asked(tmp_path):
    system = Scripted({"q": ["a<ab"] * 6})
    gold = write_gold(tmp_path, [question("q")])
    with pytest.raises(UsageError, match="name it with --run"):
        trace_eval(gold, system, tmp_path / "runs.jsonl", to_db=str(tmp_path / "x.sqlite"))
    assert not system.asked


# The k sweep.

LEGS = {"c": "lexical", "a": "semantic", "b": ["lexical", "semantic"]}


def with_legs(ask, said):
    for chunk in said["retrieved"]:
        named = LEGS[chunk["snippet_id"]]
        chunk["legs" if isinstance(named, list) else "leg"] = named
    return said


def test_each_cut_off_has_its_coverage_gold_recall_and_delta_s(tmp_path):
    first = HALF / len(SECTIONS["keys"])
    rest = (len(SECTIONS["keys"]) - HALF) / len(SECTIONS["keys"])
    script = {"q": ["a<cab"] * 6, "unknown": ["-<cab"] * 6}
    report = report_of(tmp_path, script, k=(3, 1, 2), embedder="ngram", change=with_legs)
    found = {(one.leg, one.k): one for one in report.at_k}
    assert list(found) == [(leg, k) for leg in (None, "lexical", "semantic") for k in (1, 2, 3)]
    shares = {
        key: (one.chunks, one.coverage.value, one.gold_recall.value) for key, one in found.items()
    }
    assert shares == {
        (None, 1): (1, 0, 0),
        (None, 2): (2, first, 1),
        (None, 3): (3, 1, 1),
        ("lexical", 1): (1, 0, 0),
        ("lexical", 2): (2, rest, 0),
        ("lexical", 3): (2, rest, 0),
        ("semantic", 1): (1, first, 1),
        ("semantic", 2): (2, 1, 1),
        ("semantic", 3): (2, 1, 1),
    }
    assert {(one.coverage.n, one.coverage.of) for one in report.at_k} == {(1, 2)}
    assert found[None, 3].coverage.value == value(report, "coverage")
    assert found[None, 3].deltaS.value == pytest.approx(value(report, "deltaS_context"), abs=1e-6)
    assert all(0 < one.deltaS.value < 1 for one in report.at_k)
    assert len({one.deltaS.value for one in report.at_k if one.leg is None}) == 3
    for form in ("text", "markdown", "html", "json"):
        assert "semantic" in render(report, form)


def test_the_k_sweep_says_why_it_has_no_value(tmp_path):
    report = report_of(tmp_path, {"q": ["a<?"] * 6}, k=(5,))
    [one] = report.at_k
    assert (one.chunks, one.coverage.value, one.deltaS.value) == (None, None, None)
    assert one.gold_recall.reason == "what was retrieved is unknown"
    assert report_of(tmp_path, {"q": ["a<?"] * 6}).at_k == ()
    known = report_of(tmp_path, {"q": ["a<ab"] * 6}, k=(5,), out="other.jsonl")
    assert "no embedder; name one with --embedder" in render(known, "text")
