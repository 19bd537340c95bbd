"""Rules over the citations of one answer: sections, units, repetition and order."""

from __future__ import annotations

from itertools import permutations
from random import Random
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.citations.joining import Retrieved, cited_id, join_payload
from ragauge.citations.payload import read_payload
from ragauge.citations.rules import (
    Pointer,
    crossed_sections,
    mixed_units,
    out_of_order,
    repeated_citations,
)
from ragauge.contracts.citation import Citation, Offsets
from tests.citations.answers import FIXTURE, NOT_OF_THEIR_KIND, chunk, model_side

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
    found = repeated_citations([(0, cited(1)), (1, cited(2)), (2, cited(1)), (5, cited(1))])
    assert [(place, one.code, one.expected) for place, one in found] == [
        (2, "duplicate_citation", "the span of citations[0]"),
        (5, "duplicate_citation", "the span of citations[0]"),
    ]


def test_another_span_of_the_same_chunk_is_no_repetition():
    part = cited(1, offsets={"start": 100, "end": 120})
    assert repeated_citations([(0, cited(1)), (1, part)]) == []
    assert repeated_citations([(0, Pointer(snippet_id="c1")), (1, Pointer(snippet_id="c1"))]) == []
    twice = Pointer(snippet_id="c1", offsets=Offsets(1, 2))
    assert [place for place, _ in repeated_citations([(0, twice), (1, twice)])] == [1]


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


TYPED = read_payload(FIXTURE).citation
ID = FIXTURE["snippet_id"]


def codes(citation: Any, known: Any) -> list[str]:
    return [finding.code for finding in join_payload(citation, known).findings]


@pytest.mark.parametrize(
    ("citation", "id"),
    [
        ("c1", "c1"),
        ({"snippet_id": "c1"}, "c1"),
        ({"id": "c1"}, "c1"),
        ({"chunk_id": "c1"}, "c1"),
        ({"id": "6f1c", "snippet_id": "c1"}, "c1"),
        ({"snippet_id": " ", "id": "c1"}, "c1"),
        (MappingProxyType({"snippet_id": "c1"}), "c1"),
        (TYPED, ID),
        ("", None),
        ("  \n", None),
        ({}, None),
        ({"snippet_id": 7}, None),
        (7, None),
        (None, None),
        (["c1"], None),
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_id_is_found_in_whatever_a_citation_is_written_as(citation, id):
    assert cited_id(citation) == id


@pytest.mark.parametrize("written", [lambda p: p, lambda p: read_payload(p).citation])
def test_what_the_model_leaves_out_the_chunk_knows(written):
    known = written(FIXTURE)
    for citation in (ID, {"snippet_id": ID}, {"id": ID}, model_side(FIXTURE), FIXTURE, known):
        read = join_payload(citation, known)
        assert (read.findings, read.citation) == ([], TYPED)


def test_without_a_chunk_a_citation_speaks_for_itself():
    assert join_payload(FIXTURE, None) == read_payload(FIXTURE)
    assert join_payload("c9", None).findings == read_payload({"snippet_id": "c9"}).findings
    lost = {"index_hash", "embed_model", "analyzer", "rev", "doc_id"}
    assert set(codes(model_side(FIXTURE), None)) == {f"missing_{name}" for name in lost}


def test_what_the_chunk_does_not_tell_the_citation_may():
    known = {name: value for name, value in FIXTURE.items() if name not in ("source_url", "page")}
    read = join_payload(model_side(FIXTURE), known)
    assert read.findings == []
    assert read.citation.source_url == FIXTURE["source_url"]
    assert codes({"snippet_id": ID}, known) == ["missing_source_url"]


OTHERWISE: dict[str, Any] = {
    "doc_id": "handbook_2023",
    "section_id": "policies/access",
    "source_url": "https://example.org/elsewhere",
    "offsets": {"start": 2311, "end": 2688},
    "tokens": 189,
    "index_hash": "faiss:000000",
    "embed_model": "minilm",
    "analyzer": "lowercase",
    "rev": "0000000",
    "window": {"pre": 0, "post": 0},
    "page": 15,
    "score_raw": 0.5,
    "score_norm": 0.5,
    "rerank_score": 0.5,
    "k_pos": 1,
    "k_final": 1,
}
CODES = {"analyzer": "analyzer_mismatch", "rev": "rev_mismatch"}


def test_every_field_but_the_id_can_disagree():
    assert {*OTHERWISE, "snippet_id"} == set(FIXTURE)


@pytest.mark.parametrize("known", [FIXTURE, TYPED], ids=["plain", "typed"])
@pytest.mark.parametrize("field", OTHERWISE)
def test_a_repeated_field_must_agree(field, known):
    read = join_payload({"snippet_id": ID, field: OTHERWISE[field]}, known)
    code = CODES.get(field, f"mismatch_{field}")
    assert [(one.code, one.field) for one in read.findings] == [(code, field)]
    assert None not in (read.findings[0].got, read.findings[0].expected)
    assert read.citation == TYPED, "the chunk's word counts"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (field, value)
        for field, values in NOT_OF_THEIR_KIND.items()
        if field != "snippet_id"
        for value in values
        if value != FIXTURE[field]  # 18.0 is 18
    ],
    ids=lambda value: str(value)[:24],
)
def test_a_repeated_field_must_be_of_its_kind_though_the_chunk_knows_better(field, value):
    assert codes({"snippet_id": ID, field: value}, FIXTURE) == [f"bad_type_{field}"]


def test_offsets_of_the_model_that_run_backwards_are_told():
    assert codes({"snippet_id": ID, "offsets": [2688, 2310]}, FIXTURE) == ["bad_offsets"]


@pytest.mark.parametrize(
    "said",
    [
        {"offsets": [2310, 2688]},
        {"offsets": {"char_start": 2310, "char_end": 2688}},
        {"offsets": {"start": 2310, "end": 2688}},
        {"index_hash": "2f7d9a"},
        {"index_hash": "qdrant:2f7d9a"},
        {"tokens": {"start": 0, "end": 188}},
        {"page": None, "rev": None},
        {"rev": "", "source_url": " "},
        {"window": {"pre": 120, "post": 120, "unit": "char"}},
        {"score_norm": 0.78, "quote": "Keys are turned.", "colour": "red"},
    ],
    ids=str,
)
def test_the_same_in_another_form_agrees(said):
    assert codes({"snippet_id": ID, **said}, FIXTURE) == []


def test_an_accent_may_be_its_own_character():
    known = {**FIXTURE, "section_id": "caf\u00e9"}
    assert codes({"snippet_id": ID, "section_id": "cafe\u0301"}, known) == []


def test_one_fault_on_both_sides_is_told_once():
    broken = {**FIXTURE, "page": "14", "rev": 7}
    assert codes({"snippet_id": ID, "page": "14", "rev": 7}, broken) == [
        "bad_type_rev",
        "bad_type_page",
    ]
    assert codes({"snippet_id": ID, "page": "14"}, {**FIXTURE, "rev": 7}) == [
        "bad_type_page",
        "bad_type_rev",
    ]


def test_what_was_retrieved_is_found_by_its_id():
    known = Retrieved([chunk(1), "c2", chunk(1, rev="older"), {"id": "c3"}, 7, None, {}, TYPED])
    assert (len(known), known.first(3)) == (4, ["c1", "c2", "c3"])
    assert known.first(9)[-1] == ID
    assert known.chunk("c1") == chunk(1)
    assert known.chunk("c2") is None
    assert isinstance(known.chunk(ID), Citation)
    assert [known.as_retrieved(id) for id in ("c1", "c2", "c9")] == ["c1", "c2", None]


def test_a_payload_says_more_than_an_id_before_it():
    assert Retrieved(["c1", chunk(1)]).chunk("c1") == chunk(1)


def test_ids_are_known_in_other_spellings_of_the_same_letters():
    known = Retrieved([chunk(1, snippet_id="caf\u00e9-1"), chunk(2, snippet_id="c2 ")])
    assert known.as_retrieved("cafe\u0301-1") == "caf\u00e9-1"
    assert known.as_retrieved(" c2") == "c2 "
    assert known.as_retrieved("C2") is None
