"""Quantities, and the normal form of numbers, dates and times.

Dates and times: `1800-05-03`, `1800-05`, `--05-03`, `1800`, `1990s`, `17:00`.
"""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from functools import lru_cache
from typing import Literal, NamedTuple

Kind = Literal["number", "date", "time", "identifier"]
Reading = tuple[Kind, str, str | None]
"""Kind, normalised value and unit: one possible meaning of a text."""


class Quantity(NamedTuple):
    """A number, date, time or identifier at its place in a text."""

    kind: Kind
    value: str
    """Normalised: `12000`, `0.75`, `1/3`, `1800-05-03`, `--05-03`, `1990s`, `17:00`, `rtx3090`."""
    unit: str | None
    """In one form, such as `km`, `%`, `USD` or `year`; None if there is none."""
    text: str
    start: int
    end: int
    others: tuple[Reading, ...] = ()
    """Its other meanings: 1.234 is 1234 or 1.234, 03/05/1800 is in May or in March."""
    plain: bool = False
    """A small counting word, as in "one of them": it supports a number and claims none."""

    @property
    def readings(self) -> tuple[Reading, ...]:
        """All its possible meanings, the likeliest first."""
        return ((self.kind, self.value, self.unit), *self.others)


class Found(NamedTuple):
    """The possible meanings of a stretch of text, from which a quantity is built."""

    start: int
    end: int
    readings: tuple[Reading, ...]
    plain: bool = False


def apart(found: list[Found]) -> list[Found]:
    """These in reading order, without those that begin inside the one before."""
    if len(found) < 2:
        return found
    kept: list[Found] = []
    for entry in sorted(found):
        if not kept or kept[-1].end <= entry.start:
            kept.append(entry)
    return kept


def beside(found: list[Found], more: list[Found]) -> list[Found]:
    """Both in reading order, without those of `more` that overlap any of `found`.

    No two of `found` may overlap.
    """
    if not more:
        return found
    starts = [entry.start for entry in found]
    free = []
    for entry in apart(more):
        place = bisect_left(starts, entry.end)
        if not place or found[place - 1].end <= entry.start:
            free.append(entry)
    return sorted(found + free) if free else found


def decimal(whole: str, part: str = "", shift: int = 0) -> str:
    """The canonical form of a number from its digits, times ten to the power of `shift`.

    It works on text, so that a number of a million digits takes no longer than reading it.

    >>> decimal("012", "50"), decimal("1", "5", 6), decimal("0", "")
    ('12.5', '1500000', '0')
    """
    if shift:
        part = part.ljust(shift, "0")
        whole, part = whole + part[:shift], part[shift:]
    whole = whole.lstrip("0") or "0"
    part = part.rstrip("0")
    return f"{whole}.{part}" if part else whole


def shifted(value: str, shift: int) -> str:
    """A canonical number times ten to a power.

    >>> shifted("1.5", 6), shifted("-2", 3)
    ('1500000', '-2000')
    """
    sign = "-" if value.startswith("-") else ""
    whole, _, part = value.lstrip("-").partition(".")
    return sign + decimal(whole, part, shift)


@lru_cache(maxsize=4096)
def fraction(over: int, under: int) -> str:
    """The canonical form of a fraction: decimal if that is exact.

    >>> fraction(3, 4), fraction(2, 6), fraction(6, 3)
    ('0.75', '1/3', '2')
    """
    exact = Fraction(over, under)
    places = 0
    while places < 12:
        scaled = exact * 10**places
        if scaled.denominator == 1:
            digits = str(scaled.numerator).rjust(places + 1, "0")
            return decimal(digits[: len(digits) - places], digits[len(digits) - places :])
        places += 1
    return f"{exact.numerator}/{exact.denominator}"


_MONTH_NAMES = (
    "january jan januari januar jänner janvier janv",
    "february feb februari februar février févr",
    "march mar maart mrt märz mars",
    "april apr avril avr",
    "may mei mai",
    "june jun juni juin",
    "july jul juli juillet juil",
    "august aug augustus août aout",
    "september sep sept septembre",
    "october oct oktober okt octobre",
    "november nov novembre",
    "december dec dezember dez décembre déc",
)
MONTHS = {word: number for number, words in enumerate(_MONTH_NAMES, 1) for word in words.split()}
"""The number of a month by its lower-case name in English, Dutch, German and French."""
_SMALL = frozenset({"may", "march", "mar"})
"""Names of months that are other words in lower case."""
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def month_of(word: str) -> int | None:
    """The number of the month with this name; `may` in lower case is a verb.

    >>> month_of("May"), month_of("may"), month_of("mei"), month_of("Mayor")
    (5, None, 5, None)
    """
    month = MONTHS.get(word.lower())
    return None if month and word in _SMALL else month


def date_value(year: int | None, month: int | None, day: int | None) -> str | None:
    """The normal form of a date whose parts may be unknown; None if there is no such day.

    >>> date_value(1800, 5, 3), date_value(1800, 5, None), date_value(None, 5, 3)
    ('1800-05-03', '1800-05', '--05-03')
    >>> date_value(1800, 13, 1), date_value(1800, 2, 30)
    (None, None)
    """
    if month is None:
        return None if year is None else str(year)
    if not 1 <= month <= 12:
        return None
    if day is None:
        return None if year is None else f"{year}-{month:02}"
    if not 1 <= day <= _DAYS[month - 1]:
        return None
    return f"--{month:02}-{day:02}" if year is None else f"{year}-{month:02}-{day:02}"


@lru_cache(maxsize=4096)
def numeric_date(first: str, second: str, year: str, mark: str) -> tuple[Reading, ...]:
    """The dates that three numbers can be: with dots day first, else both ways if both exist.

    >>> [value for _, value, _ in numeric_date("03", "05", "1800", "/")]
    ['1800-05-03', '1800-03-05']
    >>> [value for _, value, _ in numeric_date("25", "12", "99", "/")]
    ['1999-12-25', '2099-12-25']
    """
    years = [int(year)] if len(year) == 4 else [1900 + int(year), 2000 + int(year)]
    orders = [(int(second), int(first))]
    if mark != ".":
        orders.append((int(first), int(second)))
    found = [date_value(y, month, day) for month, day in orders for y in years]
    return tuple(("date", value, None) for value in dict.fromkeys(found) if value)


def is_year(digits: str) -> bool:
    """Whether digits without a unit can be a year of our calendar.

    >>> is_year("1800"), is_year("12"), is_year("4711")
    (True, False, False)
    """
    return len(digits) == 4 and digits.isdigit() and "1000" <= digits <= "2100"


@lru_cache(maxsize=4096)
def clock(
    hour: int, minute: int = 0, second: int | None = None, half: str = ""
) -> tuple[Reading, ...]:
    """The times of day that the figures can mean; without am or pm, both halves of the day.

    >>> clock(5, half="pm"), clock(17)
    ((('time', '17:00', None),), (('time', '17:00', None),))
    >>> [value for _, value, _ in clock(5, 30)]
    ['05:30', '17:30']
    """
    if hour > 24 or minute > 59 or (second is not None and second > 59):
        return ()
    if half and hour <= 12:
        hours = [hour % 12 + (12 if half == "pm" else 0)]
    elif 1 <= hour <= 12:
        hours = [hour, (hour + 12) % 24]
    else:
        hours = [hour % 24]
    tail = "" if second is None else f":{second:02}"
    return tuple(("time", f"{h:02}:{minute:02}{tail}", None) for h in hours)
