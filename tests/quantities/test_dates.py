"""Dates and times, read as equal however they are written."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.quantities import is_supported, quantities, unsupported


def named(words):
    return words.split()


ENGLISH = named(
    "January February March April May June July August September October November December"
)
DUTCH = named(
    "januari februari maart april mei juni juli augustus september oktober november december"
)
GERMAN = named("Januar Februar März April Mai Juni Juli August September Oktober November Dezember")
FRENCH = named(
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"
)


def only(text):
    (found,) = quantities(text)
    assert text[found.start : found.end] == found.text
    return found


def values(text):
    return [(found.kind, found.value) for found in quantities(text)]


def stands(said, context):
    return unsupported(quantities(said), quantities(context)) == []


@pytest.mark.parametrize(
    "text",
    [
        "3 May 1800",
        "May 3, 1800",
        "May 3rd, 1800",
        "3rd of May, 1800",
        "3-May-1800",
        "1800-05-03",
        "1800/05/03",
        "03.05.1800",
        "3 mei 1800",
        "3. Mai 1800",
        "le 3 mai 1800",
        "1800年5月3日",
        "１８００年５月３日",
    ],
)
def test_the_third_of_may(text):
    assert [(found.kind, found.value) for found in [only(text)]] == [("date", "1800-05-03")]


@given(st.dates(date(1000, 1, 1), date(2099, 12, 31)))
def test_dates_of_five_languages_read_back(day):
    place = day.month - 1
    for written in (
        f"{day.day} {ENGLISH[place]} {day.year:04}",
        f"{ENGLISH[place]} {day.day}, {day.year:04}",
        f"{day.day} {DUTCH[place]} {day.year:04}",
        f"{day.day}. {GERMAN[place]} {day.year:04}",
        f"le {day.day} {FRENCH[place]} {day.year:04}",
        f"{day.year}年{day.month}月{day.day}日",
        day.isoformat(),
    ):
        assert only(written).readings == (("date", day.isoformat(), None),)


@given(st.dates(date(1000, 1, 1), date(2099, 12, 31)))
def test_a_date_with_strokes_is_read_both_ways(day):
    for written in (day.strftime(f"%d/%m/{day.year}"), day.strftime(f"%m/%d/{day.year}")):
        found = {value for _, value, _ in only(written).readings}
        assert day.isoformat() in found
        assert len(found) == (2 if day.day <= 12 and day.day != day.month else 1)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("in 1800", [("date", "1800")]),
        ("May 1800", [("date", "1800-05")]),
        ("May 3", [("date", "--05-03")]),
        ("5月3日", [("date", "--05-03")]),
        ("1914-18", [("date", "1914"), ("date", "1918")]),
        ("1914–1918", [("date", "1914"), ("date", "1918")]),
        ("May 3-5, 1800", [("date", "1800-05-03"), ("date", "1800-05-05")]),
        ("3-5 May 1800", [("date", "1800-05-03"), ("date", "1800-05-05")]),
        ("the 1990s", [("date", "1990s")]),
        ("the nineties", [("date", "1990s")]),
        ("jaren negentig", [("date", "1990s")]),
        ("die 1990er Jahre", [("date", "1990s")]),
        ("may 5 men", [("number", "5")]),
        ("31/31/1800", [("number", "31"), ("number", "31"), ("number", "1800")]),
        ("1800 men", [("number", "1800")]),
        ("\n4. May prevent", []),
    ],
)
def test_parts_of_dates(text, found):
    assert values(text) == found


@pytest.mark.parametrize("part", ["1800", "in 1800", "May 1800", "May 3", "the 3rd", "3 May 1800"])
def test_a_part_stands_in_the_whole(part):
    assert stands(part, "on 1800-05-03")


@pytest.mark.parametrize("whole", ["in 1800", "May 1800", "May 3", "1800 and 3 and May"])
def test_the_whole_does_not_stand_in_a_part(whole):
    assert not stands("on 3 May 1800", whole)


@pytest.mark.parametrize("more", ["the 1990s", "the nineties", "the 90s", "the 20th century"])
def test_a_year_stands_for_its_decade_and_century(more):
    assert stands(more, "in 1994")
    assert not stands("in 1994", more)


@pytest.mark.parametrize("wrong", ["in 1801", "June 1800", "4 May 1800", "the 19th century"])
def test_another_date_does_not_stand(wrong):
    assert not stands(wrong, "on 3 May 1800")


@pytest.mark.parametrize(
    "text",
    ["5 PM", "5pm", "17:00", "17:0", "5:00 p.m.", "5:00 PM", "17h", "17h00", "17 uur", "下午5点"],
)
def test_five_in_the_afternoon(text):
    assert ("time", "17:00") in {(kind, value) for kind, value, _ in only(text).readings}
    assert stands("17:00", text) and stands(text, "17:00")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("noon", ["12:00"]),
        ("12 pm", ["12:00"]),
        ("12 am", ["00:00"]),
        ("midnight", ["00:00"]),
        ("from 11:0-17:0", ["11:00", "17:00"]),
        ("9 am - 5:30 pm", ["09:00", "17:30"]),
        ("17 Uhr", ["17:00"]),
        ("17:30:15", ["17:30:15"]),
        ("17点30分", ["17:30"]),
    ],
)
def test_times(text, found):
    assert values(text) == [("time", value) for value in found]


def test_am_and_pm_are_not_the_same():
    assert not stands("5 AM", "17:00")
    assert stands("5 AM", "5:00") and stands("5 PM", "5:00")


@given(st.times(), st.sampled_from(["{0}:{1:02}", "{0:02}:{1:02}", "{0}h{1:02}"]))
def test_times_read_back(time, form):
    found = only(form.format(time.hour, time.minute))
    assert f"{time.hour:02}:{time.minute:02}" in {value for _, value, _ in found.readings}


def test_a_day_stands_in_itself_alone():
    third, fourth = quantities("3 May 1800, 4 May 1800")
    assert is_supported(third, [third]) and not is_supported(third, [fourth])
