"""One system is named, and only one."""

import asyncio
import gzip
import json

import pytest

from ragauge.contracts.run import PlannedRun, Variation
from ragauge.contracts.system import Ask
from ragauge.errors import InputRejected, UsageError
from ragauge.pipelines.hidden import Hidden, secrets_of
from ragauge.pipelines.mapping import mapping_of
from ragauge.pipelines.reply import trace_of
from ragauge.pipelines.systems import ReplaySystem, system_of
from tests.pipelines.asking import failure_of, reply_of

NAME_ONE = "name one system to ask, by --http, --call, --command, --replay or --demo"


def test_each_way_makes_its_system_and_all_are_used_alike(misbehaving, tmp_path):
    (tmp_path / "traces").write_text('{"q": "[1]", "answer": "So."}')
    systems = {
        "http": system_of(http=misbehaving.url),
        "callable": system_of(call="json:dumps"),
        "command": system_of(command="cat"),
        "replay": system_of(replay=tmp_path / "traces"),
    }
    for kind, system in systems.items():
        assert system.identity["kind"] == kind
        assert reply_of(system, "[1]")
    assert reply_of(systems["command"], "[1]")["q"] == "[1]"


def test_a_mapping_and_a_limit_reach_the_endpoint(misbehaving):
    mapping = mapping_of({"request": {"text": "{q}"}}, {})
    system = system_of(http=misbehaving.url, mapping=mapping, headers={"X-A": "b"}, concurrency=1)
    reply_of(system)
    assert misbehaving.requests[0].body == {"text": "Why?"}
    assert misbehaving.requests[0].headers["x-a"] == "b"


@pytest.mark.parametrize(
    ("given", "fact"),
    [
        ({}, f"{NAME_ONE}; got none"),
        (
            {"http": "http://a", "call": "json:dumps"},
            f"{NAME_ONE}; got --http and --call",
        ),
        (
            {"command": "cat", "mapping": mapping_of({}, {})},
            "a mapping and headers belong to http; command has neither",
        ),
        (
            {"call": "json:dumps", "headers": {"A": "b"}},
            "a mapping and headers belong to http; call has neither",
        ),
        ({"command": "cat", "concurrency": 0}, "concurrency is at least 1; got 0"),
    ],
)
def test_none_or_several_or_what_does_not_fit_is_refused(given, fact):
    with pytest.raises(UsageError) as caught:
        system_of(**given)
    assert str(caught.value) == fact


def test_a_system_that_was_never_asked_can_be_closed(tmp_path):
    (tmp_path / "traces").write_text('{"q": "Why?", "answer": "So."}')
    for given in (
        {"http": "http://qa.invalid"},
        {"call": "json:dumps"},
        {"command": "cat"},
        {"replay": tmp_path / "traces"},
    ):
        asyncio.run(system_of(**given).close())


def test_many_asks_of_one_system_keep_apart():
    async def crowd(system):
        return await asyncio.gather(*(system.ask(Ask(q=f"{n}")) for n in range(20)))

    for system in (system_of(command="cat"), system_of(call="copy:copy", concurrency=4)):
        replies = asyncio.run(crowd(system))
        assert [reply["q"] for reply in replies] == [f"{n}" for n in range(20)]
        asyncio.run(system.close())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("key sk-abcd/1 is wrong", "key *** is wrong"),
        ("key sk-abcd%2F1 is wrong", "key *** is wrong"),
        ("Bearer sk-abcd/1", "***"),
        ("Bearer of news", "Bearer of news"),
        ("sk-abcd/123", "***"),
    ],
)
def test_a_secret_is_blotted_out_however_it_is_quoted(text, shown):
    hidden = Hidden(secrets_of({"Authorization": "Bearer sk-abcd/1", "X-Key": "sk-abcd/123"}))
    assert hidden.without(text) == shown
    assert "abcd" not in repr(hidden)


@pytest.fixture
def recorded(tmp_path):
    def record(*traces) -> ReplaySystem:
        path = tmp_path / "traces.jsonl"
        path.write_text("".join(json.dumps(trace) + "\n" for trace in traces))
        return ReplaySystem(path)

    return record


def test_a_question_is_found_by_its_text(recorded):
    system = recorded({"q": "Why?", "answer": "So."}, {"question": "Who?", "answer": "They."})
    assert reply_of(system, " Why? ")["answer"] == "So."
    assert reply_of(system, "Who?")["answer"] == "They."


def test_what_was_sent_counts_before_the_question(recorded):
    system = recorded({"q": "Why?", "question_sent": "Why ?", "answer": "So."})
    assert reply_of(system, "Why ?")["answer"] == "So."
    assert failure_of(system, "Why?").kind == "not_recorded"


def test_settings_decide_where_they_were_recorded(recorded):
    system = recorded(
        {"q": "Why?", "answer": "any"},
        {"q": "Why?", "seed": 1, "answer": "seed 1"},
        {"q": "Why?", "seed": 1, "temperature": 0.2, "answer": "seed 1, warm"},
        {"q": "Why?", "jitter": "ws", "answer": "ws, earlier"},
        {"q": "Why?", "jitter": "ws", "answer": "ws"},
    )
    assert reply_of(system)["answer"] == "any"
    assert reply_of(system, seed=1)["answer"] == "seed 1"
    assert reply_of(system, seed=1, temperature=0.2)["answer"] == "seed 1, warm"
    assert reply_of(system, jitter="ws")["answer"] == "ws"


@pytest.mark.parametrize(
    ("q", "seed", "fact"),
    [
        ("Who?", 1, '"Who?" was never asked'),
        ("Why?", 2, '"Why?" was never asked with seed=2, temperature=0.0, jitter=none'),
    ],
)
def test_what_was_not_recorded_is_a_failed_call(recorded, q, seed, fact):
    failed = failure_of(recorded({"q": "Why?", "seed": 1, "answer": "So."}), q, seed=seed)
    assert (failed.kind, failed.again, failed.fact) == ("not_recorded", False, fact)


@pytest.mark.parametrize(
    ("fields", "fact"),
    [
        ({"status": "error", "error": "http_500: no index"}, "http_500: no index"),
        ({"status": "error"}, "the answer is empty"),
        ({"error": "no index", "answer": "x"}, "no index"),
    ],
)
def test_a_recorded_error_is_a_failed_call(recorded, fields, fact):
    failed = failure_of(recorded({"q": "Why?", **fields}))
    assert (failed.kind, failed.fact) == ("recorded_error", fact)


def test_a_trace_of_ours_makes_the_same_trace_again(recorded):
    first = {
        "qid": "q1",
        "run_id": "q1#seed=3;t=0;j=none;p=0",
        "question_sent": "Why?",
        "seed": 3,
        "answer_json": {"claim": "So.", "citations": ["a"]},
        "retrieved_ids": ["a", "b"],
        "usage": {"tokens": 3},
        "latency_ms": 12.5,
        "extra": {"model": "small"},
    }
    reply = reply_of(recorded(first), seed=3)
    run = PlannedRun("q1", Variation(seed=3), "Why?")
    trace = trace_of(run, Ask(q="Why?", seed=3), reply, latency_ms=1.0, attempt=1)
    assert trace.answer_json.claim == "So." and trace.answer_json.citations == ("a",)
    assert (trace.retrieved_ids, trace.usage) == (("a", "b"), {"tokens": 3})
    assert trace.extra == {"model": "small"}
    assert trace.latency_ms == 1.0


def test_the_older_dialect_is_replayed_too(recorded):
    line = {"ts": 1, "q": "Why?", "chunks": [{"id": "a"}], "answer": "So.\ncitations: [a]"}
    reply = reply_of(recorded(line))
    run = PlannedRun("q1", Variation(), "Why?")
    assert trace_of(run, Ask(q="Why?"), reply, latency_ms=1, attempt=1).retrieved_ids == ("a",)


def test_everything_wrong_with_a_file_is_said_at_once(tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text('{"q": 1, "seed": "x"}\n\n{"qid": "q1", "answer": "So."}\n{"q": \n')
    with pytest.raises(InputRejected) as caught:
        ReplaySystem(path)
    assert [problem.removeprefix(str(path)) for problem in caught.value.problems] == [
        ":1: q: expected text, got a number",
        ":1: seed: expected a whole number, got text",
        ":3: q: missing; a recording is found by its question",
        ":4: not JSON: expecting value at column 7; the text is cut off",
    ]


def test_a_file_without_traces_is_refused(tmp_path):
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(InputRejected, match="holds no trace"):
        ReplaySystem(tmp_path / "empty")
    with pytest.raises(UsageError, match="no such file"):
        ReplaySystem(tmp_path / "nowhere")


def test_identity_is_the_content_whatever_it_is_packed_in(tmp_path):
    line = b'{"q": "Why?", "answer": "So."}\n'
    for name, content in (("a", line), ("b", gzip.compress(line)), ("c", line + line)):
        (tmp_path / name).write_bytes(content)
    a, b, c = (ReplaySystem(tmp_path / name).identity for name in "abc")
    assert (a["kind"], a["file"]) == ("replay", "a")
    assert a["sha256"] == b["sha256"] != c["sha256"]
