"""Records among the contexts: yes, no and nothing, and what an answer makes of them."""

from __future__ import annotations

import pytest

from ragauge.grounding.records import LEAST_FIELDS, record_of, slips

DINER = """name: Blue Door
attributes WiFi: False
attributes OutdoorSeating: True
attributes RestaurantsTakeOut: None
attributes HasTV: False
attributes BusinessParking lot: True
attributes BusinessParking valet: False
attributes Music: None
hours Monday: 11:0-22:0
hours Tuesday: 11:0-22:0
hours Friday: 11:0-23:30
"""


def faults(answer, text=DINER):
    """What is wrong, and the words of the answer that say so."""
    return [
        (slip.fault, answer[slip.start : slip.end]) for slip in slips(record_of([text]), answer)
    ]


def test_fields_say_yes_no_or_nothing():
    record = record_of([DINER])
    assert {field.name.split()[-1]: field.state for field in record.fields} == {
        "WiFi": "no",
        "OutdoorSeating": "yes",
        "RestaurantsTakeOut": "unknown",
        "HasTV": "no",
        "lot": "yes",
        "valet": "no",
        "Music": "unknown",
    }
    assert record.days == {"monday", "tuesday", "friday"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The museum opened in 1808. It says: no.",
        "a: yes\n" * (LEAST_FIELDS - 1),
        "a: yes\n" * LEAST_FIELDS + "Prose goes on and on.\n" * LEAST_FIELDS,
    ],
)
def test_prose_and_a_few_fields_are_no_record(text):
    assert record_of([text]) is None


def test_a_record_among_prose_is_found():
    assert record_of(["The museum opened in 1808.", DINER]) is not None


def test_a_field_that_the_reviews_speak_of_is_not_judged():
    review = "review: we watched the tv all night long and had a very good time there\n"
    names = [field.name for field in record_of([DINER + review]).fields]
    assert not any("TV" in name for name in names)
    assert any("WiFi" in name for name in names)


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("It offers free WiFi.", [("denied", "WiFi")]),
        ("It has wi-fi and a TV.", [("denied", "wi-fi"), ("denied", "TV")]),
        ("It has a patio.", []),
        ("It does not have outdoor seating.", [("affirmed", "outdoor seating")]),
        ("It offers take-out.", [("untold", "take-out")]),
        ("It does not offer takeout.", [("untold_denied", "takeout")]),
        ("Valet parking is available.", [("denied", "Valet")]),
        ("There is no parking lot.", [("affirmed", "lot")]),
        ("It closes at 9 pm today.", [("times", "9 pm")]),
        ("It is open seven days a week.", [("days", "seven days")]),
        ("It is open daily.", [("days", "daily")]),
    ],
)
def test_saying_otherwise_than_the_record_is_a_slip(answer, found):
    assert faults(answer) == found


@pytest.mark.parametrize(
    "answer",
    [
        "It does not offer WiFi or TV.",
        "It does not offer WiFi, and it has no TV.",
        "They have neither WiFi nor a TV.",
        "It lacks a TV.",
        "WiFi is unavailable.",
        "Valet parking is not available.",
        "There is no WiFi, but it has outdoor seating.",
        "It has outdoor seating and is not expensive.",
        "There is a parking lot.",
        "It opens at 11 am and closes at 10 PM.",
        "On Friday it closes at 11:30 PM.",
        "The data does not say whether it offers takeout.",
        "Whether it has music is not specified.",
        "There is no information about music.",
        "A lot of people like it.",
        "",
    ],
)
def test_saying_what_the_record_says_is_none(answer):
    assert faults(answer) == []


def test_a_denial_ends_where_the_sentence_affirms_anew():
    assert faults("Without WiFi, it still has a TV.") == [("denied", "TV")]
    assert faults("It does not offer outdoor seating but there is WiFi.") == [
        ("affirmed", "outdoor seating"),
        ("denied", "WiFi"),
    ]


def test_a_week_without_a_gap_is_every_day():
    days = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    whole = "".join(f"hours {day}: 9:0-17:0\n" for day in days)
    assert faults("It is open every day.", whole) == []


def test_slips_stand_in_reading_order():
    answer = "Open daily. It has a TV. It has WiFi. It closes at 9 pm."
    starts = [slip.start for slip in slips(record_of([DINER]), answer)]
    assert starts == sorted(starts)
    assert len(starts) == 4
