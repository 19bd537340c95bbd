"""What a quantity is, and the one form of a number."""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from functools import lru_cache
from typing import Literal, NamedTuple

Kind = Literal["number", "date", "time", "identifier"]
Reading = tuple[Kind, str, str | None]
"""Kind, normalised value and unit: one way to understand what is written."""


class Quantity(NamedTuple):
    """A number, date, time or identifier at its place in a text."""

    kind: Kind
    value: str
    """Normalised: `12000`, `0.75`, `1/3`, `1800-05-03`, `--05-03`, `1990s`, `17:00`, `rtx3090`."""
    unit: str | None
    """In one form, such as `km`, `%`, `USD` or `year`; None where none is written."""
    text: str
    start: int
    end: int
    others: tuple[Reading, ...] = ()
    """What else it may mean: 1.234 is 1234 or 1.234, 03/05/1800 is in May or in March."""
    plain: bool = False
    """A small counting word, as in "one of them": it supports a number and claims none."""

    @property
    def readings(self) -> tuple[Reading, ...]:
        """All that it may mean, the likeliest first."""
        return ((self.kind, self.value, self.unit), *self.others)


def listed(words: str) -> frozenset[str]:
    """The set of the words of a line."""
    return frozenset(words.split())


class Found(NamedTuple):
    """What a stretch of text can mean, before it is a quantity."""

    start: int
    end: int
    readings: tuple[Reading, ...]
    plain: bool = False


def apart(found: list[Found]) -> list[Found]:
    """These in reading order, without those that begin within the one before."""
    if len(found) < 2:
        return found
    kept: list[Found] = []
    for entry in sorted(found):
        if not kept or kept[-1].end <= entry.start:
            kept.append(entry)
    return kept


def beside(found: list[Found], more: list[Found]) -> list[Found]:
    """Both in reading order, without those of `more` that overlap any of `found`.

    Of `found`, no two overlap.
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
    """The canonical form of a number from its digits, ten to the power of `shift` times as large.

    Text throughout, so that a number of a million digits costs no more than reading it.

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
    """The canonical form of a fraction: decimal where that is exact.

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
