"""Reasons: what speaks against a sentence, in words a reader can check."""

from __future__ import annotations

import pytest

from ragauge.contracts.answers import Context
from ragauge.grounding import groundedness

MUSEUM = (
    "The museum opened in Amsterdam in 1808. King Louis founded it.",
    "Trade grew. Ships sailed to the east. Rembrandt painted the Night Watch.",
)
DINER = "".join(
    f"attributes {name}: {value}\n"
    for name, value in (
        ("WiFi", False),
        ("OutdoorSeating", True),
        ("HasTV", None),
        ("Music", None),
        ("Caters", True),
        ("hours Monday", "9:0-17:0"),
    )
)


def reason(answer, contexts=MUSEUM):
    """Of the first sentence."""
    return groundedness(answer, contexts, "What is told?").sentences[0].reason


def test_nothing_speaks_against_what_stands_there():
    found = groundedness("The museum opened in Amsterdam in 1808.", MUSEUM)
    assert found.reason is None
    assert found.sentences[0].reason is None


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("The museum opened in Amsterdam in 1818.", "not in the contexts: 1818"),
        ("Aliens bought pancakes.", "no word of it stands in a context"),
        ("The museum sells pancakes to pirates.", " of its words stand together in a context"),
        ("The museum opened in Amsterdam in 1808 [2].", "cited but hardly supporting: 2"),
        ("The museum did not open in Amsterdam in 1808.", "it denies where the context does not"),
        (
            "Rembrandt and King Louis founded the Night Watch.",
            "its words stand in the contexts, but not together",
        ),
    ],
)
def test_what_speaks_against_a_sentence_is_said(answer, said):
    assert said in reason(answer)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("It has WiFi.", "the record says no: attributes WiFi"),
        ("It has a TV.", "the record tells nothing of attributes HasTV"),
        ("It has no music.", "denied, though the record tells nothing of attributes Music"),
        (
            "It has no outdoor seating.",
            "denied, though the record says yes: attributes OutdoorSeating",
        ),
        ("It opens at 7 am today.", "no such time in the record: 7 am"),
        ("It is open daily.", "every day, but the record has no tuesday"),
    ],
)
def test_slips_against_a_record_are_said(answer, said):
    assert said in reason(answer, [DINER])


def test_the_answer_is_told_by_its_weakest_sentence():
    found = groundedness("King Louis founded it. Aliens bought 7 pancakes.", MUSEUM)
    assert found.reason.startswith("sentence 2 of 2: ")
    assert "7 pancakes" in found.reason or "7" in found.unsupported_numbers[0]


def test_the_words_that_stand_nowhere_are_told():
    found = groundedness("King Louis founded pancakes for pirates.", MUSEUM)
    assert "not in the contexts: pancakes, pirates" in found.reason


def test_a_long_list_is_cut_and_counted():
    names = ["Anna", "Bert", "Cora", "Dirk", "Emma", "Frits", "Gerda"]
    found = groundedness("So came " + ", ".join(names) + ".", MUSEUM)
    assert found.unsupported_words == tuple(names)
    assert "Anna, Bert, Cora, Dirk, Emma and 2 more" in found.reason


def test_a_citation_is_named_by_the_id_of_its_chunk():
    contexts = [Context("p1", MUSEUM[0]), Context("p2", MUSEUM[1])]
    assert "hardly supporting: p2" in reason("The museum opened in Amsterdam [2].", contexts)
