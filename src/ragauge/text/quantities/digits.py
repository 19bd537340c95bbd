"""Quantities at the digits of a text, with what stands before and after them."""

from __future__ import annotations

import re

from ragauge.text.quantities.dates import MONTHS, is_year, month_of
from ragauge.text.quantities.identifiers import bare, code_at, code_before
from ragauge.text.quantities.markers import marker_end
from ragauge.text.quantities.measures import (
    AFTER,
    CURRENCY_SIGNS,
    HAN,
    currency_before,
    is_always,
    is_negative,
    measured,
    scale_after,
    unit_after,
)
from ragauge.text.quantities.named_dates import chinese, day_first, hours, month_first
from ragauge.text.quantities.numerals import VULGAR, Part, mixed, parts_of
from ragauge.text.quantities.quantity import Found, Reading, listed
from ragauge.text.quantities.units import BEFORE_UNIT, GLUED, SCALES, UNITS

_RUN = re.compile(
    r"[0-9](?:[0-9]{0,2}(?: [0-9]{3}(?![0-9])){1,15}(?:[.,][0-9]++)?+"
    r"|[0-9]*+(?:[.,:/'’–-][0-9]++){0,15}+)"
)
_ORDINALS = listed("st nd rd th e er ste de ème eme ère")
_DECADE_ENDS = frozenset({"s", "er", "ers"})
_HOURS = listed("a am p pm h uur uhr o heure heures")
_MARKER_ENDS = frozenset(".):")
_MORE_FOLLOWS = frozenset({".", " ", *VULGAR})
_TO_MONTH = frozenset({*_ORDINALS, *MONTHS, "of"})
"""Words between a day and its month, or the month."""
_TELLING = frozenset(
    {*_ORDINALS, *_HOURS, *MONTHS, *SCALES, *UNITS, *BEFORE_UNIT, *listed("of per pour dozen °")}
)
"""Words after a number that say what it is; after any other it is a plain number."""
_YEAR_BEFORE = listed(
    "in since by from until till before after during year of early late circa ca around to "
    "and sinds tot vanaf voor na jaar anno im seit bis vor nach jahr en depuis avant après "
    "année"
)
_LENGTHS = listed("word words woorden wörter wörtern worten mots sentences zinnen sätze phrases")
"""Words after the length of the answer itself, as in "a summary in 80 words"."""
_PLACE_WORDS = listed(
    "passage passages document documents doc source sources context contexts step steps stap "
    "stappen schritt schritte étape étapes"
)
"""Words before the number of a place in the prompt or the answer itself."""


_VERSION_WORDS = listed("version versions versie versies versionen v release releases build")
"""Words before a name in digits and dots: of versions, 3.10 is not 3.1."""
_DOTTED = re.compile(r"[0-9]+\.[0-9]+")


def digit_quantities(text: str, taken: list[Found]) -> list[Found]:
    """All that stands at digits outside the stretches that are taken, in reading order."""
    found: list[Found] = []
    place = next_taken = 0
    while match := _RUN.search(text, place):
        start, end = match.span()
        while next_taken < len(taken) and taken[next_taken].end <= start:
            next_taken += 1
        if next_taken < len(taken) and taken[next_taken].start < end:
            if taken[next_taken].start <= start:
                place = taken[next_taken].end
                continue
            end = taken[next_taken].start
        place = _read(text, start, end, place, found)
        while next_taken < len(taken) and found and found[-1].end > taken[next_taken].start:
            found.pop()
            place = taken[next_taken].start
    return found


def _read(text: str, start: int, end: int, floor: int, found: list[Found]) -> int:
    """Adds what stands at a run of digits; the place to read on from."""
    before = text[start - 1] if start > floor else " "
    if text[end : end + 1] in _MARKER_ENDS or before in "[^":
        past = marker_end(text, start, end, before)
        if past:
            return past
    if before != " " and (before in "-_" or before.isalpha()):
        begin = code_before(text, start, floor)
        if begin is not None:
            found.append(code_at(text, begin))
            return found[-1].end
    words = text[max(floor, start - 16) : start].split()
    word = words[-1].lstrip("([") if words else ""
    if before == " " and word and (month := month_of(word.rstrip(".,"))):
        dates = month_first(text, text.rindex(word, 0, start), start, end, month)
        if dates:
            found += dates
            return found[-1].end
    numbers = _numbers(text, start, end, before, word)
    if numbers[0].start < floor:
        numbers[0] = numbers[0]._replace(start=floor)
    found += numbers
    return found[-1].end


def _numbers(text: str, start: int, end: int, before: str, word: str) -> list[Found]:
    """The numbers, dates and times of a run of digits with what follows them."""
    parts = parts_of(text[start:end], start)
    last = parts[-1]
    kind = last.readings[0][0]
    after = AFTER.match(text, last.end)
    follower = after[2].lower() if after else ""
    if kind == "time" and follower in _HOURS:
        return hours(text, parts) or [Found(*part) for part in parts]
    if kind != "number":
        return [Found(*part) for part in parts]
    if not after and text[last.end : last.end + 1] not in _MORE_FOLLOWS:
        return _measured(text, parts, before, word)
    if after and after[1] == "" and follower < HAN and follower.isalpha():
        return _glued(text, parts, follower, before, word)
    if after and follower not in _TELLING and follower < HAN:
        found = _measured(text, parts, before, word, False)
        return [own._replace(plain=True) for own in found] if follower in _LENGTHS else found
    return _told(text, parts, follower) or _measured(text, parts, before, word)


def _told(text: str, parts: list[Part], follower: str) -> list[Found]:
    """What the words after digits make of them: a date, hours, a mixed number; empty if nothing."""
    last = parts[-1]
    value = last.readings[0][1]
    if not value.isdigit() or len(value) > 4:
        return []
    if follower >= HAN:
        return chinese(text, parts)
    found: list[Found] = []
    dotted = text[last.end : last.end + 1] == "."
    if follower in _HOURS:
        found = hours(text, parts)
    if not found and (dotted or follower in _TO_MONTH) and int(value) <= 31:
        found = day_first(text, parts)
    if dotted:
        return found or _german_ordinal(text, parts)
    return found or mixed(text, parts)


def _german_ordinal(text: str, parts: list[Part]) -> list[Found]:
    """20. Jahrhundert."""
    last = parts[-1]
    unit, end = unit_after(text, last.end + 1)
    return _with_unit(parts, end, unit) if unit == "century" else []


def _with_unit(parts: list[Part], end: int, unit: str | None) -> list[Found]:
    ends = [part.end for part in parts[:-1]] + [end]
    return [
        Found(part.start, stop, measured(part.readings, 0, unit))
        for part, stop in zip(parts, ends, strict=True)
    ]


def _glued(text: str, parts: list[Part], letters: str, before: str, word: str) -> list[Found]:
    """A number with letters against it: an ordinal, a decade, a scale, a unit, hours, or a code."""
    last = parts[-1]
    end = last.end + len(letters)
    value = last.readings[0][1]
    if text[end : end + 1].isdigit() and letters != "h":
        return _code(text, parts)
    if letters in _DECADE_ENDS and value.endswith("0") and len(value) in (2, 4):
        earlier = [Found(*part) for part in parts[:-1]]
        return [*earlier, Found(last.start, end, _decade(value))]
    if letters in _HOURS or letters in _ORDINALS:
        named = _told(text, parts, letters)
        if named:
            return named
    if letters in _ORDINALS:
        unit, past = unit_after(text, end)
        return _with_unit(parts, past, unit)
    if letters in SCALES or letters in GLUED:
        return _measured(text, parts, before, word)
    return _code(text, parts)


def _code(text: str, parts: list[Part]) -> list[Found]:
    return [*(Found(*part) for part in parts[:-1]), code_at(text, parts[-1].start)]


def _decade(value: str) -> tuple[Reading, ...]:
    """1990s; 90s, which may be seconds or ages too; 1800s, which may be a century."""
    if len(value) == 4:
        decade: Reading = ("date", f"{value}s", None)
        century: Reading = ("number", str(int(value) // 100 + 1), "century")
        return (decade, century) if value.endswith("00") else (decade,)
    return (
        ("date", f"{value}s", None),
        ("date", f"19{value}s", None),
        ("number", value, "second"),
    )


def _measured(
    text: str, parts: list[Part], before: str, word: str, telling: bool = True
) -> list[Found]:
    """Numbers with their currency or sign before and their scale and unit after."""
    last = parts[-1]
    start, unit = parts[0].start, None
    if before != " " or word.isupper() or word[-1:] in CURRENCY_SIGNS:
        start, unit = currency_before(text, start, before, word)
    shift, end = 0, last.end
    if telling:
        shift, end = scale_after(text, end, start < parts[0].start)
        unit_here, end = unit_after(text, end)
        unit = unit or unit_here
    if len(parts) == 1:
        readings = measured(last.readings, shift, unit)
        if unit == "m" and text[last.end] == "m":
            readings = (*readings, *measured(last.readings, 6, None))
        if before == "-" and is_negative(text, start, before):
            start -= 1
            readings = tuple((kind, f"-{value}", own) for kind, value, own in readings)
        return [_in_place(text, start, end, readings, word, before)]
    starts = [start] + [part.start for part in parts[1:]]
    ends = [part.end for part in parts[:-1]] + [end]
    return [
        Found(begin, stop, measured(part.readings, shift, unit), word.lower() in _PLACE_WORDS)
        for part, begin, stop in zip(parts, starts, ends, strict=True)
    ]


def _in_place(
    text: str, start: int, end: int, readings: tuple[Reading, ...], word: str, before: str
) -> Found:
    """The number as a year where the word before says so, or with the name before it as a code."""
    _, value, unit = readings[0]
    folded = word.lower()
    dated = folded in _YEAR_BEFORE or before == "(" or text[end : end + 1] == ")"
    if dated and unit is None and end - start == 4 and is_year(value):
        readings = (("date", value, None),)
    digits = text[start:end]
    if folded.rstrip(".") in _VERSION_WORDS and _DOTTED.fullmatch(digits):
        readings = (("identifier", digits, None),)
    if unit is None and before == " " and word.isalpha():
        code = folded + (digits if digits.isalnum() else bare(digits))
        readings = (*readings, ("identifier", code, None))
    plain = folded in _PLACE_WORDS or is_always(text, end, value, unit)
    return Found(start, end, readings, plain)
