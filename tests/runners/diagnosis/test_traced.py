"""Traces beside their gold set: a fault that was planted is the cause that is named first."""

import json
from collections import Counter

import msgspec
import pytest

from benchmarks import spoilt
from ragauge import diagnose_traces, write_manifest
from ragauge.citations.validator import CitationValidator
from ragauge.contracts.gold import Gold
from ragauge.contracts.system import Ask, CallFailed
from ragauge.demo import DOCUMENTS
from ragauge.demo import GOLD as HERITAGE
from ragauge.demo.faults import FAULTS
from ragauge.demo.pipeline import Pipeline
from ragauge.demo.tour import GRID, STRENGTH
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest import traces as trace_lines
from ragauge.ingest.gold import read_gold
from ragauge.metrics.facts import Reader, Reading
from ragauge.runners.diagnosis import traced
from ragauge.runners.diagnosis.traced import TraceInputs, traced_material
from ragauge.runners.sweep import sweep

ANSWERED = ("h001", "h002", "h003", "h004", "h006", "h008", "h010", "h014", "h018", "h019")
REFUSED = ("h007", "h011", "h015", "h020", "h024")
"""Questions that the pipeline gets right while nothing is wrong with it."""
CAUSES = {
    "wrong_citations": "cause.wrong_ids",
    "chatty_refusals": "cause.refusal_form",
    "uncited": "cause.cites_nothing",
    "invented_citations": "cause.invented_ids",
    "over_refusal": "cause.refuses_with_evidence",
    "lax_refusal": "cause.answers_unanswerable",
    "stale_payloads": "cause.stale_index",
    "drifted_offsets": "cause.offsets_drift",
    "mixed_sections": "cause.mixed_sections",
    "padded_answers": "cause.padded",
    "dropped_constraints": "cause.constraints_dropped",
    "failing": "cause.calls_fail",
}
"""By fault, the cause that it is."""


@pytest.fixture(scope="module")
def pipeline():
    return Pipeline.of()


@pytest.fixture(scope="module")
def questions():
    known = {one.qid: one for one in read_gold(str(HERITAGE))}
    return [known[qid] for qid in (*ANSWERED, *REFUSED)]


@pytest.fixture(scope="module")
def asked(pipeline, questions, tmp_path_factory):
    """Asks the fifteen questions with a fault, and diagnoses what comes back."""
    folder = tmp_path_factory.mktemp("asked")
    gold, manifest = folder / "gold.jsonl", folder / "manifest.json"
    write_lines(gold, questions)
    write_manifest(manifest, pipeline.index.manifest)

    def diagnosed(*faults, seeds=(0, 1), **options):
        traces = folder / f"{'-'.join(faults) or 'sound'}.jsonl"
        write_lines(traces, [one for seed in seeds for one in answers(faults, seed)])
        return diagnose_traces(traces, gold, manifest=str(manifest), docs=str(DOCUMENTS), **options)

    def answers(faults, seed):
        for question in questions:
            knobs = {"faults": list(faults), "constraints": list(question.constraints)}
            ask = Ask(q=question.question, seed=seed, knobs=knobs)
            try:
                reply = pipeline.answer(ask)
            except CallFailed as failed:
                reply = {"status": "error", "error": str(failed)}
            yield {"qid": question.qid, "q": question.question, "seed": seed, **reply}

    return diagnosed


def write_lines(path, lines):
    path.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))


# Planted faults.


def test_without_a_fault_nothing_is_likely_and_it_passes(asked):
    report = asked()
    assert [cause.id for cause in report.causes if cause.standing == "likely"] == []
    assert report.passed
    assert report.coverage["samples"] == 15
    assert report.coverage["traces"] == 30


@pytest.mark.parametrize("fault", CAUSES)
def test_a_planted_fault_is_the_first_cause(asked, fault):
    report = asked(f"{fault}=0.6")
    # Refusals in other words count as refusals by default: no gate fails.
    assert report.passed is (fault == "chatty_refusals")
    first = report.causes[0]
    assert (first.id, first.standing) == (CAUSES[fault], "likely")
    assert first.samples
    assert first.evidence[0].n >= first.explains > 0
    assert all(action.do for action in first.actions)


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_of_the_demo_is_named_first_at_its_strength(pipeline, tmp_path, fault):
    manifest, runs = tmp_path / "manifest.json", tmp_path / "runs.jsonl"
    write_manifest(manifest, pipeline.index.manifest)
    knobs = {"faults": [f"{fault}={STRENGTH}"]}
    sweep(HERITAGE, pipeline, runs, grid=GRID, knobs=knobs, retries=0, error_budget="100%")
    found = diagnose_traces(runs, HERITAGE, manifest=str(manifest), docs=str(DOCUMENTS))
    slow = {"slow": "cause.slow_calls"}  # spoils no answer
    assert found.causes[0].id == (spoilt.CAUSES | slow)[fault]


def test_refusals_in_other_words_fail_where_the_exact_token_is_demanded(asked):
    report = asked("chatty_refusals", refusal="exact")
    assert not report.passed
    assert report.causes[0].id == "cause.refusal_form"


def test_what_the_fault_made_low_names_the_cause(asked):
    report = asked("wrong_citations=0.6")
    named = {one.metric for one in report.diagnoses if "cause.wrong_ids" in one.causes}
    assert "quality.citation_hit_rate" in named
    assert all(one.severity in ("critical", "warning") for one in report.diagnoses if one.causes)


def test_the_same_traces_give_the_same_bytes(asked):
    first, second = (msgspec.json.encode(asked("uncited=0.6")) for _ in range(2))
    assert first == second


def test_what_was_not_given_is_said_to_be_unknown(asked):
    whole = asked(seeds=(0,))
    assert any("wording" in text for text in whole.unknown)
    assert not any("manifest" in text for text in whole.unknown)
    assert whole.replay is None


# Small traces by hand.

GOLD = [
    Gold(
        qid=f"q{n}",
        question=f"What is {n}?",
        answerable=True,
        gold_claim=f"It is {n}.",
        gold_citations=(f"p{n}",),
        strata={"tier": n % 2},
    )
    for n in range(3)
]


def trace(n, **told):
    known = {
        "qid": f"q{n}",
        "retrieved_ids": [f"p{n}", "p9"],
        "answer_json": {"claim": f"It is {n}.", "citations": [f"p{n}"]},
    }
    return {**known, **told}


@pytest.fixture
def material(tmp_path):
    def made(*traces, gold=GOLD, **how):
        write_lines(tmp_path / "gold.jsonl", gold)
        write_lines(tmp_path / "traces.jsonl", traces)
        gold = read_gold(tmp_path / "gold.jsonl")
        return traced_material([str(tmp_path / "traces.jsonl")], gold, TraceInputs(**how))[0]

    return made


def test_a_question_is_a_sample_and_each_trace_a_case(material):
    found = material(trace(0, run_id="r1"), trace(0, run_id="r2", seed=1), trace(1), trace(2))
    assert [row.id for row in found.samples] == ["q0", "q1", "q2"]
    assert [(case.sample, case.id) for case in found.cases][:2] == [("q0", "r1"), ("q0", "r2")]
    assert len({case.id for case in found.cases}) == 4
    assert found.samples[1].strata == {"tier": "1"}
    assert found.features["q1"]["tier"] == "1"


def test_a_sample_shows_the_answer_that_went_wrong(material):
    wrong = {"claim": "It is 7.", "citations": ["p9"]}
    found = material(
        trace(0, answer_json=wrong, seed=1), trace(0, seed=2), trace(1), trace(2)
    ).samples[0]
    assert (found.answer, found.cited, found.reference) == ("It is 7.", ("p9",), "It is 0.")
    assert found.retrieved_ids == ("p0", "p9")


def test_a_question_without_a_trace_is_a_sample_without_a_case(material):
    found = material(trace(0), trace(1))
    assert [row.id for row in found.samples] == ["q0", "q1", "q2"]
    assert {case.sample for case in found.cases} == {"q0", "q1"}
    assert found.samples[2].answer is None


def test_the_values_of_a_question_are_those_that_the_commands_give_it(material):
    wrong = trace(0, answer_json={"claim": "It is 0.", "citations": ["p9"]})
    found = material(wrong, trace(1), trace(2))
    hits = {row.id: row.values["quality.citation_hit_rate"] for row in found.samples}
    assert hits == {"q0": 0.0, "q1": 1.0, "q2": 1.0}
    assert found.metrics["quality.citation_hit_rate"].score.value == pytest.approx(2 / 3)


def test_gates_of_the_preset_speak_before_the_usual_bounds(material):
    refused = trace(0, answer_json={"claim": "not in context", "citations": []})
    found = material(refused, trace(1), trace(2))
    assert found.metrics["quality.over_refusal"].severity == "critical"
    assert found.metrics["quality.errors"].severity == "none"
    assert found.metrics["quality.over_refusal"].limits.warning == 0.1


def test_what_counts_as_a_refusal_may_be_asked(material):
    chatty = [trace(n, answer_json=None, answer="I cannot find that.") for n in range(3)]
    by_token = [trace(n, answer_json=None, answer="NO ANSWER") for n in range(3)]
    over = "quality.over_refusal"
    exact = {"refusal": "exact"}
    assert material(*by_token, **exact).metrics[over].score.value == 0
    tokens = {"refusal_tokens": ("no answer",)}
    assert material(*by_token, **exact, **tokens).metrics[over].score.value == 1
    assert material(*chatty).metrics[over].score.value == 1
    assert material(*chatty, **exact).metrics[over].score.value == 0


def test_progress_is_told_for_each_question(tmp_path):
    write_lines(tmp_path / "gold.jsonl", GOLD)
    write_lines(tmp_path / "traces.jsonl", [trace(n) for n in range(3)])
    seen = []
    traced_material(
        [str(tmp_path / "traces.jsonl")],
        read_gold(tmp_path / "gold.jsonl"),
        TraceInputs(),
        lambda done, of: seen.append((done, of)),
    )
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_a_sweep_is_judged_for_its_stability_too(material):
    once = material(trace(0), trace(1), trace(2))
    swept = material(*(trace(n, seed=seed) for n in range(3) for seed in range(3)))
    assert not any(name.startswith("stability.") for name in once.metrics)
    assert swept.metrics["stability.stable"].score.value == 1.0
    assert "no_other_seeds" in once.unknown
    assert "no_other_seeds" not in swept.unknown


def test_other_wordings_are_known_where_a_question_was_asked_in_them(material):
    worded = material(trace(0), trace(0, paraphrase=1), trace(1), trace(2))
    assert "no_other_wordings" not in worded.unknown
    assert "no_other_wordings" in material(trace(0), trace(1), trace(2)).unknown


def test_what_the_traces_do_not_tell_is_unknown(material):
    bare = [
        {key: value for key, value in trace(n).items() if key != "retrieved_ids"} for n in range(3)
    ]
    gold = [msgspec.structs.replace(one, strata={}) for one in GOLD]
    unknown = set(material(*bare, gold=gold).unknown)
    assert unknown == {
        *("no_retrieved_ids", "no_payloads", "no_manifest", "no_documents", "no_other_wordings"),
        *("no_other_seeds", "no_claims", "no_strata", "no_replay"),
    }


def test_claims_are_judged_where_the_traces_hold_the_texts(material):
    shown = [
        trace(
            n,
            retrieved_ids=None,
            retrieved=[{"snippet_id": f"p{n}", "text": f"It is {n}."}],
        )
        for n in range(3)
    ]
    found = material(*shown)
    assert found.addresses.samples == 3
    assert found.coverage["claims"] == 3
    assert "lexical_claims" in found.unknown
    assert found.samples[0].contexts[0].text == "It is 0."
    assert material(*shown, lexical=False).addresses is None


def test_each_trace_is_read_and_audited_once(tmp_path, monkeypatch):
    write_lines(tmp_path / "gold.jsonl", GOLD)
    payload = {"snippet_id": "p0", "doc_id": "d", "rev": "1", "offsets": [0, 4], "text": "It is 0."}
    lines = [trace(n, seed=seed, retrieved=[payload]) for n in range(3) for seed in range(3)]
    write_lines(tmp_path / "traces.jsonl", lines)
    calls = Counter()

    def counted(owner, name):
        function = getattr(owner, name)

        def counting(*args, **more):
            calls[name] += 1
            return function(*args, **more)

        monkeypatch.setattr(owner, name, counting)

    counted(traced, "decoded")
    for module in (trace_lines, traced):
        counted(module, "read_trace")
    counted(trace_lines, "read_plain")
    counted(CitationValidator, "examine")
    counted(Reader, "read")
    metrics = ["quality.precision_cited", "stability.acr", "traceability.unanswered"]
    report = diagnose_traces(tmp_path / "traces.jsonl", tmp_path / "gold.jsonl", metrics)
    assert {one.metric for one in report.diagnoses} == {*metrics}
    once = ("decoded", "read_trace", "examine", "read")
    assert calls == dict.fromkeys(once, len(lines))


# How a trace is observed.


def observed(tmp_path, **told):
    write_lines(tmp_path / "gold.jsonl", GOLD)
    (tmp_path / "traces.jsonl").write_text(6 * "\n" + json.dumps(trace(0, **told)))
    gold = read_gold(tmp_path / "gold.jsonl")
    traces = [str(tmp_path / "traces.jsonl")]
    _, [[run], *_] = traced_material(traces, gold, TraceInputs(lexical=False))
    return run


@pytest.mark.parametrize(
    ("told", "rewritten"),
    [
        ({}, None),
        ({"search_query": "What is 0?"}, False),
        ({"search_query": "what is 0?"}, False),
        ({"search_query": "zero"}, True),
        ({"query_rewritten": "zero"}, True),
        ({"search_query": "zero", "question_sent": "Zero"}, False),
        ({"search_query": 7}, None),
    ],
)
def test_whether_the_search_was_given_another_text(tmp_path, told, rewritten):
    assert observed(tmp_path, **told).rewritten is rewritten


@pytest.mark.parametrize("ok", [True, False])
def test_the_check_of_the_pipeline_itself(tmp_path, ok):
    assert observed(tmp_path, ok=ok).passed_check is ok
    assert observed(tmp_path).passed_check is None


def test_a_run_without_an_id_is_called_after_its_question_and_line(tmp_path):
    assert observed(tmp_path).id == "q0:7"
    assert observed(tmp_path, run_id="r1").id == "r1"


def test_what_was_found_of_what_is_needed(tmp_path):
    found, lost = observed(tmp_path), observed(tmp_path, retrieved_ids=["p9"])
    assert (found.found_some, found.found_all) == (True, True)
    assert (lost.found_some, lost.found_all) == (False, False)
    unknown = observed(tmp_path, retrieved_ids=None)
    assert (unknown.found_some, unknown.found_all, unknown.retrieved) == (None, None, None)


def test_facts_are_those_that_a_score_reads(tmp_path):
    reader = Reader(Reading())
    made = observed(tmp_path, answer_json=None, answer="not in context")
    assert made.facts == reader.facts(reader.key(GOLD[0]), made.facts.trace)
    assert made.right is False


# What is refused.


def test_bad_lines_are_refused_all_at_once(tmp_path):
    write_lines(tmp_path / "gold.jsonl", GOLD)
    (tmp_path / "traces.jsonl").write_text('{"qid": \n[1]\n')
    with pytest.raises(InputRejected) as refused:
        diagnose_traces(tmp_path / "traces.jsonl", tmp_path / "gold.jsonl")
    assert len(refused.value.problems) == 2


def test_a_file_that_is_not_there_is_refused(tmp_path):
    write_lines(tmp_path / "gold.jsonl", GOLD)
    for traces, gold in (("none.jsonl", "gold.jsonl"), ("gold.jsonl", "none.jsonl")):
        with pytest.raises((UsageError, InputRejected), match=r"none\.jsonl"):
            diagnose_traces(tmp_path / traces, tmp_path / gold)
