"""The quantities of a text: its numbers, dates, times and identifiers."""

from __future__ import annotations

import re

from ragauge.quantities.digits import VULGAR, digit_quantities
from ragauge.quantities.identifiers import identifiers, without_inline_markers
from ragauge.quantities.measures import is_always, unit_after
from ragauge.quantities.quantity import (
    Found,
    Quantity,
    Reading,
    apart,
    beside,
    decimal,
    fraction,
    is_year,
)
from ragauge.quantities.words import word_numbers
from ragauge.text.canonical import lowered
from ragauge.text.word_lists import word_set

_ASCII_SIGNS = {
    **dict.fromkeys("\u00a0\u2007\u2009\u202f\u3000", " "),
    **{chr(0xFF10 + digit): str(digit) for digit in range(10)},
    **{chr(0x2080 + digit): str(digit) for digit in range(10)},
    **dict.fromkeys("\u2212\u2011\u2010", "-"),
    "％": "%",
    "：": ":",
    "．": ".",
    "º": "°",
}
_OTHER_SIGN = re.compile(f"[{''.join(_ASCII_SIGNS)}]")
_NOONS = {
    **dict.fromkeys(("noon", "midday", "midi"), "12:00"),
    **dict.fromkeys(("midnight", "minuit", "middernacht", "mitternacht"), "00:00"),
}
_NOON = re.compile(rf"\b(?:{'|'.join(_NOONS)})\b")
_POWER = re.compile(
    r"(?<![\w.,^])(?:([0-9]{1,9}(?:[.,][0-9]{1,9})?) ?[x×*·] ?)?10\^([0-9]{1,2})(?![\w^])"
)
_VULGAR_SIGN = re.compile(f"[{''.join(VULGAR)}]")
_CHINESE_DIGITS = {
    "零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "兩": 2, "三": 3, "四": 4, "五": 5, "六": 6,
    "七": 7, "八": 8, "九": 9,
}  # fmt: skip
_CHINESE_SMALL = {"十": 10, "百": 100, "千": 1000}
_CHINESE_LARGE = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_CHINESE_SIGNS = "零〇一二两兩三四五六七八九十百千万萬亿億"
_CHINESE = re.compile(f"[{_CHINESE_SIGNS}][{_CHINESE_SIGNS}]{{0,39}}+")
_PERCENT_BEFORE = "百分之"
_ROMAN = re.compile(r"[IVXL][IVXL]*+(?:e|ème|ste|de)?+(?![\w-])")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50}
_VALID_ROMAN = re.compile(r"(?:XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_CHAPTERS = word_set(
    "chapter part volume book act article section title appendix type phase class hoofdstuk "
    "deel boek artikel kapitel teil band chapitre partie tome livre acte"
)


def quantities(text: str) -> list[Quantity]:
    """The numbers, dates, times and identifiers of a text, in reading order.

    List markers and citation markers are left out. The offsets are those of the text.

    >>> [(q.text, q.value, q.unit) for q in quantities("About 12 thousand visitors, €5 each [1].")]
    [('12 thousand', '12000', None), ('€5', '5', 'EUR')]
    >>> [(q.kind, q.value) for q in quantities("Opened 3. Mai 1800, um 5 PM")]
    [('date', '1800-05-03'), ('time', '17:00')]
    """
    normal = text if text.isascii() else _OTHER_SIGN.sub(lambda sign: _ASCII_SIGNS[sign[0]], text)
    normal = without_inline_markers(normal)
    named = identifiers(normal)
    if "10^" in normal:
        for match in _POWER.finditer(normal):  # 10^6, 2.5 x 10^6
            whole, _, part = (match[1] or "1").replace(",", ".").partition(".")
            unit, end = unit_after(normal, match.end())
            power: Reading = ("number", decimal(whole, part, int(match[2])), unit)
            named.append(Found(match.start(), end, (power,)))
        named = apart(named)
    found = beside(digit_quantities(normal, named), named)
    found = beside(found, _spelled_out(normal, lowered(normal)))
    if not text.isascii():
        found = beside(found, _in_chinese(normal))
    return [
        Quantity(*readings[0], text[start:end], start, end, readings[1:], plain)
        for start, end, readings, plain in found
    ]


def _spelled_out(text: str, folded: str) -> list[Found]:
    found = []
    for start, end, readings, plain in word_numbers(folded):
        unit, unit_end = unit_after(text, end)
        kind, value, _ = readings[0]
        if unit_end > end and kind == "number":
            small = plain and (unit is None or (value == "1" and unit == "day"))
            tied = plain and text.endswith("-", 0, start)
            claims_none = small or tied or is_always(text, unit_end, value, unit)
            found.append(Found(start, unit_end, ((kind, value, unit),), claims_none))
        else:
            found.append(Found(start, end, readings, plain))
    if any(name in folded for name in _NOONS):
        found += [
            Found(match.start(), match.end(), (("time", _NOONS[match[0]], None),))
            for match in _NOON.finditer(folded)
        ]
    if "I" in text or "V" in text or "X" in text:
        found += _roman_numerals(text)
    return found


def _roman_numerals(text: str) -> list[Found]:
    """Roman numerals after a name or as the number of a chapter."""
    found = []
    for match in _ROMAN.finditer(text):
        start = match.start()
        if start and (text[start - 1].isalnum() or text[start - 1] in "-'’_"):
            continue
        digits = match[0].rstrip("emèstd")
        value = _roman_value(digits)
        words = text[max(0, start - 16) : start].split()
        word = words[-1] if words else ""
        unit, end = unit_after(text, match.end())
        named = word.lower() in _CHAPTERS or unit == "century"
        if value is None or digits == "XL" or not (named or (word and len(digits) > 1)):
            continue
        plain = not (named or word[:1].isupper())
        found.append(Found(start, end, (("number", str(value), unit),), plain))
    return found


def _roman_value(numeral: str) -> int | None:
    """The value of a Roman numeral in capitals, such as XIV; None if it is invalid, as IIX is."""
    if not numeral or not _VALID_ROMAN.fullmatch(numeral):
        return None
    total = 0
    for sign, following in zip(numeral, [*numeral[1:], ""], strict=True):
        value = _ROMAN_VALUES[sign]
        total += -value if value < _ROMAN_VALUES.get(following, 0) else value
    return total


def _in_chinese(text: str) -> list[Found]:
    """Chinese numbers, and fractions written as one character."""
    found = []
    for match in _CHINESE.finditer(text):
        value = _chinese_value(match[0])
        if value is None or text.startswith("分之", match.end()):
            continue
        start, (unit, end) = match.start(), unit_after(text, match.end())
        if text[max(0, start - 3) : start] == _PERCENT_BEFORE:
            start, unit = start - 3, "%"
        plain = len(match[0]) == 1 and value <= 2 and unit is None
        reading: Reading = ("number", str(value), unit)
        if unit == "year" and is_year(str(value)):
            reading = ("date", str(value), None)
        found.append(Found(start, end, (reading,), plain))
    for match in _VULGAR_SIGN.finditer(text):
        part: Reading = ("number", fraction(*VULGAR[match[0]]), None)
        found.append(Found(*match.span(), (part,)))
    return found


def _chinese_value(numeral: str) -> int | None:
    """The value of Chinese digits: 一万二千, 两百零五, 二〇二四; None for 万 alone."""
    if len(numeral) > 1 and all(sign in _CHINESE_DIGITS for sign in numeral):
        return int("".join(str(_CHINESE_DIGITS[sign]) for sign in numeral))
    if all(sign in _CHINESE_LARGE for sign in numeral):
        return None
    total = group = digit = 0
    for sign in numeral:
        if sign in _CHINESE_DIGITS:
            digit = _CHINESE_DIGITS[sign]
        elif sign in _CHINESE_SMALL:
            group += (digit or 1) * _CHINESE_SMALL[sign]
            digit = 0
        else:
            total, group, digit = (total + group + digit) * _CHINESE_LARGE[sign], 0, 0
    return total + group + digit
