"""Replies gone wrong: what answers say, what they cite, what is told about retrieved chunks."""

from __future__ import annotations

from ragauge.demo.chunks import sentence_spans
from ragauge.demo.pipeline import Pipeline
from ragauge.demo.words import surface_words
from ragauge.refusals.predicate import refusal_in, refusal_tokens
from tests.demo.asking import (
    CONSTRAINTS,
    WORDINGS,
    citations_in,
    cited_in,
    is_refusal,
    is_right,
    quoted_in,
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
            assert refusal_in(claim, refusal_tokens()) == "none"
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
        assert refusal_in(chatty["answer_json"]["claim"], refusal_tokens()) == "none"
        assert chatty["answer_json"]["citations"] == [] and "segments" not in chatty
        assert is_refusal(reply(pipeline, question, "lax_refusal=1", "over_refusal=1"))
        bare = reply(pipeline, question, "lax_refusal=1", "uncited=1")
        assert not is_refusal(bare) and bare["answer_json"]["citations"] == []


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


def test_uncited_answers_cite_nothing_and_say_the_same(pipeline, healthy):
    struck = 0
    for question, was in healthy.items():
        now = reply(pipeline, question, "uncited=1")
        assert "segments" not in now
        assert now == rest(was) | {"answer_json": was["answer_json"] | {"citations": []}}
        struck += now != was
    assert struck == sum(not is_refusal(was) for was in healthy.values()) > 15


def section_of(payload: dict) -> str:
    return payload["snippet_id"].partition(".")[0]


def test_mixed_sections_add_a_citation_of_another_section_to_one_part(pipeline, gold_replies):
    struck = 0
    for wording, was in gold_replies.items():
        now = reply(pipeline, wording, "mixed_sections=1")
        if is_refusal(was) or len({section_of(one) for one in was["retrieved"]}) == 1:
            assert now == was
            continue
        struck += 1
        first, *others = now["segments"]
        *before, added = first["citations"]
        assert [first | {"citations": before}, *others] == was["segments"]
        assert section_of(added) not in {section_of(one) for one in before}
        shown = {one["snippet_id"]: one for one in now["retrieved"]}[added["snippet_id"]]
        assert added.pop("quote") in shown["text"]
        assert added.items() <= shown.items()
        cited = list(dict.fromkeys([*was["answer_json"]["citations"], added["snippet_id"]]))
        assert rest(now) == rest(was) | {"answer_json": was["answer_json"] | {"citations": cited}}
    answered = sum(not is_refusal(was) for was in gold_replies.values())
    assert struck > answered * 0.6


def test_a_comparison_with_mixed_sections_cites_the_other_side_in_the_first_part(pipeline):
    question = "Did the Louvre or the Prado open to the public earlier?"
    was, now = reply(pipeline, question), reply(pipeline, question, "mixed_sections=1")
    assert [len(part["citations"]) for part in now["segments"]] == [2, 1]
    assert set(now["answer_json"]["citations"]) >= set(was["answer_json"]["citations"])


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
