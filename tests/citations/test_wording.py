"""Findings in words: where, what was found, and what should have been."""

from __future__ import annotations

import pytest

from ragauge.citations.codes import message_of, place_of
from ragauge.citations.validator import CitationValidator
from ragauge.contracts.audit import CitationFinding
from ragauge.contracts.manifest import Manifest
from tests.citations.answers import ANSWER, RETRIEVED, chunk


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
