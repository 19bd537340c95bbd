"""Number and date agreement of an answer with its contexts or references."""

import pytest

from ragauge.contracts.answers import AnswerRow, Context
from ragauge.contracts.metric import Absent, NotApplicable, Row
from ragauge.metrics.answers import AnswerFacts
from ragauge.metrics.groundedness import date_agreement, number_agreement


def facts(answer, *contexts, references=(), refused=False):
    passages = tuple(Context(id=f"c{place}", text=text) for place, text in enumerate(contexts))
    row = AnswerRow(id="a", answer=answer, contexts=passages, references=references)
    return AnswerFacts(row=row, refused=refused)


def test_numbers_stand_in_any_of_the_contexts():
    found = number_agreement(facts("12,000 books, 5 km away, 7 rooms", "5 km", "twelve thousand"))
    assert found == Row((2, 3), "not found: 7")


def test_identifiers_count_among_the_numbers():
    assert number_agreement(facts("An A321 and a RTX-3090.", "an A320, an rtx 3090")) == Row(
        (1, 2), "not found: A321"
    )


def test_another_unit_is_another_number():
    assert number_agreement(facts("5 miles", "5 km")) == Row((0, 1), "not found: 5 miles")
    assert number_agreement(facts("5", "5 km")) == Row((1, 1))


def test_dates_are_counted_apart_from_numbers():
    given = facts("On 3 May 1800, at 5 PM, 12 men.", "In May 1800, at 17:00, twelve men.")
    assert date_agreement(given) == Row((1, 2), "not found: 3 May 1800")
    assert number_agreement(given) == Row((1, 1))


def test_the_references_serve_where_there_are_no_contexts():
    given = facts("In 1801.", references=("in 1800", "3 May 1801"))
    assert date_agreement(given) == Row((1, 1), "in the references, for want of contexts")


def test_contexts_go_before_references():
    assert number_agreement(facts("7", "8", references=("7",))) == Row((0, 1), "not found: 7")


@pytest.mark.parametrize(
    ("given", "absent"),
    [
        (facts(None, "5"), Absent("no answer: the row has none")),
        (facts("  ", "5"), Absent("no answer: it is empty")),
        (
            facts("I do not know the 5.", "5", refused=True),
            NotApplicable("the answer is a refusal: it claims nothing"),
        ),
        (facts("5"), Absent("no context and no reference")),
        (facts("5", " "), Absent("no context and no reference")),
        (facts("One of the two [1].", "5"), NotApplicable("no number in the answer")),
    ],
)
def test_absence_has_a_reason(given, absent):
    assert number_agreement(given) == absent


def test_an_answer_without_dates_has_no_date_agreement():
    assert date_agreement(facts("5 km", "5 km")) == NotApplicable("no date in the answer")


def test_a_long_list_of_lost_numbers_is_cut():
    answer = ", ".join(f"{number} km" for number in range(101, 114))
    found = number_agreement(facts(answer, "none"))
    assert found.counts == (0, 13)
    assert found.reason.endswith("110 km and 3 more")


def test_neither_is_a_rate_because_the_numbers_of_an_answer_are_not_independent():
    assert not number_agreement.rate and not date_agreement.rate
