"""Dates with a month's name, hours with a word, and Chinese dates, at the digits of a text."""

from __future__ import annotations

import re

from ragauge.text.quantities.dates import clock, date_value, is_year, month_of
from ragauge.text.quantities.measures import AFTER
from ragauge.text.quantities.numerals import Part
from ragauge.text.quantities.quantity import Found, Reading

_YEAR_AFTER = re.compile(r"(?:(?: ?,)? (?:of |de )?|-|\. ?)([0-9]{4})(?![0-9])")
_TO_MONTH = re.compile(r"(?:st|nd|rd|th|er|e|ste|de)?\.?,?[ -]?(?:of (?:the )?|de )?")
_DAYS = re.compile(r"([0-9]{1,2})(?:[-–]([0-9]{1,2}))?")
_ORDINAL = re.compile(r"(?:st|nd|rd|th|er|e)\b")
_CHINESE_DATE = re.compile("年(?:([0-9]{1,2})月(?:([0-9]{1,2})[日号])?)?")
_CHINESE_DAY = re.compile("月([0-9]{1,2})[日号]")
_CHINESE_TIME = re.compile("[点點时時](?:([0-9]{1,2})分?|(半))?")
_HALF_DAY = re.compile(r" ?([ap])(?:\. ?m\.|m\b\.?|\.m\b)", re.IGNORECASE)
_HOUR = re.compile(
    r" ?(?:h(?:([0-5][0-9])|(?![A-Za-z0-9]))|uur\b|uhr\b|o['’]clock\b|heures?\b)", re.IGNORECASE
)


def month_first(text: str, begin: int, start: int, end: int, month: int) -> list[Found]:
    """May 3, 1800, May 3-5, May 3 or May 1800 with the month at `begin`; empty where it is none."""
    written = text[start:end]
    if is_year(written):
        return _dates([(begin, end, int(written), month, None)])
    days = _DAYS.fullmatch(written)
    if not days or text[end : end + 1] == ":":
        return []
    ordinal = _ORDINAL.match(text, end)
    end = ordinal.end() if ordinal else end
    match = _YEAR_AFTER.match(text, end)
    year = int(match[1]) if match else None
    end = match.end() if match else end
    if not days[2]:
        return _dates([(begin, end, year, month, int(days[1]))])
    middle, last = start + days.end(1), start + days.start(2)
    first = (begin, middle, year, month, int(days[1]))
    return _dates([first, (last, end, year, month, int(days[2]))])


def day_first(text: str, parts: list[Part]) -> list[Found]:
    """3 May 1800, 3rd of May, 3-5 May 1800; empty where no month follows."""
    link = _TO_MONTH.match(text, parts[-1].end)
    place = link.end() if link else parts[-1].end
    name = AFTER.match(text, place)
    month = month_of(name[2]) if name and not name[1] else None
    if name is None or month is None:
        return []
    match = _YEAR_AFTER.match(text, name.end())
    year = int(match[1]) if match else None
    past = match.end() if match else name.end()
    days = [part.readings[0][1] for part in parts]
    if not all(day.isdigit() and len(day) < 3 for day in days):
        return []
    ends = [part.end for part in parts[:-1]] + [past]
    return _dates(
        [
            (part.start, end, year, month, int(day))
            for part, end, day in zip(parts, ends, days, strict=True)
        ]
    )


def _dates(stretches: list[tuple[int, int, int | None, int, int | None]]) -> list[Found]:
    """The dates of these stretches; empty where one of them is no day of the calendar."""
    found = []
    for start, end, *parts in stretches:
        value = date_value(*parts)
        if value is None:
            return []
        found.append(Found(start, end, (("date", value, None),)))
    return found


def hours(text: str, parts: list[Part]) -> list[Found]:
    """5 PM, 9-5 pm, 5:00 p.m., 17h30, 17 uur; empty where nothing says that these are hours."""
    last = parts[-1]
    figures = text[last.start : last.end].split(":")
    if not all(figure.isdigit() and len(figure) < 3 for figure in figures):
        return []
    hour, minute, *seconds = [int(figure) for figure in [*figures, "0"][: max(2, len(figures))]]
    second = seconds[0] if seconds else None
    half = _HALF_DAY.match(text, last.end)
    if half:
        readings = clock(hour, minute, second, half[1].lower() + "m")
        end = half.end()
    else:
        match = _HOUR.match(text, last.end)
        if not match:
            return []
        readings, end = clock(hour, int(match[1]) if match[1] else minute, second), match.end()
        if len(figures) == 1 and not match[1]:
            readings = (*readings, ("number", str(hour), "hour"))
    if not readings or readings[0][0] != "time":
        return []
    return [*_earlier_hours(parts[:-1]), Found(last.start, end, readings)]


def _earlier_hours(parts: list[Part]) -> list[Found]:
    """The first of 9-5 pm, which may be of either half of the day."""
    found = []
    for part in parts:
        kind, value, _ = part.readings[0]
        times: tuple[Reading, ...] = ()
        if kind == "number" and value.isdigit() and len(value) < 3:
            times = clock(int(value))
        found.append(Found(part.start, part.end, (*times, *part.readings)))
    return found


def chinese(text: str, parts: list[Part]) -> list[Found]:
    """1800年5月3日, 5月3日, 下午5点30分; empty where these signs do not follow."""
    last = parts[-1]
    digits = last.readings[0][1]
    earlier = [Found(*part) for part in parts[:-1]]
    if not digits.isdigit() or len(digits) > 4:
        return []
    number = int(digits)
    match = _CHINESE_DATE.match(text, last.end)
    if match and (len(digits) == 4 or match[1]):
        month, day = (int(group) if group else None for group in match.groups())
        dates = [(last.start, match.end(), number, month, day)]
        value = date_value(number, month, day)
        return [*earlier, Found(*dates[0][:2], (("date", value, None),))] if value else []
    if match := _CHINESE_DAY.match(text, last.end):
        value = date_value(None, number, int(match[1]))
        return [*earlier, Found(last.start, match.end(), (("date", value, None),))] if value else []
    if match := _CHINESE_TIME.match(text, last.end):
        afternoon = text[max(0, last.start - 2) : last.start] in ("下午", "晚上")
        minutes = 30 if match[2] else int(match[1] or 0)
        readings = clock(number, minutes, half="pm" if afternoon else "")
        return [*earlier, Found(last.start, match.end(), readings)] if readings else []
    return []
