"""Retrieval that loses, misplaces or mixes in chunks, for whom it should."""

from __future__ import annotations

import pytest

from ragauge.demo.faults import SET_UP
from ragauge.demo.retrieve import Search
from ragauge.demo.words import stems
from tests.demo.asking import (
    WORDINGS,
    cited_in,
    has_gold,
    is_refusal,
    is_right,
    quoted_in,
    reply,
)
from tests.demo.questions import ANSWERABLE

QUESTION = "In which year was the Great Court of the British Museum opened?"
WEAK = Search(top_k=5, knee=False, rerank=False, pool=5, embedder="ngram", weak=True)


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


def test_narrow_recall_reranks_all_that_is_fetched_and_fetches_few(pipeline, gold_replies):
    for wording in gold_replies:
        for top_k in (5, 8):
            found = reply(pipeline, wording, "narrow_recall=1", top_k=top_k)["retrieved"]
            assert len(found) == -(-top_k // 2)
            assert sorted(one["k_pos"] for one in found) == [*range(1, len(found) + 1)]
            assert all(one["rerank_score"] == one["score_norm"] for one in found)


@pytest.mark.parametrize("fault", ["narrow_recall", "no_rerank"])
def test_a_weak_search_loses_more_than_a_third_of_the_right_answers(pipeline, told_right, fault):
    made = {wording: reply(pipeline, wording, f"{fault}=1") for wording in told_right}
    right = [wording for wording in told_right if is_right(wording, made[wording])]
    found = [wording for wording in told_right if has_gold(wording, made[wording])]
    assert len(told_right) * 0.2 < len(right) < len(told_right) * 2 / 3
    assert len(told_right) * 0.2 < len(found) < len(told_right) * 2 / 3
    for now in made.values():
        assert set(now["answer_json"]["citations"]) <= set(now["retrieved_ids"])


def test_twice_the_top_k_repairs_a_part_of_narrow_recall(pipeline, told_right):
    few, twice = (
        {w for w in told_right if is_right(w, reply(pipeline, w, "narrow_recall=1", top_k=top_k))}
        for top_k in (5, 10)
    )
    lost = len(told_right) - len(few)
    assert lost * 0.1 < len(twice - few) < lost


def test_without_reranking_chunks_are_shown_as_the_weak_search_found_them(pipeline, gold_replies):
    for wording in list(gold_replies)[::4]:
        found = reply(pipeline, wording, "no_rerank=1")["retrieved"]
        assert len(found) == 5
        assert not any("rerank_score" in one for one in found)
        assert [one["k_pos"] for one in found] == [one["k_final"] for one in found]
        assert [one["k_pos"] for one in found] == [1, 2, 3, 4, 5]
        scores = [one["score_norm"] for one in found]
        assert scores == sorted(scores, reverse=True)
        deep = reply(pipeline, wording, "no_rerank=1", top_k=30)["retrieved_ids"]
        assert len(deep) == 30 and deep[:5] == [one["snippet_id"] for one in found]


def test_a_narrow_pool_that_is_not_reranked_is_both(pipeline):
    found = reply(pipeline, QUESTION, "narrow_recall=1", "no_rerank=1")["retrieved"]
    assert [(one["k_pos"], one["k_final"]) for one in found] == [(1, 1), (2, 2), (3, 3)]
    assert not any("rerank_score" in one for one in found)


@pytest.mark.parametrize("fault", sorted(SET_UP))
def test_faults_of_the_set_up_do_the_same_for_every_seed_and_temperature(pipeline, fault):
    for question in ANSWERABLE:
        first = reply(pipeline, question, f"{fault}=1")
        for seed, temperature in ((3, 0.0), (0, 0.9)):
            call = {"seed": seed, "temperature": temperature}
            other = reply(pipeline, question, f"{fault}=1", **call)
            assert other["retrieved"] == first["retrieved"]
            assert other["answer_json"]["citations"] == first["answer_json"]["citations"]


def noise_in(was: dict, now: dict) -> list[dict]:
    return [one for one in now["retrieved"] if one["snippet_id"] not in was["retrieved_ids"]]


def test_noise_stands_first_and_has_nothing_to_do_with_the_question(pipeline, gold_replies):
    for wording, was in gold_replies.items():
        now = reply(pipeline, wording, "noise_injected=1")
        noise = noise_in(was, now)
        assert len(noise) in (2, 3)
        ids = [one["snippet_id"] for one in noise]
        assert now["retrieved_ids"] == [*ids, *was["retrieved_ids"]][:5]
        words = set(stems(wording))
        documents = {one["doc_id"] for one in was["retrieved"]}
        for one in noise:
            assert one["doc_id"] not in documents and not words & set(stems(one["text"]))


def test_half_of_the_answers_follow_the_noise_and_the_others_stay(pipeline, gold_replies):
    answered, misled = 0, 0
    for wording, was in gold_replies.items():
        now = reply(pipeline, wording, "noise_injected=1")
        if is_refusal(was):
            assert is_refusal(now)
            continue
        answered += 1
        [*cited] = now["answer_json"]["citations"]
        noise = {one["snippet_id"]: one["text"] for one in noise_in(was, now)}
        if not set(cited) & set(noise):
            continue
        misled += 1
        assert now["answer_json"]["claim"] in noise[cited[0]] and len(cited) == 1
        assert cited_in(now) == cited and quoted_in(now) == [now["answer_json"]["claim"]]
    assert 0.35 < misled / answered < 0.65


def test_noise_hurts_a_third_of_the_right_answers_and_leaves_no_chunk_first(pipeline, told_right):
    made = {wording: reply(pipeline, wording, "noise_injected=1") for wording in told_right}
    assert sum(is_right(w, now) for w, now in made.items()) < len(told_right) * 2 / 3
    for wording, now in made.items():
        assert now["retrieved_ids"][0] not in WORDINGS[wording]["gold_citations"]
