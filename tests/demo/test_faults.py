"""Each fault is there, strikes whom it should, and nobody else."""

from __future__ import annotations

import asyncio

import pytest

from ragauge.contracts.system import Ask, CallFailed
from ragauge.demo.faults import FAULTS, SET_UP, Faults, read_faults
from ragauge.demo.pipeline import Pipeline
from ragauge.errors import UsageError
from tests.demo.asking import CONSTRAINTS, QUESTIONS, reply
from tests.demo.questions import ANSWERABLE


def test_the_faults_are_those_that_were_promised():
    assert set(FAULTS) == {
        "unstable_retrieval",
        "narrow_recall",
        "no_rerank",
        "noise_injected",
        "wrong_citations",
        "invented_citations",
        "mixed_sections",
        "uncited",
        "stale_payloads",
        "drifted_offsets",
        "ungrounded_generation",
        "padded_answers",
        "hot_sampling",
        "over_refusal",
        "lax_refusal",
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


@pytest.fixture(scope="module")
def other() -> Pipeline:
    """A pipeline that remembers nothing of what was asked elsewhere."""
    return Pipeline.of()


@pytest.mark.parametrize("fault", sorted(set(FAULTS) - {"failing"}))
def test_a_fault_meets_the_same_calls_again_in_another_pipeline(pipeline, other, fault):
    for question in QUESTIONS[::3]:
        call = {"seed": 2, "temperature": 0.5}
        first = reply(pipeline, question, f"{fault}=0.5", **call)
        assert reply(other, question, f"{fault}=0.5", **call) == first


def test_what_a_fault_brought_is_not_remembered_for_calls_without_it(other, healthy):
    spoiling = [f"{fault}=1" for fault in FAULTS if fault not in ("slow", "failing")]
    for question, was in healthy.items():
        reply(other, question, *spoiling, temperature=0.5)
        for fault in SET_UP:
            reply(other, question, f"{fault}=1")
        assert reply(other, question) == was


@pytest.mark.parametrize("fault", sorted(SET_UP))
def test_faults_of_the_set_up_know_the_question_and_no_seed_or_temperature(fault):
    faults = read_faults([f"{fault}=0.5"])
    struck = [faults.strikes(fault, Ask(q=f"Question {n}?")) for n in range(200)]
    assert 60 < sum(struck) < 140
    for seed, temperature in ((1, 0.0), (0, 0.7), (9, 1.0)):
        asks = [Ask(q=f" question {n}", seed=seed, temperature=temperature) for n in range(200)]
        assert [faults.strikes(fault, ask) for ask in asks] == struck


@pytest.mark.parametrize("fault", sorted(set(FAULTS) - SET_UP - {"paraphrase_sensitivity"}))
def test_the_other_faults_go_by_the_seed_too(fault):
    faults = read_faults([f"{fault}=0.5"])
    asks = [Ask(q="Who?", seed=seed, temperature=0.7) for seed in range(40)]
    assert {faults.strikes(fault, ask) for ask in asks} == {True, False}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_share_of_1_strikes_every_call(fault):
    faults = read_faults([f"{fault}=1"])
    asks = [Ask(q=f"Question {n}?", seed=n, temperature=0.7) for n in range(300)]
    assert all(faults.strikes(fault, ask) for ask in asks)


def test_hot_sampling_never_strikes_at_temperature_0():
    faults = read_faults(["hot_sampling=1"])
    asks = [Ask(q=f"Question {n}?", seed=seed) for n in range(50) for seed in range(5)]
    assert not any(faults.strikes("hot_sampling", ask) for ask in asks)


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
