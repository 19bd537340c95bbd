"""What the coefficients weigh: markers, list marks, lead-ins, and the numbers in their order."""

from __future__ import annotations

import math

import pytest

from ragauge.contracts.answers import Context
from ragauge.grounding.features import (
    ANSWER_FEATURES,
    MOST_SLIPS,
    SENTENCE_FEATURES,
    answer_features,
    probability,
    read_answer,
    sentence_features,
)
from ragauge.grounding.passages import Passages

MUSEUM = ("The museum opened in 1808.", "King Louis founded it.", "It has 12,000 paintings.")
DINER = "".join(
    f"attributes {name}: False\n" for name in ("WiFi", "HasTV", "Music", "Caters", "Alcohol", "Lot")
)


def read(answer, contexts=MUSEUM):
    return read_answer(answer, Passages(contexts)).sentences


def features(answer, contexts=MUSEUM):
    [one] = read(answer, contexts)
    return dict(zip(SENTENCE_FEATURES, sentence_features(one), strict=True))


def words(answer, contexts=MUSEUM):
    found = read_answer(answer, Passages(contexts)).tokens
    return [answer[start:end] for start, end in zip(found.starts, found.ends, strict=True)]


@pytest.mark.parametrize(
    ("marker", "cited"),
    [
        ("[1]", (0,)),
        ("[2, 3]", (1, 2)),
        ("[1-3]", (0, 1, 2)),
        ("[ 1 – 2 ]", (0, 1)),
        ("[3][1]", (2, 0)),
        ("[1;1]", (0,)),
        ("【2】", (1,)),
        ("【2†source】", (1,)),
        ("[3-1]", (2, 0)),
        ("[9]", ()),
        ("[1-999]", (0,)),
        ("(1808)", ()),
    ],
)
def test_markers_name_chunks_by_place(marker, cited):
    [one] = read(f"The museum opened in 1808 {marker}.")
    assert one.cited == cited


def test_markers_name_chunks_by_label_and_id():
    contexts = [Context("7", "[4] The museum opened."), Context("p2", "It closed.")]
    [one] = read("The museum opened [4][7][2].", contexts)
    assert one.cited == (0, 1)


def test_a_marker_counts_for_the_sentence_it_stands_in():
    first, second = read("The museum opened in 1808 [1]. King Louis founded it. [2]")
    assert (first.cited, second.cited) == ((0,), (1,))


@pytest.mark.parametrize(
    "marker",
    ["[1]", "[2, 3]", "[1-3]", "【1】", "(passage 1)", "(see Passages 1 and 2)", "[Source 3]"],
)
def test_markers_are_no_words_and_no_numbers_of_the_answer(marker):
    bare = "The museum opened in 1808"
    assert words(f"{bare} {marker}.") == words(f"{bare}.")
    assert read(f"{bare} {marker}.")[0].numbers == []


@pytest.mark.parametrize("mark", ["1. ", "2) ", "(3) ", "- ", "* ", "• ", "  12. "])
def test_list_marks_are_no_numbers(mark):
    text = f"{mark}The museum opened in 1808.\n{mark}King Louis founded it."
    assert words(text) == words("The museum opened in 1808. King Louis founded it.")


@pytest.mark.parametrize(
    "lead",
    [
        "Sure! Here is a summary in 50 words: ",
        "Certainly! Here's the answer:\n",
        "Sure, I can help you with that! Based on the passages, here is what they say:\n\n",
        "Here are the facts:\n",
        "Here is a summary\n",
        "Summary: ",
        "Of course. ",
        "   Sure.\n",
    ],
)
def test_what_is_said_before_the_answer_claims_nothing(lead):
    assert words(f"{lead}The museum opened in 1808.") == words("The museum opened in 1808.")


@pytest.mark.parametrize(
    "claim",
    [
        "Sure, aliens founded the museum.",
        "Of course aliens founded the museum.",
        "Certainly aliens founded the museum.",
        "Surely aliens founded the museum.",
        "Here is where aliens founded the museum.",
        "Sure, it opens at 9:30 for aliens.",
    ],
)
def test_a_claim_does_not_hide_behind_a_pleasantry(claim):
    assert "aliens" in words(claim)


@pytest.mark.parametrize("said", ["Yes.", "Thank you!", "I hope this helps.", "谢谢。", "No"])
def test_a_pleasantry_alone_is_no_sentence_that_claims(said):
    assert read(said) == []
    assert len(read(f"{said}\nThe museum opened in 1808.")) == 1


def test_a_word_that_only_begins_like_a_pleasantry_is_left_whole():
    assert words("Surely aliens came.") == ["Surely", "aliens", "came"]


def test_a_list_begins_in_the_line_after_the_lead_in():
    assert words("Here is a list\n1. The museum") == ["The", "museum"]


@pytest.mark.parametrize("said", ["in 50 words", "(within 50 words)", "100 words or less"])
def test_how_long_the_answer_was_to_be_is_no_number_of_it(said):
    assert read(f"The museum opened in 1808 {said}.")[0].numbers == []


def test_blanked_places_stay_where_they_were():
    answer = "Sure! Here it is: 1. The museum [1] opened."
    found = read_answer(answer, Passages(MUSEUM)).tokens
    at = found.stems.index("museum")
    assert answer[found.starts[at] : found.ends[at]] == "museum"


def test_features_of_a_sentence_that_stands_there():
    found = features("The museum opened in 1808 [1].")
    for name in ("supported", "in_line", "in_window", "in_order", "bigrams", "cited"):
        assert found[name] == 1.0, name
    for name in set(SENTENCE_FEATURES) - {
        "supported",
        "in_line",
        "in_window",
        "in_order",
        "bigrams",
        "cited",
        "length",
    }:
        assert found[name] == 0.0, name


def test_features_of_one_that_does_not():
    found = features("So Napoleon sold 400 ships.")
    assert found["supported"] == found["in_line"] == found["in_order"] == 0
    assert found["missing_numbers"] == math.log1p(1)
    assert found["missing_keys"] == math.log1p(2)
    assert found["missing"] > 0
    assert found["worst_span"] > 0


def test_a_number_in_another_form_is_no_missing_key():
    found = features("It has twelve thousand paintings.")
    assert found["missing_numbers"] == found["missing_keys"] == found["missing"] == 0
    assert found["in_window"] == 1


def test_the_weakest_of_the_cited_contexts_tells():
    assert features("The museum opened in 1808 [1].")["weakest_citation"] == 0
    assert features("The museum opened in 1808 [1][2].")["weakest_citation"] == 1
    assert features("The museum opened in 1808 [1][2].")["citations"] == math.log(2)
    assert features("The museum opened in 1808.")["weakest_citation"] == 0


def test_slips_are_counted_by_fault_and_only_so_far():
    found = features("It has WiFi; it has a TV; it has music; it caters WiFi; a lot.", [DINER])
    assert found["record_denied"] == MOST_SLIPS
    assert found["record_affirmed"] == 0


def test_an_answer_of_one_sentence_has_the_numbers_of_that_sentence():
    [one] = read("So Napoleon opened the museum [1].")
    own = dict(zip(SENTENCE_FEATURES, sentence_features(one), strict=True))
    whole = dict(zip(ANSWER_FEATURES, answer_features([one], [0.25]), strict=True))
    assert whole["weakest_sentence"] == whole["mean_sentence"] == 0.25
    assert whole["faults"] == math.log1p(1 - probability(0.25))
    for name in set(ANSWER_FEATURES) & set(SENTENCE_FEATURES):
        assert whole[name] == pytest.approx(own[name]), name


def test_an_answer_is_weighed_by_the_length_of_its_sentences():
    sentences = read("The museum opened in 1808. So Napoleon sold ships.")
    whole = dict(zip(ANSWER_FEATURES, answer_features(sentences, [2.0, -1.0]), strict=True))
    good, bad = (one.aligned for one in sentences)
    assert whole["weakest_sentence"] == -1.0
    assert whole["mean_sentence"] == 0.5
    assert whole["supported"] == pytest.approx(good.weight / (good.weight + bad.weight))
    assert whole["length"] == pytest.approx(math.log(good.weight + bad.weight))


@pytest.mark.parametrize(("odds", "chance"), [(0.0, 0.5), (-1e9, 0.0), (1e9, 1.0), (-800, 0.0)])
def test_any_log_odds_have_a_probability(odds, chance):
    assert probability(odds) == chance
    assert probability(math.log(3)) == pytest.approx(0.75)
