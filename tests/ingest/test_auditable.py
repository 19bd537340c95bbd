"""Traces as an audit reads them: every dialect, with citations as they were written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.ingest.fields import BadField
from ragauge.ingest.traces import auditable_faults, read_auditable
from tests.citations.answers import chunk

A = {
    "ts": 1,
    "q": "When?",
    "chunks": [{"id": "c1", "text": "Keys are turned."}],
    "answer": "- claim: Every year.\n- citations: [c1]",
    "ok": True,
}
B = {
    "qid": "q1",
    "q": "When?",
    "retrieved_ids": ["c1", "c2"],
    "answer_json": {"claim": "Every year.", "citations": ["c1"], "constraints_echo": ["x"]},
}
OURS = {
    "qid": "q1",
    "run_id": "r1",
    "seed": 7,
    "retrieved": [chunk(1), chunk(2)],
    "answer": json.dumps({"citations": ["c1"], "answer": "Every year."}),
    "status": "ok",
}


def test_dialect_a():
    made = read_auditable(A)
    assert made.retrieved == A["chunks"]
    assert made.retrieved_ids == ("c1",)
    assert (made.answer.answer, made.answer.citations) == ("Every year.", ("c1",))
    assert made.answer.cites_first is False
    assert made.trace.q == "When?"


def test_dialect_b():
    made = read_auditable(B)
    assert made.retrieved == ["c1", "c2"]
    assert (made.answer.answer, made.answer.citations) == ("Every year.", ["c1"])
    assert made.answer.cites_first is None, "fields have no order"


def test_ours():
    made = read_auditable(OURS)
    assert made.retrieved == OURS["retrieved"]
    assert made.answer.citations == ["c1"]
    assert made.answer.cites_first is True
    assert made.trace.seed == 7


def test_citations_are_kept_as_they_were_written():
    written = ["c1", {"snippet_id": "c2", "rev": 7}, {}, 7, None]
    for record in (
        {**B, "answer_json": {"claim": "So.", "citations": written}},
        {"qid": "q1", "answer": "So.", "citations": written},
        {"qid": "q1", "answer": json.dumps({"citations": written, "answer": "So."})},
    ):
        assert list(read_auditable(record).answer.citations) == written
    whole = [{"snippet_id": "c2", "rev": 7}, {}]
    assert read_auditable({"qid": "q1", "answer": "So.", "cited": whole}).answer.citations == whole


def test_a_field_of_the_trace_beats_the_text():
    late = "So.\ncitations: [c1]"
    assert read_auditable({"qid": "q1", "answer": late}).answer.citations == ("c1",)
    made = read_auditable({"qid": "q1", "answer": late, "citations": ["c2"]})
    assert (made.answer.citations, made.answer.cites_first) == (["c2"], None)
    assert read_auditable({"qid": "q1", "answer": late, "citations": []}).answer.citations == []
    told = {"qid": "q1", "answer": "So.", "citations": ["c1"], "cited": [{"snippet_id": "c2"}]}
    assert read_auditable(told).answer.citations == [{"snippet_id": "c2"}]
    assert read_auditable({**told, "cited": []}).answer.citations == []


@pytest.mark.parametrize(
    ("record", "retrieved"),
    [
        ({}, None),
        ({"retrieved_ids": []}, []),
        ({"retrieved": [], "chunks": [{"id": "c1"}]}, []),
        ({"retrieved": None, "chunks": [{"id": "c1"}]}, [{"id": "c1"}]),
        (
            {"retrieved": [{"snippet_id": "c1"}], "retrieved_ids": ["c1", "c2"]},
            [{"snippet_id": "c1"}, "c2"],
        ),
        ({"retrieved": [{"no": "id"}, 7, "c3"]}, [{"no": "id"}, 7, "c3"]),
    ],
    ids=range(6),
)
def test_what_was_retrieved(record, retrieved):
    made = read_auditable({"qid": "q1", "answer": "So.", **record})
    assert made.retrieved == retrieved


def test_ids_of_chunks_without_one_are_left_out():
    record = {"qid": "q1", "answer": "So.", "retrieved": [{"no": "id"}, {"id": "c2"}, "c3"]}
    assert read_auditable(record).retrieved_ids == ("c2", "c3")
    assert read_auditable({"qid": "q1", "answer": "So."}).retrieved_ids is None


def test_segments_of_the_trace_or_of_the_answer():
    parts = [{"text": "One.", "citations": ["c1"]}, {"text": "Two.", "citations": []}]
    for record in (
        {"qid": "q1", "answer": "One. Two.", "segments": parts},
        {"qid": "q1", "segments": parts},
        {"qid": "q1", "answer_json": {"answer": "One. Two.", "segments": parts}},
        {"qid": "q1", "answer": json.dumps({"segments": parts})},
    ):
        segments = read_auditable(record).answer.segments
        assert [(one.text, list(one.citations)) for one in segments] == [
            ("One.", ["c1"]),
            ("Two.", []),
        ]


def test_an_answer_as_text_where_fields_were_to_be():
    made = read_auditable({"qid": "q1", "answer_json": '{"citations": ["c1"], "answer": "So."}'})
    assert (made.answer.answer, made.answer.citations) == ("So.", ["c1"])


def test_fields_without_a_claim_leave_the_text():
    made = read_auditable({"qid": "q1", "answer": "So.", "answer_json": {"citations": ["c1"]}})
    assert (made.answer.answer, made.answer.citations) == ("So.", ["c1"])


def test_what_the_model_says_of_itself_is_kept_apart():
    told = {"citations": ["c1"], "answer": "So.", "ΔS": 0.3, "λ": "convergent"}
    made = read_auditable({"qid": "q1", "answer_json": told})
    assert (made.answer.reported_deltaS, made.answer.reported_lambda) == (0.3, "convergent")


def test_markers_in_the_text_are_citations_for_who_asks():
    record = {"qid": "q1", "answer": "Every year [2], by two [c1].", "retrieved_ids": ["c1", "c2"]}
    assert not read_auditable(record).answer.citations
    made = read_auditable(record, inline=True)
    assert (made.answer.citations, made.answer.cites_first) == (["c2", "c1"], True)
    both = read_auditable({**record, "citations": [{"snippet_id": "c1"}]}, inline=True)
    assert both.answer.citations == [{"snippet_id": "c1"}, "c2"]


def test_without_a_marker_a_list_after_the_answer_stays_after_it():
    made = read_auditable({"qid": "q1", "answer": "So.\ncitations: [c1]"}, inline=True)
    assert made.answer.cites_first is False


@pytest.mark.parametrize(
    ("record", "faults"),
    [
        ([], ["line: expected an object, got a list"]),
        ({}, ["qid: missing, and there is no question to join by; add one of them"]),
        ({"qid": 7.5, "answer": "So."}, ["qid: expected text, got a number"]),
        ({"qid": "q1", "answer": {}}, ["answer: expected text, got an object; fields belong in "]),
        ({"qid": "q1", "answer_json": []}, ["answer_json: expected an object"]),
        ({"qid": "q1", "retrieved": {}}, ["retrieved: expected a list, got an object"]),
        ({"qid": "q1", "retrieved_ids": "c1"}, ["retrieved_ids: expected a list, got text"]),
        ({"qid": "q1", "status": "fine"}, ['status: expected "ok" or "error", got "fine"']),
        (
            {"qid": "", "seed": 0.5, "chunks": 7, "segments": "x", "cited": [7]},
            [
                "qid: is empty",
                "cited[0]: expected an object, got a number",
                "seed: expected a whole number, got 0.5",
                "chunks: expected a list, got a number",
                "segments: expected a list, got text",
            ],
        ),
    ],
    ids=range(9),
)
def test_what_is_no_trace_is_refused_with_all_its_faults(record, faults):
    with pytest.raises(BadField):
        read_auditable(record)
    found = auditable_faults(record)
    assert len(found) == len(faults)
    assert all(said.startswith(fault) for said, fault in zip(found, faults, strict=True)), found


values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["id", "snippet_id", "claim", "answer", "citations", "text", "segments"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)
records = st.dictionaries(
    st.sampled_from(
        [
            *("qid", "q", "answer", "answer_json", "citations", "cited", "retrieved", "chunks"),
            *("retrieved_ids", "segments", "status", "error", "ts", "other"),
        ]
    ),
    values,
    max_size=6,
)


@given(record=records | values, inline=st.booleans())
def test_a_record_is_read_or_its_faults_are_told(record: Any, inline: bool):
    try:
        made = read_auditable(record, inline=inline)
    except BadField:
        assert auditable_faults(record)
    else:
        assert not auditable_faults(record)
        assert made.retrieved is None or isinstance(made.retrieved, list)
