"""Words: every script against itself, offsets into the text as given, and the ASCII twin."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.text.words import MARKS, Word, word_spans, words

TRICKY = "aZ9_ -'’.éÉ\u0301\u0308\u0345ßİ夜巡が\u3099각\u1100\u1161\u11a8นี่नमस्ते\u00ad\u200d\u0958"
MIXED = st.text(st.one_of(st.characters(), st.sampled_from(TRICKY)))

FOUND = {
    "": [],
    " .,;!? — _ ": [],
    "The museum's hall": ["the", "museum", "s", "hall"],
    "snake_case well-known 3.14": ["snake", "case", "well", "known", "3", "14"],
    "Curaçao": ["curaçao"],
    "Cura ao": ["cura", "ao"],
    "Straße STRASSE": ["strasse", "strasse"],
    "Ελλάδα ΣΊΣΥΦΟΣ": ["ελλάδα", "σίσυφοσ"],
    "Русский музей": ["русский", "музей"],
    "夜巡1642年。": ["夜", "巡", "1642", "年"],
    "「美術館」ー・": ["美", "術", "館", "ー"],
    "국립 중앙": ["국", "립", "중", "앙"],
    "नमस्ते दुनिया": ["नमस्ते", "दुनिया"],
    "مُتحف": ["مُتحف"],
    "ที่": ["ที่"],
    "soft\u00adhyphen zero\u200bwidth": ["softhyphen", "zerowidth"],
    "İstanbul": ["i\u0307stanbul"],
    "x² ½": ["x²", "½"],
    "\u0301": [],
}


@pytest.mark.parametrize(("text", "found"), FOUND.items(), ids=lambda value: repr(value)[:30])
def test_words_of(text: str, found: list[str]) -> None:
    assert words(text) == found


def test_an_accent_is_part_of_the_spelling() -> None:
    assert words("coördinatie") != words("coordinatie")
    assert words("coördinatie") == words("coo\u0308rdinatie") == ["coördinatie"]


def test_spans_point_into_decomposed_text() -> None:
    text = "Cafe\u0301, «E\u0301e\u0301n» \u1100\u1161\u11a8!"
    assert word_spans(text) == [Word("café", 0, 5), Word("één", 8, 13), Word("각", 15, 18)]
    assert text[8:13] == "E\u0301e\u0301n"


@given(MIXED)
def test_spans_are_the_words_in_order_without_overlap(text: str) -> None:
    spans = word_spans(text)
    assert [span.text for span in spans] == words(text)
    edges = [edge for span in spans for edge in (span.start, span.end)]
    assert edges == sorted(edges) and all(span.start < span.end <= len(text) for span in spans)


@given(MIXED)
def test_each_span_alone_gives_its_word(text: str) -> None:
    for span in word_spans(text):
        assert words(text[span.start : span.end]) == [span.text]


@given(MIXED)
def test_composed_and_decomposed_text_have_the_same_words(text: str) -> None:
    assert words(unicodedata.normalize("NFD", text)) == words(text)


@given(st.text(st.characters(max_codepoint=127)))
def test_the_quick_way_for_ascii_is_the_plain_pattern(text: str) -> None:
    assert words(text) == re.findall(r"[^\W_]+", text.casefold())


def test_marks_are_the_marks_of_unicode() -> None:
    is_mark = re.compile(f"[{MARKS}]").match
    for code in range(0x10000):
        category = unicodedata.category(chr(code))
        if category != "Cn":
            assert bool(is_mark(chr(code))) == category.startswith("M"), hex(code)
