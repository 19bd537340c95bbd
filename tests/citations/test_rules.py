"""Rules over the citations of one answer: sections, units, repetition and order."""

from __future__ import annotations

from itertools import permutations
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.citations.payload import read_payload
from ragauge.citations.rules import Pointer, crossed_sections, mixed_units, out_of_order, repeated
from ragauge.contracts.citation import Citation, Offsets
from tests.citations.answers import chunk

NOTHING: frozenset[frozenset[str]] = frozenset()


def cited(number: int = 1, **changed: Any) -> Citation:
    whole = read_payload(chunk(number, **changed)).citation
    assert whole
    return whole


def pairs(*written: tuple[str, str]) -> frozenset[frozenset[str]]:
    return frozenset(frozenset(pair) for pair in written)


def at(doc_id: str | None, section_id: str | None) -> Pointer:
    return Pointer(doc_id=doc_id, section_id=section_id)


def test_one_section_may_be_cited_as_often_as_one_likes():
    assert crossed_sections([], NOTHING) is None
    assert crossed_sections([cited(1), cited(2), cited(3)], NOTHING) is None


def test_two_sections_in_one_segment_are_named():
    keys, access = cited(1, section_id="keys"), cited(2, section_id="access")
    found = crossed_sections([keys, access], NOTHING)
    assert (found.code, found.field) == ("cross_section_reuse", "section_id")
    assert found.got == "handbook_2024#keys and handbook_2024#access"
    assert found.expected == "one section"


def test_a_section_of_the_same_name_in_another_document_is_another():
    here, there = at("handbook", "keys"), at("faq", "keys")
    assert crossed_sections([here, there], NOTHING).got == "handbook#keys and faq#keys"
    assert crossed_sections([here, there], pairs(("handbook#keys", "faq#keys"))) is None
    assert crossed_sections([here, there], pairs(("handbook#keys", "keys"))) is None
    assert crossed_sections([here, there], pairs(("faq#keys", "faq#access"))) is not None


@pytest.mark.parametrize(
    "allowed",
    [("keys", "access"), ("access", "keys"), ("hb#keys", "access"), ("hb#access", "hb#keys")],
)
def test_a_pair_is_allowed_by_section_or_by_document_and_section(allowed):
    assert crossed_sections([at("hb", "keys"), at("hb", "access")], pairs(allowed)) is None


def test_a_pair_allows_itself_and_nothing_more():
    three = [at("hb", "keys"), at("hb", "access"), at("hb", "safe")]
    allowed = pairs(("keys", "access"), ("keys", "safe"))
    assert crossed_sections(three, allowed).got == "hb#access and hb#safe"
    assert crossed_sections(three, allowed | pairs(("access", "safe"))) is None
    assert crossed_sections(
        [at("hb", "keys"), at("faq", "access")], pairs(("hb#keys", "hb#access"))
    )


def test_of_payloads_that_are_not_whole_what_can_be_read_is_judged():
    assert crossed_sections([at(None, "keys"), at("hb", "access")], NOTHING).got == (
        "keys and hb#access"
    )
    assert crossed_sections([at(None, "keys"), at("hb", "keys")], NOTHING) is None, "who can say"
    assert crossed_sections([at("hb", None), at("faq", None)], NOTHING) is None


def test_units_may_not_be_mixed():
    chars, tokens = cited(1), cited(2, offsets={"start": 1, "end": 4, "unit": "token"})
    assert mixed_units([chars, chars], None) is None
    assert mixed_units([tokens], None) is None
    assert mixed_units([], "char") is None
    found = mixed_units([chars, tokens, chars], None)
    assert (found.code, found.field) == ("mixed_units", "offsets.unit")
    assert (found.got, found.expected) == ("2 in characters, 1 in tokens", "one unit")


def test_a_run_has_one_unit():
    chars = cited(1)
    assert mixed_units([chars], "char") is None
    found = mixed_units([chars], "token")
    assert found.got == "1 in characters, 0 in tokens"
    assert found.expected == "all in the run's unit, token"
    assert mixed_units([Pointer()], "token") is None, "it has none"


def test_a_span_cited_twice_is_told_each_time_after_the_first():
    found = repeated([(0, cited(1)), (1, cited(2)), (2, cited(1)), (5, cited(1))])
    assert [(place, one.code, one.expected) for place, one in found] == [
        (2, "duplicate_citation", "the span of citations[0]"),
        (5, "duplicate_citation", "the span of citations[0]"),
    ]


def test_another_span_of_the_same_chunk_is_no_repetition():
    part = cited(1, offsets={"start": 100, "end": 120})
    assert repeated([(0, cited(1)), (1, part)]) == []
    assert repeated([(0, Pointer(snippet_id="c1")), (1, Pointer(snippet_id="c1"))]) == []
    twice = Pointer(snippet_id="c1", offsets=Offsets(1, 2))
    assert [place for place, _ in repeated([(0, twice), (1, twice)])] == [1]


def key(one: dict[str, Any]) -> tuple[float, str, str, int]:
    return -one["score_norm"], one["section_id"], one["snippet_id"], one["offsets"]["start"]


TIED = [
    chunk(9, score_norm=0.9, section_id="z"),
    chunk(1, score_norm=0.8, section_id="a", snippet_id="b"),
    chunk(2, score_norm=0.8, section_id="b", snippet_id="a"),
    chunk(3, score_norm=0.8, section_id="b", snippet_id="b"),
    chunk(4, score_norm=0.8, section_id="b", snippet_id="b"),
    chunk(5, score_norm=0.1, section_id="a"),
]
"""In the order of the law: each tie is broken by the next field."""


def test_ties_are_broken_by_section_then_id_then_start():
    assert out_of_order(TIED) is None
    assert sorted(TIED, key=key) == TIED


@pytest.mark.parametrize("place", range(5))
def test_any_two_neighbours_turned_round_break_the_order(place):
    turned = [*TIED]
    turned[place], turned[place + 1] = turned[place + 1], turned[place]
    found = out_of_order(turned)
    assert (found.code, found.field) == ("bad_order", "score_norm")
    first, second = turned[place]["snippet_id"], turned[place + 1]["snippet_id"]
    assert found.got == f"{first} before {second}"


@given(seed=st.integers(0, 10_000))
def test_the_order_is_that_of_sorting(seed):
    shuffled = Random(seed).sample(TIED, len(TIED))
    assert (out_of_order(shuffled) is None) == (shuffled == sorted(shuffled, key=key))


def test_typed_payloads_have_the_same_order():
    typed = [read_payload(one).citation for one in TIED]
    assert out_of_order(typed) is None
    assert out_of_order(typed[::-1]).code == "bad_order"


@pytest.mark.parametrize("sign", ["k_final", "rerank_score"])
def test_a_reranked_list_is_judged_by_its_places_before(sign):
    found = [chunk(n, **{sign: 9 - n}) for n in (1, 2, 3)]
    for order in permutations(found):
        final = [one.get("k_final", 0) for one in order]
        kept = order == tuple(found) or final == sorted(final)
        assert (out_of_order(order) is None) is kept, "as the reranker left it"
    wrong = [found[0], {**found[1], "score_norm": 0.05}, found[2]]
    assert out_of_order(wrong).code == "bad_order"


def test_a_chunk_that_the_reranker_cut_tells_no_place_after_it():
    assert out_of_order([chunk(3, k_final=1), chunk(1, k_final=2), chunk(2)]) is None


def test_without_a_sign_of_a_reranker_the_list_itself_must_be_in_order():
    assert out_of_order([chunk(2), chunk(1)]).code == "bad_order"
    assert out_of_order([chunk(2, k_final=1, k_pos=None), chunk(1, k_final=2)]).code == "bad_order"


@pytest.mark.parametrize(
    "chunks",
    [
        [],
        [chunk(1)],
        [chunk(2, score_norm=None), chunk(1)],
        [chunk(2, score_norm="high"), chunk(1)],
        [chunk(2, score_norm=...), chunk(1, score_norm=...)],
        [{"score_norm": 0.5}, {"score_norm": 0.5}],
        [7, None],
        [{}, {}],
    ],
    ids=range(8),
)
def test_what_has_no_score_has_no_order_to_break(chunks):
    assert out_of_order(chunks) is None
