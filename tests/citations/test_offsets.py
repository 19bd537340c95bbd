"""Offsets lead to the code points their writer meant, or to a reason why not."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.citations.offsets import (
    BLOCK,
    TOKENIZERS,
    OffsetReading,
    Place,
    Unresolved,
    Whitespace,
    Words,
    resolve,
    ruler_of,
)
from ragauge.contracts.citation import Offsets

MIXED = "\ufeffCafe\u0301 🏛️ 北京故宫\r\n“naïve” 👩‍👩‍👧 end"
CODECS = {"utf-16": ("utf-16-le", 2), "bytes": ("utf-8", 1)}

texts = st.one_of(
    st.text(max_size=40),
    st.text(alphabet="aé北🏛\u0301\n\ud83d\udfff", max_size=40),
    st.text(alphabet="a🏛", min_size=1, max_size=4).map(lambda text: text * BLOCK),
)


def before(text: str, kind: str) -> list[int]:
    """How many units stand before each code point and the end, one character after the other."""
    codec, size = CODECS[kind]
    units = [len(one.encode(codec, "surrogatepass")) // size for one in text]
    return list(accumulate(units, initial=0))


@pytest.mark.parametrize("kind", CODECS)
@given(text=texts, data=st.data())
def test_every_unit_offset_is_a_code_point_or_inside_one(kind, text, data):
    points = {units: point for point, units in enumerate(before(text, kind))}
    total = max(points)
    end = data.draw(st.integers(1, total + 2), label="end")
    start = data.draw(st.integers(0, end - 1), label="start")
    found = resolve(Offsets(start, end), text, OffsetReading(kind))
    if end > total:
        assert found.kind == "beyond" and str(total) in found.reason
    elif start in points and end in points:
        assert found == Place(points[start], points[end])
    else:
        wrong = ("start", start) if start not in points else ("end", end)
        assert found.kind == "inside" and "{} {} ".format(*wrong) in found.reason


@pytest.mark.parametrize("kind", CODECS)
@given(text=texts, data=st.data())
def test_a_place_is_told_in_the_unit_it_would_be_read_in(kind, text, data):
    start = data.draw(st.integers(0, len(text)), label="start")
    end = data.draw(st.integers(start, len(text)), label="end")
    measured = ruler_of(text, "char", OffsetReading(kind)).measured(Place(start, end))
    assert measured == (before(text, kind)[start], before(text, kind)[end])


@pytest.mark.parametrize("kind", ["code-points", "utf-16", "bytes"])
def test_all_units_are_the_same_in_an_ascii_document(kind):
    text = "Opened in 1885.\r\n" * 200
    reading = OffsetReading(kind)
    assert resolve(Offsets(10, 14), text, reading) == Place(10, 14)
    assert resolve(Offsets(0, len(text)), text, reading) == Place(0, len(text))


@pytest.mark.parametrize(("kind", "offsets"), [("utf-16", (7, 10)), ("bytes", (10, 17))])
def test_an_emoji_with_its_variation_sign_is_found_in_every_unit(kind, offsets):
    at = MIXED.index("🏛️")
    found = resolve(Offsets(*offsets), MIXED, OffsetReading(kind))
    assert found == Place(at, at + 2) and MIXED[slice(*found)] == "🏛️"


@pytest.mark.parametrize(
    ("kind", "offsets", "reason", "near"),
    [
        ("utf-16", (8, 11), "start 8 is inside a surrogate pair", 7),
        ("utf-16", (6, 8), "end 8 is inside a surrogate pair", 6),
        ("bytes", (1, 4), "start 1 is inside a character", 0),
        ("bytes", (3, 13), "end 13 is inside a character", 1),
    ],
)
def test_an_offset_inside_a_character_is_named(kind, offsets, reason, near):
    found = resolve(Offsets(*offsets), MIXED, OffsetReading(kind))
    assert found == Unresolved("inside", reason, near)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("code-points", "the document ends at 5 characters"),
        ("utf-16", "the document ends at 6 UTF-16 units"),
        ("bytes", "the document ends at 9 bytes"),
    ],
)
def test_beyond_the_end_the_length_is_told_in_the_declared_unit(kind, reason):
    text = "ab🏛é!"
    for offsets, near in ((Offsets(0, 99), 0), (Offsets(98, 99), 5)):
        assert resolve(offsets, text, OffsetReading(kind)) == Unresolved("beyond", reason, near)
    assert resolve(Offsets(2, 5, "token"), "a b c", OffsetReading(tokenizer=Words())).reason == (
        "the document ends at 3 tokens"
    )


def test_the_last_character_is_not_beyond_the_end():
    assert resolve(Offsets(3, 5), "ab🏛é!", OffsetReading()) == Place(3, 5)
    assert resolve(Offsets(4, 6), "ab🏛é!", OffsetReading("utf-16")) == Place(3, 5)


@pytest.mark.parametrize("unit", ["char", "token"])
def test_an_empty_span_is_no_place(unit):
    reading = OffsetReading(tokenizer=Whitespace())
    assert resolve(Offsets(2, 2, unit), "a b c d", reading).kind == "empty"


def test_tokens_are_not_guessed_without_a_tokenizer():
    found = resolve(Offsets(0, 1, "token"), "one two", OffsetReading())
    assert found.kind == "unmeasured" and "no tokenizer is declared" in found.reason


class Failing:
    id = "own:1"

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        raise RuntimeError("no\nvocabulary")


def test_a_tokenizer_that_fails_is_a_reason_and_no_crash():
    found = resolve(Offsets(0, 1, "token"), "one two", OffsetReading(tokenizer=Failing()))
    assert found.kind == "unmeasured"
    assert found.reason == "tokenizer own:1 failed: RuntimeError: no vocabulary"


def test_token_offsets_count_the_declared_tokens():
    text = "The museum’s doors, opened in 1885."
    for tokenizer, offsets in ((Whitespace(), (2, 3)), (Words(), (4, 6))):
        found = resolve(Offsets(*offsets, "token"), text, OffsetReading(tokenizer=tokenizer))
        assert text[slice(*found)] == "doors,"


def test_a_place_within_tokens_is_told_by_the_tokens_that_hold_it():
    text = "one three five"
    ruler = ruler_of(text, "token", OffsetReading(tokenizer=Whitespace()))
    assert ruler.measured(Place(5, 7)) == (1, 2)
    assert ruler.measured(Place(2, 11)) == (0, 3)
    assert ruler.measured(Place(3, 4)) == (1, 1)


@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from("ab_1 \n,.\u0301\u093e北"))))
def test_words_lose_no_character_but_blanks_and_are_in_order(text):
    for name in TOKENIZERS:
        spans = TOKENIZERS[name].spans(text)
        assert "".join(text[slice(*span)] for span in spans) == "".join(text.split())
        assert all(a[1] <= b[0] for a, b in pairwise(spans))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("it's 3.5%", ["it", "'", "s", "3", ".", "5", "%"]),
        ("Cafe\u0301s — ok", ["Cafe\u0301s", "—", "ok"]),
        ("किताब है", ["किताब", "है"]),
        ("北京故宫，1925", ["北京故宫", "，", "1925"]),
        ("snake_case", ["snake_case"]),
    ],
)
def test_marks_belong_to_their_words(text, words):
    assert [text[slice(*span)] for span in Words().spans(text)] == words


def test_other_tokenizers_of_the_same_document_are_kept_apart():
    text = "a-b c-d"
    for tokenizer, place in ((Whitespace(), (0, 3)), (Words(), (0, 1)), (Whitespace(), (0, 3))):
        assert resolve(Offsets(0, 1, "token"), text, OffsetReading(tokenizer=tokenizer)) == place
