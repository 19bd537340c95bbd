"""Whatever the bytes, a reader raises what it means to raise, and reads what a plain twin reads."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import sys
from pathlib import Path

import pytest
import zstandard
from hypothesis import example, given
from hypothesis import strategies as st

from ragauge import RagaugeError, score
from ragauge.ingest import lines
from ragauge.ingest.lines import MAX_NESTING, BadJson, decode
from ragauge.reports.rendering import render

GOLD = {
    "qid": "q1",
    "question": "What?",
    "answerable": True,
    "gold_claim_substr": ["night watch", "1642"],
    "gold_citations": ["p1"],
    "anchor": {"doc_id": "d", "section_id": "s", "start": 1, "end": 2},
    "strata": {"country": "NL"},
}
TRACE = {
    "qid": "q1",
    "q": "What?",
    "ts": 1700000000,
    "chunks": [{"id": "p1", "text": "…"}],
    "answer": '- claim: The "night watch": 1642\n- citations: [p1, {"id": "p2"}]',
    "answer_json": {"claim": "x", "citations": ["p1"]},
    "retrieved": [{"snippet_id": "p1", "offsets": {"start": 1, "end": 2}}],
    "latency_ms": 1.5,
    "ok": True,
}
KEYS = st.sampled_from([*GOLD, *TRACE, "error", "status", "seed", "citations", "retrieved_ids"])
TEXTS = st.text(max_size=12) | st.sampled_from(
    [
        "q1",
        "What?",
        "not in context",
        "citations: [",
        '{"claim": "',
        "引用：【",
        "claim:",
        "1" * 5000,
    ]
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**400, 2**64, -(2**70)])
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | TEXTS, inner, max_size=4),
    max_leaves=8,
)


def written(record) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass")


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    """Scores bytes as gold set and traces, and renders what comes of it; RagaugeError is fine."""
    folder: Path = tmp_path_factory.mktemp("fuzz")

    def run(traces: bytes = written(TRACE), gold: bytes = written(GOLD)) -> None:
        (folder / "gold").write_bytes(gold)
        (folder / "traces").write_bytes(traces)
        with contextlib.suppress(RagaugeError):
            outcome = score(folder / "gold", [folder / "traces"], inline=True, max_bad="100%")
            render(outcome.report, "json")

    return run


@st.composite
def mutated(draw, whole: bytes) -> bytes:
    """Good bytes with some of them flipped, cut out or doubled."""
    content = bytearray(whole)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(content)))
        to = min(len(content), at + draw(st.integers(1, 20)))
        match draw(st.sampled_from(["flip", "cut", "double", "insert"])):
            case "flip" if at < len(content):
                content[at] ^= draw(st.integers(1, 255))
            case "cut":
                del content[at:to]
            case "double":
                content[at:at] = content[at:to]
            case _:
                content[at:at] = draw(st.sampled_from([b'"', b"\\", b"{", b"\n", b"\0", b"\xff"]))
    return bytes(content)


@given(
    st.binary(max_size=200)
    | st.tuples(
        st.sampled_from(
            [b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"[", b"{", b"\xef\xbb\xbf", b"\xff\xfe"]
        ),
        st.binary(max_size=60),
    ).map(b"".join)
)
def test_any_bytes_as_a_file(scored, content):
    scored(traces=content)
    scored(gold=content)


@given(
    mutated(written(TRACE) + b"\n" + written(TRACE)),
    mutated(written(GOLD)) | mutated(b"[" + written(GOLD) + b"]"),
)
def test_damaged_lines(scored, traces, gold):
    scored(traces=traces)
    scored(gold=gold)


@given(mutated(gzip.compress(written(TRACE) * 9)), mutated(zstandard.compress(written(TRACE) * 9)))
def test_damaged_packing(scored, gzipped, zstandarded):
    scored(traces=gzipped)
    scored(traces=zstandarded)


@given(VALUES, st.dictionaries(KEYS, VALUES, max_size=5))
@example(0, {"ts": 10**400})
@example(0, {"answer_json": None, "answer": '{"claim": "\\ud800", "citations": ["\\ud800"]}'})
def test_any_json_as_a_record(scored, value, fields):
    scored(traces=written(value))
    scored(traces=written(TRACE | fields))
    scored(traces=written({"qid": "q1"} | fields))
    scored(gold=written(value))
    scored(gold=written(GOLD | fields))


class TwinFault(Exception):
    pass


def plain_twin(line: bytes):
    """What `decode` should give, by the standard library alone."""

    def members(pairs):
        if len(dict(pairs)) < len(pairs):
            raise TwinFault
        return dict(pairs)

    def constant(name):
        raise TwinFault

    def number(text):
        if float(text) in (float("inf"), float("-inf")):
            raise TwinFault
        return float(text)

    def depth(value) -> int:
        inner = value.values() if isinstance(value, dict) else value
        return 1 + max(map(depth, inner), default=0) if isinstance(value, dict | list) else 0

    text = line.decode()
    value = json.loads(text, object_pairs_hook=members, parse_constant=constant, parse_float=number)
    json.dumps(value, ensure_ascii=False).encode()
    if text.startswith("\ufeff") or depth(value) > MAX_NESTING:
        raise TwinFault
    return value


BLANKS = st.sampled_from(["", "", "", " ", "\t", "\r", "\n", "  "])
STRINGS = st.sampled_from(
    [
        r'"a"',
        r'"a"',
        r'"\u0061"',
        r'"b"',
        r'":"',
        r'"\u003a"',
        r'"\u003A"',
        r'"\":"',
        r'"[{"',
        r'"é"',
        r'"\u003c"',
        r'"\\u003a"',
        r'"\ud800"',
        r'"\ud83d\ude00"',
        r'"\n"',
        r'"\x"',
    ]
)
NUMBERS = st.sampled_from(["0", "-1", "1.5", "1e999", "NaN", "-Infinity", "01", "1" * 400, "true"])


@st.composite
def jsonish(draw, depth: int = 3) -> str:
    """JSON as badly written as it gets, and now and then worse."""
    kind = draw(st.sampled_from(["object", "object", "array", "string", "number", "deep"]))
    if depth == 0 or kind in ("string", "number"):
        return draw(STRINGS if kind == "string" else NUMBERS)
    if kind == "deep":
        levels = draw(st.integers(55, 70))
        opening, closing = draw(st.sampled_from([("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")]))
        return opening * levels + draw(st.sampled_from(["1", "[]", "{}"])) + closing * levels
    blank = draw(BLANKS)
    parts = draw(st.lists(jsonish(depth - 1), max_size=3))
    if kind == "array":
        return f"[{blank}" + f"{blank},".join(parts) + "]"
    pairs = [f"{draw(STRINGS)}{draw(BLANKS)}:{draw(BLANKS)}{part}" for part in parts]
    return "{" + blank + f",{blank}".join(pairs) + draw(st.sampled_from(["}", "}", "}", "", ",}"]))


@given(jsonish())
@example('{"a":1,"a":2,"b":"\\u003a"}')
@example('{"a":1,"a" :2}')
@example('{"a":{"b":' + "[" * 64 + "]" * 64 + "}}")
@example('{"a":' * 900 + "1" + "}" * 900)
@example("\ufeff{}")
def test_strict_decoding_agrees_with_the_plain_twin(text):
    line = text.encode("utf-8", "surrogatepass")
    try:
        expected = plain_twin(line)
    except (ValueError, TwinFault, RecursionError):
        with pytest.raises(BadJson):
            decode(line)
    else:
        assert decode(line) == expected


LINES = st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b"")), max_size=30)


@given(LINES, st.integers(1, 200), st.integers(1, 100), st.sampled_from([b"", b"\n"]))
def test_blocks_hold_the_lines_of_the_file(tmp_path, monkeypatch, content, block, longest, end):
    monkeypatch.setattr(lines, "BLOCK", block)
    whole = b"{}" + b"\n".join(content) + end
    file = tmp_path / "file"
    for packed in (whole, gzip.compress(whole), zstandard.compress(whole)):
        file.write_bytes(packed)
        for name in (str(file), "-"):

            def parts(max_line: int, name: str = name, packed: bytes = packed) -> list[bytes]:
                monkeypatch.setattr(lines, "MAX_LINE", max_line)
                monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed)))
                return [part.read() for part in lines.blocks(name)]

            found = parts(1 << 20)
            assert b"".join(found) == whole
            assert all(part.endswith(b"\n") for part in found[:-1])
            assert shortened(b"".join(parts(longest)), longest) == shortened(whole, longest)


def shortened(content: bytes, longest: int) -> list[bytes]:
    """The lines, those that are too long by their beginning alone."""
    return [line[: longest + 1] for line in content.removesuffix(b"\n").split(b"\n")]
