"""Numbers written in words, from one word or several, in English, Dutch, German and French."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import filterfalse
from typing import Literal, NamedTuple

from ragauge.quantities.quantity import Found, Reading, fraction
from ragauge.text.word_lists import word_set

Role = Literal["count", "scale", "ordinal", "share", "halves", "decade"]


class NumberWord(NamedTuple):
    """The number that a word stands for."""

    role: Role
    value: int
    """For a share, the denominator: 3 for thirds. For halves, their number."""
    common: bool = False
    """Usually a different word: Dutch `onze` is our, French `neuf` is new."""


_WORDS: dict[str, NumberWord] = {}


def _add(role: Role, first: int, words: str, step: int = 1, common: bool = False) -> None:
    """Words for first, first + step, …; forms of one number are separated by a bar."""
    for place, forms in enumerate(words.split()):
        for form in forms.split("|"):
            _WORDS[form] = NumberWord(role, first + place * step, common)


_add("count", 0, "zero one two three four five six seven eight nine ten eleven twelve thirteen")
_add("count", 14, "fourteen fifteen sixteen seventeen eighteen nineteen")
_add("count", 20, "twenty thirty forty|fourty fifty sixty seventy eighty ninety", 10)
_add("count", 2, "twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien")
_add("count", 15, "vijftien zestien zeventien achttien negentien")
_add("count", 20, "twintig dertig veertig vijftig zestig zeventig tachtig negentig", 10)
_add("count", 2, "zwei|zwo drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn")
_add("count", 15, "fünfzehn sechzehn siebzehn achtzehn neunzehn")
_add("count", 20, "zwanzig dreißig|dreissig vierzig fünfzig sechzig siebzig achtzig neunzig", 10)
_add("count", 2, "deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze")
_add("count", 16, "seize")
_add("count", 20, "vingt|vingts trente quarante cinquante soixante septante huitante nonante", 10)
_add("count", 1, "een|één|ein|eine|einen|einem|einer|eins|un|une", common=True)
_add("count", 0, "nul|null|zéro", common=True)
_add("count", 9, "neuf", common=True)
_add("count", 11, "elf|onze", common=True)
_add("count", 12, "dozijn|dutzend|douzaine")
_add("scale", 12, "dozen")
_add("scale", 100, "hundred|honderd|hundert")
_add("scale", 100, "cent", common=True)
_add("count", 7, "sept", common=True)
_add("count", 100, "cents", common=True)
_add("scale", 1000, "thousand|duizend|tausend|mille")
_add("scale", 10**6, "million|miljoen|millionen|mln")
_add("scale", 10**9, "billion|miljard|milliard|milliards|milliarde|milliarden|bn")
_add("scale", 10**12, "trillion|biljoen|billionen")
_add("ordinal", 1, "first second third fourth fifth sixth seventh eighth ninth tenth eleventh")
_add("ordinal", 12, "twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth")
_add("ordinal", 19, "nineteenth twentieth")
_add("ordinal", 30, "thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth", 10)
_add("ordinal", 100, "hundredth")
_add("ordinal", 1, "eerste tweede derde vierde vijfde zesde zevende achtste negende tiende elfde")
_add("ordinal", 12, "twaalfde dertiende veertiende vijftiende zestiende zeventiende achttiende")
_add("ordinal", 19, "negentiende twintigste eenentwintigste")
_add("ordinal", 1, "premier|première deuxième|seconde troisième quatrième cinquième sixième")
_add("ordinal", 7, "septième huitième neuvième dixième onzième douzième treizième quatorzième")
_add("ordinal", 15, "quinzième seizième")
_add("ordinal", 20, "vingtième")
for _ending in ("e", "er", "en", "es", "em"):
    _add(
        "ordinal",
        1,
        "erst% zweit% dritt% viert% fünft% sechst% siebt% acht% neunt% zehnt% elft% zwölft% "
        "dreizehnt% vierzehnt% fünfzehnt% sechzehnt% siebzehnt% achtzehnt% neunzehnt% zwanzigst% "
        "einundzwanzigst%".replace("%", _ending),
    )
_add("share", 2, "half|halve|helft|halb|halbe|hälfte|demi|moitié")
_add("share", 3, "thirds quarters|kwart|viertel fifths sixths sevenths eighths ninths tenths")
_add("share", 4, "quarter|fourths")
_add("share", 3, "drittel")
_add("halves", 3, "anderhalf|anderhalve|anderthalb|eineinhalb tweeënhalf|zweieinhalb", 2)
_add("halves", 7, "drieënhalf|dreieinhalb vierenhalf|viereinhalb vijfenhalf|fünfeinhalb", 2)
_add("decade", 20, "twenties thirties forties fifties sixties seventies eighties nineties", 10)

_COMPOUND_PARTS: dict[str, int] = {
    word: entry.value
    for word, entry in _WORDS.items()
    if (entry.role == "count" and entry.value < 100) or word in {"honderd", "hundert"}
}
_COMPOUND_PARTS |= {"een": 1, "één": 1, "ein": 1, "duizend": 1000, "tausend": 1000}
for _word in word_set(  # of languages that write numbers as several words, or inflected
    "one two three four five six seven eight nine ten eleven twelve un une deux trois quatre "
    "cinq sept huit neuf dix onze douze treize quatorze quinze seize eine einen einem einer "
    "cents dozijn dutzend douzaine nul null zero zéro"
):
    _COMPOUND_PARTS.pop(_word, None)
_ANY_PART = "|".join(sorted(_COMPOUND_PARTS, key=len, reverse=True))
_PART = re.compile(f"{_ANY_PART}|en|ën|und")
_COMPOUND = re.compile(f"(?:{_ANY_PART}|en|ën|und)++(ste?|de|ter?|sten|tes)?+")
_LONGEST = 80


@lru_cache(maxsize=1 << 16)
def number_word(word: str) -> NumberWord | None:
    """The number of a lower-case word, compounds included; None if it is not a number word.

    >>> number_word("twaalfduizend"), number_word("vierundzwanzig").value, number_word("house")
    (NumberWord(role='count', value=12000, common=False), 24, None)
    """
    entry = _WORDS.get(word)
    if entry is not None or not 6 <= len(word) <= _LONGEST:
        return entry
    match = _COMPOUND.fullmatch(word)
    if match is None:
        return None
    total = group = ones = 0
    for part in _PART.findall(word[: match.start(1)] if match[1] else word):
        value = _COMPOUND_PARTS.get(part)
        if value is None:
            continue
        if value == 1000:
            total, group, ones = (group + ones or 1) * 1000, 0, 0
        elif value == 100:
            group, ones = (group + ones or 1) * 100, 0
        elif ones and not (ones < 10 and value >= 20):
            return None
        else:
            ones += value
    total += group + ones
    return NumberWord("ordinal" if match[1] else "count", total) if total else None


_WORD = re.compile(r"[^\W\d_]+")
_SPACED = frozenset({" ", "-", "\n"})
_AND = frozenset({" and ", " et ", "-et-", " en ", " und "})
_AND_A = frozenset({" and a ", " and one-", " et ", " en een ", " and "})
_OF_A = frozenset({" a ", " of a ", " an ", " een ", " eine ", " "})
_YEARS_BEFORE = ("jaren ", "années ")
_ENGLISH_COUNTS = word_set("one two three four five seven eight nine ten twelve twenty fifty")
_FEW_WORDS = 24
"""Up to this many different number words, each is searched for by itself."""
_MAX_CACHED = 1 << 17
_LONGEST_CACHED = 32
"""Characters of the longest word that is cached."""
_NOT_NUMBERS: set[str] = set()
"""Words with their punctuation that contain no number word: a cache for fast filtering."""


class _Token(NamedTuple):
    start: int
    end: int
    entry: NumberWord


def word_numbers(folded: str) -> list[Found]:
    """The numbers in words of a lower-case text, in reading order."""
    found = []
    tokens = _tokens(folded)
    place = 0
    while place < len(tokens):
        number, place = _number(folded, tokens, place)
        found.append(number)
    return found


def _tokens(folded: str) -> list[_Token]:
    """The number words of a text; the cache rules out most other words."""
    words: dict[str, NumberWord] = {}
    if len(_NOT_NUMBERS) > _MAX_CACHED:
        _NOT_NUMBERS.clear()
    for stretch in filterfalse(_NOT_NUMBERS.__contains__, folded.split()):
        here = {word: entry for word in _WORD.findall(stretch) if (entry := number_word(word))}
        words.update(here)
        if not here and len(stretch) <= _LONGEST_CACHED:
            _NOT_NUMBERS.add(stretch)
    if len(words) > _FEW_WORDS:
        return [
            _Token(match.start(), match.end(), words[match[0]])
            for match in _WORD.finditer(folded)
            if match[0] in words
        ]
    tokens = []
    for word, entry in words.items():
        start = folded.find(word)
        while start >= 0:
            end = start + len(word)
            inside = start and folded[start - 1].isalpha()
            if not inside and not folded[end : end + 1].isalpha():
                tokens.append(_Token(start, end, entry))
            start = folded.find(word, end)
    tokens.sort()
    return tokens


def _number(folded: str, tokens: list[_Token], place: int) -> tuple[Found, int]:
    """The number that starts at a token, and the place of the next one."""
    start, end, (role, value, _) = tokens[place]
    readings: tuple[Reading, ...]
    if role == "decade":
        return Found(start, end, _decade(value)), place + 1
    if role == "share":  # a half, or half a million
        if place + 1 < len(tokens) and value == 2:
            following = tokens[place + 1]
            if following.entry.role == "scale" and folded[end : following.start] in _OF_A:
                return _number_at(start, following.end, str(following.entry.value // 2)), place + 2
        readings = (("number", fraction(1, value), None), ("number", fraction(100, value), "%"))
        return Found(start, end, readings, plain=True), place + 1
    if role == "halves":
        return _halves(folded, tokens, place, value, start)
    if role == "ordinal":
        readings = (("number", str(value), None),)
        if value > 2 and folded[max(0, start - 2) : start] == "a ":
            readings = (("number", fraction(1, value), None), *readings)
        return Found(start, end, readings, plain=value <= 2), place + 1
    return _cardinal(folded, tokens, place)


def _halves(
    folded: str, tokens: list[_Token], place: int, halves: int, start: int
) -> tuple[Found, int]:
    """One and a half, or one and a half million, from the number of halves up to this token."""
    end, following = tokens[place].end, tokens[place + 1 : place + 2]
    for scale in following:
        if scale.entry.role == "scale" and folded[end : scale.start] in _SPACED:
            return _number_at(start, scale.end, fraction(halves * scale.entry.value, 2)), place + 2
    return _number_at(start, end, fraction(halves, 2)), place + 1


def _cardinal(folded: str, tokens: list[_Token], place: int) -> tuple[Found, int]:
    """The number of this token and of those after it that continue it.

    It consists of a finished part, a part below the next scale, and the last scale used.
    """
    first = tokens[place]
    start, end, (role, value, common) = first
    large = role == "scale" and value >= 1000
    total, group, least = (value, 0, value) if large else (0, value, 10**15)
    place += 1
    while place < len(tokens):
        token = tokens[place]
        between = folded[end : token.start] if token.start - end < 10 else ""
        role, value, _ = token.entry
        if role == "share" and between in _AND_A:
            if value != 2:
                share = fraction((total + group) * value + 1, value)
                return _number_at(start, token.end, share), place + 1
            if total and not group:  # un million et demi
                return _number_at(start, token.end, str(total + least // 2)), place + 1
            return _halves(folded, tokens, place, 2 * (total + group) + 1, start)
        count = total + group
        if (
            between in _SPACED
            and count
            and (role == "share" or (role == "ordinal" and not total))
            and ((role == "share" and value > 2) or (count == 1 and value != 2))
        ):  # two thirds, three quarters, one third
            return _number_at(start, token.end, fraction(count, value)), place + 1
        continued = _extended(total, group, least, token.entry, between)
        cents = folded[token.start : token.end] in ("cent", "cents")  # two cents, deux cents
        if continued is None or (cents and folded[start:end] in _ENGLISH_COUNTS):
            break
        total, group, least = continued
        end, common = token.end, False
        place += 1
        if role == "ordinal":
            break
    value = total + group
    if 20 <= value <= 90 and folded.endswith(_YEARS_BEFORE, 0, start):
        return Found(start, end, _decade(value)), place
    readings: tuple[Reading, ...] = (("number", str(value), None),)
    tied = first.entry.role == "scale" and end == first.end and folded.endswith("-", 0, start)
    return Found(start, end, readings, plain=common or tied or value <= 2), place


def _decade(value: int) -> tuple[Reading, ...]:
    """The nineties, usually those of the last century."""
    return (
        ("date", f"19{value}s", None),
        ("date", f"{value}s", None),
        ("date", f"18{value}s", None),
    )


def _extended(
    total: int, group: int, least: int, entry: NumberWord, between: str
) -> tuple[int, int, int] | None:
    """The number with one more word; None if the word begins another number."""
    role, value, _ = entry
    if role in ("share", "halves", "decade"):
        return None
    if role == "scale" and value >= 1000:
        if between not in _SPACED or not group or value >= least:
            return None
        return total + group * value, 0, value
    if value == 100 or (role == "scale" and value == 12):
        if between not in _SPACED or not (0 < group < 100 or (total and not group)):
            return None
        return total, (group or 1) * value, least
    if between in _SPACED:
        extended = _below_hundred(group, value, total)
    elif between in _AND and (
        (value in (1, 11) and 20 <= group % 100 <= 70 and not group % 10)
        or (value < 100 and not group % 100 and (group or total))
    ):
        extended = group + value
    else:
        extended = None
    return None if extended is None else (total, extended, least)


def _below_hundred(group: int, value: int, total: int) -> int | None:
    """A group with tens and ones: sixty five, soixante dix, dix sept, nineteen eighty."""
    tens = group % 100
    if not group:
        return value if total else None
    if (
        (not tens and value < 100)
        or (tens == 10 and 7 <= value <= 9)
        or (tens in (60, 80) and 10 <= value < 20)
        or (tens >= 20 and not tens % 10 and value < 10)
    ):
        return group + value
    if tens == 4 and value == 20:
        return group - 4 + 80
    if not total and 11 <= group <= 20 and 10 <= value < 100:
        return group * 100 + value
    return None


def _number_at(start: int, end: int, value: str) -> Found:
    return Found(start, end, (("number", value, None),))
