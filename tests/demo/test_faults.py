"""Each fault moves what it should, for whom it should, and nothing else."""

from __future__ import annotations

import asyncio

import pytest

from ragauge.contracts.system import Ask, CallFailed
from ragauge.demo.faults import FAULTS, Faults, read_faults
from ragauge.demo.pipeline import Pipeline
from ragauge.errors import UsageError
from ragauge.text.refusal import refusal_in, tokens
from tests.demo.questions import ANSWERABLE, UNANSWERABLE

QUESTIONS = [*ANSWERABLE, *UNANSWERABLE]
CONSTRAINTS = ["Locked."]


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    return Pipeline.of()


def reply(pipeline: Pipeline, question: str, *faults: str, seed: int = 0) -> dict:
    knobs = {"faults": list(faults), "constraints": CONSTRAINTS, "delay_ms": 0}
    made = pipeline.answer(Ask(q=question, seed=seed, knobs=knobs))
    del made["stage_ms"]
    return made


def is_refusal(made: dict) -> bool:
    return made["answer_json"]["claim"] == "not in context"


def rest(made: dict) -> dict:
    """The reply without what cites: its segments."""
    return {key: value for key, value in made.items() if key != "segments"}


def citations_in(made: dict) -> list[dict]:
    return [one for segment in made.get("segments", ()) for one in segment["citations"]]


def cited_in(made: dict) -> list[str]:
    return [one["snippet_id"] for one in citations_in(made)]


def quoted_in(made: dict) -> list[str]:
    return [one["quote"] for one in citations_in(made)]


@pytest.fixture(scope="module")
def healthy(pipeline) -> dict[str, dict]:
    return {question: reply(pipeline, question) for question in QUESTIONS}


def test_the_faults_are_those_that_were_promised():
    assert set(FAULTS) == {
        "unstable_retrieval",
        "wrong_citations",
        "invented_citations",
        "stale_payloads",
        "drifted_offsets",
        "chatty_refusals",
        "dropped_constraints",
        "paraphrase_sensitivity",
        "slow",
        "failing",
    }


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_with_no_share_does_nothing(pipeline, healthy, fault):
    for question in QUESTIONS:
        assert reply(pipeline, question, f"{fault}=0") == healthy[question]


def test_wrong_citations_change_the_citations_of_answers_and_nothing_else(pipeline, healthy):
    known = {chunk.id for chunk in pipeline.index.chunks}
    strange = beside = 0
    for question, was in healthy.items():
        now = reply(pipeline, question, "wrong_citations=1")
        if is_refusal(was):
            assert now == was
            continue
        right, wrong = was["answer_json"]["citations"], now["answer_json"]["citations"]
        assert wrong and set(wrong) <= known and not set(wrong) & set(right)
        assert cited_in(now) == wrong
        assert quoted_in(now) == quoted_in(was)[:1]
        assert rest(now) == rest(was) | {"answer_json": was["answer_json"] | {"citations": wrong}}
        strange += not set(wrong) <= set(now["retrieved_ids"])
        beside += {id.partition("#")[0] for id in wrong} <= {id.partition("#")[0] for id in right}
    assert strange and beside


def test_invented_citations_name_chunks_that_nobody_has(pipeline, healthy):
    known = {chunk.id for chunk in pipeline.index.chunks}
    for question, was in healthy.items():
        now = reply(pipeline, question, "invented_citations=1")
        right, made_up = was["answer_json"]["citations"], now["answer_json"]["citations"]
        assert len(made_up) == len(right) and not set(made_up) & known
        assert all(id.startswith(of) for id, of in zip(made_up, right, strict=True))
        assert rest(now) == rest(was) | {"answer_json": was["answer_json"] | {"citations": made_up}}
        assert cited_in(now) == made_up
        renamed = [one | {"snippet_id": ""} for one in citations_in(now)]
        assert renamed == [one | {"snippet_id": ""} for one in citations_in(was)]


def test_stale_payloads_are_of_an_earlier_index_and_nothing_else(pipeline, healthy):
    live = pipeline.index.manifest
    for question, was in healthy.items():
        now = reply(pipeline, question, "stale_payloads=1")
        best = was["retrieved"][0]["doc_id"] if was["retrieved"] else None
        assert now | {"retrieved": 0} == was | {"retrieved": 0}
        for then, one in zip(was["retrieved"], now["retrieved"], strict=True):
            changed = {key for key in one if one[key] != then[key]}
            assert changed == ({"index_hash", "rev"} if one["doc_id"] == best else {"index_hash"})
            assert len(one["index_hash"]) == len(live.hash)
            assert len(one["rev"]) == len(then["rev"])


def test_drifted_offsets_are_a_few_characters_off_and_copied_into_citations(pipeline, healthy):
    far = set()
    for question, was in healthy.items():
        now = reply(pipeline, question, "drifted_offsets=1")
        assert now["answer_json"] == was["answer_json"]
        offsets = {one["snippet_id"]: one["offsets"] for one in now["retrieved"]}
        assert all(one["offsets"] == offsets[one["snippet_id"]] for one in citations_in(now))
        for then, one in zip(was["retrieved"], now["retrieved"], strict=True):
            assert one | {"offsets": 0} == then | {"offsets": 0}
            ends = [one["offsets"][end] - then["offsets"][end] for end in ("start", "end")]
            assert ends[0] == ends[1] != 0
            far.add(ends[0])
    assert far == set(range(-8, 0))


def test_offsets_at_the_very_beginning_drift_the_other_way(tmp_path):
    (tmp_path / "tower.md").write_text("The Eiffel Tower opened in 1889.")
    pipeline = Pipeline.of(tmp_path)
    [one] = reply(pipeline, "When did the Eiffel Tower open?", "drifted_offsets=1")["retrieved"]
    assert 0 < one["offsets"]["start"] == one["offsets"]["end"] - 32


def test_chatty_refusals_change_refusals_alone_and_are_no_token(pipeline, healthy):
    said = set()
    for question, was in healthy.items():
        now = reply(pipeline, question, "chatty_refusals=1")
        claim = now["answer_json"]["claim"]
        assert now == was | {"answer_json": was["answer_json"] | {"claim": claim}}
        if not is_refusal(was):
            assert now == was
        else:
            assert refusal_in(claim, tokens()) == "none"
            said.add(claim)
    assert len(said) > 1


def test_dropped_constraints_drop_the_echo_and_nothing_else(pipeline, healthy):
    for question, was in healthy.items():
        answer = was["answer_json"] | {"constraints_echo": []}
        now = reply(pipeline, question, "dropped_constraints=1")
        assert now == was | {"answer_json": answer}
        assert was["answer_json"]["constraints_echo"] == CONSTRAINTS


def test_unstable_retrieval_brings_other_chunks_for_every_seed(pipeline, healthy):
    moved = 0
    for question in ANSWERABLE:
        found = {
            tuple(reply(pipeline, question, "unstable_retrieval=1", seed=s)["retrieved_ids"])
            for s in range(6)
        }
        moved += len(found) > 1
    assert moved > len(ANSWERABLE) * 0.9


def test_an_answer_from_unstable_retrieval_still_cites_what_it_was_shown(pipeline):
    lost = 0
    for question in ANSWERABLE:
        now = reply(pipeline, question, "unstable_retrieval=1", seed=1)
        assert set(now["answer_json"]["citations"]) <= set(now["retrieved_ids"])
        lost += is_refusal(now)
    assert lost > len(ANSWERABLE) * 0.3


def test_paraphrase_sensitivity_goes_by_the_wording_alone(pipeline, healthy):
    lost = {q for q in ANSWERABLE if reply(pipeline, q, "paraphrase_sensitivity=0.5") != healthy[q]}
    assert len(ANSWERABLE) * 0.2 < len(lost) < len(ANSWERABLE) * 0.8
    for question in ANSWERABLE:
        per_seed = [reply(pipeline, question, "paraphrase_sensitivity=0.5", seed=s) for s in (0, 1)]
        assert per_seed[0] == per_seed[1]
    respaced = {
        question: reply(pipeline, f" {question}", "paraphrase_sensitivity=0.5")
        for question in ANSWERABLE
    }
    assert {q for q, now in respaced.items() if now != healthy[q]} != lost


def test_a_wording_that_is_struck_loses_the_chunks_it_would_have_been_shown(pipeline, healthy):
    for question in ANSWERABLE:
        now = reply(pipeline, question, "paraphrase_sensitivity=1")
        assert not set(now["retrieved_ids"]) & set(healthy[question]["retrieved_ids"])


def failure(pipeline: Pipeline, question: str, seed: int) -> CallFailed | None:
    try:
        reply(pipeline, question, "failing=0.25", seed=seed)
    except CallFailed as failed:
        return failed
    return None


def test_failing_fails_a_share_of_the_calls_and_always_the_same(pipeline, healthy):
    calls = [(question, seed) for question in QUESTIONS for seed in range(4)]
    failures = {call: failure(pipeline, *call) for call in calls}
    struck = {call for call, failed in failures.items() if failed}
    assert 0.15 < len(struck) / len(calls) < 0.35
    assert all(f.kind == "failing" and f.again for f in failures.values() if f)
    assert {call for call in calls if failure(pipeline, *call)} == struck
    for question, seed in set(calls) - struck:
        assert reply(pipeline, question, "failing=0.25", seed=seed) == healthy[question]


def test_slow_waits_as_long_as_it_is_told_and_changes_no_answer(pipeline, healthy):
    knobs = {"faults": ["slow=1"], "constraints": CONSTRAINTS, "delay_ms": 20}
    question = next(iter(ANSWERABLE))
    for made in (
        pipeline.answer(Ask(q=question, knobs=knobs)),
        asyncio.run(pipeline.ask(Ask(q=question, knobs=knobs))),
    ):
        assert made.pop("stage_ms")["generate"] >= 20
        assert made == healthy[question]


def test_a_larger_share_strikes_whom_a_smaller_one_does_and_more(pipeline):
    asks = [Ask(q=question, seed=seed) for question in QUESTIONS for seed in range(5)]
    struck = [
        {ask.q + str(ask.seed) for ask in asks if read_faults([f"slow={s}"]).strikes("slow", ask)}
        for s in (0.1, 0.3, 0.9, 1)
    ]
    assert struck[0] < struck[1] < struck[2] < struck[3]
    assert len(struck[3]) == len(asks)
    assert abs(len(struck[1]) / len(asks) - 0.3) < 0.1


def test_faults_strike_independently_of_each_other_and_of_spelling():
    asks = [Ask(q=f"Question number {n}?") for n in range(200)]
    both = read_faults(["slow=0.5", "failing=0.5"])
    slow = [both.strikes("slow", ask) for ask in asks]
    failing = [both.strikes("failing", ask) for ask in asks]
    assert 60 < sum(a != b for a, b in zip(slow, failing, strict=True)) < 140
    respelled = [both.strikes("slow", Ask(q=f" question NUMBER {n}")) for n in range(200)]
    assert respelled == slow


def test_temperature_and_seed_decide_with_the_question():
    fault = read_faults(["slow=0.5"])
    by_seed = {fault.strikes("slow", Ask(q="Who?", seed=seed)) for seed in range(20)}
    by_temperature = {fault.strikes("slow", Ask(q="Who?", temperature=t / 10)) for t in range(20)}
    assert by_seed == by_temperature == {True, False}


def test_shares_are_read_and_a_bare_name_has_the_usual_one():
    assert read_faults(()) == Faults({})
    assert read_faults(["slow", "failing=1"]) == Faults({"slow": 0.3, "failing": 1.0})


@pytest.mark.parametrize(
    "text", ["slow=", "slow=x", "slow=-0.1", "slow=1.1", "slow=nan", "", "Slow"]
)
def test_what_is_no_fault_is_refused(text):
    with pytest.raises(UsageError, match=r"fault"):
        read_faults([text])
