"""A mapping shapes requests and replies, and everything wrong with it is said at once."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.run import PlannedRun, Variation
from ragauge.contracts.system import Ask, CallFailed
from ragauge.errors import UsageError
from ragauge.pipelines.mapping import FIELDS, NothingThere, mapping_of, parse_path, read_mapping
from ragauge.pipelines.reply import trace_of

ASK = Ask(
    q='Why "so"?',
    seed=3,
    temperature=0.2,
    jitter="ws",
    knobs={"model": "small", "top_k": 5, "constraints": ["X."], "odd-name": None},
)


def body_of(request, ask: Ask = ASK):
    return mapping_of({"request": request}, {}).body(ask)


def shaped(response: dict[str, str], reply):
    return mapping_of({"response": response}, {}).reply(reply)


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("{q}", 'Why "so"?'),
        ("{seed}", 3),
        ("{temperature}", 0.2),
        ("{jitter}", "ws"),
        ("{knobs.top_k}", 5),
        ("{knobs.odd-name}", None),
        ("{knobs}", ASK.knobs),
        ("{constraints}", ["X."]),
        ("seed {seed} of {knobs.model}", "seed 3 of small"),
        ("{q} {q}", 'Why "so"? Why "so"?'),
        ("echo {constraints}", 'echo ["X."]'),
        ("{{q}}", "{q}"),
        ("{{{q}}}", "{{q}}"),
        ('as {"claim": {knobs.top_k}}', 'as {"claim": 5}'),
        ("{ q } {} {", "{ q } {} {"),
        (7, 7),
        (None, None),
    ],
)
def test_a_template_is_filled(template, value):
    assert body_of({"x": [template]}) == {"x": [value]}


def test_keys_are_left_as_they_are():
    assert body_of({"{q}": 1}) == {"{q}": 1}


def test_without_constraints_the_list_is_empty():
    assert body_of(["{constraints}"], Ask(q="Why?")) == [[]]


def test_the_knobs_a_request_needs_are_told_beforehand():
    mapping = mapping_of({"request": ["{knobs.b}", {"c": "{knobs.a} {q} {{knobs.z}}"}]}, {})
    assert mapping.knobs == ("a", "b")
    with pytest.raises(CallFailed, match=r"no_knob: the request asks for \{knobs.b\}"):
        mapping.body(Ask(q="Why?", knobs={"a": 1}))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet="{}q.a \n", max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def escaped(value):
    if isinstance(value, str):
        return re.sub(r"\{[\w.-]+\}", lambda name: "{" + name[0] + "}", value)
    if isinstance(value, list):
        return [escaped(member) for member in value]
    if isinstance(value, dict):
        return {key: escaped(member) for key, member in value.items()}
    return value


@given(VALUES, st.text(alphabet="{}q.a \n", max_size=12))
def test_what_is_escaped_comes_back_and_blanks_are_filled_beside_it(value, text):
    template = {"plain": escaped(value), "whole": "{q}", "within": f"| {{seed}} |{escaped(text)}"}
    assert body_of({"t": template})["t"] == {
        "plain": value,
        "whole": ASK.q,
        "within": f"| 3 |{text}",
    }


@given(st.text(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), VALUES)
def test_values_keep_their_types_whatever_they_hold(q, seed, temperature, knob):
    ask = Ask(q=q, seed=seed, temperature=temperature, knobs={"k": knob})
    body = body_of(["{q}", "{seed}", "{temperature}", "{knobs.k}"], ask)
    assert body == [q, seed, temperature, knob]
    assert list(map(type, body)) == [str, int, float, type(knob)]


@pytest.mark.parametrize(
    ("response", "reply", "expected"),
    [
        ({"answer": "$.a"}, {"a": "So."}, {"answer": "So."}),
        (
            {"claim": "$.a", "citations": "$.c[*].id", "constraints_echo": "$.e"},
            {"a": "So.", "c": [{"id": "p1"}, {"id": "p2"}], "e": ["X."]},
            {
                "answer_json": {
                    "claim": "So.",
                    "citations": ["p1", "p2"],
                    "constraints_echo": ["X."],
                }
            },
        ),
        (
            {"answer": "$.a", "citations": "$.c", "constraints_echo": "$.e"},
            {"a": "So.", "c": ["p1"], "e": ["X."]},
            {"answer": "So.", "citations": ["p1"], "answer_json": {"constraints_echo": ["X."]}},
        ),
        ({"answer_json": "$"}, {"claim": "So."}, {"answer_json": {"claim": "So."}}),
        ({"answer_json": "$.t"}, {"t": '{"claim": "So."}'}, {"answer_json": {"claim": "So."}}),
        ({"answer_json": "$.t"}, {"t": "So."}, {"answer_json": "So."}),
        ({"answer_json": "$.t"}, {"t": "[1]"}, {"answer_json": "[1]"}),
        (
            {"answer": "$.a", "retrieved_ids": "$.hits[*].id", "retrieved": "$.hits"},
            {"a": "So.", "hits": [{"id": "p1"}]},
            {"answer": "So.", "retrieved_ids": ["p1"], "retrieved": [{"id": "p1"}]},
        ),
        (
            {"answer": "$.a", "usage": "$.u", "stage_ms": "$.t.ms"},
            {"a": None, "t": {"ms": {"all": 3}}},
            {"answer": None, "stage_ms": {"all": 3}},
        ),
    ],
)
def test_a_response_is_brought_into_our_shape(response, reply, expected):
    assert shaped(response, reply) == expected


def test_constraints_echoed_beside_a_text_answer_reach_the_trace():
    reply = shaped({"answer": "$.a", "constraints_echo": "$.e"}, {"a": "So.", "e": ["X."]})
    run = PlannedRun("q1", Variation(), "Why?")
    trace = trace_of(run, Ask(q="Why?"), reply, latency_ms=1, attempt=1)
    assert trace.status == "ok"
    assert (trace.answer, trace.answer_json.constraints_echo) == ("So.", ("X.",))


@pytest.mark.parametrize("field", ["answer", "answer_json", "claim"])
def test_an_answer_that_is_not_where_it_should_be_is_a_bad_reply(field):
    with pytest.raises(CallFailed) as caught:
        shaped({field: "$.choices[0].text"}, {"choices": [{"message": {}, "index": 0}]})
    assert caught.value.fact == (
        f"{field}: nothing at $.choices[0].text: $.choices[0] is an object with message, index"
    )


def test_without_a_request_or_a_response_ours_are_used():
    mapping = mapping_of({}, {})
    assert mapping.body(ASK) == ASK
    assert mapping.reply({"answer": "So.", "more": 1}) == {"answer": "So.", "more": 1}


def test_headers_take_what_they_need_from_the_environment_given():
    written = {"Authorization": "Bearer {env.KEY}", "X-Plain": "{{env.KEY}} {}"}
    mapping = mapping_of({"headers": written}, {"KEY": "hidden"})
    assert mapping.headers == {"Authorization": "Bearer hidden", "X-Plain": "{env.KEY} {}"}
    assert "hidden" not in f"{mapping!r} {mapping} {mapping.identity}"


def test_identity_tells_templates_and_paths_apart():
    def identity(request, path):
        return mapping_of({"request": request, "response": {"answer": path}}, {}).identity

    same = identity({"a": 1, "b": "{q}"}, "$.x")
    assert same == identity({"b": "{q}", "a": 1}, "$.x")
    assert same != identity({"a": 2, "b": "{q}"}, "$.x")
    assert same != identity({"a": 1, "b": "{q}"}, "$.y")


def problems_of(record, environment=None) -> list[str]:
    with pytest.raises(UsageError) as caught:
        mapping_of(record, environment or {}, place="map.json")
    return [problem.removeprefix("map.json: ") for problem in caught.value.problems]


def test_everything_wrong_is_said_at_once_with_its_place():
    record = {
        "url": "http://me:hidden@qa.example",
        "requests": {},
        "request": {"messages": [{"content": "{qq} {env.KEY}"}], "n": "{knobs.}"},
        "response": {"answers": "$.a", "claim": 7, "usage": "a.b", "stage_ms": "$.a["},
        "headers": {"A B": "x", "X-Key": "{env.NO_KEY}", "X-Q": "{q}", "X-N": 1, "X-L": "a\nb"},
    }
    assert problems_of(record) == [
        "url: there is no such key; the URL is no part of a mapping; give it beside",
        'requests: there is no such key; did you mean "request"?',
        "request.messages[0].content: {qq} stands for nothing; did you mean {q}?",
        "request.messages[0].content: {env.KEY} stands for nothing; "
        "write {{env.KEY}} for the braces",
        "request.n: {knobs.} stands for nothing; did you mean {knobs}?",
        'response.answers: there is no such key; did you mean "answer"?',
        "response.claim: expected a path as text, got a number",
        'response.usage: "a.b" is no path: it begins with $, as in $.choices[0].message.content',
        'response.stage_ms: "$.a[" cannot be read from column 4, "["; '
        "write .name, [0], [-1], [*] or ['odd name'], as in $.choices[0].message.content",
        "headers.X-Key: the environment has no NO_KEY; set it",
        "headers.X-Q: {q} stands for nothing here; write {env.NAME}",
        "headers.X-N: expected text, got a number",
        'headers: "A B" is no name of a header',
        "headers: X-L: the value holds a line break or a control character",
    ]


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ([], "the file: expected an object, got a list"),
        (None, "the file: expected an object, got null"),
        ({"response": []}, "response: expected an object, got a list"),
        ({"headers": "x"}, "headers: expected an object, got text"),
        (
            {"response": {"usage": "$.u"}},
            "response: says nothing of the answer; add answer, answer_json or claim",
        ),
        (
            {"response": {"answer": "$.a", "claim": "$.b"}},
            "response: answer and claim all say where the answer is; keep one",
        ),
        (
            {"response": {"answer_json": "$.a", "constraints_echo": "$.b"}},
            "response.constraints_echo: answer_json holds it already; keep one",
        ),
        ({"wholly": 1}, "wholly: there is no such key; there are request, response, headers"),
    ],
)
def test_a_mapping_that_makes_no_sense_is_refused(record, problem):
    assert problems_of(record) == [problem]


def test_a_secret_of_the_environment_is_not_shown_when_it_cannot_be_sent():
    (problem,) = problems_of({"headers": {"X-Key": "{env.KEY}"}}, {"KEY": "hidden\n"})
    assert problem == "headers: X-Key: the value holds a line break or a control character"


def test_a_file_is_read_and_its_name_stands_before_each_problem(tmp_path):
    path = tmp_path / "map.json"
    path.write_text(json.dumps({"request": {"text": "{q}"}}, indent=2))
    assert read_mapping(str(path), {}).body(ASK) == {"text": ASK.q}
    path.write_text('{"request": 1, "request": 2}')
    with pytest.raises(UsageError, match=r'map.json: key "request" appears 2 times'):
        read_mapping(str(path), {})
    with pytest.raises(UsageError, match="no such file"):
        read_mapping(str(tmp_path / "nowhere"), {})
    with pytest.raises(UsageError, match="is a folder"):
        read_mapping(str(tmp_path), {})


PARTS = st.dictionaries(
    st.sampled_from(["request", "response", "headers", "other"]),
    VALUES | st.dictionaries(st.sampled_from(FIELDS), st.text(alphabet="$.[]*'\"\\a0-{}q")),
)


@given(VALUES | PARTS, VALUES)
def test_any_json_is_a_mapping_that_works_or_a_usage_error(record, reply):
    try:
        mapping = mapping_of(record, {})
    except UsageError:
        return
    for use, value in ((mapping.body, ASK), (mapping.reply, reply)):
        try:
            use(value)
        except CallFailed as failed:
            assert failed.kind in ("no_knob", "bad_reply")  # noqa: PT017


VALUE = {
    "a": {"b": [{"c": 1}, {"c": 2}, {}]},
    "odd key": {"it's": "x", 'say "so"': "y", "back\\slash": "z"},
    "rows": [{"ids": ["p", "q"]}, {}, {"ids": ["r"]}],
    "größe-1": 3,
    "": 4,
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$", VALUE),
        ("$.a.b[0].c", 1),
        ("$.a.b[-2].c", 2),
        ("$.a.b[*].c", [1, 2, None]),
        ("$.a.b[*]", [{"c": 1}, {"c": 2}, {}]),
        ("$['a']['b'][1]['c']", 2),
        ("$['odd key']['it\\'s']", "x"),
        ('$["odd key"][\'say "so"\']', "y"),
        ("$['odd key']['back\\\\slash']", "z"),
        ("$.rows[*].ids[*]", ["p", "q", "r"]),
        ("$.größe-1", 3),
        ("$['']", 4),
    ],
)
def test_a_path_finds_what_it_names(path, found):
    assert parse_path(path).find(VALUE) == found


@pytest.mark.parametrize(
    ("path", "fact"),
    [
        ("$.b", "$ is an object with a, odd key, rows, größe-1, "),
        ("$.a.b[3].c", "$.a.b is a list of 3"),
        ("$.a.b[2].c", "$.a.b[2] is an empty object"),
        ("$.a.b.c", "$.a.b is a list of 3"),
        ("$.a[0]", "$.a is an object with b"),
        ("$['odd key']['it\\'s'].x", "$['odd key'][\"it's\"] is text"),
        ("$.a[*]", "a list was expected, and there is an object with b"),
        ("$.x[*].y", "$ is an object with a, odd key, rows, größe-1, "),
    ],
)
def test_a_path_that_leads_nowhere_says_how_far_it_went(path, fact):
    with pytest.raises(NothingThere) as caught:
        parse_path(path).find(VALUE)
    assert str(caught.value).rstrip() == fact.rstrip()


@pytest.mark.parametrize(
    ("path", "column"),
    [
        ("$..a", 2),
        ("$.", 2),
        ("$.a b", 4),
        ("$[", 2),
        ("$.a[x]", 4),
        ("$.a[1:2]", 4),
        ("$['half]", 2),
        ("$.a[?(@.b)]", 4),
        ("$a", 2),
        ("$.*", 2),
        ("$[" + "9" * 5000 + "]", 2),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_column(path, column):
    with pytest.raises(UsageError, match=rf"cannot be read from column {column}, "):
        parse_path(path)


@pytest.mark.parametrize("path", ["", "a", ".a", " $"])
def test_a_path_begins_at_the_root(path):
    with pytest.raises(UsageError, match="it begins with"):
        parse_path(path)


@given(st.text() | st.text(alphabet="$.[]*'\"\\ab0-9 ").map("$".__add__))
def test_any_text_is_a_path_or_a_usage_error(text):
    try:
        path = parse_path(text)
    except UsageError:
        return
    assert str(path) == text
    try:
        path.find(VALUE)
    except NothingThere:
        return


@given(st.lists(st.text() | st.integers(-5, 5), max_size=5))
def test_any_keys_can_be_written(steps):
    written = "$"
    for step in steps:
        if isinstance(step, int):
            written += f"[{step}]"
        else:
            written += "['" + step.replace("\\", "\\\\").replace("'", "\\'") + "']"
    assert parse_path(written).steps == tuple(steps)
