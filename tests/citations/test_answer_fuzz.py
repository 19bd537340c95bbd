"""Whatever a model writes, its reply is taken apart without an error, and a twin agrees."""

from __future__ import annotations

import json
import math

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragauge.citations.answer import parse_answer
from ragauge.citations.json_in_text import BrokenObject, objects_in, whole_object
from ragauge.contracts.audit import ParsedAnswer

PAYLOAD = {
    "snippet_id": "hb24-sec-keys-0007",
    "section_id": "policies/security/keys",
    "source_url": "https://example.org/handbook#security-keys",
    "offsets": {"start": 2310, "end": 2688, "unit": "char"},
    "tokens": 188,
}
REPLIES = [
    f'{{"citations": [{json.dumps(PAYLOAD)}], '
    '"answer": "Keys \\"rotate\\": {yearly}.", "\\u0394S": -3.1e-2, "ok": true}',
    json.dumps({"segments": [{"text": "X\nmaps.", "citations": ["p1#1"]}], "λ": "convergent"}),
    '{"error": "no \\"ids\\"", "field": "citations", "tip": "show ids"}',
    "- claim: X maps [p1#1].\n- citations: [p1#1, {'id': 'p2'}]",
]
KEYS = st.sampled_from(
    [
        *("answer", "claim", "citations", "sources", "segments", "text", "error", "fix"),
        *("ΔS", "lambda_state", "field", "tip", "id", "snippet_id", "response", "x"),
    ]
)
PIECES = st.sampled_from(
    [
        *('{"citations": ["p1"]', '{"answer": "', '{"error": "', "{'claim': ", '{"segments": [{'),
        *('"', "'", "\\", "{", "}", "[", "]", ",", ":", "：", "\n", "```json\n", "```", "\ufeff"),
        *("citations: [", "claim: ", "[p1#1]", "【", "引用：", "\ud800", "\0", "NaN", "1" * 4400),
        *('"text": ', '"answer": ', "null", "not in context", "\\ud83d", "\u2028", "](", "1e999"),
    ]
)
TEXTS = st.text(max_size=15) | PIECES
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.sampled_from([10**400])
)
JSON_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
    | st.sampled_from(["p1#1", "p1#1, p2#2", "X [p1#1].", "X.\n- citations: [p1#1]", "0.37", ""])
)


def nested(leaves, keys):
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
        max_leaves=10,
    )


def check(reply) -> ParsedAnswer:
    """The parse, with what holds of every one."""
    parsed = parse_answer(reply)
    assert isinstance(parsed.answer, str)
    assert parsed.reported_deltaS is None or math.isfinite(parsed.reported_deltaS)
    assert parsed.citations is None or isinstance(parsed.citations, list | tuple)
    if parsed.broken is not None:
        assert parsed.citations is None and parsed.error is None and not parsed.segments
        assert parsed.cites_first is None
    if not parsed.citations and not any(one.citations for one in parsed.segments):
        assert parsed.cites_first is not False
    assert not (parsed.error and parsed.answer)
    return parsed


@given(st.text() | st.lists(TEXTS, max_size=12).map("".join))
@example('{"a":' * 10_000)
@example('{"answer":' * 10_000)
@example('{"citations": ' + "[" * 10_000 + "]" * 10_000 + "}")
@example("[" * 10_000)
@example('[{"text": "X"}' * 10_000)
@example('{"answer": "\ud800", "citations": ["\udfff"]}')
@example("[\ud800] \udfff citations: [\ud800]")
def test_any_text(text):
    check(text)


@given(st.data(), st.sampled_from(REPLIES))
def test_damaged_replies(data, reply):
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(reply)))
        to = at + data.draw(st.integers(0, 12))
        reply = reply[:at] + data.draw(TEXTS) + reply[to:]
    check(reply)


@pytest.mark.parametrize("reply", REPLIES[:3], ids=["citations", "segments", "error"])
@pytest.mark.parametrize("before", ["", "```json\n"], ids=["bare", "fenced"])
def test_a_reply_cut_off_anywhere_is_broken_and_cites_nothing(reply, before):
    for end in range(1, len(reply)):
        parsed = check(before + reply[:end])
        assert parsed.broken and parsed.broken.endswith("; the text is cut off"), reply[:end]
    assert check(before + reply).broken is None


@given(
    st.dictionaries(KEYS | st.text(max_size=4) | SCALARS, nested(SCALARS, KEYS), max_size=6)
    | SCALARS
    | st.binary(max_size=20)
    | st.lists(SCALARS, max_size=3)
    | st.dictionaries(
        KEYS, st.sampled_from([object(), {1, 2}, b"\xff", Exception, range(3), str]), max_size=4
    )
)
def test_any_object(reply):
    check(reply)


def test_deep_objects():
    for wrap in (
        lambda inner: {"x": inner},
        lambda inner: {"response": inner},
        lambda inner: [inner],
    ):
        deep = {"answer": "X"}
        for _ in range(10_000):
            deep = wrap(deep)
        check({"answer": deep, "citations": deep, "segments": deep, "ΔS": deep})
        check({"x": deep})


@given(st.dictionaries(KEYS, nested(JSON_SCALARS, KEYS), max_size=6))
def test_an_object_and_its_text_are_parsed_alike(fields):
    """However it is written, but for the order, which only the text has."""
    parsed = check(fields)
    unknown = msgspec.json.encode(fields).decode()  # no key says what it is: it is prose
    written = (json.dumps(fields), json.dumps(fields, ensure_ascii=False, indent=1))
    for text in (*written, f"```json\n{written[0]}\n```"):
        again = msgspec.structs.replace(check(text), cites_first=None)
        if parsed.broken is not None:
            assert again.broken is not None
        elif parsed.answer != unknown:
            assert again == parsed


@given(
    st.dictionaries(
        st.sampled_from(["citations", "sources"]), st.just(["p1#1"]), min_size=1, max_size=1
    ),
    st.sampled_from(["answer", "claim", "response"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="[{"), min_size=1),
    st.text(st.characters(exclude_characters="{[:："), max_size=20),
    st.text(st.characters(exclude_characters="{[:："), max_size=20),
    st.booleans(),
)
def test_prose_around_an_answer_changes_nothing(cited, key, answer, before, after, cites_first):
    told = {key: answer}
    fields = {**cited, **told} if cites_first else {**told, **cited}
    parsed = check(f"{before}{json.dumps(fields)}{after}")
    expected = ParsedAnswer(answer=answer, citations=["p1#1"], cites_first=cites_first)
    assert parsed == expected


def duplicate_free(pairs):
    if len(dict(pairs)) < len(pairs):
        raise ValueError("duplicate")
    return dict(pairs)


@given(
    st.recursive(
        st.sampled_from(['"a"', '":"', '"\\u003a"', "1", "null", '"\\ud800"', "NaN", "1e999", "x"]),
        lambda inner: st.lists(
            st.tuples(st.sampled_from(['"a"', '"b"', '"\\u0061"', '":"']), inner), max_size=3
        ).map(lambda pairs: "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"),
        max_leaves=6,
    )
)
@example('{"a": 1, "a": 2, "b": "\\u003a"}')
def test_the_quick_reader_takes_what_a_plain_twin_takes(text):
    """And leaves to the slow one whatever is doubtful."""
    quick = whole_object(text)
    if quick is not None:
        assert quick == json.loads(text, object_pairs_hook=duplicate_free)
    try:
        value = json.loads(text, object_pairs_hook=duplicate_free)
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except ValueError:
        assert quick is None
        assert all(isinstance(one, BrokenObject) for one in objects_in(text))
