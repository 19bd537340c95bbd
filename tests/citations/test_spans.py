"""Coverage by spans, against plain sets of characters."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ragauge.citations.spans import (
    EMPTY_TARGET,
    IN_TOKENS,
    NO_TARGET,
    SEVERAL_REVISIONS,
    Covered,
    characters,
    covered,
    length,
    target_coverage,
    union,
)
from ragauge.contracts.citation import Citation, Offsets
from ragauge.contracts.gold import Span

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
    assert covered(spans, target) == len(named(spans) & named([target]))
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
    assert found == Covered(len(both), 20)
    assert characters(payloads) == len(held)


def test_the_targets_own_revision_beats_the_manifests():
    payloads = [chunk(10, 20, rev="r1"), chunk(20, 25, rev="r2")]
    assert target_coverage(payloads, replace(TARGET, rev="r1"), "r2") == Covered(10, 20)
    assert target_coverage(payloads, TARGET, "r2") == Covered(5, 20)


def test_where_nobody_names_a_revision_the_spans_must_have_one():
    assert target_coverage([chunk(0, 15), chunk(10, 20)], TARGET) == Covered(10, 20)
    mixed = [chunk(0, 15), chunk(10, 20, rev="r2")]
    assert target_coverage(mixed, TARGET) is SEVERAL_REVISIONS
    elsewhere = [chunk(0, 15), chunk(10, 20, rev="r2", doc_id="manual")]
    assert target_coverage(elsewhere, TARGET) == Covered(5, 20)


def test_offsets_in_tokens_cover_nothing_that_can_be_told():
    assert target_coverage([chunk(0, 15), chunk(10, 20, unit="token")], TARGET) is IN_TOKENS
    assert "tokens" in IN_TOKENS.reason
    assert characters([chunk(0, 15, unit="token")]) is IN_TOKENS
    elsewhere = [chunk(0, 15), chunk(10, 20, unit="token", doc_id="manual")]
    assert target_coverage(elsewhere, TARGET) == Covered(5, 20)


def test_nothing_retrieved_of_the_target_is_zero_and_no_target_is_no_number():
    assert target_coverage([], TARGET) == Covered(0, 20)
    assert target_coverage([chunk(10, 20, doc_id="manual")], TARGET) == Covered(0, 20)
    assert target_coverage([chunk(10, 20)], None) is NO_TARGET
    assert target_coverage([chunk(10, 20)], replace(TARGET, end=10)) is EMPTY_TARGET


@pytest.mark.parametrize(("one", "other"), [("musée", "muse\u0301e"), ("muse\u0301e", "musée")])
def test_a_document_is_the_same_however_its_accents_are_written(one, other):
    target = replace(TARGET, doc_id=one)
    assert target_coverage([chunk(0, 15, doc_id=other)], target) == Covered(5, 20)
    assert characters([chunk(0, 15, doc_id=one), chunk(5, 20, doc_id=other)]) == 20
