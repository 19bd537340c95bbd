"""Numbers in digits: how a run of digits and marks is cut up, and what each part can mean."""

from __future__ import annotations

import re
from typing import NamedTuple

from ragauge.text.quantities.dates import clock, date_value, is_year, numeric_date
from ragauge.text.quantities.quantity import Found, Reading, decimal, fraction

_FORMS = re.compile(
    r"(?P<ymd>([0-9]{4})([-/.])([0-9]{1,2})\3([0-9]{1,2}))"
    r"|(?P<dmy>([0-9]{1,2})([-/.])([0-9]{1,2})\8([0-9]{4}|[0-9]{2}))"
    r"|(?P<comma>[0-9]{1,3}(?:,[0-9]{3})++(?:\.[0-9]++)?+|[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3})"
    r"|(?P<dot>[0-9]{1,3}(?:\.[0-9]{3})++(?:,[0-9]++)?+)"
    r"|(?P<quote>[0-9]{1,3}(?:['’][0-9]{3})++(?:[.,][0-9]++)?+)"
    r"|(?P<decimal>[0-9]++[.,][0-9]++)"
    r"|(?P<time>([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{2}))?+)"
    r"|(?P<fraction>([0-9]{1,6})/([0-9]{1,6}))"
    r"|(?P<version>[0-9]++(?:\.[0-9]++){2,})"
    r"|(?P<joined>[0-9]++(?:-[0-9]++){2,}|0[0-9]{1,4}-[0-9]{5,8})"
)
VULGAR = {
    "½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅛": (1, 8), "⅜": (3, 8),
    "⅝": (5, 8), "⅞": (7, 8), "⅕": (1, 5),
}  # fmt: skip
"""Fractions of one sign, as what stands over and under the line."""
_MORE = re.compile(rf" ([1-9])/([2-9])(?![0-9/])| ?([{''.join(VULGAR)}])| dozen\b")
_PIECE = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_BETWEEN_RANGE = re.compile("[-–]")
_LEAST_DIGITS = 7
"""From so many digits on, numbers joined by dashes are one identifier."""


class Part(NamedTuple):
    """One number, date, time or identifier of a run of digits and marks."""

    start: int
    end: int
    readings: tuple[Reading, ...]


def parts_of(written: str, start: int) -> list[Part]:
    """What a run of digits and marks holds, at its place in the text.

    >>> [part.readings[0][1] for part in parts_of("1914-18", 0)]
    ['1914', '1918']
    >>> [reading[1] for reading in parts_of("1.234", 0)[0].readings]
    ['1234', '1.234']
    """
    end = start + len(written)
    if written.isdigit():
        return [Part(start, end, (("number", decimal(written), None),))]
    if " " in written:
        return [Part(start, end, _decimal(written.replace(" ", "")))]
    match = _FORMS.fullmatch(written)
    readings = _readings(match) if match else ()
    if readings:
        return [Part(start, end, readings)]
    if "-" in written or "–" in written:
        return _range(written, start)
    return [
        Part(start + piece.start(), start + piece.end(), _decimal(piece[0]))
        for piece in _PIECE.finditer(written)
    ]


def _range(written: str, start: int) -> list[Part]:
    """The two ends of a range, or all the numbers that dashes join."""
    found: list[Part] = []
    for piece in _BETWEEN_RANGE.split(written):
        found += parts_of(piece, start)
        start += len(piece) + 1
    if len(found) == 2 and found[0].readings[0][0] == found[1].readings[0][0] == "number":
        found = _years(found[0], found[1])
    return found


def _years(first: Part, last: Part) -> list[Part]:
    """A range of years, of which the last may be short: 1914-18."""
    begin, finish = first.readings[0][1], last.readings[0][1]
    if not is_year(begin):
        return [first, last]
    if last.end - last.start == 2 and int(finish) > int(begin) % 100:
        finish = begin[:2] + finish.zfill(2)
    if not is_year(finish):
        return [first, last]
    return [
        Part(first.start, first.end, (("date", begin, None),)),
        Part(last.start, last.end, (("date", finish, None), *last.readings)),
    ]


def _readings(match: re.Match[str]) -> tuple[Reading, ...]:
    form, written = match.lastgroup, match[0]
    if form == "decimal":
        return _decimal(written)
    if form == "comma":
        return _grouped(written, ",")
    if form == "dot":
        return _grouped(written, ".")
    if form == "quote":
        return _decimal(written.replace("'", "").replace("’", ""))
    if form == "ymd":
        value = date_value(int(match[2]), int(match[4]), int(match[5]))
        return (("date", value, None),) if value else ()
    if form == "dmy":
        return numeric_date(match[7], match[9], match[10], match[8])
    if form == "time":
        seconds = match["time"].split(":")[2:]
        return clock(*map(int, match["time"].split(":")[:2]), int(seconds[0]) if seconds else None)
    if form == "fraction":
        return _fraction(*match["fraction"].split("/"))
    if form == "version":
        return (("identifier", written.replace(".", ""), None),)
    return _joined(written.replace("-", ""))


def _joined(digits: str) -> tuple[Reading, ...]:
    """A telephone or book number, with and without the zero before it."""
    if len(digits) < _LEAST_DIGITS:
        return ()
    forms = dict.fromkeys((digits, digits.lstrip("0")))
    return tuple(("identifier", form, None) for form in forms)


def mixed(text: str, parts: list[Part]) -> list[Found]:
    """Two and a half as 2 1/2 or 2½, two dozen as 2 dozen; empty where these do not follow."""
    last = parts[-1]
    match = _MORE.match(text, last.end)
    if not match:
        return []
    count = int(last.readings[0][1])
    if match[1]:
        value = fraction(count * int(match[2]) + int(match[1]), int(match[2]))
    elif match[3]:
        over, under = VULGAR[match[3]]
        value = fraction(count * under + over, under)
    else:
        value = str(count * 12)
    earlier = [Found(*part) for part in parts[:-1]]
    return [*earlier, Found(last.start, match.end(), (("number", value, None),))]


def _decimal(written: str) -> tuple[Reading, ...]:
    whole, _, part = written.replace(",", ".").partition(".")
    return (("number", decimal(whole, part), None),)


def _grouped(written: str, mark: str) -> tuple[Reading, ...]:
    """A number with marks between thousands; with a single mark it may be a decimal one.

    Not where it ends in two zeros, which nobody writes after a decimal mark.
    """
    whole, _, part = written.replace(mark, "").partition("." if mark == "," else ",")
    grouped: Reading = ("number", decimal(whole, part), None)
    if part or written.count(mark) > 1 or written.endswith("00"):
        return (grouped,)
    if written[0] == "0":
        return _decimal(written)
    return (grouped, *_decimal(written))


def _fraction(over: str, under: str) -> tuple[Reading, ...]:
    """A fraction, which may be a day of a month or the years of a season too."""
    if is_year(over) and len(under) == 2:
        return (("date", over, None), ("date", over[:2] + under, None))
    if not int(under):
        return ()
    found: list[Reading] = [("number", fraction(int(over), int(under)), None)]
    for month, day in ((int(under), int(over)), (int(over), int(under))):
        value = date_value(None, month, day)
        if value:
            found.append(("date", value, None))
    return tuple(dict.fromkeys(found))
