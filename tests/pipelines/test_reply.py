"""Replies become traces: checked in full, and never able to pass for another run."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.run import PlannedRun, Variation
from ragauge.contracts.system import Ask, CallFailed
from ragauge.contracts.trace import StructuredAnswer, Trace
from ragauge.ingest.lines import BadJson, decode
from ragauge.ingest.traces import read_auditable, read_trace
from ragauge.pipelines.http import HttpSystem
from ragauge.pipelines.reply import OURS, failed_trace, trace_of
from tests.pipelines.asking import reply_of

VARIATION = Variation(paraphrase=2, jitter="ws", temperature=0.2, seed=3, repeat=1)
RUN = PlannedRun("q1", VARIATION, "Why ?")
ASK = Ask(q="Why ?", seed=3, temperature=0.2, jitter="ws")
OF_RUN = {
    "qid": "q1",
    "run_id": "q1#seed=3;t=0.2;j=ws;p=2;r=1",
    "seed": 3,
    "temperature": 0.2,
    "jitter": "ws",
    "paraphrase": 2,
    "repeat": 1,
    "question_sent": "Why ?",
    "latency_ms": 12.346,
    "attempt": 2,
    "schema_version": 1,
}


def traced(reply) -> Trace:
    return trace_of(RUN, ASK, reply, latency_ms=12.34567, attempt=2)


def failed(reply) -> CallFailed:
    with pytest.raises(CallFailed) as caught:
        traced(reply)
    return caught.value


def test_a_reply_of_the_brief_is_a_trace():
    reply = {
        "answer_json": {"claim": "So.", "citations": ["a"], "constraints_echo": ["X."]},
        "retrieved_ids": ["a", "b"],
        "retrieved": [{"snippet_id": "a"}],
        "stage_ms": {"retrieve": 1.5},
        "usage": {"tokens": 3},
        "model": "small",
    }
    assert traced(reply) == Trace(
        **OF_RUN,
        answer_json=StructuredAnswer(claim="So.", citations=("a",), constraints_echo=("X.",)),
        retrieved_ids=("a", "b"),
        retrieved=({"snippet_id": "a"},),
        stage_ms={"retrieve": 1.5},
        usage={"tokens": 3},
        extra={"model": "small"},
    )


def test_text_is_read_as_the_answer():
    assert traced("So.") == Trace(**OF_RUN, answer="So.")


def test_the_first_time_something_is_asked_needs_no_number():
    run = PlannedRun("q1", Variation(), "Why?")
    assert trace_of(run, Ask(q="Why?"), "So.", latency_ms=1, attempt=1).repeat is None


def test_a_reply_cannot_pass_for_another_run():
    spoof = dict.fromkeys(OURS, "other") | {"answer": "So.", "qid": "q9", "status": "error"}
    assert traced(spoof) == Trace(**OF_RUN, answer="So.")


def test_what_a_run_knows_of_itself_is_all_ours():
    assert set(OF_RUN) <= OURS


# Citations that are more than ids: a trace keeps both, and an audit reads what was given.

POINTING = {"snippet_id": "a", "offsets": {"start": 3, "end": 9}, "quote": "every day"}
OTHER = {"snippet_id": "b", "source_url": "https://example.org/b"}


@pytest.mark.parametrize(
    "reply",
    [
        {"answer": "So.", "citations": [POINTING, OTHER]},
        {"answer_json": {"claim": "So.", "citations": [POINTING, OTHER]}},
        {"answer": "So.", "answer_json": {"claim": "So."}, "citations": [POINTING, OTHER]},
    ],
    ids=["in a field", "in the answer's fields", "beside the answer's fields"],
)
def test_citations_given_as_objects_are_kept_whole(reply):
    trace = traced(reply)
    assert trace.cited == (POINTING, OTHER)
    assert (trace.citations or trace.answer_json.citations) == ("a", "b")
    assert cited_in_an_audit(trace) == [POINTING, OTHER]


def test_an_id_among_objects_is_kept_with_them():
    trace = traced({"answer": "So.", "citations": ["b", POINTING]})
    assert trace.citations == ("b", "a")
    assert cited_in_an_audit(trace) == [{"snippet_id": "b"}, POINTING]


@pytest.mark.parametrize("citations", [None, [], ["a", "b"]])
def test_ids_need_no_second_place(citations):
    trace = traced({"answer_json": {"claim": "So.", "citations": citations}})
    assert trace.cited is None
    assert cited_in_an_audit(trace) == citations


def test_a_recorded_trace_that_is_asked_again_keeps_its_citations_whole():
    first = traced({"answer_json": {"claim": "So.", "citations": [POINTING]}})
    again = traced(decode(msgspec.json.encode(first)))
    assert again == first


def test_what_is_cited_now_counts_before_what_was_cited_once():
    reply = {"answer": "So.", "citations": [OTHER], "cited": [POINTING]}
    assert traced(reply).cited == (OTHER,)


def cited_in_an_audit(trace):
    """The citations an audit sees in the line of the journal."""
    citations = read_auditable(decode(msgspec.json.encode(trace))).answer.citations
    return None if citations is None else list(citations)


@pytest.mark.parametrize(
    "reply",
    [
        {},
        "",
        " \n",
        {"answer": None},
        {"answer": "\t"},
        {"answer_json": {}},
        {"answer_json": {"claim": ""}},
        {"answer_json": " "},
    ],
)
def test_an_empty_answer_is_an_error_record(reply):
    trace = traced(reply)
    assert (trace.status, trace.error) == ("error", "the answer is empty")
    assert trace.run_id == OF_RUN["run_id"]


@pytest.mark.parametrize("error", ["no\nindex", {"message": "no index", "code": 7}])
def test_an_empty_answer_with_an_error_repeats_it(error):
    reply = {"error": error, "retrieved_ids": ["a"]}
    trace = traced(reply)
    assert trace.error == "the answer is empty; the reply says: no index"
    assert trace.retrieved_ids == ("a",)


@pytest.mark.parametrize("error", [None, "", 7, {}, {"message": []}, ["x"]])
def test_an_error_that_says_nothing_is_not_repeated(error):
    assert traced({"error": error}).error == "the answer is empty"


@pytest.mark.parametrize(
    ("reply", "fact"),
    [
        ([1], "expected an object with an answer, got a list"),
        (None, "expected an object with an answer, got null"),
        (7, "expected an object with an answer, got a number"),
        ({"answer": 7}, "answer: expected text, got a number"),
        (
            {"answer": {"claim": "x"}},
            "answer: expected text, got an object; fields belong in answer_json",
        ),
        (
            {"answer_json": {"claim": 1, "citations": [2]}, "retrieved_ids": "a", "usage": 1},
            "answer_json.claim: expected text, got a number; "
            "retrieved_ids: expected a list of ids, got text; usage: expected an object, "
            "got a number",
        ),
    ],
)
def test_wrong_types_are_a_bad_reply_with_every_field_named(reply, fact):
    failure = failed(reply)
    assert (failure.kind, failure.again, failure.fact) == ("bad_reply", False, fact)


def test_the_wrong_types_of_a_real_server_are_named(misbehaving):
    failure = failed(reply_of(HttpSystem(misbehaving.at("wrong-types"))))
    assert failure.fact == (
        "answer: expected text, got a number; retrieved_ids: expected a list of ids, got text"
    )


def test_a_run_that_failed_is_an_error_record():
    trace = failed_trace(RUN, ASK, "http_500: no index", latency_ms=12.34567, attempt=2)
    assert trace == Trace(**OF_RUN, status="error", error="http_500: no index")


KEYS = st.sampled_from(
    [
        "answer",
        "answer_json",
        "claim",
        "citations",
        "retrieved",
        "retrieved_ids",
        "chunks",
        "id",
        "usage",
        "stage_ms",
        "labels",
        "segments",
        "ts",
        "ok",
        "extra",
        "error",
        "status",
        "qid",
    ]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([2**64, -(2**70), 10**400])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=10,
)


@given(VALUES | st.dictionaries(KEYS, VALUES, max_size=5))
def test_any_json_becomes_a_trace_that_can_be_kept_or_a_bad_reply(value):
    try:
        reply = decode(json.dumps(value).encode())
    except BadJson:
        return
    try:
        trace = traced(reply)
    except CallFailed as failure:
        assert failure.kind == "bad_reply" and not failure.again  # noqa: PT017
        return
    assert (trace.qid, trace.run_id, trace.attempt) == ("q1", OF_RUN["run_id"], 2)
    kept = read_trace(decode(msgspec.json.encode(trace)))
    assert (kept.qid, kept.status, kept.error) == ("q1", trace.status, trace.error)
    assert (trace.status == "ok") == (trace.error is None)
