"""Which units of a run an address asks for: the same fields on a list and on each of its units."""

from __future__ import annotations

from typing import get_args

from ragauge.contracts.paging import Rightness, UnitQuery
from ragauge.dashboard.asked import Asked, BadAddress

LIST_FIELDS = ("q", "label", "right", "stratum", "sort")
"""Of an address: the words that are looked for, what is filtered by, and the order."""
RIGHTNESS: tuple[Rightness, ...] = get_args(Rightness)


def unit_query(asked: Asked, default: str = "place") -> UnitQuery:
    """The units that the fields ask for, from the row at `start`; `stratum` is `name=value`."""
    sort, down = asked.order(default)
    stratum, value = _stratum(asked.exact("stratum"))
    return UnitQuery(
        words=asked.text("q"),
        label=asked.optional("label"),
        right=asked.choice("right", RIGHTNESS),
        stratum=stratum,
        value=value,
        sort=sort,
        descending=down,
        start=asked.start,
        limit=asked.limit,
    )


def list_fields(asked: Asked) -> dict[str, str]:
    """The fields of a list that go with a link to one of its units, so that a reader can go on."""
    return {name: given for name in LIST_FIELDS if (given := asked.exact(name))}


def _stratum(given: str) -> tuple[str | None, str | None]:
    """The stratum and the value of `language=nl`: neither where nothing is given."""
    if not given:
        return None, None
    name, equals, value = given.partition("=")
    if not equals:
        raise BadAddress(f'stratum: "{given[:40]}" is not of the form name=value')
    return name, value
