"""Canonical text: what is the same to a reader is the same to the search, and no more."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.text.canonical import (
    canonical,
    canonical_reference,
    phrases,
    same_question,
)

CANONICAL = {
    "Ｆｕｌｌ　ｗｉｄｔｈ　１２": "full width 12",
    "ﬁlm ½ x²": "film 12 x2",
    "Straße STRASSE": "strasse strasse",
    "İstanbul": "i\u0307stanbul",
    "well-known": "well known",
    "well\u2010known": "well known",
    "well\u2011known": "well known",
    "1939–1945": "1939 1945",
    "1939—1945": "1939 1945",
    "1939−1945": "1939 1945",
    "soft\u00adhyphen zero\u200bwidth": "softhyphen zerowidth",
    "Rijksmuseum's": "rijksmuseums",
    "Rijksmuseum’s": "rijksmuseums",
    "“Quoted” «text» (1642). €5 + 3": "quoted text 1642 5 3",
    "cafe\u0301": "café",
    "e.\u0301": "é",
    "ς Σ": "σ σ",
    "《夜巡》（1642年）": "夜巡1642年",
    " tabs\tand\nlines\u2028\u00a0 ": "tabs and lines",
    "?!": "",
}
FOUND = {
    ("night watch", "The Night-Watch, by Rembrandt"): True,
    ("night watch", "The nightwatch"): False,
    ("Rijksmuseum’s", "the RIJKSMUSEUM'S garden"): True,
    ("Straße", "STRASSEN"): True,
    ("café noir", "Cafe\u0301 Noir"): True,
    ("1800", "founded in 1800."): True,
    ("1800", "(1800)"): True,
    ("1800", "the 18001 items"): False,
    ("1800", "the 21800 items"): False,
    ("1800", "18001 and 1800"): True,
    ("1800", "the 1800s"): False,
    ("1800", "1800–1810"): True,
    ("1800", "成立于1800年"): True,
    ("1800", "1800년에"): True,
    ("yes", "Yes, it is"): True,
    ("yes", "yesterday"): False,
    ("yes", "yes\u0332"): False,
    ("荷兰", "荷兰人的博物馆"): True,
    ("夜巡", "《夜巡》是伦勃朗的作品"): True,
    ("夜巡", "夜晚巡逻"): False,
    ("ไทย", "ประเทศไทยมี"): True,
}


@pytest.mark.parametrize("text", CANONICAL)
def test_canonical_forms(text):
    assert canonical(text) == CANONICAL[text]


@pytest.mark.parametrize(("phrase", "claim"), FOUND)
def test_phrases_found(phrase, claim):
    made = phrases((phrase,), "unicode")
    assert made is not None
    assert made.found_in(claim) is FOUND[phrase, claim]


@given(
    st.text()
    | st.text(
        st.characters(categories=("Mn", "Mc", "Lu", "Ll", "Lm", "Pd", "Po", "Sm", "Cf", "Zs"))
    )
)
def test_canonical_text_is_a_fixed_point(text):
    made = canonical(text)
    assert canonical(made) == made
    assert made == " ".join(made.split())


@given(st.text(st.characters(max_codepoint=127)))
def test_the_short_way_for_ascii_is_the_long_way(text):
    assert canonical(text + "é") in (canonical(text) + "é", f"{canonical(text)} é")


@given(st.text(st.characters(max_codepoint=127)), st.text(st.characters(max_codepoint=127)))
def test_a_phrase_is_found_early_only_where_it_is_found_late(claim, phrase):
    for canon, make in (("unicode", canonical), ("reference", canonical_reference)):
        made = phrases((phrase,), canon)
        if made and made.long:
            assert made.found_in(claim) == (made.long[0] in make(claim))


def test_the_reference_rule_knows_ascii_only_and_drops_short_phrases():
    assert canonical_reference("Well-known “Night  Watch”!") == "wellknown “night watch”"
    made = phrases(("1800", "night watch"), "reference")
    assert made is not None
    assert not made.found_in("in 1800")
    assert made.found_in("the NIGHT, watch")


def test_nothing_to_look_for():
    assert phrases(("?!", "…"), "unicode") is None
    assert phrases((), "unicode") is None


def test_the_same_question():
    assert same_question(" Ｗhat is a cafe\u0301?\n") == "What is a café?"
    assert same_question(" what  is \n it? ") == "what is it?"
    assert same_question("What?") != same_question("what?")
