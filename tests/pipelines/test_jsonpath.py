"""Paths find what they name, and text that is no path is refused in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.errors import UsageError
from ragauge.pipelines.mapping import NothingThere, parse_path

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
