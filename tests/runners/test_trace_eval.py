"""A trace evaluation: numbers computed by hand, codes before knobs, and nothing asked twice."""

from __future__ import annotations

import json
from math import isclose, log2

import jsonschema
import msgspec
import pytest

from ragauge.contracts.schemas import schema
from ragauge.contracts.trace_eval import Recipe
from ragauge.demo import DOCUMENTS, GOLD
from ragauge.demo.pipeline import Pipeline
from ragauge.errors import InputRejected, UsageError
from ragauge.gates.traceability import WITH_GOLD
from ragauge.reports.forms import render
from ragauge.runners.calibrate import calibrate_deltas
from ragauge.runners.trace_eval import trace_eval
from ragauge.runners.trace_eval_report import MATCH_TARGET
from tests.runners.calibrated import corpus, read, swap
from tests.runners.traced_system import (
    HALF,
    SECTIONS,
    Scripted,
    question,
    unanswerable,
    write_gold,
    write_handbook,
)

ALL_STATES = {
    "steady": ["a<ab"] * 6,
    "split": ["a<ab", "a<ab", "a<ab", "a<ab", "c<abc", "c<abc"],
    "drifting": ["a<ab", "a<ab", "a<ab", "c<abc", "d<abd", "-<ab"],
    "wild": ["a<ab", "b<ab", "c<abc", "d<abd", "-<ab", "<ab"],
    "lost": ["a<a", "a<a", "c<c", "c<c", "d<d", "d<d"],
    "failing": ["a<ab", "a<ab", "!", "a<ab", "a<ab", "a<ab"],
    "unknown": ["-<ab"] * 6,
}
LENIENT = {"retries": 0, "error_budget": "100%"}


def evaluated(folder, script, *, questions=None, change=None, out="runs.jsonl", **options):
    """The outcome of a system that follows the script, over questions of the same names."""
    asked = questions or [
        unanswerable(qid) if qid == "unknown" else question(qid) for qid in script
    ]
    gold = write_gold(folder, asked)
    asking = LENIENT | options.pop("asking", {})
    system = Scripted(script, change)
    found = trace_eval(gold, system, folder / out, asking=asking, **options)
    assert found.swept.ended == "complete"
    return found.outcome


def report_of(*arguments, **options):
    return evaluated(*arguments, **options).report


def value(report, name):
    return report.metrics[f"traceability.{name}"].value


def gates(report):
    return {gate.metric.partition(".")[2]: gate.verdict for gate in report.gates}


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
    assert isclose(value(all_states, "valid"), 40 / 41)


def test_match_rate_and_coverage_come_first(all_states):
    assert [gate.metric.partition(".")[2] for gate in all_states.gates] == [
        "match_rate",
        "coverage",
        "valid",
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


# Codes before knobs.


def drifted(ask, said):
    """The offsets of what is retrieved are three characters off, under one seed."""
    if ask.seed:
        for chunk in said.get("retrieved", ()):
            chunk["offsets"]["start"] += 3
            chunk["offsets"]["end"] += 3
    return said


def test_below_the_target_codes_come_first_and_no_knob_is_advised(tmp_path):
    docs, manifest = write_handbook(tmp_path)
    script = {"steady": ["a<ab"] * 6, "lost": ALL_STATES["lost"]}
    broken = report_of(tmp_path, script, change=drifted, docs=docs, manifest=manifest)
    assert value(broken, "match_rate") == 4 / 12
    assert broken.codes_first
    assert [(one.code, one.answers, one.findings) for one in broken.codes] == [
        ("span_text_mismatch", 6, 6)
    ]
    assert [one.id for one in broken.advice] == ["traceability.does_not_hold"]
    mended = report_of(tmp_path, script, out="mended.jsonl", docs=docs, manifest=manifest)
    assert value(mended, "match_rate") == 8 / 12
    assert (mended.codes, mended.codes_first) == ((), False)
    assert {one.id for one in mended.advice} == {
        "traceability.retrieval_varies",
        "traceability.shown_not_cited",
        "traceability.target_cut",
    }


def test_codes_beside_a_match_rate_that_is_reached_withhold_nothing(tmp_path):
    script = {f"q{n}": ["a<ab"] * 6 for n in range(4)} | {"spoilt": ["<ab"] + ["a<ab"] * 5}
    report = report_of(tmp_path, script)
    assert value(report, "match_rate") == 29 / 30 >= MATCH_TARGET
    assert not report.codes_first
    assert [one.code for one in report.codes] == ["empty_citations"]
    assert {one.id for one in report.advice} == {
        "traceability.answers_vary",
        "traceability.does_not_hold",
    }


def test_codes_come_first_where_nobody_can_tell_the_match_rate(tmp_path):
    bare = {name: v for name, v in question("q").items() if name != "gold_citations"}
    report = report_of(tmp_path, {"q": ["a<ab"] * 5 + ["d<ab"]}, questions=[bare])
    assert value(report, "match_rate") is None
    assert report.codes_first
    assert [one.code for one in report.codes] == ["not_retrieved"]


def test_the_target_is_that_of_the_gate():
    assert f"traceability.match_rate >= {MATCH_TARGET}" == WITH_GOLD


def test_a_finding_names_its_run(tmp_path):
    docs, manifest = write_handbook(tmp_path)
    report = report_of(tmp_path, {"q": ["a<ab"] * 6}, change=drifted, docs=docs, manifest=manifest)
    assert [(one.code, one.where, one.qid) for one in report.findings] == [
        ("span_text_mismatch", f"q#seed=1;t=0.2;j=none;p={wording}", "q") for wording in range(3)
    ]


def test_offsets_of_one_evaluation_are_all_in_one_unit(tmp_path):
    """Each answer is in one unit, and yet the two do not go together."""

    def in_tokens(ask, said):
        for chunk in said["retrieved"] if ask.q.startswith("other") else ():
            chunk["offsets"] = {"start": 0, "end": 12, "unit": "token"}
        return said

    script = {"first": ["a<ab"] * 6, "other": ["a<ab"] * 6}
    report = report_of(tmp_path, script, change=in_tokens)
    assert {one.qid: set(one.codes) for one in report.questions} == {
        "first": set(),
        "other": {"mixed_units"},
    }


def test_citations_given_as_objects_are_audited_as_they_were_given(tmp_path):
    """The journal keeps more of them than their ids."""

    def pointing(ask, said):
        url = "https://example.org/elsewhere" if ask.seed else "https://example.org/handbook#keys"
        said["answer_json"]["citations"] = [{"snippet_id": "a", "source_url": url}]
        return said

    report = report_of(tmp_path, {"q": ["a<ab"] * 6}, change=pointing)
    assert report.questions[0].codes == {"mismatch_source_url": 3}


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
    path.write_text(render(calibrate_deltas(gold, embedder="ngram", docs=docs), "json"))
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


def test_an_unusable_calibration_brings_none_and_one_asked_for_is_not_evaluated(tmp_path):
    gold, docs, retrieving = towns(tmp_path)
    swap(gold)
    fitted = calibration(tmp_path, gold, docs)
    swap(gold)
    _, none = deltas_gate(tmp_path, gold, retrieving("anchor"), docs=docs, calibration=fitted)
    assert none == []
    rule = "deltaS_chunk<=0.9"
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


# The journal.


def test_what_was_answered_is_not_asked_again_and_the_report_is_the_same(tmp_path):
    first = evaluated(tmp_path, ALL_STATES)
    system = Scripted(ALL_STATES)
    again = trace_eval(tmp_path / "gold.jsonl", system, tmp_path / "runs.jsonl", asking=LENIENT)
    assert [ask.q for ask in system.asked] == ["failing in wording 1?"]
    assert render(again.outcome.report, "json") == render(first.report, "json")


def test_a_run_that_failed_and_stands_again_answered_counts_once(tmp_path):
    evaluated(tmp_path, ALL_STATES)
    mended = ALL_STATES | {"failing": ["a<ab"] * 6}
    resumed = report_of(tmp_path, mended)
    lines = (tmp_path / "runs.jsonl").read_text().splitlines()
    assert sum('"failing#seed=0;t=0.2;j=none;p=1"' in line for line in lines) == 2
    assert len(lines) == 43
    assert (resumed.coverage.runs, resumed.coverage.failed) == (42, 0)
    at_once = report_of(tmp_path, mended, out="once.jsonl")
    assert msgspec.structs.replace(at_once, out=resumed.out) == resumed


def test_the_order_of_the_lines_changes_nothing(tmp_path):
    before = report_of(tmp_path, ALL_STATES)
    journal = tmp_path / "runs.jsonl"
    journal.write_text("".join(reversed(journal.read_text().splitlines(keepends=True))))
    # The failing run is asked once more, and stands behind the others.
    after = report_of(tmp_path, ALL_STATES)
    assert render(after, "json") == render(before, "json")


def test_runs_that_the_recipe_did_not_plan_are_left_alone(tmp_path):
    before = report_of(tmp_path, {"q": ["a<ab"] * 6})
    journal = tmp_path / "runs.jsonl"
    stray = json.loads(journal.read_text().splitlines()[0]) | {
        "run_id": "q#seed=9;t=0.2;j=none;p=0",
        "seed": 9,
        "answer_json": {"claim": "Never.", "citations": ["d"]},
    }
    journal.write_text(journal.read_text() + json.dumps(stray) + "\n")
    after = report_of(tmp_path, {"q": ["a<ab"] * 6})
    assert (after.coverage.runs, after.coverage.missing) == (6, 0)
    assert after == before


def test_another_recipe_in_the_same_file_is_refused(tmp_path):
    evaluated(tmp_path, {"q": ["a<ab"] * 6})
    with pytest.raises(UsageError, match="the grid of seeds"):
        evaluated(tmp_path, {"q": ["a<ab"] * 6}, recipe={"seeds": [3, 4]})


def test_a_spent_error_budget_leaves_nothing_evaluated(tmp_path):
    qids = [f"q{number}" for number in range(5)]
    gold = write_gold(tmp_path, [question(qid) for qid in qids])
    system = Scripted(dict.fromkeys(qids, ["!"] * 6))
    asking = {"retries": 0, "concurrency": 1}
    found = trace_eval(gold, system, tmp_path / "runs.jsonl", asking=asking)
    assert (found.swept.ended, found.outcome) == ("error_budget", None)
    assert len(system.asked) < 30


@pytest.mark.parametrize("concurrency", [1, 5])
def test_calls_at_the_same_time_change_no_byte(tmp_path, concurrency):
    written = render(report_of(tmp_path, ALL_STATES), "json")
    (tmp_path / "again").mkdir()
    other = report_of(tmp_path / "again", ALL_STATES, asking={"concurrency": concurrency})
    other = msgspec.structs.replace(other, out=str(tmp_path / "runs.jsonl"))
    assert render(other, "json") == written


# At the door: what is wrong is said before anything is asked.

WRONG = {
    "an option that is none": ({"depht": "text"}, UsageError, "depht"),
    "an asking that is the recipe's": ({"asking": {"grid": {}}}, UsageError, "asking has no grid"),
    "a calibration without an embedder": ({"calibration": "c.json"}, UsageError, "--embedder"),
    "a calibration that is none": (
        {"calibration": "gold.jsonl", "embedder": "ngram"},
        InputRejected,
        "is no calibration",
    ),
    "a manifest that is none": ({"manifest": "gold.jsonl"}, InputRejected, "gold.jsonl"),
    "documents that are not there": ({"docs": "nowhere"}, UsageError, "no such folder"),
    "an unknown embedder": ({"embedder": "bert"}, UsageError, "bert"),
    "an unknown tokenizer": ({"tokenizer": "nothing-such"}, UsageError, "nothing-such"),
    "an unknown metric": ({"gates": "match_rat>=1"}, UsageError, "match_rate"),
    "a metric of another command": ({"gates": "acr>=1"}, UsageError, "ragauge stability"),
    "a stratum that nobody has": (
        {"gates": "match_rate>=1 where language=nl"},
        UsageError,
        "language",
    ),
    "a seed twice": ({"recipe": {"seeds": [1, 1]}}, UsageError, "1 stands twice"),
    "no wording": ({"recipe": {"wordings": 0}}, UsageError, "paraphrases: is empty"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_said_before_anything_is_asked(tmp_path, monkeypatch, what):
    options, error, words = WRONG[what]
    monkeypatch.chdir(tmp_path)
    system = Scripted({"q": ["a<ab"] * 6})
    gold = write_gold(tmp_path, [question("q")])
    with pytest.raises(error, match=words):
        trace_eval(gold, system, tmp_path / "runs.jsonl", **options)
    assert system.asked == []


def test_a_gold_set_from_standard_input_is_refused(tmp_path):
    with pytest.raises(UsageError, match="reads the gold set twice"):
        trace_eval("-", Scripted({}), tmp_path / "runs.jsonl")


def test_documents_that_cannot_be_read_are_a_finding(tmp_path):
    docs, manifest = write_handbook(tmp_path)
    (docs / "handbook.md").write_bytes(b"\xff\xfe\x00")
    report = report_of(tmp_path, {"q": ["a<ab"] * 6}, docs=docs, manifest=manifest)
    assert "unreadable_document" in report.finding_counts


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


# The bundled pipeline, whole and with its faults.

FAULTS = {
    "stale_payloads": {"mismatch_index_hash", "rev_mismatch", "missing_document"},
    "drifted_offsets": {"span_text_mismatch"},
    "invented_citations": {"not_retrieved"},
    "wrong_citations": {"not_retrieved", "misattributed", "span_text_mismatch"},
}


@pytest.fixture(scope="module")
def pipeline():
    return Pipeline.of()


@pytest.fixture(scope="module")
def few_questions(tmp_path_factory):
    path = tmp_path_factory.mktemp("demo") / "gold.jsonl"
    path.write_text("".join(GOLD.read_text("utf-8").splitlines(keepends=True)[:12]))
    return path


def asked_demo(folder, pipeline, gold, *faults):
    manifest = folder / "manifest.json"
    manifest.write_bytes(msgspec.json.encode(pipeline.index.manifest))
    found = trace_eval(
        gold,
        pipeline,
        folder / "runs.jsonl",
        docs=DOCUMENTS,
        manifest=manifest,
        asking={"knobs": {"faults": [f"{fault}=1" for fault in faults]}},
    )
    return found.outcome.report


def test_the_citations_of_the_demo_hold_at_every_depth(tmp_path, pipeline, few_questions):
    report = asked_demo(tmp_path, pipeline, few_questions)
    assert value(report, "valid") == value(report, "match_rate") == value(report, "text") == 1
    assert report.codes == ()


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_of_the_demo_is_found_by_its_codes(tmp_path, pipeline, few_questions, fault):
    report = asked_demo(tmp_path, pipeline, few_questions, fault)
    found = {one.code for one in report.codes}
    assert found & FAULTS[fault]
    assert found <= FAULTS[fault]
    assert report.codes_first
    assert [one.id for one in report.advice] == ["traceability.does_not_hold"]
    assert value(report, "match_rate") < MATCH_TARGET


def test_retrieval_that_changes_with_the_seed_is_located_there(tmp_path, pipeline, few_questions):
    report = asked_demo(tmp_path, pipeline, few_questions, "unstable_retrieval")
    broken = [one.broken for one in report.questions]
    assert broken.count("retrieval") > broken.count("after retrieval")
    assert report.advice[0].id == "traceability.retrieval_varies"
