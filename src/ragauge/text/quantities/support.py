"""Which quantities of an answer stand in a context."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ragauge.text.quantities.dates import is_year
from ragauge.text.quantities.quantity import Quantity, Reading, decimal

Key = str | tuple[str, str | None]
Supply = frozenset[Key]
"""All that the quantities of a context support."""

ANY = "*"
"""The unit under which a number is found whatever its unit."""
_NUMBERS_WITHIN = re.compile(r"[0-9]+(?:\.[0-9]+)?")


def supply(quantities: Iterable[Quantity]) -> Supply:
    """All that these quantities support, to be made once a context and asked often."""
    keys: set[Key] = set()
    for quantity in quantities:
        _add(keys, (quantity.kind, quantity.value, quantity.unit))
        for reading in quantity.others:
            _add(keys, reading)
        _add_as_written(keys, quantity)
    return frozenset(keys)


def stands_in(quantity: Quantity, context: Supply | Iterable[Quantity]) -> bool:
    """Whether a quantity of the context says the same or more.

    A day stands for its month and year and not the other way round; a number stands for itself
    with the same unit or where one of the two has none.
    """
    keys = context if isinstance(context, frozenset) else supply(context)
    return _stands(quantity, keys)


def unsupported(answer: Iterable[Quantity], context: Supply | Iterable[Quantity]) -> list[Quantity]:
    """The quantities the answer claims and no quantity of the context contains, in reading order.

    >>> from ragauge.text.quantities.reading import quantities
    >>> context = quantities("Opened on 3 May 1800 with twelve thousand books, 5 km from town.")
    >>> answer = quantities("In May 1800 there were 12,000 books, 5 miles off, in 3 rooms [1].")
    >>> [quantity.text for quantity in unsupported(answer, context)]
    ['5 miles']
    """
    keys = context if isinstance(context, frozenset) else supply(context)
    return [quantity for quantity in answer if not quantity.plain and not _stands(quantity, keys)]


def _stands(quantity: Quantity, keys: Supply) -> bool:
    if _reading_stands((quantity.kind, quantity.value, quantity.unit), keys):
        return True
    return any(_reading_stands(reading, keys) for reading in quantity.others)


def _reading_stands(reading: Reading, keys: Supply) -> bool:
    kind, value, unit = reading
    if kind == "number":
        if unit is None:
            return (value, ANY) in keys
        return (value, unit) in keys or (value, None) in keys
    if kind == "time" and value.endswith(":00") and _hour_stands(int(value[:2]), keys):
        return True
    return f"{kind}:{value}" in keys


def _hour_stands(hour: int, keys: Supply) -> bool:
    return (str(hour), None) in keys or (str(hour % 12 or 12), None) in keys


def _add(keys: set[Key], reading: Reading) -> None:
    kind, value, unit = reading
    if kind == "number":
        _add_number(keys, value, unit)
        return
    keys.add(f"{kind}:{value}")
    if kind == "date":
        _add_date(keys, value)
    elif kind == "time":
        hour = int(value[:2])
        keys.add((str(hour), ANY))
        keys.add((str(hour % 12 or 12), ANY))
        keys.add(f"time:{value[:5]}")


def _add_as_written(keys: set[Key], quantity: Quantity) -> None:
    """The numbers of an identifier; and those with a dot as the names that they are in versions."""
    if quantity.kind != "identifier" and "." not in quantity.text:
        return
    for digits in _NUMBERS_WITHIN.findall(quantity.text):
        whole, dot, part = digits.partition(".")
        if quantity.kind == "identifier":
            _add_number(keys, decimal(whole, part), None)
        if dot:
            keys.add(f"identifier:{digits}")


def _add_number(keys: set[Key], value: str, unit: str | None) -> None:
    keys.add((value, unit))
    keys.add((value, ANY))
    if unit is None and is_year(value):
        _add_year(keys, value)


def _add_date(keys: set[Key], value: str) -> None:
    """A day gives its month, its year, its place in the year and its number in the month."""
    if value.startswith("--"):
        keys.add((str(int(value[5:])), ANY))
    elif value.endswith("s"):
        keys.add(f"date:{value[-3:]}")
        keys.add((value[:-1], ANY))
        if len(value) == 5:
            _add_century(keys, int(value[:4]))
    else:
        year, _, rest = value.partition("-")
        month, _, day = rest.partition("-")
        _add_year(keys, year)
        if month:
            keys.add(f"date:{year}-{month}")
        if day:
            keys.add(f"date:--{rest}")
            keys.add((str(int(day)), ANY))


def _add_year(keys: set[Key], year: str) -> None:
    keys.add(f"date:{year}")
    keys.add((year, None))
    keys.add((year, ANY))
    if len(year) == 4:
        decade = f"{year[:3]}0s"
        keys.add(f"date:{decade}")
        keys.add(f"date:{decade[-3:]}")
        _add_century(keys, int(year))


def _add_century(keys: set[Key], year: int) -> None:
    keys.add((str((year - 1) // 100 + 1), "century"))
