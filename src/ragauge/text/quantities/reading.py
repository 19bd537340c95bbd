"""Reading a text once for its numbers, dates, times and identifiers."""

from __future__ import annotations

import re

from ragauge.text.quantities.chinese import CHINESE, PERCENT_BEFORE, chinese_value
from ragauge.text.quantities.dates import is_year
from ragauge.text.quantities.digits import digit_quantities
from ragauge.text.quantities.identifiers import identifiers
from ragauge.text.quantities.markers import without_inline_markers
from ragauge.text.quantities.measures import is_always, unit_after
from ragauge.text.quantities.numerals import VULGAR
from ragauge.text.quantities.quantity import (
    Found,
    Quantity,
    Reading,
    apart,
    beside,
    decimal,
    fraction,
)
from ragauge.text.quantities.roman import CHAPTERS, NUMERAL, roman_value
from ragauge.text.quantities.word_numbers import word_numbers

_OTHER_SIGNS = {
    **dict.fromkeys("\u00a0\u2007\u2009\u202f\u3000", " "),
    **{chr(0xFF10 + digit): str(digit) for digit in range(10)},
    **{chr(0x2080 + digit): str(digit) for digit in range(10)},
    "\u2212": "-",
    "\u2011": "-",
    "\u2010": "-",
    "％": "%",
    "：": ":",
    "．": ".",
    "º": "°",
}
_OTHER_SIGN = re.compile(f"[{''.join(_OTHER_SIGNS)}]")
_NOONS = {
    "noon": "12:00",
    "midday": "12:00",
    "midi": "12:00",
    "midnight": "00:00",
    "minuit": "00:00",
    "middernacht": "00:00",
    "mitternacht": "00:00",
}
_NOON = re.compile(rf"\b(?:{'|'.join(_NOONS)})\b")
_POWER = re.compile(
    r"(?<![\w.,^])(?:([0-9]{1,9}(?:[.,][0-9]{1,9})?) ?[x×*·] ?)?10\^([0-9]{1,2})(?![\w^])"
)
_VULGAR_SIGN = re.compile(f"[{''.join(VULGAR)}]")


def quantities(text: str) -> list[Quantity]:
    """The numbers, dates, times and identifiers of a text, in reading order.

    List markers and citation markers are none. The offsets are those of the text.

    >>> [(q.text, q.value, q.unit) for q in quantities("About 12 thousand visitors, €5 each [1].")]
    [('12 thousand', '12000', None), ('€5', '5', 'EUR')]
    >>> [(q.kind, q.value) for q in quantities("Opened 3. Mai 1800, um 5 PM")]
    [('date', '1800-05-03'), ('time', '17:00')]
    """
    normal = without_inline_markers(text if text.isascii() else _OTHER_SIGN.sub(_usual, text))
    folded = _folded(normal)
    named = identifiers(normal)
    if "10^" in normal:
        named = apart([*named, *_powers(normal)])
    found = beside(digit_quantities(normal, named), named)
    found = beside(found, _in_words(normal, folded))
    if not text.isascii():
        found = beside(found, _in_signs(normal))
    return [
        Quantity(*readings[0], text[start:end], start, end, readings[1:], plain)
        for start, end, readings, plain in found
    ]


def _powers(text: str) -> list[Found]:
    """Powers of ten: 10^6, 2.5 x 10^6."""
    found = []
    for match in _POWER.finditer(text):
        whole, _, part = (match[1] or "1").replace(",", ".").partition(".")
        unit, end = unit_after(text, match.end())
        reading: Reading = ("number", decimal(whole, part, int(match[2])), unit)
        found.append(Found(match.start(), end, (reading,)))
    return found


def _usual(match: re.Match[str]) -> str:
    return _OTHER_SIGNS[match[0]]


def _folded(text: str) -> str:
    """The text in small letters, sign for sign."""
    folded = text.lower()
    if len(folded) == len(text):
        return folded
    return "".join(small if len(small := sign.lower()) == 1 else sign for sign in text)


def _in_words(text: str, folded: str) -> list[Found]:
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
        found += _noons(folded)
    if "I" in text or "V" in text or "X" in text:
        found += _romans(text)
    return found


def _noons(folded: str) -> list[Found]:
    return [
        Found(match.start(), match.end(), (("time", _NOONS[match[0]], None),))
        for match in _NOON.finditer(folded)
    ]


def _romans(text: str) -> list[Found]:
    found = []
    for match in NUMERAL.finditer(text):
        start = match.start()
        if start and (text[start - 1].isalnum() or text[start - 1] in "-'’_"):
            continue
        digits = match[0].rstrip("emèstd")
        value = roman_value(digits)
        words = text[max(0, start - 16) : start].split()
        word = words[-1] if words else ""
        unit, end = unit_after(text, match.end())
        named = word.lower() in CHAPTERS or unit == "century"
        if value is None or digits == "XL" or not (named or (word and len(digits) > 1)):
            continue
        plain = not (named or word[:1].isupper())
        found.append(Found(start, end, (("number", str(value), unit),), plain))
    return found


def _in_signs(text: str) -> list[Found]:
    """Chinese numbers and fractions of one sign."""
    found = []
    for match in CHINESE.finditer(text):
        value = chinese_value(match[0])
        if value is None or text.startswith("分之", match.end()):
            continue
        start, (unit, end) = match.start(), unit_after(text, match.end())
        if text[max(0, start - 3) : start] == PERCENT_BEFORE:
            start, unit = start - 3, "%"
        plain = len(match[0]) == 1 and value <= 2 and unit is None
        reading: Reading = ("number", str(value), unit)
        if unit == "year" and is_year(str(value)):
            reading = ("date", str(value), None)
        found.append(Found(start, end, (reading,), plain))
    for match in _VULGAR_SIGN.finditer(text):
        share: Reading = ("number", fraction(*VULGAR[match[0]]), None)
        found.append(Found(match.start(), match.end(), (share,), False))
    return found
