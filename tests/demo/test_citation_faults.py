"""Answers that cite what they should not, and stay as they are."""

from __future__ import annotations

from tests.demo.asking import citations_in, cited_in, is_refusal, quoted_in, reply, rest


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
