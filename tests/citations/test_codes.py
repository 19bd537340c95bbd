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
    explain,
    message_of,
    place_of,
    rank_of,
    tip_of,
    worst_first,
)
from ragauge.citations.validator import CitationValidator
from ragauge.contracts.audit import DEPTHS, CitationFinding
from ragauge.contracts.citation import Citation
from ragauge.contracts.manifest import Manifest
from tests.citations.answers import ANSWER, RETRIEVED, chunk

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
    assert explain(code).depth == depth


@pytest.mark.parametrize("code", ["", "nonsense", "missing", "missing_", "bad_type_", "OK", "Ok "])
def test_what_is_no_code_has_no_entry(code):
    assert entry_of(code) is None
    assert explain(code) is None


def test_only_codes_that_can_be_found_are_explained():
    for field in FIELDS:
        for family in ("missing", "bad_type", "mismatch"):
            assert explain(f"{family}_{field}").code == f"{family}_{field}"
    assert explain("missing_<field>") == entry_of("missing_<field>")
    assert explain("missing_colour") is None
    assert explain("missing_trace").means == "A gold question that no trace answers."
    assert explain("missing_rev").tip == FIELD_TIPS["rev"]


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


@pytest.mark.parametrize(
    ("segment", "item", "field", "place"),
    [
        (None, None, None, "answer"),
        (None, None, "citations", "citations"),
        (None, 2, None, "citations[2]"),
        (None, 2, "rev", "citations[2].rev"),
        (None, 0, "offsets.unit", "citations[0].offsets.unit"),
        (1, None, "citations", "segments[1].citations"),
        (1, 0, "rev", "segments[1].citations[0].rev"),
    ],
)
def test_a_place_is_a_path_into_the_reply(segment, item, field, place):
    found = CitationFinding(code="missing_rev", segment=segment, item=item, field=field)
    assert place_of(found) == place


def messages(answer, retrieved=RETRIEVED, manifest=None):
    validator = CitationValidator(manifest)
    return [message_of(finding) for finding in validator(answer, retrieved).findings]


@pytest.mark.parametrize(
    ("answer", "retrieved", "said"),
    [
        ({**ANSWER, "citations": []}, RETRIEVED, "citations: none"),
        (["c9"], RETRIEVED, 'citations[0].snippet_id: "c9", expected one of the 3 retrieved: '),
        (
            ["c9"],
            [],
            'citations[0].snippet_id: "c9", expected a retrieved one, but nothing was retrieved',
        ),
        ([{"snippet_id": "c1", "rev": "9"}], RETRIEVED, 'rev: "9", expected "3b91f2a"'),
        ([{"snippet_id": "c1", "page": 3}], [chunk(1, page=4)], "page: 3, expected 4"),
        (["c1"], [chunk(1, rev=None)], "citations[0].rev: missing, expected text"),
        (["c1"], [chunk(1, tokens="many")], 'tokens: "many", expected a whole number, 0 or more'),
        (["c1"], [chunk(1, offsets=[9, 4])], "offsets: start 9, end 4, expected start before end"),
        (["c1"], [chunk(1, score_norm=None)], "citations[0].score_norm: missing"),
        (
            ["c1", "c1"],
            RETRIEVED,
            'citations[1].snippet_id: "c1", expected the span of citations[0]',
        ),
        (["c1"], RETRIEVED[::-1], "score_norm: c3 before c2, expected score_norm falling, then "),
        ('{"citations": ["c1"], "answ', RETRIEVED, "answer: not JSON: unterminated string"),
        ('{"error": "no index", "fix": "Build it"}', None, "answer: no index: Build it"),
        (
            '{"error": "no index", "field": "index_hash", "tip": "Build it"}',
            None,
            "index_hash: no index: Build it",
        ),
        (
            '{"answer": "Every year.", "citations": ["c1"]}',
            RETRIEVED,
            "citations: only after the answer, expected before or in the answer",
        ),
        (7, None, "answer: type int, expected a reply's text, its object, or a list of citations"),
        (["c1"], "c1", "retrieved: type str, expected a list of payloads or ids"),
    ],
    ids=range(17),
)
def test_what_is_said_of_a_fault(answer, retrieved, said):
    found = messages(answer, retrieved)
    assert any(said in message for message in found), found


def test_what_the_live_index_says():
    manifest = Manifest(hash="8c01", text_preproc="none", doc_revs={"other": "r1"})
    assert messages(["c1"], RETRIEVED, manifest) == [
        'citations[0].index_hash: "faiss:2f7d9a", expected "8c01"',
        'citations[0].analyzer: "lowercase+ascii_fold", expected "none"',
        'citations[0].rev: "3b91f2a", expected a document of the index, which has no handbook_2024',
    ]


def test_a_message_is_one_line_whatever_a_model_writes():
    reply = {"error": "line\nbreak \x1b[2J", "field": "a\nb" * 100, "tip": "t" * 500}
    (message,) = messages(reply, None)
    assert "\n" not in message and "\x1b" not in message and len(message) < 200


def test_the_whole_place_of_broken_json_is_told():
    reply = '{"citations": [' + '{"snippet_id": "c1"}, ' * 40 + '"answer'
    (message,) = messages(reply)
    assert message.startswith("answer: not JSON") and "line 1, column" in message
    assert "cut off" in message
