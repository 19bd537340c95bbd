"""Words are found to the letter, or nearly, with what is different."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ragauge.citations.likeness import LEFT_OUT, around, differences, nearest, nearly

letters = st.text(alphabet="abcA é\u0301“'\"—-…\r\n\u200bﬁ½ß北🏛", max_size=24)
plain = st.text(alphabet="abcé'-. ", max_size=24)
ab = st.text(alphabet="ab", max_size=30)

DISGUISES = {
    "line ends (CRLF or LF)": lambda text: text.replace("\n", "\r\n"),
    "Unicode form (NFC)": lambda text: unicodedata.normalize("NFD", text),
    "unseen characters": lambda text: text.replace("u", "u\u00ad"),
    "white space": lambda text: text.replace(" ", " \u00a0 "),
    "typographic signs": lambda text: text.replace('"', "”").replace("-", "–").replace("...", "…"),
    "quotation marks around it": lambda text: f"«{text}»",
    "upper and lower case": str.upper,
    "Unicode form (NFKC)": lambda text: text.replace("fi", "ﬁ"),
}
WORDS = 'A "museum" first-rate,\nin a café... of 1885'


@given(text=ab, words=ab.filter(bool), at=st.integers(0, 31))
def test_the_nearest_is_that_of_a_look_at_every_place(text, words, at):
    places = [place for place in range(len(text)) if text.startswith(words, place)]
    told = min(places, key=lambda place: (abs(place - at), place), default=None)
    assert nearest(text, words, at) == told
    before = [place for place in places if place < at][-1:]
    assert around(text, words, at) == before + [place for place in places if place >= at][:1]


@pytest.mark.parametrize("name", DISGUISES)
def test_each_difference_is_named_alone(name):
    disguised = DISGUISES[name](WORDS)
    assert disguised != WORDS
    assert differences(WORDS, disguised) == differences(disguised, WORDS) == (name,)
    if name != "quotation marks around it":
        assert differences(disguised, f"Before, {WORDS} after", within=True) == (name,)


@given(st.sets(st.sampled_from(sorted(DISGUISES))))
def test_several_differences_are_named_together(names):
    disguised = WORDS
    for name in DISGUISES:
        if name in names:
            disguised = DISGUISES[name](disguised)
    assert set(differences(WORDS, disguised)) <= names
    assert bool(differences(WORDS, disguised)) == bool(names)


@pytest.mark.parametrize(
    ("words", "text"),
    [("opened in 1885", "opened in 1886"), ("cafe", "café"), ("", ""), (" ", "a"), ('"', "a")],
)
def test_other_words_are_no_likeness(words, text):
    assert differences(words, text) is None
    assert differences(words, text, within=True) is None
    assert nearly(text, words, 0) is None


@pytest.mark.parametrize(
    ("quote", "named"),
    [
        ("It opened … in the year", (LEFT_OUT,)),
        ("… opened its “doors” [...] 1885 …", (LEFT_OUT,)),
        ("opened (…) doors", (LEFT_OUT,)),
        ("doors … opened", None),
        ("doors … closed", None),
        ("…", None),
    ],
)
def test_what_is_left_out_at_an_ellipsis_must_lie_between_the_parts(quote, named):
    text = 'It opened its "doors" in the year 1885.'
    assert differences(quote, text, within=True) == named


@given(head=plain, words=letters, tail=plain, near=st.integers(0, 60))
def test_words_in_another_form_are_found_where_they_stand(head, words, tail, near):
    text = f"{head} {words} {tail}"
    sought = unicodedata.normalize("NFKC", words).replace("\r\n", "\n").upper()
    assume(differences(sought, words) is not None)
    found = nearly(text, sought, near)
    assert found is not None
    assert differences(sought, text[found.start : found.end]) is not None


@given(text=letters, words=letters, near=st.integers(0, 30))
def test_what_is_found_nearly_has_a_name_for_each_difference(text, words, near):
    found = nearly(text, words, near)
    if found is not None:
        named = differences(words, text[found.start : found.end])
        assert named is not None
        assert named or words == text[found.start : found.end]


def test_the_nearest_of_two_in_another_form_is_found():
    text = "The Café. " * 3
    for near, start in ((0, 4), (13, 14), (30, 24)):
        assert nearly(text, "café.", near) == (start, start + 5)


@pytest.mark.parametrize("at", [0, 250, 255, 256, 400, 1990])
def test_words_are_found_in_a_long_run_without_blanks(at):
    run = "北京故宫é" * 400
    text = f"Before. {run[:at]}Ａrchive{run[at:]} after"
    assert nearly(text, "archive", 0) == (8 + at, 15 + at)


@pytest.mark.parametrize("quote", [" " * 50_000 + "x", "(" * 50_000 + "x", "." * 50_000 + "x…y"])
def test_a_hostile_quote_takes_no_longer_than_its_length(quote):
    assert differences(quote, "It opened in 1885.", within=True) is None
