"""Dates and times in one form: `1800-05-03`, `1800-05`, `--05-03`, `1800`, `1990s`, `17:00`."""

from __future__ import annotations

from functools import lru_cache

from ragauge.text.quantities.quantity import Reading

MONTHS: dict[str, int] = {}
"""The number of a month by its lower-case name in English, Dutch, German and French."""
_NAMES = (
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
for _number, _words in enumerate(_NAMES, 1):
    MONTHS.update(dict.fromkeys(_words.split(), _number))
_SMALL = frozenset({"may", "march", "mar"})
"""Names of months that are other words where they are written small."""
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def month_of(word: str) -> int | None:
    """The number of the month of this name; `may` in small letters is a verb.

    >>> month_of("May"), month_of("may"), month_of("mei"), month_of("Mayor")
    (5, None, 5, None)
    """
    month = MONTHS.get(word.lower())
    return None if month and word in _SMALL else month


def date_value(year: int | None, month: int | None, day: int | None) -> str | None:
    """The one form of a date of which parts may be unknown; None where there is no such day.

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
    """The dates that three numbers can be: with dots day first, else both ways where both exist.

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
    """The times of day that a clock's figures can be; without am or pm, both up to twelve.

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
