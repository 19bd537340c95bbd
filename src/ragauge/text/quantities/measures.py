"""What stands before and after a number and measures it: sign, currency, power of ten, unit."""

from __future__ import annotations

import re

from ragauge.text.quantities.quantity import Reading, shifted
from ragauge.text.quantities.units import BEFORE_UNIT, CURRENCY_BEFORE, GLUED, SCALES, UNITS

AFTER = re.compile(r"([ -]?)([A-Za-zÀ-ɏ]++|[%°℃℉€$£¥₹]|[㐀-鿿])")
"""The word or sign after a number, with what ties it to the number."""
HAN = "\u3400"
"""From here on signs are words by themselves."""
_PERCENT = re.compile(r"[ -]?(?:per ?cent|pour cent)\b", re.IGNORECASE)
_ALWAYS = frozenset({("7", "day"), ("24", "hour")})
_EVERY = re.compile(" (?:a|per) (?:week|day)")
_DOTTED = frozenset({"mio", "mrd", "mln"})
CURRENCY_SIGNS = frozenset("$€£¥₹")


def scale_after(text: str, end: int, money: bool = False) -> tuple[int, int]:
    """The power of ten of the word after a number, and where it ends.

    >>> scale_after("5 million", 1), scale_after("5 men", 1)
    ((6, 9), (0, 1))
    """
    match = AFTER.match(text, end)
    if not match:
        return 0, end
    word, past = match[2].lower(), match.end()
    if word > HAN and text[past - 1 : past + 1] in SCALES:
        return SCALES[text[past - 1 : past + 1]], past + 1
    if len(word) == 1 and word < HAN and match[1]:
        return 0, end
    if word == "m" and (money or match[2] == "M"):
        return 6, past
    if word == "b" and not money and match[2] == "b":
        return 0, end
    shift = SCALES.get(word, 0)
    if not shift:
        return 0, end
    return shift, past + (word in _DOTTED and text[past : past + 1] == ".")


def unit_after(text: str, end: int) -> tuple[str | None, int]:
    """The unit after a number, and where it ends: the given end where there is none.

    >>> unit_after("5 km", 1), unit_after("5 square miles", 1), unit_after("5 men", 1)
    (('km', 4), ('mile²', 14), (None, 1))
    """
    match = AFTER.match(text, end)
    if not match:
        return None, end
    word, past = match[2].lower(), match.end()
    if word > HAN:
        return _chinese_unit(text, past - 1, end)
    if word in UNITS:
        short = not match[1] and len(word) < 4 and word.isalpha()
        return (None, end) if short and word not in GLUED else _squared(text, UNITS[word], past)
    if word in BEFORE_UNIT:
        following = AFTER.match(text, past + (text[past : past + 1] == "."))
        unit = UNITS.get(following[2].lower()) if following else None
        return (unit + BEFORE_UNIT[word], following.end()) if following and unit else (None, end)
    if word == "°":
        degrees = text[past : past + 1].lower()
        return (UNITS[f"°{degrees}"], past + 1) if degrees in ("c", "f") else (None, past)
    if word in ("per", "pour"):
        percent = _PERCENT.match(text, end)
        return ("%", percent.end()) if percent else (None, end)
    return None, end


def _squared(text: str, unit: str | None, end: int) -> tuple[str | None, int]:
    following = text[end : end + 1]
    if unit and following in ("²", "³"):
        return unit + following, end + 1
    if unit == "km" and text[end : end + 2] == "/h":
        return "km/h", end + 2
    return unit, end


def _chinese_unit(text: str, start: int, end: int) -> tuple[str | None, int]:
    for length in (3, 2, 1):
        word = text[start : start + length]
        if word in UNITS:
            return UNITS[word], start + length
    return None, end


def currency_before(text: str, start: int, before: str, word: str) -> tuple[int, str | None]:
    """Where a number with the currency before it begins, and the currency.

    >>> currency_before("USD 5", 4, " ", "USD"), currency_before("a 5", 2, " ", "a")
    ((0, 'USD'), (2, None))
    """
    if before in CURRENCY_SIGNS:
        sign = start - 1
    elif word and word[-1] in CURRENCY_SIGNS:
        sign = text.rindex(word[-1], 0, start)
    elif word.isupper() and word.lower() in CURRENCY_BEFORE:
        return text.rindex(word, 0, start), CURRENCY_BEFORE[word.lower()]
    else:
        return start, None
    if text[max(0, sign - 2) : sign] == "US":
        return sign - 2, "USD"
    if sign and text[sign - 1].isascii() and text[sign - 1].isalpha():
        return sign, None
    return sign, CURRENCY_BEFORE[text[sign]]


def is_negative(text: str, start: int, before: str) -> bool:
    """Whether the dash before a number is a sign: not in a range, not at the head of a line."""
    return before == "-" and (start < 2 or text[start - 2] in " (\t:=$€£")


def is_always(text: str, end: int, value: str, unit: str | None) -> bool:
    """Whether seven days a week or 24 hours a day is said, which counts nothing."""
    return (value, unit) in _ALWAYS and _EVERY.match(text, end) is not None


def measured(readings: tuple[Reading, ...], shift: int, unit: str | None) -> tuple[Reading, ...]:
    """The readings with a power of ten and a unit, those that are numbers."""
    if not shift and unit is None:
        return readings
    return tuple(
        (kind, shifted(value, shift) if shift and "/" not in value else value, unit)
        if kind == "number"
        else (kind, value, own)
        for kind, value, own in readings
    )
