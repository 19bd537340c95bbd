"""Words as support is looked for: stems, kinds, and places in the text as it was given."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.grounding.tokens import (
    LIGHT,
    NAME,
    NUMBER,
    PLAIN,
    STOP,
    WEIGHTS,
    is_denial,
    stems_of,
    tokens,
)

LANGUAGES = ("en", "nl", "de", "fr", "zh", None)


def read(text, language="en"):
    """The words as they are written, with their kinds."""
    found = tokens(text, language)
    written = [text[start:end] for start, end in zip(found.starts, found.ends, strict=True)]
    return list(zip(written, found.kinds, strict=True))


def test_names_and_numbers_weigh_most_and_small_words_nothing():
    assert WEIGHTS[STOP] == 0 < WEIGHTS[LIGHT] < WEIGHTS[PLAIN] < WEIGHTS[NAME] < WEIGHTS[NUMBER]


def test_a_capital_makes_a_name_only_inside_a_sentence():
    assert read("Painters met Rembrandt.") == [
        ("Painters", PLAIN),
        ("met", PLAIN),
        ("Rembrandt", NAME),
    ]
    assert dict(read("They left. Painters came."))["Painters"] == PLAIN
    assert dict(read('He said "Painters came."'))["Painters"] == PLAIN


def test_blanks_before_the_text_change_no_kind():
    bare = tokens("Painters met Rembrandt.", "en")
    for margin in (" ", "   ", "\n\n", "\t "):
        assert tokens(margin + "Painters met Rembrandt.", "en").kinds == bare.kinds


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,200", "1200"),
        ("4.0", "4"),
        ("11:00", "11"),
        ("founded", "founding"),
        ("museum's", "museums"),
        ("STRASSE", "straße"),
        ("café", "cafe\u0301"),
        ("soft\u00adened", "softened"),
    ],
)
def test_forms_of_one_word_have_one_stem(one, other):
    assert stems_of(one, "en") == stems_of(other, "en")


@pytest.mark.parametrize(
    ("one", "other"), [("1808", "1818"), ("1.5", "15"), ("found", "founded"), ("cafe", "café")]
)
def test_different_words_have_different_stems(one, other):
    assert stems_of(one, "en") != stems_of(other, "en")


@pytest.mark.parametrize(
    ("joined", "apart"), [("10pm", "10 pm"), ("1990s", "1990 s"), ("5km", "5 km"), ("2½", "2 ½")]
)
def test_a_number_keeps_all_its_digits_before_a_letter(joined, apart):
    assert stems_of(joined, "en") == stems_of(apart, "en")


def test_decomposed_accents_stay_in_their_word():
    text = unicodedata.normalize("NFD", "De coördinatie van het café")
    assert [word for word, _ in read(text, "nl")] == text.split()
    assert tokens(text, "nl").stems == tokens(unicodedata.normalize("NFC", text), "nl").stems


def test_writing_without_blanks_is_read_sign_by_sign():
    assert tokens("夜巡 1642年", "zh").stems == ["夜", "巡", "1642", "年"]


@pytest.mark.parametrize("word", ["not", "never", "don't", "isn’t", "niet", "kein", "pas", "不"])
def test_denials_are_told_and_never_stop_words(word):
    [stem] = stems_of(word, None)
    assert is_denial(stem)
    assert tokens(word, None).kinds != [STOP]


def test_other_words_deny_nothing():
    assert not any(map(is_denial, stems_of("The note is notable, nowadays and knotty.", "en")))


@given(
    text=st.text(
        st.sampled_from("aàe\u0301A1.,:' \n’不夜\u00adß\ud800\x00[]()-") | st.characters(),
        max_size=40,
    ),
    language=st.sampled_from(LANGUAGES),
)
def test_places_rise_and_the_stems_are_those_of_a_context(text, language):
    found = tokens(text, language)
    assert len(found.stems) == len(found.kinds) == len(found.starts) == len(found.ends)
    assert all(start < end for start, end in zip(found.starts, found.ends, strict=True))
    assert all(end <= start for end, start in zip(found.ends[:-1], found.starts[1:], strict=True))
    assert set(found.kinds) <= {STOP, LIGHT, PLAIN, NAME, NUMBER}
    assert all(found.stems)
    assert stems_of(text, language) == found.stems


@given(text=st.text(st.sampled_from("aB1 .,:'-_x9"), max_size=30))
def test_ascii_text_is_read_as_the_same_text_beside_an_accent(text):
    plain, beside = stems_of(text, "en"), stems_of(f"{text} é", "en")
    assert [*plain, "é"] == beside
