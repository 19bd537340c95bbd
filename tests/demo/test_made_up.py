"""What is made up is in no document, in the language of the answer, and one thing at a time."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.demo import DOCUMENTS
from ragauge.demo.answer_faults import NAMES, Told, ended, untrue
from ragauge.text.language import language_of

ALTERED, ADDED, REPLACED = 0.1, 0.5, 0.9


def told(text: str, question: str = "When?") -> Told:
    return Told(question, "Louvre: a museum", (text,))


def test_nobody_of_these_names_is_in_the_documents():
    texts = "".join(file.read_text("utf-8") for file in DOCUMENTS.glob("*.md"))
    words = {word for name in NAMES for word in name.split()}
    assert not [word for word in words if word in texts]


def test_one_number_is_changed_and_nothing_else():
    text = "It holds 6,487 books since 1808."
    now = untrue(text, told(text, "What does it hold since 1808?"), ALTERED)
    assert now == "It holds 6,500 books since 1808."


def test_a_name_is_changed_where_there_is_no_number_but_the_questions_own():
    text = "In 1885 it was designed by Pierre Cuypers for the king."
    now = untrue(text, told(text, "Who designed it in 1885?"), ALTERED)
    assert now == text.replace("Pierre Cuypers", NAMES[int(ALTERED * 3 * len(NAMES))])


def test_a_name_with_small_words_is_one_name():
    text = "It was built by Jacob van Campen."
    assert untrue(text, told(text, "By whom?"), ALTERED) in {
        f"It was built by {name}." for name in NAMES
    }


def test_where_there_is_nothing_to_change_a_tale_takes_the_place():
    text = "It lies under a glass pyramid."
    now = untrue(text, told(text), ALTERED)
    assert "Louvre" in now and text not in now


def test_a_tale_is_added_after_a_stop_or_takes_the_place():
    text = "It opened in 1793"
    added, replaced = (untrue(text, told(text), drawn) for drawn in (ADDED, REPLACED))
    assert added.startswith("It opened in 1793. ") and "Louvre" in added
    assert text not in replaced and "Louvre" in replaced and "museum" not in replaced


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The museum was opened by the king.", "en"),
        ("Het museum werd door de koning geopend.", "nl"),
    ],
)
def test_a_tale_is_told_in_the_language_of_the_answer(text, language):
    for drawn in (0.67, 0.75, 0.83, 0.91, 0.99):
        assert language_of(untrue(text, told(text), drawn)) == language


def test_texts_that_end_are_ended():
    assert [ended(text) for text in ("So.", "So?", "So!", "So")] == ["So.", "So?", "So!", "So."]


@given(st.text(), st.floats(0, 1, exclude_max=True))
def test_whatever_is_said_something_else_comes_of_it(text, drawn):
    now = untrue(text, told(text), drawn)
    assert now != text
    assert set(re.findall(r"\w+", now)) - set(re.findall(r"\w+", text))
