"""Quantities that contain digits, with the words before and after them.

A run of digits and marks is first split into parts with all their possible meanings: numbers,
dates, times, identifiers. Then the words around it decide: a month, hours, a unit, a currency.
"""

from __future__ import annotations

import re

from ragauge.quantities.identifiers import code_at, code_before, compact, marker_end
from ragauge.quantities.measures import (
    AFTER,
    BEFORE_UNIT,
    CURRENCY_SIGNS,
    GLUED,
    HAN,
    SCALES,
    UNITS,
    currency_before,
    is_always,
    scale_after,
    scaled,
    unit_after,
)
from ragauge.quantities.quantity import (
    MONTHS,
    Found,
    Reading,
    clock,
    date_value,
    decimal,
    fraction,
    is_year,
    month_of,
    numeric_date,
)
from ragauge.text.word_lists import word_set

VULGAR = {
    "½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅛": (1, 8), "⅜": (3, 8),
    "⅝": (5, 8), "⅞": (7, 8), "⅕": (1, 5),
}  # fmt: skip
"""Fractions that are one character, as numerator and denominator."""
_RUN = re.compile(
    r"[0-9](?:[0-9]{0,2}(?: [0-9]{3}(?![0-9])){1,15}(?:[.,][0-9]++)?+"
    r"|[0-9]*+(?:[.,:/'’–-][0-9]++){0,15}+)"
)
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
_PIECE = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_BETWEEN_RANGE = re.compile("[-–]")
_MIN_DIGITS = 7
"""With this many digits, numbers joined by dashes are one identifier."""
_MIXED = re.compile(rf" ([1-9])/([2-9])(?![0-9/])| ?([{''.join(VULGAR)}])| dozen\b")
_DOTTED = re.compile(r"[0-9]+\.[0-9]+")

_ORDINALS = word_set("st nd rd th e er ste de ème eme ère")
_DECADE_ENDS = frozenset({"s", "er", "ers"})
_HOURS = word_set("a am p pm h uur uhr o heure heures")
_MARKER_ENDS = frozenset(".):")
_MORE_FOLLOWS = frozenset({".", " ", *VULGAR})
_TO_MONTH = frozenset({*_ORDINALS, *MONTHS, "of"})
"""Words between a day and its month, or the month."""
_UNIT_WORDS = frozenset(
    {*_ORDINALS, *_HOURS, *MONTHS, *SCALES, *UNITS, *BEFORE_UNIT, *word_set("of per pour dozen °")}
)
"""Words after a number that say what it is; before any other word it is a plain number."""
_YEAR_BEFORE = word_set(
    "in since by from until till before after during year of early late circa ca around to "
    "and sinds tot vanaf voor na jaar anno im seit bis vor nach jahr en depuis avant après "
    "année"
)
_LENGTHS = word_set("word words woorden wörter wörtern worten mots sentences zinnen sätze phrases")
"""Words after the length of the answer itself, as in "a summary in 80 words"."""
_PLACE_WORDS = word_set(
    "passage passages document documents doc source sources context contexts step steps stap "
    "stappen schritt schritte étape étapes"
)
"""Words before the number of a place in the prompt or the answer itself."""
_VERSION_WORDS = word_set("version versions versie versies versionen v release releases build")
"""Words before a version, where 3.10 is not 3.1."""

_YEAR_AFTER = re.compile(r"(?:(?: ?,)? (?:of |de )?|-|\. ?)([0-9]{4})(?![0-9])")
_LINK_TO_MONTH = re.compile(r"(?:st|nd|rd|th|er|e|ste|de)?\.?,?[ -]?(?:of (?:the )?|de )?")
_DAYS = re.compile(r"([0-9]{1,2})(?:[-–]([0-9]{1,2}))?")
_ORDINAL = re.compile(r"(?:st|nd|rd|th|er|e)\b")
_CHINESE_DATE = re.compile("年(?:([0-9]{1,2})月(?:([0-9]{1,2})[日号])?)?")
_CHINESE_DAY = re.compile("月([0-9]{1,2})[日号]")
_CHINESE_TIME = re.compile("[点點时時](?:([0-9]{1,2})分?|(半))?")
_HALF_DAY = re.compile(r" ?([ap])(?:\. ?m\.|m\b\.?|\.m\b)", re.IGNORECASE)
_HOUR = re.compile(
    r" ?(?:h(?:([0-5][0-9])|(?![A-Za-z0-9]))|uur\b|uhr\b|o['’]clock\b|heures?\b)", re.IGNORECASE
)


def digit_quantities(text: str, taken: list[Found]) -> list[Found]:
    """The quantities at digits outside the stretches that are taken, in reading order."""
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
        place = _read_run(text, start, end, place, found)
        while next_taken < len(taken) and found and found[-1].end > taken[next_taken].start:
            found.pop()
            place = taken[next_taken].start
    return found


def _read_run(text: str, start: int, end: int, floor: int, found: list[Found]) -> int:
    """Add the quantities at a run of digits, and return the place to continue from."""
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
        dates = _month_first(text, text.rindex(word, 0, start), start, end, month)
        if dates:
            found += dates
            return found[-1].end
    numbers = _numbers(text, start, end, before, word)
    if numbers[0].start < floor:
        numbers[0] = numbers[0]._replace(start=floor)
    found += numbers
    return found[-1].end


def _numbers(text: str, start: int, end: int, before: str, word: str) -> list[Found]:
    """The numbers, dates and times of a run of digits and the words after it."""
    parts = _parts(text[start:end], start)
    last = parts[-1]
    kind = last.readings[0][0]
    after = AFTER.match(text, last.end)
    follower = after[2].lower() if after else ""
    if kind == "time" and follower in _HOURS:
        return _hours(text, parts) or parts
    if kind != "number":
        return parts
    if not after and text[last.end : last.end + 1] not in _MORE_FOLLOWS:
        return _with_measures(text, parts, before, word)
    if after and after[1] == "" and follower < HAN and follower.isalpha():
        return _with_letters(text, parts, follower, before, word)
    if after and follower not in _UNIT_WORDS and follower < HAN:
        found = _with_measures(text, parts, before, word, False)
        return [own._replace(plain=True) for own in found] if follower in _LENGTHS else found
    return _with_follower(text, parts, follower) or _with_measures(text, parts, before, word)


def _parts(written: str, start: int) -> list[Found]:
    """The numbers, dates, times and identifiers of a run of digits and marks: `1914-18` is two."""
    end = start + len(written)
    if written.isdigit():
        return [Found(start, end, (("number", decimal(written), None),))]
    if " " in written:
        return [Found(start, end, _decimal(written.replace(" ", "")))]
    match = _FORMS.fullmatch(written)
    readings = _readings(match) if match else ()
    if readings:
        return [Found(start, end, readings)]
    if "-" not in written and "–" not in written:
        return [
            Found(start + piece.start(), start + piece.end(), _decimal(piece[0]))
            for piece in _PIECE.finditer(written)
        ]
    found: list[Found] = []
    for stretch in _BETWEEN_RANGE.split(written):
        found += _parts(stretch, start)
        start += len(stretch) + 1
    if len(found) == 2 and found[0].readings[0][0] == found[1].readings[0][0] == "number":
        return _years(*found)
    return found


def _years(first: Found, last: Found) -> list[Found]:
    """A range of years, whose end may be short: 1914-18; else the two numbers."""
    begin, finish = first.readings[0][1], last.readings[0][1]
    if not is_year(begin):
        return [first, last]
    if last.end - last.start == 2 and int(finish) > int(begin) % 100:
        finish = begin[:2] + finish.zfill(2)
    if not is_year(finish):
        return [first, last]
    return [
        first._replace(readings=(("date", begin, None),)),
        last._replace(readings=(("date", finish, None), *last.readings)),
    ]


def _readings(match: re.Match[str]) -> tuple[Reading, ...]:
    """The possible meanings of a run; empty if it is not a valid date, time or number."""
    form, written = match.lastgroup, match[0]
    if form == "decimal":
        return _decimal(written)
    if form == "comma":
        return _thousands(written, ",")
    if form == "dot":
        return _thousands(written, ".")
    if form == "quote":
        return _decimal(written.replace("'", "").replace("’", ""))
    if form == "ymd":
        value = date_value(int(match[2]), int(match[4]), int(match[5]))
        return (("date", value, None),) if value else ()
    if form == "dmy":
        return numeric_date(match[7], match[9], match[10], match[8])
    if form == "time":
        hour, minute, *seconds = map(int, written.split(":"))
        return clock(hour, minute, seconds[0] if seconds else None)
    if form == "fraction":
        return _fraction(*written.split("/"))
    if form == "version":
        return (("identifier", written.replace(".", ""), None),)
    digits = written.replace("-", "")  # a telephone or book number, with and without a leading zero
    forms = dict.fromkeys((digits, digits.lstrip("0"))) if len(digits) >= _MIN_DIGITS else ()
    return tuple(("identifier", form, None) for form in forms)


def _decimal(written: str) -> tuple[Reading, ...]:
    whole, _, part = written.replace(",", ".").partition(".")
    return (("number", decimal(whole, part), None),)


def _thousands(written: str, mark: str) -> tuple[Reading, ...]:
    """A number with marks between thousands; with a single mark it may be a decimal number.

    Not if it ends in two zeros, which nobody writes after a decimal mark.
    """
    whole, _, part = written.replace(mark, "").partition("." if mark == "," else ",")
    grouped: Reading = ("number", decimal(whole, part), None)
    if part or written.count(mark) > 1 or written.endswith("00"):
        return (grouped,)
    if written[0] == "0":
        return _decimal(written)
    return (grouped, *_decimal(written))


def _fraction(over: str, under: str) -> tuple[Reading, ...]:
    """A fraction, which may also be a day of a month or the years of a season."""
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


def _with_follower(text: str, parts: list[Found], follower: str) -> list[Found]:
    """The date, hours or mixed number of digits and the word after them; else empty."""
    last = parts[-1]
    value = last.readings[0][1]
    if not value.isdigit() or len(value) > 4:
        return []
    if follower >= HAN:
        return _chinese(text, parts, value)
    found: list[Found] = []
    dotted = text[last.end : last.end + 1] == "."
    if follower in _HOURS:
        found = _hours(text, parts)
    if not found and (dotted or follower in _TO_MONTH) and int(value) <= 31:
        found = _day_first(text, parts)
    if found:
        return found
    if dotted:  # 20. Jahrhundert
        unit, end = unit_after(text, last.end + 1)
        return _with_unit(parts, end, unit) if unit == "century" else []
    match = _MIXED.match(text, last.end)  # 2 1/2, 2½, 2 dozen
    if not match:
        return []
    count = int(value)
    if match[1]:
        value = fraction(count * int(match[2]) + int(match[1]), int(match[2]))
    elif match[3]:
        over, under = VULGAR[match[3]]
        value = fraction(count * under + over, under)
    else:
        value = str(count * 12)
    return [*parts[:-1], Found(last.start, match.end(), (("number", value, None),))]


def _with_unit(parts: list[Found], end: int, unit: str | None) -> list[Found]:
    ends = [part.end for part in parts[:-1]] + [end]
    return [
        Found(part.start, stop, scaled(part.readings, 0, unit))
        for part, stop in zip(parts, ends, strict=True)
    ]


def _with_letters(
    text: str, parts: list[Found], letters: str, before: str, word: str
) -> list[Found]:
    """A number joined to letters: an ordinal, a decade, a scale, a unit, hours, or a code."""
    last = parts[-1]
    end = last.end + len(letters)
    value = last.readings[0][1]
    if not text[end : end + 1].isdigit() or letters == "h":
        if letters in _DECADE_ENDS and value.endswith("0") and len(value) in (2, 4):
            return [*parts[:-1], Found(last.start, end, _decade(value))]
        if letters in _HOURS or letters in _ORDINALS:
            named = _with_follower(text, parts, letters)
            if named:
                return named
        if letters in _ORDINALS:
            unit, past = unit_after(text, end)
            return _with_unit(parts, past, unit)
        if letters in SCALES or letters in GLUED:
            return _with_measures(text, parts, before, word)
    return [*parts[:-1], code_at(text, last.start)]


def _decade(value: str) -> tuple[Reading, ...]:
    """1990s; 90s, which may also be seconds or ages; 1800s, which may be a century."""
    decade: Reading = ("date", f"{value}s", None)
    if len(value) == 2:
        return decade, ("date", f"19{value}s", None), ("number", value, "second")
    century: Reading = ("number", str(int(value) // 100 + 1), "century")
    return (decade, century) if value.endswith("00") else (decade,)


def _with_measures(
    text: str, parts: list[Found], before: str, word: str, with_unit: bool = True
) -> list[Found]:
    """Numbers with the currency or sign before them and the scale and unit after."""
    last = parts[-1]
    start, unit = parts[0].start, None
    if before != " " or word.isupper() or word[-1:] in CURRENCY_SIGNS:
        start, unit = currency_before(text, start, before, word)
    shift, end = 0, last.end
    if with_unit:
        shift, end = scale_after(text, end, start < parts[0].start)
        unit_here, end = unit_after(text, end)
        unit = unit or unit_here
    folded = word.lower()
    if len(parts) > 1:
        starts = [start] + [part.start for part in parts[1:]]
        ends = [part.end for part in parts[:-1]] + [end]
        return [
            Found(begin, stop, scaled(part.readings, shift, unit), folded in _PLACE_WORDS)
            for part, begin, stop in zip(parts, starts, ends, strict=True)
        ]
    readings = scaled(last.readings, shift, unit)
    if unit == "m" and text[last.end] == "m":
        readings = (*readings, *scaled(last.readings, 6, None))
    # A dash is a minus sign unless it is in a range or at the start of a line.
    if before == "-" and (start < 2 or text[start - 2] in " (\t:=$€£"):
        start -= 1
        readings = tuple((kind, f"-{value}", own) for kind, value, own in readings)
    _, value, unit = readings[0]
    dated = folded in _YEAR_BEFORE or before == "(" or text[end : end + 1] == ")"
    if dated and unit is None and end - start == 4 and is_year(value):
        readings = (("date", value, None),)
    digits = text[start:end]
    if folded.rstrip(".") in _VERSION_WORDS and _DOTTED.fullmatch(digits):
        readings = (("identifier", digits, None),)
    if unit is None and before == " " and word.isalpha():  # with the name before it, a code
        code = folded + (digits if digits.isalnum() else compact(digits))
        readings = (*readings, ("identifier", code, None))
    plain = folded in _PLACE_WORDS or is_always(text, end, value, unit)
    return [Found(start, end, readings, plain)]


def _month_first(text: str, begin: int, start: int, end: int, month: int) -> list[Found]:
    """May 3, 1800, May 3-5, May 3 or May 1800 with the month at `begin`; else empty."""
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


def _day_first(text: str, parts: list[Found]) -> list[Found]:
    """3 May 1800, 3rd of May, 3-5 May 1800; empty if no month follows."""
    link = _LINK_TO_MONTH.match(text, parts[-1].end)
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
    """The dates of these stretches; empty if one of them is not a valid date."""
    found = []
    for start, end, *parts in stretches:
        value = date_value(*parts)
        if value is None:
            return []
        found.append(Found(start, end, (("date", value, None),)))
    return found


def _hours(text: str, parts: list[Found]) -> list[Found]:
    """5 PM, 9-5 pm, 5:00 p.m., 17h30, 17 uur; empty if nothing shows that these are hours."""
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
    found = []
    for part in parts[:-1]:  # the first of 9-5 pm may be in either half of the day
        kind, value, _ = part.readings[0]
        figure = kind == "number" and value.isdigit() and len(value) < 3
        times = clock(int(value)) if figure else ()
        found.append(part._replace(readings=(*times, *part.readings)))
    return [*found, Found(last.start, end, readings)]


def _chinese(text: str, parts: list[Found], digits: str) -> list[Found]:
    """1800年5月3日, 5月3日, 下午5点30分; empty if these characters do not follow."""
    last, number = parts[-1], int(digits)
    readings: tuple[Reading, ...] = ()
    match = _CHINESE_DATE.match(text, last.end)
    if match and (len(digits) == 4 or match[1]):
        month, day = (int(group) if group else None for group in match.groups())
        value = date_value(number, month, day)
        readings = (("date", value, None),) if value else ()
    elif match := _CHINESE_DAY.match(text, last.end):
        value = date_value(None, number, int(match[1]))
        readings = (("date", value, None),) if value else ()
    elif match := _CHINESE_TIME.match(text, last.end):
        afternoon = text[max(0, last.start - 2) : last.start] in ("下午", "晚上")
        minutes = 30 if match[2] else int(match[1] or 0)
        readings = clock(number, minutes, half="pm" if afternoon else "")
    return [*parts[:-1], Found(last.start, match.end(), readings)] if match and readings else []
