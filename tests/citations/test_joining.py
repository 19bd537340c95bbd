"""A model's citation beside what was retrieved: joined on its id, and what both say must agree."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from ragauge.citations.joining import Retrieved, cited_id, joined
from ragauge.citations.payload import read_payload
from ragauge.contracts.citation import Citation
from tests.citations.answers import FIXTURE, NOT_OF_THEIR_KIND, chunk, model_side

TYPED = read_payload(FIXTURE).citation
ID = FIXTURE["snippet_id"]


def codes(citation: Any, known: Any) -> list[str]:
    return [finding.code for finding in joined(citation, known).findings]


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
        read = joined(citation, known)
        assert (read.findings, read.citation) == ([], TYPED)


def test_without_a_chunk_a_citation_speaks_for_itself():
    assert joined(FIXTURE, None) == read_payload(FIXTURE)
    assert joined("c9", None).findings == read_payload({"snippet_id": "c9"}).findings
    lost = {"index_hash", "embed_model", "analyzer", "rev", "doc_id"}
    assert set(codes(model_side(FIXTURE), None)) == {f"missing_{name}" for name in lost}


def test_what_the_chunk_does_not_tell_the_citation_may():
    known = {name: value for name, value in FIXTURE.items() if name not in ("source_url", "page")}
    read = joined(model_side(FIXTURE), known)
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
    read = joined({"snippet_id": ID, field: OTHERWISE[field]}, known)
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
