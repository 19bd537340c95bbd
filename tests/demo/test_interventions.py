"""What a replay puts in is shown and what it takes out is not, whatever fault struck."""

from __future__ import annotations

import pytest

from ragauge.citations.rules import out_of_order
from ragauge.contracts.system import Ask, CallFailed
from ragauge.demo.knobs import Knobs
from ragauge.demo.pipeline import Pipeline
from ragauge.errors import UsageError
from tests.demo.asking import QUESTIONS, WORDINGS, is_refusal, is_right, reply

FAULTS = (
    (),
    ("narrow_recall=1",),
    ("no_rerank=1",),
    ("noise_injected=1",),
    ("unstable_retrieval=1",),
    ("paraphrase_sensitivity=1",),
    ("narrow_recall=1", "no_rerank=1", "noise_injected=1"),
)
PUT_IN = ["louvre#collection", "british-museum#history"]
QUESTION = "Who reopened the Rijksmuseum after its renovation?"


def ids(made: dict) -> list[str]:
    return made["retrieved_ids"]


def assert_whole(made: dict) -> None:
    """The payloads tell the chunks that are shown, their places and an order that is lawful."""
    payloads = made["retrieved"]
    assert [one["snippet_id"] for one in payloads] == ids(made)
    assert [one["k_final"] for one in payloads] == [*range(1, len(payloads) + 1)]
    assert len({one["k_pos"] for one in payloads}) == len(payloads)
    assert min((one["k_pos"] for one in payloads), default=1) >= 1
    assert out_of_order(payloads) is None
    assert all(0 <= one["score_norm"] <= 1 for one in payloads)
    assert len({"rerank_score" in one for one in payloads}) < 2
    if payloads and "rerank_score" not in payloads[0]:
        assert [one["k_pos"] for one in payloads] == [one["k_final"] for one in payloads]


@pytest.mark.parametrize("faults", FAULTS, ids="+".join)
def test_what_is_put_in_is_shown_first_and_the_rest_after_it(pipeline, faults):
    for question in QUESTIONS:
        was = reply(pipeline, question, *faults)
        now = reply(pipeline, question, *faults, put_in=PUT_IN)
        assert ids(now)[:2] == PUT_IN
        others = [id for id in ids(was) if id not in PUT_IN]
        assert ids(now)[2 : 2 + len(others)] == others
        assert len(ids(now)) == 2 + len(others) or "noise_injected=1" in faults
        assert_whole(now)


@pytest.mark.parametrize("faults", FAULTS, ids="+".join)
def test_what_is_taken_out_is_not_shown_and_nothing_takes_its_place(pipeline, faults):
    for question in QUESTIONS:
        was = reply(pipeline, question, *faults)
        out = [*ids(was)[::2], "nobody#knows"]
        now = reply(pipeline, question, *faults, take_out=out)
        kept = [one for one in was["retrieved"] if one["snippet_id"] not in out]
        unplaced = [one | {"k_pos": 0, "k_final": 0} for one in now["retrieved"]]
        assert unplaced[: len(kept)] == [one | {"k_pos": 0, "k_final": 0} for one in kept]
        assert len(unplaced) == len(kept) or "noise_injected=1" in faults
        assert not set(ids(now)) & set(out)
        assert_whole(now)


def test_all_that_is_put_in_is_shown_be_it_more_than_top_k(pipeline):
    many = [chunk.id for chunk in pipeline.index.chunks[:7]]
    now = reply(pipeline, QUESTION, put_in=many, top_k=2)
    assert ids(now)[:7] == many and 7 < len(ids(now)) <= 9
    assert_whole(now)


def test_what_is_put_in_is_answered_from(pipeline):
    """Nothing is found for a wording that is struck, until it is put in."""
    [gold] = reply(pipeline, QUESTION)["answer_json"]["citations"]
    assert is_refusal(reply(pipeline, QUESTION, "paraphrase_sensitivity=1"))
    now = reply(pipeline, QUESTION, "paraphrase_sensitivity=1", put_in=[gold])
    assert now["answer_json"] == reply(pipeline, QUESTION)["answer_json"]
    [citation] = now["segments"][0]["citations"]
    assert citation["snippet_id"] == gold


@pytest.mark.parametrize(
    "fault", ["narrow_recall", "no_rerank", "unstable_retrieval", "paraphrase_sensitivity"]
)
def test_the_gold_put_in_repairs_what_retrieval_lost(pipeline, told_right, fault):
    lost = [w for w in told_right if not is_right(w, reply(pipeline, w, f"{fault}=1"))]
    repaired = [
        w
        for w in lost
        if is_right(w, reply(pipeline, w, f"{fault}=1", put_in=WORDINGS[w]["gold_citations"]))
    ]
    assert len(lost) > len(told_right) / 3
    assert len(repaired) > len(lost) * 0.9


@pytest.mark.parametrize("fault", ["over_refusal", "ungrounded_generation"])
def test_the_gold_put_in_repairs_no_answer_that_went_wrong_later(pipeline, told_right, fault):
    lost = [w for w in told_right if not is_right(w, reply(pipeline, w, f"{fault}=1"))]
    for wording in lost:
        put_in = WORDINGS[wording]["gold_citations"]
        assert not is_right(wording, reply(pipeline, wording, f"{fault}=1", put_in=put_in))


def test_the_gold_put_in_does_not_repair_answers_that_follow_noise(
    pipeline, told_right, gold_replies
):
    """The noise is still there to be followed: it has to be taken out."""
    misled = 0
    for wording in told_right:
        cited = reply(pipeline, wording, "noise_injected=1")["answer_json"]["citations"]
        if not set(cited) <= set(ids(gold_replies[wording])):
            misled += 1
            put_in = WORDINGS[wording]["gold_citations"]
            now = reply(pipeline, wording, "noise_injected=1", put_in=put_in)
            assert not is_right(wording, now)
    assert misled > len(told_right) / 3


def test_what_is_put_in_or_out_is_not_remembered(pipeline, healthy):
    for question, was in list(healthy.items())[:10]:
        reply(pipeline, question, put_in=PUT_IN, take_out=ids(was)[:1])
        assert reply(pipeline, question) == was


IMPOSSIBLE = {
    "put_in: no chunk 'a#b', 'c'": {"put_in": ["a#b", "louvre#history", "c", "a#b"]},
    "take_out: 'louvre#history' also in put_in": {
        "put_in": ["louvre#history"],
        "take_out": ["louvre#history"],
    },
}


@pytest.mark.parametrize("fact", IMPOSSIBLE)
def test_what_cannot_be_put_in_is_a_bad_request_that_names_it(pipeline, fact):
    with pytest.raises(CallFailed) as failed:
        pipeline.answer(Ask(q=QUESTION, knobs=IMPOSSIBLE[fact]))
    assert failed.value.kind == "bad_request" and not failed.value.again
    assert f"knob {fact}; " in failed.value.fact


def test_all_that_is_impossible_is_told_at_once_and_before_the_pipeline_is_built():
    knobs = Knobs(put_in=("nobody", "louvre#history"), take_out=("louvre#history",))
    with pytest.raises(UsageError) as error:
        Pipeline.of(knobs=knobs)
    assert len(error.value.problems) == 2
