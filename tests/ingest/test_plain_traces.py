"""The typed path reads a line as the strict one does, or leaves it to it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchmarks.generate import generate
from ragauge.ingest.fields import BadField
from ragauge.ingest.lines import BadJson, decode
from ragauge.ingest.traces import read_plain, read_trace

SCORED = ("qid", "q", "answer", "retrieved_ids", "error", "ok", "reason")

words = st.sampled_from(["q1", "a: b", "p1#1", "", " ", "é", 'say "x": y', "not in context"])
ids = st.lists(words, max_size=3)
numbers = st.sampled_from([0, 1, -2.5, 1700000000, 1700000000000, 10**30])
odd = st.sampled_from([None, 7, True, [], {}, "text", [["p1"]], {"id": "p1"}])
chunk = st.fixed_dictionaries({"id": words}, optional={"text": words, "score": numbers, "x": odd})
answer = st.fixed_dictionaries({}, optional={"claim": words | odd, "citations": ids | odd})
records = st.fixed_dictionaries(
    {},
    optional={
        "qid": words | odd,
        "q_id": words,
        "q": words | odd,
        "question": words | odd,
        "answer": words | odd,
        "answer_json": answer | odd,
        "citations": ids | odd,
        "retrieved_ids": ids | odd,
        "chunks": st.lists(chunk, max_size=3) | odd,
        "status": st.sampled_from(["ok", "error", "odd", None]),
        "error": words | odd,
        "ok": st.booleans() | odd,
        "latency_ms": numbers | odd,
        "ts": numbers | odd,
        "labels": st.dictionaries(words, words | odd, max_size=2) | odd,
        "seed": numbers | odd,
        "unknown": odd,
    },
)


def strictly(line: bytes):
    try:
        return read_trace(decode(line))
    except (BadJson, BadField):
        return None


def agrees(line: bytes) -> bool:
    """Whether the typed path leaves the line alone, or reads what the strict one reads."""
    plain, strict = read_plain(line), strictly(line)
    if plain is None:
        return True
    assert strict is not None, line
    for field in SCORED:
        assert (getattr(plain, field) or None) == (getattr(strict, field) or None), (field, line)
    assert once(plain.citations) == strict.citations
    assert (plain.status or "ok") == strict.status
    assert said(plain) == said(strict)
    return True


def once(cited):
    """The ids each once: the typed path leaves that to whoever compares them."""
    return None if cited is None else tuple(dict.fromkeys(cited))


def said(trace):
    answer = trace.answer_json
    return None if answer is None else (answer.claim, once(answer.citations))


@given(records, st.booleans())
def test_what_is_plain_is_read_alike(record, compact):
    separators = (",", ":") if compact else None
    for ascii_only in (True, False):
        text = json.dumps(record, separators=separators, ensure_ascii=ascii_only)
        assert agrees(text.encode())


@given(st.data())
@example(None)
def test_a_key_written_twice_is_never_plain(data):
    if data is None:
        line = b'{"qid":"q1","qid":"q2","answer":"a\\u003a"}'
    else:
        key = data.draw(st.sampled_from(["qid", "answer", "chunks", "q", "latency_ms"]))
        blank = data.draw(st.sampled_from(["", " ", "\t"]))
        text = data.draw(st.sampled_from(["x", "a: b", "a\\u003a b", '\\":', "[:"]))
        first = {"chunks": '[{"id":"p1","text":"t"}]', "latency_ms": "3"}.get(key, '"q1"')
        line = f'{{"qid":"q1","{key}"{blank}:{first},"{key}":{first},"answer":"{text}"}}'.encode()
    assert read_plain(line) is None
    assert strictly(line) is None


@pytest.mark.parametrize(
    "line",
    [
        b'{"qid":"q1","answer":"x","chunks":[{"id":"p1","id":"p2"}]}',
        b'{"qid":"q1","answer_json":{"claim":"a","claim":"b"}}',
        b'{"qid":"q1","answer":"\\ud800"}',
        b'{"qid":"q1","answer":"\xff"}',
        b'{"qid":"q1","answer":NaN}',
        b"[1]",
        b"{",
    ],
)
def test_what_is_rejected_is_never_plain(line):
    assert read_plain(line) is None
    assert strictly(line) is None


def test_generated_traces_are_plain_and_agree(tmp_path: Path):
    generate(500, 20, tmp_path / "gold.jsonl", tmp_path / "traces.jsonl")
    lines = (tmp_path / "traces.jsonl").read_bytes().splitlines()
    assert all(map(agrees, lines))
    assert sum(read_plain(line) is not None for line in lines) > 490
