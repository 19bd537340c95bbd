"""A diagnosis in two languages: the same things are said, and columns hold for wide characters."""

import inspect
import re
import string
from itertools import pairwise
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from rich.cells import cell_len

from ragauge.contracts.diagnosis import LANGUAGES, Severity, Standing
from ragauge.contracts.report import Decision
from ragauge.contracts.sweep import Ended
from ragauge.reports.formats.text import _may_break, line_breaks
from ragauge.reports.kinds import catalogue, diagnosis
from ragauge.reports.phrasing import phrases, wording
from ragauge.reports.rendering import render
from tests.reports.test_diagnosis import ANSWER, REFERENCE, fine, many, telling, unjudged

WIDE = "\u4e00-\u9fff"
BESIDE_WIDE = re.compile(rf"[{WIDE}][,;:!?()]|[,;:!?()][{WIDE}]")
MADE = (telling, fine, unjudged, many)
KINDS = {"diagnosis": diagnosis, "catalogue": catalogue}
"""Kinds of reports with phrases in each language, and the modules that use them."""


def texts(value, path=""):
    """Every text of a language, by where it stands."""
    if isinstance(value, str):
        return {path: value}
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    found = {}
    for key, inner in pairs:
        found |= texts(inner, f"{path}.{key}")
    return found


def all_texts(language):
    known = {"": wording(language), **{kind: phrases(kind, language) for kind in KINDS}}
    return texts(msgspec.to_builtins(known))


def fields(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_both_languages_fill_in_the_same_places():
    english, chinese = all_texts("en"), all_texts("zh")
    by_name = (  # an English name may do as it is, and a heading is not a name
        *(".diagnosis.names.invalid.", ".diagnosis.names.coverage."),
        ".catalogue.names.facts.",
    )
    for place in english.keys() | chinese.keys():
        if not place.startswith(by_name):
            assert fields(english[place]) == fields(chinese[place]), place


def test_chinese_punctuation_is_full_width():
    for place, text in all_texts("zh").items():
        assert not BESIDE_WIDE.search(text), place


def test_chinese_parts_of_a_sentence_are_joined_in_full_width():
    signs = msgspec.to_builtins(wording("zh").signs).values()
    assert not [sign for sign in signs if sign.isascii()]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_name_that_can_occur_has_a_word(language):
    names = phrases("diagnosis", language).names
    assert set(wording(language).gate_verdicts) == set(get_args(Decision))
    assert set(names["severities"]) == set(get_args(Severity))
    assert {"struck_out", *names["leads"]} == set(get_args(Standing))
    assert set(names["addresses"]) == {*ANSWER, *REFERENCE, "unjudged"}
    assert {"complete", *names["ended"]} == set(get_args(Ended))


@pytest.mark.parametrize("kind", KINDS)
def test_every_phrase_that_is_used_exists_and_every_one_that_exists_is_used(kind):
    known, source = phrases(kind, "en"), inspect.getsource(KINDS[kind])
    used = {"higher", "lower", *re.findall(r"""["'](\w+)["']""", source)}
    used |= {f"{name}_about" for name in used}
    assert set(re.findall(r"""own\(["'](\w+)["']""", source)) <= known.phrases.keys()
    assert {*known.phrases, *known.counts, *known.names} - used == set()


ENGLISH = re.compile(r"[a-z]{3,} [a-z]{3,}")


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_a_chinese_report_has_no_english_sentence(form):
    made = telling(language="zh")
    made = structs.replace(made, gates=(), symptoms={"missed": 15})
    worst = [structs.replace(one, worst=one.worst[:1]) for one in made.diagnoses[:1]]
    made = structs.replace(made, diagnoses=tuple(worst))
    written = render(made, form)
    if form == "html":
        written = re.sub(r"<[^>]*>", "\n", written.partition("<body>")[2])
    lines = [line for line in written.splitlines() if ENGLISH.search(line)]
    assert lines == []


def test_the_page_says_which_language_it_is_in():
    assert "<title>Ragauge diagnosis: FAIL</title>" in render(telling(), "html")
    page = render(fine(language="zh"), "html")
    assert "<title>Ragauge 诊断：通过</title>" in page
    assert '<html lang="zh-Hans">' in page
    assert '<html lang="en">' in render(fine(), "html")


def starts(line, words):
    """The columns of the screen where these words begin."""
    return [cell_len(line[: line.index(word)]) for word in words]


def test_columns_stand_below_each_other_in_chinese():
    lines = render(telling(language="zh"), "text", width=120).splitlines()
    place = next(n for n, line in enumerate(lines) if line.startswith("  指标  "))
    heads = starts(lines[place], ["程度", "值", "警告 / 严重"])
    assert starts(lines[place + 1], ["严重", "0.412", "< 0.70"]) == heads
    rows = [line for line in lines[place:] if line.startswith(("  noise_", "  semantic_"))]
    assert starts(rows[0], ["警告", "0.310", "> 0.30 /"]) == heads
    assert starts(rows[1], ["无法评估", "–", "< 0.70"]) == heads
    bars = [cell_len(line[: line.index("█")]) for line in lines if "█" in line and "%" in line]
    assert len(bars) >= 3


@pytest.mark.parametrize("made", MADE, ids=lambda made: made.__name__)
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_line_is_wider_than_the_page_and_none_is_cut(made, language, width):
    written = render(made(language=language), "text", width=width)
    assert max(cell_len(line) for line in written.splitlines()) <= width
    if width >= 80:
        assert "…" not in written


PIECES = st.lists(
    st.sampled_from(
        ["检索", "片段", "，", "。", "（", "）", "a", "bc", "k_pos", " ", "  ", "12", "."]
    )
)


def plainly(text, width):
    """Lines of at most a width, each as long as can be: slow, and plain to see."""
    lines = []
    while text:
        fits = max(
            k for k in range(1, len(text) + 1) if k == 1 or cell_len(text[:k].rstrip(" ")) <= width
        )
        allowed = [
            k for k in range(1, fits + 1) if k < len(text) and _may_break(*text[k - 1 : k + 1])
        ]
        end = len(text) if fits == len(text) else allowed[-1] if allowed else fits
        lines.append(text[:end])
        text = text[end:]
    return lines


@given(PIECES, st.integers(2, 30))
def test_lines_are_broken_as_a_slow_reader_would(pieces, width):
    text = "".join(pieces)
    ends = [0, *line_breaks(text, width), len(text)]
    lines = [text[start:end] for start, end in pairwise(ends)]
    assert [line for line in lines if line] == plainly(text, width)
    assert all(cell_len(line.rstrip()) <= width for line in lines)


def test_a_line_begins_with_no_comma_and_ends_with_no_opening_bracket():
    assert list(line_breaks("候选池太小，放大", 10)) == [4]
    assert list(line_breaks("候选池太（小）", 10)) == [4]
    assert list(line_breaks("一段 a_long_name", 12)) == [3]
    assert list(line_breaks("a检，，，", 7)) == [1, 4]  # no line is too wide, even so
