"""Answers that say too much, too little, something else or something untrue."""

from __future__ import annotations

from ragauge.demo.sentences import sentence_spans
from ragauge.demo.words import surface_words
from ragauge.text.refusal import refusal_in, tokens
from tests.demo.asking import (
    CONSTRAINTS,
    WORDINGS,
    citations_in,
    cited_in,
    is_refusal,
    is_right,
    reply,
    rest,
    texts_in,
)

HOT = "hot_sampling=0.5"


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


def test_over_refusal_refuses_in_the_agreed_words_what_it_could_answer(pipeline, healthy):
    struck = 0
    for question, was in healthy.items():
        now = reply(pipeline, question, "over_refusal=1")
        assert is_refusal(now) and "segments" not in now
        refusal = {"claim": "not in context", "citations": []}
        assert now == rest(was) | {"answer_json": was["answer_json"] | refusal}
        struck += now != was
    assert struck == sum(not is_refusal(was) for was in healthy.values()) > 15


def test_lax_refusal_answers_from_the_first_chunk_where_it_would_refuse(pipeline, gold_replies):
    unanswerable = 0
    for wording, was in gold_replies.items():
        now = reply(pipeline, wording, "lax_refusal=1")
        if not is_refusal(was):
            assert now == was
            continue
        first = now["retrieved"][0]
        claim = now["answer_json"]["claim"]
        assert claim in first["text"]
        said = {"claim": claim, "citations": [first["snippet_id"]]}
        assert rest(now) == rest(was) | {"answer_json": was["answer_json"] | said}
        [segment] = now["segments"]
        assert segment["text"] == claim and cited_in(now) == [first["snippet_id"]]
        unanswerable += not WORDINGS[wording]["answerable"]
    asked = sum(not question["answerable"] for question in WORDINGS.values())
    assert unanswerable > asked * 0.9


def test_what_finds_nothing_has_nothing_to_answer_from(pipeline):
    for fault in ("lax_refusal", "ungrounded_generation", "padded_answers"):
        now = reply(pipeline, "?", f"{fault}=1")
        assert is_refusal(now) and now["retrieved_ids"] == []


def test_hot_sampling_says_something_else_of_what_was_shown_or_refuses(pipeline, told_right):
    refused = other = 0
    for wording in told_right:
        call = {"seed": 1, "temperature": 0.7}
        was = reply(pipeline, wording, **call)
        now = reply(pipeline, wording, "hot_sampling=1", **call)
        assert now["retrieved"] == was["retrieved"]
        claim, cited = now["answer_json"]["claim"], now["answer_json"]["citations"]
        if is_refusal(now):
            refused += 1
            assert cited == []
            continue
        other += 1
        [text] = [one["text"] for one in now["retrieved"] if [one["snippet_id"]] == cited]
        assert claim in text and claim.removesuffix(".") not in was["answer_json"]["claim"]
        assert cited_in(now) == cited
    assert refused and other > refused
    assert refused + other == len(told_right)


def test_hot_sampling_hurts_by_seed_and_leaves_refusals_alone(pipeline, told_right, healthy):
    by_seed = [
        {
            wording
            for wording in told_right
            if is_right(wording, reply(pipeline, wording, HOT, seed=seed, temperature=0.7))
        }
        for seed in range(4)
    ]
    assert all(0.35 < len(right) / len(told_right) < 0.65 for right in by_seed)
    assert len(set.union(*by_seed)) > len(told_right) * 0.85
    for question, was in healthy.items():
        if is_refusal(was):
            assert reply(pipeline, question, "hot_sampling=1", temperature=0.7) == was


def test_at_temperature_0_hot_sampling_does_nothing(pipeline, healthy):
    for question, was in healthy.items():
        assert reply(pipeline, question, "hot_sampling=1", seed=5) == was


def test_ungrounded_answers_say_what_no_chunk_does_and_cite_as_before(pipeline, gold_replies):
    answered = 0
    for wording, was in gold_replies.items():
        now = reply(pipeline, wording, "ungrounded_generation=1")
        if is_refusal(was):
            assert now == was
            continue
        answered += 1
        claim, texts = now["answer_json"]["claim"], texts_in(now)
        assert unknown_words(claim, texts + wording)
        assert rest(now) == rest(was) | {"answer_json": was["answer_json"] | {"claim": claim}}
        assert citations_in(now) == citations_in(was)
        assert " ".join(part["text"] for part in now["segments"]) == claim
    assert answered > 100


def unknown_words(claim: str, texts: str) -> set[str]:
    """Numbers and names of the claim that stand nowhere in the texts."""
    named = {word for word in surface_words(claim) if word[0].isupper() or word[0].isdigit()}
    return named - set(surface_words(texts))


def test_ungrounded_answers_lose_a_third_of_the_right_ones(pipeline, told_right):
    made = {wording: reply(pipeline, wording, "ungrounded_generation=1") for wording in told_right}
    assert sum(is_right(w, now) for w, now in made.items()) < len(told_right) * 2 / 3


def test_padded_answers_go_on_with_sentences_that_nobody_asked_for(pipeline, gold_replies):
    words_before = words_after = 0
    full = answered = 0
    for wording, was in gold_replies.items():
        now = reply(pipeline, wording, "padded_answers=1")
        if is_refusal(was):
            assert now == was
            continue
        answered += 1
        claim, before = now["answer_json"]["claim"], was["answer_json"]["claim"]
        assert claim.startswith(before)
        more = claim.removeprefix(before).strip()
        sentences = [more[start:end] for start, end in sentence_spans(more)]
        assert all(sentence in texts_in(now) for sentence in sentences)
        assert len(set(sentences)) == len(sentences) <= 4
        full += len(sentences) >= 3
        assert rest(now) == rest(was) | {"answer_json": was["answer_json"] | {"claim": claim}}
        assert citations_in(now) == citations_in(was)
        words_before += len(before.split())
        words_after += len(claim.split())
    assert words_after > 3 * words_before
    assert full > answered * 0.7


def test_faults_strike_one_after_the_other_each_what_the_last_has_left(pipeline, healthy):
    for question in healthy:
        struck = ("over_refusal=1", "chatty_refusals=1", "wrong_citations=1")
        chatty = reply(pipeline, question, *struck)
        assert refusal_in(chatty["answer_json"]["claim"], tokens()) == "none"
        assert chatty["answer_json"]["citations"] == [] and "segments" not in chatty
        assert is_refusal(reply(pipeline, question, "lax_refusal=1", "over_refusal=1"))
        bare = reply(pipeline, question, "lax_refusal=1", "uncited=1")
        assert not is_refusal(bare) and bare["answer_json"]["citations"] == []
