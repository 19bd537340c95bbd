"""A reply is taken apart whatever its form; what cannot be read is said, and nothing guessed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from types import MappingProxyType

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragauge.citations.answer import parse_answer
from ragauge.citations.json_in_text import BrokenObject, complete_object, objects_in
from ragauge.contracts.audit import ParsedAnswer, ParsedSegment, ReportedError

CITATION = {"snippet_id": "p1#1", "offsets": {"start": 1, "end": 9}}
ANSWER = {"citations": [CITATION], "answer": "X maps."}
WRITTEN = json.dumps(ANSWER)

WHOLE = {
    "alone": WRITTEN,
    "with blanks around": f"\n  {WRITTEN}\n",
    "with a byte order mark": f"\ufeff{WRITTEN}",
    "over several lines": json.dumps(ANSWER, indent=2),
    "after prose": f"Sure, here it is: {WRITTEN}",
    "before prose": f"{WRITTEN}\nI hope this helps {{you}}.",
    "in a fence": f"```json\n{WRITTEN}\n```",
    "in a nameless fence": f"```\n{WRITTEN}\n```",
    "in a fence amid prose": f"Here:\n\n```json\n{WRITTEN}\n```\n\nMore?",
    "in a fence that never closes": f"```json\n{WRITTEN}",
    "in the second fence": f'```json\n{{"plan": "look it up"}}\n```\n```json\n{WRITTEN}\n```',
    "in two fences, one part each": (
        f'```json\n{{"citations": [{json.dumps(CITATION)}]}}\n```\n'
        'and\n```json\n{"answer": "X maps."}\n```'
    ),
    "twice the same": f"```json\n{WRITTEN}\n```\nOnce more:\n{WRITTEN}",
    "among brackets of prose": f"The set {{a, b}} and {{}}: {WRITTEN} for {{c}}.",
    "after another object": f'{{"step": 1}} {WRITTEN}',
    "after something that is no JSON": f"{{'step': one}} {WRITTEN}",
    "in an envelope": f'{{"id": 7, "result": {{"output": {WRITTEN}}}}}',
    "as a response": f'{{"response": {WRITTEN}}}',
    "as the only member of an array": f"[{WRITTEN}]",
    "between double brackets": f"{{{WRITTEN}}}",
    "with a comma too many": WRITTEN.replace("]", ",]").replace('maps."}', 'maps.",}'),
    "with an escaped colon": WRITTEN[:-1] + ', "note": "\\u003a"}',
    "with keys in capitals": WRITTEN.replace("citations", "CITATIONS").replace("answer", "Answer"),
}


@pytest.mark.parametrize("form", WHOLE)
def test_one_answer_in_many_forms(form):
    parsed = parse_answer(WHOLE[form])
    assert parsed == ParsedAnswer(answer="X maps.", citations=[CITATION], cites_first=True)


@pytest.mark.parametrize("key", ["answer", "claim", "response", "Answer", "text"])
def test_names_of_the_answer(key):
    assert parse_answer({key: "X maps.", "citations": []}).answer == "X maps."


@pytest.mark.parametrize(
    "key",
    [
        *("citations", "citation", "sources", "references", "Sources"),
        *("bronnen", "quellen", "Références", "引用"),
    ],
)
def test_names_of_the_citations(key):
    assert parse_answer({key: ["p1#1"], "answer": "X maps."}).citations == ["p1#1"]


@pytest.mark.parametrize("key", ["ΔS", "∆S", "deltaS", "delta_s", "DeltaS", "delta S", "δs"])
def test_names_of_deltas(key):
    assert parse_answer({**ANSWER, key: 0.37}).reported_deltaS == 0.37
    assert parse_answer(json.dumps({**ANSWER, key: 0.37})).reported_deltaS == 0.37


@pytest.mark.parametrize("key", ["λ", "Λ", "lambda", "lambda_state", "lambdaState", "λ_state"])
def test_names_of_lambda(key):
    assert parse_answer({**ANSWER, key: "convergent"}).reported_lambda == "convergent"


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        *[(0.37, 0.37), (1, 1.0), ("0.37", 0.37), (" 0.37 ", 0.37), (-2.5, -2.5)],
        *[("low", None), (True, None), (None, None), ([0.3], None), ({"value": 0.3}, None)],
        *[(float("nan"), None), (float("inf"), None), ("nan", None), ("1e999", None)],
        *[(10**400, None), ("1" * 5000, None)],
    ],
)
def test_a_reported_deltas_is_a_finite_number_or_nothing(said, kept):
    assert parse_answer({**ANSWER, "ΔS": said}).reported_deltaS == kept


def test_the_first_name_with_a_value_counts():
    assert parse_answer({"claim": None, "answer": "X maps.", "response": "Z"}).answer == "X maps."
    parsed = parse_answer({"sources": ["the handbook"], "citations": ["p1#1"], "answer": "X"})
    assert parsed.citations == ["p1#1"]


BROKEN = {
    WRITTEN[:-1]: "not JSON: expecting ',' delimiter at line 1, column 95; the text is cut off",
    '{"citations": ["p1#1"], "answer": "X ma': (
        "not JSON: unterminated string starting at line 1, column 35; the text is cut off"
    ),
    'Sure:\n```json\n{"citations": ["p1#1",\n```': (
        "not JSON: expecting value at line 4, column 1; the text is cut off"
    ),
    "{'citations': ['p1#1'], 'answer': 'X'}": (
        "not JSON: expecting property name enclosed in double quotes at line 1, column 2"
        "; write keys and texts in double quotes"
    ),
    '{"citations": [“p1#1”], "answer": "X"}': (
        "not JSON: expecting value at line 1, column 16; write keys and texts in double quotes"
    ),
    '{"answer": "He said "yes".",\n "citations": []}': (
        "not JSON: expecting ',' delimiter at line 1, column 22"
    ),
    '{citations: ["p1#1"], answer: "X"}': (
        "not JSON: expecting property name enclosed in double quotes at line 1, column 2"
    ),
    '{"citations": ["p1#1"] "answer": "X"}': (
        "not JSON: expecting ',' delimiter at line 1, column 24"
    ),
    'So:\n  {"answer": "X", "answer": "Y"}': (
        'key "answer" appears 2 times in one object, in the JSON that begins at line 2, column 3'
    ),
    '{"citations": [{"id": "p1", "id": "p2"}], "answer": "X", "note": "\\u003a"}': (
        'key "id" appears 2 times in one object, in the JSON that begins at line 1, column 1'
    ),
    '{"answer": "X", "ΔS": NaN}': (
        "NaN is not a JSON number, in the JSON that begins at line 1, column 1"
    ),
    '{"answer": "X", "ΔS": 1e999}': (
        "number 1e999 is out of range, in the JSON that begins at line 1, column 1"
    ),
    '{"answer": "X", "ΔS": %s}' % ("1" * 5000): (
        "a number out of range, in the JSON that begins at line 1, column 1"
    ),
    '{"answer": "X \\ud800"}': (
        "half a character (a lone surrogate), in the JSON that begins at line 1, column 1"
    ),
    '{"citations": %s' % ("[" * 10_000): (
        "brackets nested too deeply, in the JSON that begins at line 1, column 1"
    ),
    '{"error": "no snippets", "fix": "sh': (
        "not JSON: unterminated string starting at line 1, column 33; the text is cut off"
    ),
    "{": (
        "not JSON: expecting property name enclosed in double quotes at line 1, column 2"
        "; the text is cut off"
    ),
    '{"plan": "look it up", "cita': (
        "not JSON: unterminated string starting at line 1, column 24; the text is cut off"
    ),
    '[{"snippet_id": "p1#1"}, {"snip': (
        "not JSON: unterminated string starting at line 1, column 27; the text is cut off"
    ),
    '{"answer": "X"}\n{"answer": "Y"}': (
        "2 answers that differ, the last at line 2, column 1; write one"
    ),
    '{"results": [{"answer": "X"}, {"answer": "Y"}]}': (
        "2 answers that differ, the last at line 1, column 1; write one"
    ),
}


@pytest.mark.parametrize("reply", BROKEN, ids=lambda reply: reply[:40])
def test_json_that_cannot_be_read_is_said_with_its_place(reply):
    assert parse_answer(reply) == ParsedAnswer(answer=reply, broken=BROKEN[reply])


def test_of_a_broken_answer_nothing_inside_is_used():
    """A whole segment before the break is not the answer."""
    whole = '{"text": "X", "citations": ["p1#1"]}'
    for reply in (
        f'{{"segments": [{whole}, {{"text": "Y',
        f'{{"id": oops, "segments": [{whole}]}}',
        f"{{'segments': [{whole}]}}",
    ):
        parsed = parse_answer(reply)
        assert parsed.broken and parsed.citations is None and not parsed.segments


PROSE = [
    "The set {a, b} maps.",
    'He wrote {"x": 1} and {"y": oops} on the wall.',
    'The API says {"error": "gone"} when the page is lost.',
    "{x | x > 0} is a set.",
    "{a: 1}",
    '{"x": 1}',
    "{}",
    "not in context",
    "",
    "   ",
]


@pytest.mark.parametrize("text", PROSE)
def test_a_bracket_does_not_make_prose_json(text):
    parsed = parse_answer(text)
    assert parsed == ParsedAnswer(answer=text.strip())


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ({"error": "none", "fix": "cite"}, ReportedError(error="none", tip="cite")),
        (
            {"error": "no source", "field": "citations", "tip": "show ids"},
            ReportedError(error="no source", field="citations", tip="show ids"),
        ),
        ({"error": "none"}, ReportedError(error="none")),
        ({"error": "none", "answer": None, "citations": []}, ReportedError(error="none")),
        ({"error": {"code": 3}}, ReportedError(error='{"code":3}')),
    ],
)
def test_an_error_that_the_model_reports(reply, error):
    for form in (reply, json.dumps(reply), f"```json\n{json.dumps(reply)}\n```"):
        parsed = parse_answer(form)
        assert parsed.error == error and parsed.answer == "" and parsed.broken is None


def test_an_error_beside_an_answer_is_an_answer():
    assert parse_answer({"error": None, **ANSWER}) == parse_answer(ANSWER)
    assert parse_answer({"error": "weak", **ANSWER}) == parse_answer(ANSWER)


def test_an_error_with_its_fix_is_one_amid_prose_too():
    reply = 'I cannot: {"error": "no ids", "fix": "show ids"} Sorry.'
    assert parse_answer(reply).error == ReportedError(error="no ids", tip="show ids")


@pytest.mark.parametrize(
    ("written", "citations"),
    [
        (["p1#1", {"id": "p2"}, 3, None], ["p1#1", {"id": "p2"}, 3, None]),
        ("p1#1, 'p2#2'", ["p1#1", "p2#2"]),
        ("none", []),
        ([], []),
        (None, None),
        ({"1": {"id": "p1"}, "2": "p2"}, [{"id": "p1"}, "p2"]),
        ({"snippet_id": "p1#1", "tokens": 4}, [{"snippet_id": "p1#1", "tokens": 4}]),
        (7, [7]),
        (False, [False]),
    ],
)
def test_citations_are_handed_on_as_written(written, citations):
    reply = {"citations": written, "answer": "X maps."}
    assert parse_answer(reply).citations == citations
    assert parse_answer(json.dumps(reply)).citations == citations


def test_segments():
    segments = [
        {"text": "X maps.", "citations": ["p1#1"]},
        {"citations": "p2#1", "text": "Y holds."},
        {"text": "Z."},
        "W.",
    ]
    expected = (
        ParsedSegment(text="X maps.", citations=["p1#1"]),
        ParsedSegment(text="Y holds.", citations=["p2#1"]),
        ParsedSegment(text="Z.", citations=()),
        ParsedSegment(text="W.", citations=()),
    )
    parsed = parse_answer(json.dumps({"segments": segments}))
    assert parsed.segments == expected
    assert parsed.answer == "X maps.\nY holds.\nZ.\nW." and parsed.citations is None
    assert parse_answer({"segments": dict(enumerate(segments))}).segments == expected
    assert parse_answer(json.dumps(segments[:3])).segments == expected[:3]


def test_an_array_alone_is_the_list_of_citations():
    assert parse_answer(f"[{json.dumps(CITATION)}]").citations == [CITATION]
    assert parse_answer("```json\n[]\n```") == ParsedAnswer(citations=[])
    assert parse_answer("[1] says so.") == ParsedAnswer(answer="[1] says so.", cites_first=True)


@pytest.mark.parametrize(
    ("answer", "text"), [(1642, "1642"), (True, "true"), (["a", "b"], '["a","b"]'), ("", "")]
)
def test_an_answer_that_is_no_text(answer, text):
    assert parse_answer({"answer": answer, "citations": ["p1#1"]}).answer == text


FIRST = {
    # objects
    '{"citations": ["p1#1"], "answer": "X"}': True,
    '{"answer": "X", "citations": ["p1#1"]}': False,
    '{"answer": "X [p1#1].", "citations": ["p1#1"]}': True,
    '{"answer": "X [1].", "citations": [{"snippet_id": "p1#1"}]}': True,
    '{"answer": "X [sic].", "citations": ["p1#1"]}': False,
    '{"answer": "X [2].", "citations": ["p1#1"]}': False,
    '{"citations": [], "answer": "X"}': None,
    '{"answer": "X", "citations": []}': None,
    '{"answer": "X"}': None,
    '{"sources": ["p1#1"], "note": 1, "claim": "X"}': True,
    # segments
    '{"segments": [{"text": "X", "citations": ["p1#1"]}]}': True,
    '{"segments": [{"citations": ["p1#1"], "text": "X"}, {"text": "Y"}]}': True,
    '{"segments": [{"text": "X", "citations": ["p1#1"]}], "answer": "X"}': True,
    '{"answer": "X", "segments": [{"text": "X", "citations": ["p1#1"]}]}': False,
    '{"citations": ["p1#1"], "segments": [{"text": "X"}]}': True,
    '{"segments": [{"text": "X"}], "citations": ["p1#1"]}': False,
    '{"segments": [{"text": "X"}]}': None,
    # citations as JSON, the answer in prose, and the other way round
    '{"citations": ["p1#1"]}\nX maps.': True,
    'X maps.\n```json\n{"citations": ["p1#1"]}\n```': False,
    'X maps [p1#1].\n{"citations": ["p1#1"]}': True,
    'Here:\n{"citations": ["p1#1"]}\nX maps.': None,
    'Sources: p1#1\n{"answer": "X"}': True,
    '{"answer": "X"}\nSources: p1#1': False,
    '{"answer": "X [1]"}\nSources: p1#1': True,
    '{"answer": "X\\n- citations: [p1#1]"}': False,
    # plain text
    "- claim: X maps.\n- citations: [p1#1]": False,
    "- citations: [p1#1]\n- claim: X maps.": True,
    "Sure, as follows.\ncitations: [p1#1]\nclaim: X maps.": True,
    "X maps.\nSources: p1#1\nAnything else?": False,
    "X maps [p1#1].\ncitations: [p1#1]": True,
    "X maps [1].\ncitations: [p1#1]": True,
    "X maps [p1#2].": True,
    '{"answer": "X maps [p1#2]."}': True,
    "X maps [sic].": None,
    "X maps, see [section-2](https://e.org).": None,
    "X maps.": None,
    "X maps.\ncitations: []": None,
    "not in context": None,
}


@pytest.mark.parametrize("reply", FIRST)
def test_whether_a_citation_stands_before_or_in_the_answer(reply):
    assert parse_answer(reply).cites_first is FIRST[reply]


def test_the_order_of_a_decoded_object_tells_nothing():
    for fields in (ANSWER, {"answer": "X", "citations": ["p1#1"]}, {"answer": "X [p1#1]"}):
        assert parse_answer(fields).cites_first is None


PLAIN = {
    "- claim: X maps.\n- citations: [p1#1, 'p2#3']": ("X maps.", ("p1#1", "p2#3")),
    "X maps.\nBronnen: p1#1": ("X maps.", ("p1#1",)),
    "X maps [p1#2] and [2].": ("X maps [p1#2] and [2].", None),
    "X [p9#9].\ncitations: [p1#1]": ("X [p9#9].", ("p1#1",)),
    "not in context": ("not in context", None),
}


@pytest.mark.parametrize("text", PLAIN)
def test_plain_text(text):
    parsed = parse_answer(text)
    assert (parsed.answer, parsed.citations) == PLAIN[text]


@pytest.mark.parametrize(
    ("reply", "citations"),
    [
        ('{"answer": "X.\\n- citations: [p1#1]"}', ("p1#1",)),
        ('{"answer": "X."}\ncitations: [p1#1]', ("p1#1",)),
        ('{"answer": "X [p1#1]."}', None),
        ('{"citations": ["p1#1"], "answer": "X."}\nSources: the handbook', ["p1#1"]),
    ],
)
def test_an_object_without_a_list_may_cite_in_its_text_or_around(reply, citations):
    parsed = parse_answer(reply)
    assert parsed.citations == citations and parsed.answer.startswith("X")


def test_prose_around_citations_is_the_answer():
    parsed = parse_answer('X maps.\n```json\n{"citations": ["p1#1"]}\n```')
    assert (parsed.answer, parsed.citations) == ("X maps.", ["p1#1"])


class Failing(Mapping):
    def __getitem__(self, key):
        raise OSError("gone")

    def __iter__(self):
        return iter(["answer"])

    def __len__(self):
        return 1


def test_foreign_objects():
    assert parse_answer(MappingProxyType(ANSWER)) == parse_answer(ANSWER)
    assert "Failing that raises OSError" in parse_answer(Failing()).broken
    for reply in (None, 7, b'{"answer": "X"}', ["p1#1"], object()):
        assert f"a {type(reply).__name__};" in parse_answer(reply).broken
    assert parse_answer({3: "X", None: [], (1, 2): {}}).answer == ""
    assert parse_answer({"x": 1}).answer == '{"x":1}'
    own = {"answer": "X"}
    own["segments"] = own["response"] = own
    assert parse_answer(own).answer == "X"


def test_work_grows_with_the_text_alone():
    """No character is tried as a beginning twice, and what a broken object spans is left alone."""
    many = 100_000
    assert list(objects_in("{" * many)) == []
    assert list(objects_in('{"' * many)) == []
    for unclosed in ('{"a":', '{"a": [{"b": 1}, ', '{"a": "'):
        [broken] = objects_in(unclosed * many)
        assert (broken.start, broken.end) == (0, len(unclosed) * many)
    closed = '{"a": x}'
    assert sum(one.end - one.start for one in objects_in(closed * 1000)) == len(closed) * 1000


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
    quick = complete_object(text)
    if quick is not None:
        assert quick == json.loads(text, object_pairs_hook=duplicate_free)
    try:
        value = json.loads(text, object_pairs_hook=duplicate_free)
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except ValueError:
        assert quick is None
        assert all(isinstance(one, BrokenObject) for one in objects_in(text))
