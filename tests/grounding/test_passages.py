"""Contexts made ready: what stands where, kin, labels, and pieces of long sentences."""

from __future__ import annotations

from itertools import pairwise

import pytest

from ragauge.contracts.answers import Context
from ragauge.grounding.passages import MAX_WORDS, Passages, token_ranges
from ragauge.grounding.tokens import tokens

MUSEUM = "The museum opened in 1808. King Louis founded it."


def test_lines_point_into_the_chunks():
    texts = ["  " + MUSEUM, "", "Één café\u0301 opende. 夜巡很大。"]
    passages = Passages(texts)
    written = [texts[line.chunk][line.start : line.end] for line in passages.lines]
    assert written == [
        "The museum opened in 1808.",
        "King Louis founded it.",
        "Één café\u0301 opende.",
        "夜巡很大。",
    ]
    assert [line.chunk for line in passages.lines] == [0, 0, 2, 2]


def test_every_stem_is_found_where_it_stands():
    passages = Passages([MUSEUM, "The king opened the museum."])
    for stem, lines in passages.where.items():
        having = [place for place, line in enumerate(passages.lines) if stem in line.stems]
        assert lines == having


def test_asking_where_a_word_stands_does_not_make_it_stand():
    passages = Passages([MUSEUM])
    with pytest.raises(KeyError):
        passages.where["mars"]
    assert passages.support("mars") == 0.0


def test_texts_are_named_by_their_place_and_contexts_keep_their_id():
    assert [chunk.id for chunk in Passages(["a", "b"]).chunks] == ["1", "2"]
    assert Passages([Context("p7", "a")]).chunks == [Context("p7", "a")]


@pytest.mark.parametrize(
    ("stem", "support"),
    [
        ("museum", 1.0),
        ("1808", 1.0),
        ("1809", 0.0),
        ("mars", 0.0),
        ("museology", 0.0),
        ("museumgoer", 0.6),
        ("kinglouis", 1.0),
        ("kingfound", 0.0),
    ],
)
def test_a_word_is_supported_by_itself_by_its_kin_or_by_two_neighbours(stem, support):
    assert Passages([MUSEUM], language="en").support(stem) == support


def test_neighbours_do_not_reach_over_the_end_of_a_sentence():
    assert Passages(["They may take. Out they go."], language="en").support("takeout") == 0.0
    assert Passages(["They may take out food."], language="en").support("takeout") == 1.0


def test_the_parts_of_a_name_with_inner_capitals_stand_there_too():
    passages = Passages(["OutdoorSeating: True"], language="en")
    assert passages.support("outdoor") == 1.0
    assert passages.where["seat"] == passages.where["outdoor"] == [0]
    assert passages.support("outdoorsman") == 0.6


def test_a_number_has_no_kin():
    assert Passages(["It cost 123456 guilders."]).support("123457") == 0.0


def test_chunks_answer_to_place_id_and_label_and_the_label_wins():
    contexts = [Context("p1", "[2] One."), Context("3", "Two."), Context("p3", "Three.")]
    numbered = Passages(contexts).numbered
    assert numbered["p1"] == 0
    assert numbered["2"] == 0
    assert numbered["3"] == 1
    assert numbered["1"] == 0
    assert "4" not in numbered


def test_the_question_and_the_numbers_are_read_when_asked_for():
    passages = Passages([MUSEUM], "When did Napoleon open it?")
    assert "napoleon" in passages.in_question
    assert ("1808", "*") in passages.supply


def test_the_language_is_seen_from_the_contexts_unless_told():
    text = "Het museum werd in 1800 gesticht door de koning van het land."
    assert Passages([text]).language == "nl"
    assert Passages([text], language="de").language == "de"


def test_token_ranges_give_each_sentence_its_tokens():
    text = "It opened. ... King Louis, who came, founded it!\n- So"
    found = tokens(text, "en")
    ranges = token_ranges(text, found)
    assert [text[start:end] for start, end, _, _ in ranges] == [
        "It opened. ...",
        "King Louis, who came, founded it!",
        "- So",
    ]
    assert [(first, last) for _, _, first, last in ranges] == [(0, 2), (2, 8), (8, 9)]


def test_a_sentence_without_end_is_taken_in_pieces_that_cover_its_words():
    text = "word " * (2 * MAX_WORDS + 5) + "end."
    found = tokens(text, "en")
    ranges = token_ranges(text, found)
    assert [last - first for _, _, first, last in ranges] == [MAX_WORDS, MAX_WORDS, 6]
    assert [first for _, _, first, _ in ranges[1:]] == [last for _, _, _, last in ranges[:-1]]
    for start, end, first, last in ranges:
        assert start <= found.starts[first] < found.ends[last - 1] <= end
    assert all(end <= start for (_, end, *_), (start, *_) in pairwise(ranges))
