"""Foreign text can neither colour, reorder, hide nor break what is shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.text.visible import one_line, visible

SPELLED = {
    "red \x1b[31mhat": "red \\x1b[31mhat",
    "a\rb\0c\x7fd\x9b": "a\\x0db\\x00c\\x7fd\\x9b",
    "user\u202etxt.exe": "user\\u202etxt.exe",
    "a\u2066b\u2069\u061c": "a\\u2066b\\u2069\\u061c",
    "zero\u200bwidth\ufeff\u2060": "zero\\u200bwidth\\ufeff\\u2060",
    "tag\U000e0041": "tag\\U000e0041",
    "half\udcff": "half\\udcff",
    "kept\ttab\nline é 夜 😀": "kept\ttab\nline é 夜 😀",
}


@pytest.mark.parametrize("text", SPELLED)
def test_what_is_spelled_out(text):
    assert visible(text) == SPELLED[text]


@given(st.text(st.characters()), st.integers(1, 30))
def test_what_is_shown_can_be_printed_on_one_line(text, width):
    shown = one_line(text, width)
    shown.encode()
    assert len(shown) <= width
    assert len(shown.splitlines()) <= 1
    assert visible(shown) == shown
