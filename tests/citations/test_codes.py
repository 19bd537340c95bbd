"""The codes: ranked as the specification lists them, each with its meaning and a next step."""

from __future__ import annotations

from random import Random

import pytest

from ragauge.citations.codes import (
    CODES,
    FIELD_TIPS,
    OF_TRACES,
    depth_of,
    entry_of,
    explained,
    rank_of,
    tip_of,
    worst_first,
)
from ragauge.contracts.audit import DEPTHS, CitationFinding
from ragauge.contracts.citation import Citation

LISTED = (
    *("ok", "empty_citations", "missing_<field>", "bad_type_<field>", "bad_offsets", "mixed_units"),
    *("cross_section_reuse", "missing_score", "missing_k_pos", "mismatch_index_hash"),
    *("analyzer_mismatch", "rev_mismatch", "not_retrieved", "span_text_mismatch", "out_of_range"),
    *("cite_after_answer", "duplicate_citation", "bad_order", "missing_document", "misattributed"),
    *("unsupported", "model_reported_error"),
)
"""The codes in the order of the specification."""
FIELDS = Citation.__struct_fields__


def test_codes_rank_as_the_specification_lists_them():
    known = [entry.code for entry in CODES]
    assert [code for code in known if code in LISTED] == list(LISTED)
    assert len(set(known)) == len(known)


def test_among_missing_fields_the_index_comes_first():
    missing = sorted((f"missing_{name}" for name in FIELDS[:10]), key=rank_of)
    first = ["index_hash", "embed_model", "analyzer", "rev", "doc_id"]
    rest = ["offsets", "section_id", "snippet_id", "source_url", "tokens"]
    assert missing == [f"missing_{name}" for name in (*first, *rest)]


def test_a_missing_score_is_no_missing_field():
    found = ["bad_order", "missing_k_pos", "missing_score", "bad_type_rev", "missing_tokens"]
    assert sorted(found, key=rank_of) == found[::-1]


def test_every_code_has_a_meaning_and_a_next_step_in_words():
    for entry in (*CODES, *OF_TRACES):
        assert entry.means.endswith(".") and entry.tip.endswith(".")
        assert len(entry.means) > 20 and len(entry.tip) > 20
    assert len({entry.means for entry in (*CODES, *OF_TRACES)}) == len(CODES) + len(OF_TRACES)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("empty_citations", "cite-first"),
        ("missing_score", "score in the adapter"),
        ("bad_offsets", "Rebuild the chunk offsets and check the unit"),
        ("cross_section_reuse", "whitelist"),
        ("mismatch_index_hash", "Rebuild the index, or fix the start-up order"),
        ("analyzer_mismatch", "Align analyzer and normalisation"),
        ("mismatch_embed_model", "Rebuild the index"),
        ("missing_rev", "revision"),
        ("missing_section_id", "adapter"),
    ],
)
def test_the_next_steps_of_the_specification(code, said):
    assert said in tip_of(code)


def test_a_missing_field_has_a_step_of_its_own_where_that_says_more():
    assert set(FIELD_TIPS) <= set(FIELDS)
    for field, tip in FIELD_TIPS.items():
        assert tip_of(f"missing_{field}") == tip
    assert tip_of("bad_type_rev") == entry_of("bad_type_<field>").tip


def test_each_code_belongs_to_a_depth():
    assert {entry.depth for entry in CODES} == {*DEPTHS}
    assert [entry.code for entry in CODES if entry.depth == "support"] == ["unsupported"]


@pytest.mark.parametrize(
    ("code", "depth"),
    [
        ("not_retrieved", "marker"),
        ("empty_citations", "marker"),
        ("missing_snippet_id", "marker"),
        ("bad_type_snippet_id", "marker"),
        ("bad_type_citation", "marker"),
        ("bad_type_answer", "marker"),
        ("missing_rev", "payload"),
        ("mismatch_snippet_id", "payload"),
        ("bad_type_page", "payload"),
        ("misattributed", "text"),
    ],
)
def test_what_names_no_id_is_found_at_the_first_depth(code, depth):
    assert depth_of(code) == depth
    assert explained(code).depth == depth


@pytest.mark.parametrize("code", ["", "nonsense", "missing", "missing_", "bad_type_", "OK", "Ok "])
def test_what_is_no_code_has_no_entry(code):
    assert entry_of(code) is None
    assert explained(code) is None


def test_only_codes_that_can_be_found_are_explained():
    for field in FIELDS:
        for family in ("missing", "bad_type", "mismatch"):
            assert explained(f"{family}_{field}").code == f"{family}_{field}"
    assert explained("missing_<field>") == entry_of("missing_<field>")
    assert explained("missing_colour") is None
    assert explained("missing_trace").means == "A gold question that no trace answers."
    assert explained("missing_rev").tip == FIELD_TIPS["rev"]


def test_findings_are_sorted_worst_first_then_by_place():
    ordered = [
        CitationFinding(code="empty_citations", segment=1),
        CitationFinding(code="missing_index_hash", item=3),
        CitationFinding(code="missing_rev", item=0),
        CitationFinding(code="missing_offsets", item=0),
        CitationFinding(code="bad_type_page", item=0),
        CitationFinding(code="not_retrieved"),
        CitationFinding(code="not_retrieved", item=0),
        CitationFinding(code="not_retrieved", item=2),
        CitationFinding(code="not_retrieved", segment=0, item=1),
        CitationFinding(code="not_retrieved", segment=1, item=0),
        CitationFinding(code="bad_order"),
    ]
    shuffled = Random(5).sample(ordered, len(ordered))
    assert worst_first(shuffled) == tuple(ordered)
