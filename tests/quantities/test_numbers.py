"""Numbers in digits and in words, read as equal however they are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.quantities import quantities, unsupported


def named(words):
    return words.split()


ONES = named(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen "
    "fourteen fifteen sixteen seventeen eighteen nineteen"
)
TENS = named("- - twenty thirty forty fifty sixty seventy eighty ninety")


def only(text):
    (found,) = quantities(text)
    assert text[found.start : found.end] == found.text
    return found


def values(text):
    return [found.value for found in quantities(text)]


def readings(text):
    return {(value, unit) for kind, value, unit in only(text).readings if kind == "number"}


@pytest.mark.parametrize(
    "text",
    [
        "12 thousand",
        "12,000",
        "12.000",
        "12 000",
        "12\u202f000",
        "12'000",
        "12k",
        "１２０００",
        "twelve thousand",
        "Twelve Thousand",
        "twaalfduizend",
        "twaalf duizend",
        "zwölftausend",
        "douze mille",
        "一万二千",
        "1.2万",
    ],
)
def test_twelve_thousand(text):
    assert only(text).value == "12000"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.5 million", "1500000"),
        ("1,500,000", "1500000"),
        ("1.500.000", "1500000"),
        ("1,5 Mio.", "1500000"),
        ("1,5 miljoen", "1500000"),
        ("half a million", "500000"),
        ("one and a half million", "1500000"),
        ("anderthalb Millionen", "1500000"),
        ("anderhalf miljoen", "1500000"),
        ("un million et demi", "1500000"),
        ("zweieinhalb Milliarden", "2500000000"),
        ("tweeënhalf", "2.5"),
        ("10^6", "1000000"),
        ("2.5 x 10^6", "2500000"),
        ("3 × 10^9", "3000000000"),
        ("2 dozen", "24"),
        ("a dozen", "12"),
        ("5 hundred", "500"),
        ("12,34,567", "1234567"),
        ("0.050", "0.05"),
        ("12,5", "12.5"),
        ("007", "7"),
        ("5th", "5"),
        ("fifth", "5"),
        ("vijfde", "5"),
        ("fünfte", "5"),
        ("cinquième", "5"),
        ("twenty-first", "21"),
        ("3/4", "0.75"),
        ("three quarters", "0.75"),
        ("¾", "0.75"),
        ("one third", "1/3"),
        ("2/6", "1/3"),
        ("two thirds", "2/3"),
        ("2 1/2", "2.5"),
        ("2½", "2.5"),
        ("two and a half", "2.5"),
        ("one hundred and five", "105"),
        ("two million three hundred thousand and five", "2300005"),
        ("nineteen eighty-four", "1984"),
        ("quatre-vingt-dix-sept", "97"),
        ("vingt et un", "21"),
        ("deux cents", "200"),
        ("vierentwintig", "24"),
        ("tweehonderdvijftigduizend", "250000"),
        ("einhundertdreiundzwanzig", "123"),
        ("两百零五", "205"),
        ("二〇二四", "2024"),
        ("at -5", "-5"),
        ("at \u22125", "-5"),
    ],
)
def test_one_form_of_a_number(text, value):
    assert only(text).value == value


@pytest.mark.parametrize(
    ("text", "both"),
    [
        ("1.234", {"1234", "1.234"}),
        ("1,234", {"1234", "1.234"}),
        ("12,000", {"12000"}),
        ("0.123", {"0.123"}),
        ("1,234.5", {"1234.5"}),
        ("1.234,5", {"1234.5"}),
        ("1,234,567", {"1234567"}),
        ("5m", {"5", "5000000"}),
    ],
)
def test_what_can_be_two_numbers_is_both(text, both):
    assert {value for value, _ in readings(text)} == both


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1,1,1", ["1", "1", "1"]),
        ("one two three", ["1", "2", "3"]),
        ("ranks 5, 6 and 7", ["5", "6", "7"]),
        ("10-15", ["10", "15"]),
        ("10–15 and 100,000-200,000", ["10", "15", "100000", "200000"]),
        ("in 1990 300 people", ["1990", "300"]),
        ("hundreds of thousands", []),
        ("sixteenths of bones", []),
        ("two cents", ["2", "100"]),
        ("", []),
        ("no number here", []),
    ],
)
def test_numbers_side_by_side(text, found):
    assert values(text) == found


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("World War II", "2"),
        ("Louis XIV’s court", "14"),
        ("Chapter IV", "4"),
        ("Part I", "1"),
    ],
)
def test_roman_numerals_after_a_name(text, value):
    assert only(text).value == value


@pytest.mark.parametrize("text", ["I went", "an IIX", "size XL", "I've been. I'm here", "CIVIL"])
def test_other_capitals_are_no_roman_numerals(text):
    assert quantities(text) == []


@pytest.mark.parametrize(
    "text", ["one of them", "on the one hand", "a first look", "the two", "een van de", "一个"]
)
def test_small_counting_words_claim_nothing(text):
    assert only(text).plain


@pytest.mark.parametrize("text", ["three men", "two percent", "one kilometre", "1 man", "fifth"])
def test_larger_and_measured_words_claim_a_number(text):
    assert not only(text).plain


@pytest.mark.parametrize(
    "text",
    [
        "1. Tea\n2. Cake\n10) Milk",
        "(1) tea\n  (2) cake",
        "**1.** tea",
        "as said [1], and [2, 3] and [4-6][^7]",
        "either 1) tea or 2) cake",
        "Ranked by: 1. Low 2. High",
        "The levels are (1) low, (2) middle and (3) high.",
        "There are a) tea and b) cake.",
        "**Types:** **1.** low **2.** high",
        "Rated as follows: 1. low. 2. middle. 3. high.",
        "Levels: 1.Low 2.High",
        "分为：1. 低 2. 高",
        "分为：1、低；2、高。",
    ],
)
def test_list_and_citation_markers_are_no_numbers(text):
    assert quantities(text) == []


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("It opened in 1800. 2 years later it moved.", ["1800", "2"]),
        ("He came in 1. Later he was number 2. Then he left.", ["1", "2"]),
        ("They were ranked by: 1. Low (2 m) 2. High in 3. Then it rained.", ["2", "3"]),
        ("It held (2) books in (3) rooms.", ["2", "3"]),
        ("Am 1. Mai 1800 und am 2. Juni 1801.", ["1800-05-01", "1801-06-02"]),
        ("The price: 3. Then it fell.", ["3"]),
        ("Sizes: 1.5 m, 2.5 m", ["1.5", "2.5"]),
        ("面积：1、2、3米", ["1", "2", "3"]),
    ],
)
def test_numbers_that_end_a_sentence_are_no_markers(text, values):
    assert [quantity.value for quantity in quantities(text)] == values


@pytest.mark.parametrize("text", ["open seven days a week", "7 days per week", "24 hours a day"])
def test_always_counts_nothing(text):
    assert only(text).plain
    assert not only(text.partition(" a")[0].partition(" per")[0]).plain


def test_the_length_and_the_places_of_the_prompt_claim_nothing():
    found = quantities("A summary in 80 words of passage 2 (context 3).")
    assert [(quantity.value, quantity.plain) for quantity in found] == [
        ("80", True),
        ("2", True),
        ("3", True),
    ]


@given(st.integers(0, 10**15 - 1), st.sampled_from([",", ".", " ", "'", "\u00a0"]))
def test_groups_of_three_digits_read_back(number, mark):
    written = f"{number:,}".replace(",", mark)
    assert str(number) in {value for _, value, _ in only(f"n= {written};").readings}


@given(st.integers(1, 999_999), st.sampled_from([("thousand", 3), ("million", 6), ("亿", 8)]))
def test_scales_read_back(number, scale):
    word, power = scale
    assert only(f"{number} {word}".replace(" 亿", "亿")).value == str(number * 10**power)


@given(st.integers(0, 999_999), st.integers(1, 99))
def test_decimals_read_back(whole, part):
    point, comma = only(f"{whole}.{part:02}"), only(f"{whole},{part:02}")
    assert point.value == comma.value
    assert float(point.value) == pytest.approx(whole + part / 100)


def spelled(number):
    """A plain speller of English numbers, to be read back."""
    if number < 20:
        return ONES[number]
    if number < 100:
        return TENS[number // 10] + (f"-{ONES[number % 10]}" if number % 10 else "")
    for size, word in ((10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if number >= size:
            rest = number % size
            link = " and " if 0 < rest < 100 else " "
            return f"{spelled(number // size)} {word}" + (link + spelled(rest) if rest else "")
    raise AssertionError(number)


@given(st.integers(0, 10**9 - 1))
def test_english_words_read_back(number):
    assert only(spelled(number)).value == str(number)


def compound(number, ones, tens, link, hundred, thousand):
    """A plain speller of Dutch and German numbers."""
    if number >= 1000:
        head = (
            "" if number < 2000 else compound(number // 1000, ones, tens, link, hundred, thousand)
        )
        rest = number % 1000
        return (
            head + thousand + (compound(rest, ones, tens, link, hundred, thousand) if rest else "")
        )
    if number >= 100:
        head, rest = ones[number // 100] if number >= 200 else "", number % 100
        return (
            head + hundred + (compound(rest, ones, tens, link, hundred, thousand) if rest else "")
        )
    if number < 20:
        return ones[number]
    return (ones[number % 10] + link if number % 10 else "") + tens[number // 10]


DUTCH = (
    named(
        "nul een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien "
        "vijftien zestien zeventien achttien negentien"
    ),
    named("- - twintig dertig veertig vijftig zestig zeventig tachtig negentig"),
    "en",
    "honderd",
    "duizend",
)
GERMAN = (
    named(
        "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn "
        "fünfzehn sechzehn siebzehn achtzehn neunzehn"
    ),
    named("- - zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig"),
    "und",
    "hundert",
    "tausend",
)


@given(st.integers(0, 999_999), st.sampled_from([DUTCH, GERMAN]))
def test_dutch_and_german_compounds_read_back(number, language):
    assert only(compound(number, *language)).value == str(number)


FRENCH_ONES = named(
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze "
    "quinze seize dix-sept dix-huit dix-neuf"
)
FRENCH_TENS = named(
    "- - vingt trente quarante cinquante soixante soixante quatre-vingt quatre-vingt"
)


def french(number):
    """A plain speller of French numbers."""
    if number < 20:
        return FRENCH_ONES[number]
    if number < 100:
        tens = number // 10
        rest = number % 10 + (10 if tens in (7, 9) else 0)
        link = "-et-" if rest in (1, 11) and tens < 8 else "-"
        return FRENCH_TENS[tens] + (link + FRENCH_ONES[rest] if rest else "")
    size, word = (1000, "mille") if number >= 1000 else (100, "cent")
    head, rest = (french(number // size) + " " if number >= 2 * size else ""), number % size
    return head + word + (f" {french(rest)}" if rest else "")


@given(st.integers(0, 999_999))
def test_french_words_read_back(number):
    assert only(french(number)).value == str(number)


def chinese(number):
    """A plain speller of Chinese numbers."""
    if number >= 10**4:
        head, rest = number // 10**4, number % 10**4
        return (
            chinese(head) + "万" + (("零" if rest < 1000 else "") + chinese(rest) if rest else "")
        )
    signs, gap = "", False
    for size, sign in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // size % 10
        if digit:
            signs += ("零" if gap and signs else "") + "零一二三四五六七八九"[digit] + sign
            gap = False
        else:
            gap = True
    return signs or "零"


@given(st.integers(0, 10**8 - 1))
def test_chinese_numbers_read_back(number):
    assert only(chinese(number)).value == str(number)


@pytest.mark.parametrize("word", ["version", "Version", "versie", "release", "v."])
def test_a_version_is_a_name_and_no_decimal_number(word):
    answer = quantities(f"It runs {word} 3.10.")
    assert [found.text for found in unsupported(answer, quantities("It runs version 3.1."))]
    for context in ("version 3.10", "Python 3.10", "v3.10", f"{word} 3.10"):
        assert unsupported(answer, quantities(f"It runs {context} now.")) == [], context
    assert unsupported(quantities("It is 3.10."), quantities(f"It is {word} 3.10.")) == []


def test_a_release_of_so_many_is_a_number():
    assert only("a release of 3.5 million").value == only("release 3.5 million").value == "3500000"


def test_half_a_unit_more_is_the_same_in_words_and_digits():
    for words, digits in (("anderhalve eeuw", "1,5 eeuw"), ("anderthalb Jahre", "1,5 Jahre")):
        assert unsupported(quantities(words), quantities(digits)) == []
        assert unsupported(quantities(digits), quantities(words)) == []


def test_a_note_behind_ten_is_no_power():
    assert values("They came in 10 rows.^6 Then they left.")[0] == "10"
