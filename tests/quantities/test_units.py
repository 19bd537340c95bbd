"""Units, currencies and identifiers, and which of them stand in a context."""

import pytest

from ragauge.quantities import quantities, supply, unsupported


def only(text):
    (found,) = quantities(text)
    assert text[found.start : found.end] == found.text
    return found


def stands(said, context):
    return unsupported(quantities(said), quantities(context)) == []


@pytest.mark.parametrize(
    ("texts", "value", "unit"),
    [
        (["12%", "12 percent", "12 per cent", "12 pct", "twaalf procent", "百分之十二"], "12", "%"),
        (["$5", "5 dollars", "USD 5", "US$5", "five dollars", "US$ 5"], "5", "USD"),
        (["€5", "5 euro", "5 €", "EUR 5", "cinq euros"], "5", "EUR"),
        (["$5 million", "5 million dollars", "$5m", "USD 5,000,000"], "5000000", "USD"),
        (["5 km", "5km", "5 kilometres", "five kilometers", "5公里"], "5", "km"),
        (
            ["5-year-old", "5 years", "five-year", "5 jaar", "fünf Jahre", "5 ans", "5岁"],
            "5",
            "year",
        ),
        (["-5 °C", "-5°C", "\u22125 °C", "-5 degrees Celsius"][:3], "-5", "°C"),
        (["5 square miles", "5 sq mi", "5 sq. miles"], "5", "mile²"),
        (["5 km²", "5 square kilometres"], "5", "km²"),
        (["20th century", "twentieth century", "20. Jahrhundert", "XXe siècle"], "20", "century"),
        (["44 BC", "44 BCE"], "44", "BC"),
    ],
)
def test_one_form_of_a_unit(texts, value, unit):
    assert {(only(text).value, only(text).unit) for text in texts} == {(value, unit)}


@pytest.mark.parametrize(
    ("said", "context"),
    [
        ("5 km", "5 miles"),
        ("5%", "5 km"),
        ("$5", "€5"),
        ("5 years", "5 months"),
        ("5 °C", "-5 °C"),
        ("5 °C", "5 °F"),
        ("12", "12,000"),
        ("A320", "A321"),
        ("A320", "320"),
        ("1.2.3", "1.2.4"),
        ("Louis XVI", "Louis XIV"),
        ("12 men", "no men"),
    ],
)
def test_what_is_not_the_same(said, context):
    assert not stands(said, context)


@pytest.mark.parametrize(
    ("said", "context"),
    [
        ("5 km", "5"),
        ("5", "5 km"),
        ("£5", "5 pounds"),
        ("5 lb", "5 pounds"),
        ("20 °C", "20 degrees"),
        ("three", "3"),
        ("12", "twelve"),
        ("2", "the two of them"),
        ("RTX-3090", "an rtx 3090"),
        ("the 3090", "the RTX-3090"),
        ("rtx_3090 B1", "RTX-3090, b1"),
        ("World War 2", "World War II"),
        ("50%", "half of them"),
        ("1,234", "1.234"),
        ("10 to 15 km", "10-15 km"),
        ("one third", "1/3"),
        ("ISBN 978-3-16-148410-0", "ISBN: 9783161484100"),
        ("ISBN 3-16-148410-X", "ISBN-13: 978-3-16-148410-0"),
        ("+31 20 123 4567", "020-1234567"),
        ("(555) 123-4567", "555-123-4567"),
        ("https://www.example.org/a1/", "http://example.org/a1"),
        ("nl-amrm 12", "NL-AmRM 12"),
    ],
)
def test_what_is_the_same(said, context):
    assert stands(said, context)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("NL-AmRM", "nlamrm"),
        ("Q42", "q42"),
        ("doi:10.1000/xyz-123.", "101000xyz123"),
        ("1.2.3", "123"),
        ("v1.2.3", "v123"),
        ("RTX-3090", "rtx3090"),
        ("COVID-19-related", "covid19"),
        ("A320", "a320"),
        ("3D", "3d"),
        ("me.2@example.org", "me2exampleorg"),
        ("(see www.example.org/a?b=1).", "exampleorgab1"),
        ("+31 (0)20 1234567", "310201234567"),
        ("TiO₂", "tio2"),
    ],
)
def test_identifiers(text, value):
    found = only(text)
    assert (found.kind, found.value) == ("identifier", value)


@pytest.mark.parametrize(
    ("text", "value"), [("mid-1990s", "1990s"), ("under-21", "21"), ("Top-10", "10"), ("#5", "5")]
)
def test_words_before_a_number_make_no_code(text, value):
    assert only(text).value == value


@pytest.mark.parametrize("text", ["US-China", "a well-known EU-wide ACT-UP", "me@home", "e-mail"])
def test_other_words_with_dashes_are_no_identifiers(text):
    assert quantities(text) == []


def test_the_unsupported_come_in_reading_order():
    said = quantities("In 1801, 7 men, 9 km, one A321 and 12 more [3].")
    found = unsupported(said, supply(quantities("12 men")))
    assert [quantity.text for quantity in found] == ["1801", "7", "9 km", "A321"]


def test_nothing_supports_a_number_where_the_context_has_none():
    said = quantities("5 km and one more")
    assert [quantity.text for quantity in unsupported(said, [])] == ["5 km"]
