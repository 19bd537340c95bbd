"""Which quantities of an answer are in a context."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ragauge.quantities.quantity import Quantity, Reading, decimal, is_year

Key = str | tuple[str, str | None]
Supply = frozenset[Key]
"""Everything that the quantities of a context support."""

ANY = "*"
"""Stands in for any unit of a number."""
_NUMBERS_WITHIN = re.compile(r"[0-9]+(?:\.[0-9]+)?")


def supply(quantities: Iterable[Quantity]) -> Supply:
    """Everything that these quantities support, computed once for a context."""
    keys: set[Key] = set()
    for quantity in quantities:
        _add(keys, (quantity.kind, quantity.value, quantity.unit))
        for reading in quantity.others:
            _add(keys, reading)
        if quantity.kind == "identifier" or "." in quantity.text:
            # The numbers in an identifier; with a dot, they may also be names of versions.
            for digits in _NUMBERS_WITHIN.findall(quantity.text):
                whole, dot, part = digits.partition(".")
                if quantity.kind == "identifier":
                    _add(keys, ("number", decimal(whole, part), None))
                if dot:
                    keys.add(f"identifier:{digits}")
    return frozenset(keys)


def is_supported(quantity: Quantity, context: Supply | Iterable[Quantity]) -> bool:
    """Whether a quantity of the context says the same or more.

    A day supports its month and year, not the other way round; a number supports the same number
    with the same unit, or if one of the two has no unit.
    """
    keys = context if isinstance(context, frozenset) else supply(context)
    if _reading_supported((quantity.kind, quantity.value, quantity.unit), keys):
        return True
    return any(_reading_supported(reading, keys) for reading in quantity.others)


def unsupported(answer: Iterable[Quantity], context: Supply | Iterable[Quantity]) -> list[Quantity]:
    """The quantities of the answer that no quantity of the context supports, in reading order.

    >>> from ragauge.quantities.reading import quantities
    >>> context = quantities("Opened on 3 May 1800 with twelve thousand books, 5 km from town.")
    >>> answer = quantities("In May 1800 there were 12,000 books, 5 miles off, in 3 rooms [1].")
    >>> [quantity.text for quantity in unsupported(answer, context)]
    ['5 miles']
    """
    keys = context if isinstance(context, frozenset) else supply(context)
    return [
        quantity for quantity in answer if not quantity.plain and not is_supported(quantity, keys)
    ]


def _reading_supported(reading: Reading, keys: Supply) -> bool:
    kind, value, unit = reading
    if kind == "number":
        if unit is None:
            return (value, ANY) in keys
        return (value, unit) in keys or (value, None) in keys
    if kind == "time" and value.endswith(":00"):
        hour = int(value[:2])
        if (str(hour), None) in keys or (str(hour % 12 or 12), None) in keys:
            return True
    return f"{kind}:{value}" in keys


def _add(keys: set[Key], reading: Reading) -> None:
    """Add everything that one reading supports.

    A day supports its month, its year, its place in the year and its number in the month.
    """
    kind, value, unit = reading
    if kind == "number":
        keys.add((value, unit))
        keys.add((value, ANY))
        if unit is None and is_year(value):
            _add_year(keys, value)
        return
    keys.add(f"{kind}:{value}")
    if kind == "time":
        hour = int(value[:2])
        keys.add((str(hour), ANY))
        keys.add((str(hour % 12 or 12), ANY))
        keys.add(f"time:{value[:5]}")
    elif kind == "date" and value.startswith("--"):
        keys.add((str(int(value[5:])), ANY))
    elif kind == "date" and value.endswith("s"):
        keys.add(f"date:{value[-3:]}")
        keys.add((value[:-1], ANY))
        if len(value) == 5:
            keys.add((_century(value[:4]), "century"))
    elif kind == "date":
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
        keys.add(f"date:{year[:3]}0s")
        keys.add(f"date:{year[2]}0s")
        keys.add((_century(year), "century"))


def _century(year: str) -> str:
    return str((int(year) - 1) // 100 + 1)
