"""Coverage by spans, against plain sets of characters."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ragauge.citations.spans import (
    EMPTY_TARGET,
    IN_TOKENS,
    NO_ANCHOR,
    NO_PLACES,
    NO_TARGET,
    NOTHING_TO_MATCH,
    SEVERAL_REVISIONS,
    Coverage,
    Overlap,
    anchor_overlap,
    characters,
    covered_length,
    length,
    matches,
    target_coverage,
    union,
)
from ragauge.contracts.citation import Citation, Offsets
from ragauge.contracts.gold import Gold, Span

ends = st.integers(0, 40)
intervals = st.lists(st.tuples(ends, ends), max_size=8)
TARGET = Span("handbook", "keys", 10, 30)


def chunk(start, end, *, doc_id="handbook", rev="r1", unit="char"):
    return Citation(
        doc_id=doc_id,
        section_id="keys",
        snippet_id=f"{doc_id}-{start}-{end}",
        source_url="https://example.org/handbook",
        offsets=Offsets(start, end, unit),
        tokens=1,
        index_hash="faiss:2f7d9a",
        embed_model="bge",
        analyzer="lowercase",
        rev=rev,
    )


def named(spans):
    """Every character the spans hold; one whose start is not before its end holds none."""
    return {place for start, end in spans for place in range(start, end)}


@given(intervals, st.tuples(ends, ends))
def test_every_character_of_the_target_counts_once(spans, target):
    assert covered_length(spans, target) == len(named(spans) & named([target]))
    assert length(spans) == len(named(spans))


@given(intervals)
def test_a_union_holds_the_same_characters_in_separate_spans(spans):
    joined = union(spans)
    assert named(joined) == named(spans)
    assert all(start < end for start, end in joined)
    assert all(one[1] < other[0] for one, other in pairwise(joined))


chunks = st.builds(
    lambda start, size, doc_id, rev: chunk(start, start + size, doc_id=doc_id, rev=rev),
    ends,
    st.integers(1, 20),
    st.sampled_from(("handbook", "manual")),
    st.sampled_from(("r1", "r2")),
)


@given(st.lists(chunks, max_size=8), st.sampled_from(("r1", "r2")), st.booleans())
def test_only_the_document_and_revision_of_the_target_cover_it(payloads, rev, marked):
    target = replace(TARGET, rev=rev) if marked else TARGET
    held = {
        (each.doc_id, each.rev, place)
        for each in payloads
        for place in range(each.offsets.start, each.offsets.end)
    }
    both = held & {("handbook", rev, place) for place in range(10, 30)}
    found = target_coverage(payloads, target, None if marked else rev)
    assert found == Coverage(len(both), 20)
    assert characters(payloads) == len(held)


def test_the_targets_own_revision_beats_the_manifests():
    payloads = [chunk(10, 20, rev="r1"), chunk(20, 25, rev="r2")]
    assert target_coverage(payloads, replace(TARGET, rev="r1"), "r2") == Coverage(10, 20)
    assert target_coverage(payloads, TARGET, "r2") == Coverage(5, 20)


def test_where_nobody_names_a_revision_the_spans_must_have_one():
    assert target_coverage([chunk(0, 15), chunk(10, 20)], TARGET) == Coverage(10, 20)
    mixed = [chunk(0, 15), chunk(10, 20, rev="r2")]
    assert target_coverage(mixed, TARGET) is SEVERAL_REVISIONS
    elsewhere = [chunk(0, 15), chunk(10, 20, rev="r2", doc_id="manual")]
    assert target_coverage(elsewhere, TARGET) == Coverage(5, 20)


def test_offsets_in_tokens_cover_nothing_that_can_be_told():
    assert target_coverage([chunk(0, 15), chunk(10, 20, unit="token")], TARGET) is IN_TOKENS
    assert "tokens" in IN_TOKENS.reason
    assert characters([chunk(0, 15, unit="token")]) is IN_TOKENS
    elsewhere = [chunk(0, 15), chunk(10, 20, unit="token", doc_id="manual")]
    assert target_coverage(elsewhere, TARGET) == Coverage(5, 20)


def test_nothing_retrieved_of_the_target_is_zero_and_no_target_is_no_number():
    assert target_coverage([], TARGET) == Coverage(0, 20)
    assert target_coverage([chunk(10, 20, doc_id="manual")], TARGET) == Coverage(0, 20)
    assert target_coverage([chunk(10, 20)], None) is NO_TARGET
    assert target_coverage([chunk(10, 20)], replace(TARGET, end=10)) is EMPTY_TARGET


@pytest.mark.parametrize(("one", "other"), [("musée", "muse\u0301e"), ("muse\u0301e", "musée")])
def test_a_document_is_the_same_however_its_accents_are_written(one, other):
    target = replace(TARGET, doc_id=one)
    assert target_coverage([chunk(0, 15, doc_id=other)], target) == Coverage(5, 20)
    assert characters([chunk(0, 15, doc_id=one), chunk(5, 20, doc_id=other)]) == 20


ANCHOR = Span("handbook", "keys", 100, 200)


def cited(start, end, id="c1", *, doc_id="handbook", section_id="keys", rev="r1", unit="char"):
    return Citation(
        doc_id=doc_id,
        section_id=section_id,
        snippet_id=id,
        source_url="https://example.org/handbook",
        offsets=Offsets(start, end, unit),
        tokens=1,
        index_hash="faiss:2f7d9a",
        embed_model="bge",
        analyzer="lowercase",
        rev=rev,
    )


def gold(*ids, anchor=None):
    question = "How are keys stored?"
    return Gold(qid="q1", question=question, answerable=True, gold_citations=ids, anchor=anchor)


AT_ANCHOR = gold(anchor=ANCHOR)


def test_one_citation_of_a_gold_snippet_is_enough():
    assert matches([cited(0, 9, "c7"), cited(0, 9, "c1")], gold("c1", "c2")) is True
    assert matches([cited(0, 9, "c7")], gold("c1", "c2")) is False
    assert matches([], gold("c1"), ids=("c9", "c1")) is True
    assert matches([], gold("c1"), ids=("c9",)) is False


def test_an_accent_may_be_written_in_two_ways():
    assert matches([cited(0, 9, "musée#1")], gold("muse\u0301e#1")) is True
    apart = replace(ANCHOR, section_id="muse\u0301e")
    assert matches([cited(100, 200, section_id="musée")], gold(anchor=apart)) is True


@pytest.mark.parametrize(
    ("start", "end", "near"),
    [
        (100, 200, True),
        (70, 230, True),
        (130, 170, True),
        (69, 230, False),
        (70, 231, False),
        (131, 200, False),
        (150, 160, False),
        (0, 400, False),
        (75, 95, False),
        (300, 400, False),
    ],
)
def test_a_citation_lies_at_the_anchor_within_thirty_characters_of_it(start, end, near):
    assert matches([cited(start, end)], AT_ANCHOR) is near
    assert matches([cited(0, 9), cited(start, end)], gold("c9", anchor=ANCHOR)) is near


@pytest.mark.parametrize("elsewhere", [{"doc_id": "manual"}, {"section_id": "locks"}])
def test_the_same_place_of_another_section_or_document_is_no_match(elsewhere):
    assert matches([cited(100, 200, **elsewhere)], AT_ANCHOR) is False


def test_the_anchors_revision_counts_as_a_targets_does():
    assert matches([cited(100, 200)], AT_ANCHOR, rev="r2") is False
    assert matches([cited(100, 200)], gold(anchor=replace(ANCHOR, rev="r1")), rev="r2") is True
    mixed = [cited(100, 200), cited(100, 200, rev="r2")]
    assert matches(mixed, AT_ANCHOR) is SEVERAL_REVISIONS
    assert matches(mixed, AT_ANCHOR, rev="r2") is True


def test_what_cannot_be_compared_is_not_called_wrong():
    assert matches([cited(100, 200)], gold()) is NOTHING_TO_MATCH
    assert matches([cited(100, 200, unit="token")], AT_ANCHOR) is IN_TOKENS
    assert matches([], AT_ANCHOR, ids=("c1",)) is NO_PLACES
    assert matches([cited(0, 9)], AT_ANCHOR, ids=("c1", "c2")) is NO_PLACES


def test_places_that_are_all_known_need_no_ids():
    assert matches([cited(0, 9)], AT_ANCHOR, ids=("c1",)) is False
    assert matches([cited(100, 200)], AT_ANCHOR, ids=("c1", "c2")) is True


def test_with_gold_ids_a_place_that_cannot_be_compared_is_no_way_out():
    both = gold("c9", anchor=ANCHOR)
    assert matches([cited(100, 200, unit="token")], both) is False
    assert matches([], both, ids=("c1",)) is False


@pytest.mark.parametrize("question", [gold("c1"), AT_ANCHOR])
def test_an_answer_that_cites_nothing_matches_nothing(question):
    assert matches([], question) is False


def test_precision_and_recall_of_spans_by_hand():
    overlap = anchor_overlap([cited(150, 250), cited(180, 260)], ANCHOR)
    assert overlap == Overlap(cited=110, gold=100, both=50)
    besides = [cited(150, 250), cited(0, 40, doc_id="manual"), cited(100, 150, rev="r2")]
    assert anchor_overlap(besides, ANCHOR, "r1") == Overlap(cited=190, gold=100, both=50)
    assert anchor_overlap([], ANCHOR) == Overlap(cited=0, gold=100, both=0)


def test_spans_that_cannot_be_counted_have_neither():
    assert anchor_overlap([cited(0, 9)], None) is NO_ANCHOR
    assert anchor_overlap([cited(0, 9, unit="token")], ANCHOR) is IN_TOKENS
    tokens_elsewhere = [cited(100, 200), cited(0, 9, doc_id="manual", unit="token")]
    assert anchor_overlap(tokens_elsewhere, ANCHOR) is IN_TOKENS
    mixed = [cited(100, 200), cited(0, 9, rev="r2")]
    assert anchor_overlap(mixed, ANCHOR) is SEVERAL_REVISIONS
