"""Laws of quantities in any text: places, order, self-support, and cost."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.quantities import quantities, supply, unsupported
from ragauge.quantities.words import word_numbers
from ragauge.text.canonical import lowered

PIECES = [
    *"0123456789",
    *" \n.,:/-–'[]()%$€+@#°½年月日点万百分之一二十İßX",
    "12,000",
    "1.234",
    "1800-05-03",
    "03/05/1800",
    "17:00",
    "3 May 1800",
    "May",
    "5 PM",
    "pm",
    "twelve",
    "hundred",
    "and",
    "third",
    "half a",
    "zwanzig",
    "km",
    "million",
    "II",
    "RTX",
    "NL-AmRM",
    "ISBN ",
    "978-3-16-148410-0",
    "http://a.org/1",
    "me@a.org",
    "the",
    "nineties",
    "s",
    "th",
    "a",
    "noon",
    "10.1000/x1",
    "+31 20 1234567",
]
texts = st.lists(st.sampled_from(PIECES), max_size=25).map("".join) | st.text(max_size=60)


@given(texts)
def test_places_are_exact_ordered_and_apart(text):
    found = quantities(text)
    for quantity in found:
        assert text[quantity.start : quantity.end] == quantity.text != ""
        assert len(set(quantity.readings)) == len(quantity.readings)
    for one, following in pairwise(found):
        assert one.end <= following.start


@given(texts)
def test_every_text_supports_itself(text):
    found = quantities(text)
    assert unsupported(found, supply(found)) == []


@given(texts, texts)
def test_more_context_supports_no_less(text, more):
    said = quantities(text)
    alone = unsupported(said, quantities(more))
    assert set(unsupported(said, quantities(more + "\n\n" + text))) <= set(alone)


@given(texts)
def test_reading_twice_gives_the_same(text):
    assert quantities(text) == quantities(text)


@given(st.text(alphabet="aİßIé ", max_size=20))
def test_small_letters_keep_their_places(text):
    assert len(lowered(text)) == len(text)


def test_many_different_number_words_are_found_like_few():
    few = "twenty-one, thirty-two, three hundred, one third"
    more = ", four, five, six, seven, eight, nine, ten, eleven, thirteen, vierentwintig, dreißig"
    more += ", quarante, zwanzig, tien, huit, dix, vijf, zeven, zwölf, douze, trois, deux, negen"
    found = word_numbers(few)
    assert [number.readings[0][1] for number in found] == ["21", "32", "300", "1/3"]
    assert word_numbers(few + more)[: len(found)] == found
    assert len(word_numbers(few + more)) == len(found) + 23


@pytest.mark.parametrize(
    "piece",
    [
        "1",
        "1,",
        "1.",
        "1 ",
        "1 000 ",
        "1-",
        "1:",
        "a1",
        "A-1",
        "a-",
        "1/",
        "twenty ",
        "one-",
        "+1 ",
        "[1,",
        "$",
        "1.2.",
        "万",
        "May 1 ",
        "(1",
        "http://1 ",
        "@a.",
        "a@",
        "million ",
        "I",
        "1'",
    ],
)
def test_hostile_texts_are_read_in_one_pass(piece):
    text = piece * 500
    found = quantities(text)
    assert all(text[quantity.start : quantity.end] == quantity.text for quantity in found)
    assert sum(len(quantity.text) for quantity in found) <= len(text)
