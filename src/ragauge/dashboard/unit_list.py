"""Which units of a run an address asks for, and the ways from one of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from msgspec import Struct

from ragauge.contracts.citation import Offsets
from ragauge.contracts.history import Run
from ragauge.contracts.paging import Rightness, UnitQuery
from ragauge.dashboard.asked import Asked, BadAddress
from ragauge.dashboard.links import Field, Links

LIST_FIELDS = ("q", "label", "right", "stratum", "sort")
"""Of an address: the words that are looked for, what is filtered by, and the order."""
RIGHTNESS: tuple[Rightness, ...] = get_args(Rightness)


def unit_query(asked: Asked, default: str = "place") -> UnitQuery:
    """The units that the fields ask for, from the row at `start`; `stratum` is `name=value`."""
    sort, down = asked.order(default)
    given = asked.exact("stratum")
    stratum, equals, value = given.partition("=")
    if given and not equals:
        raise BadAddress(f'stratum: "{given[:40]}" is not of the form name=value')
    return UnitQuery(
        words=asked.text("q"),
        label=asked.optional("label"),
        right=asked.choice("right", RIGHTNESS),
        stratum=stratum if given else None,
        value=value if given else None,
        sort=sort,
        descending=down,
        start=asked.start,
        limit=asked.limit,
    )


def list_fields(asked: Asked) -> dict[str, str]:
    """The fields of a list that go with a link to one of its units, so that a reader can go on."""
    return {name: given for name in LIST_FIELDS if (given := asked.exact(name))}


LIST = "questions"
"""The part of a run that lists its units."""
SHORT = 60
"""Characters of an id in the way to a page: a longer one is cut."""


class Ways(Struct, frozen=True):
    """The page's links, with the fields of the list that a reader came from."""

    run: Run
    unit: str
    links: Links
    fields: Mapping[str, Field]

    @property
    def list_name(self) -> str:
        return "Questions" if self.run.record.gold_sha256 else "Units"

    @property
    def back(self) -> str | None:
        return self.links.run(self.run.id, LIST, **self.fields)

    def other(self, unit: str) -> str | None:
        """Another unit of the list."""
        return self.links.question(self.run.id, unit, **self.fields)

    def in_run(self, run: str) -> str | None:
        return self.links.question(run, self.unit)

    def answer(self, run_id: str | None, place: int) -> str | None:
        """This page with another of its answers shown in full; `place` is from 0."""
        chosen: dict[str, Field] = {"run_id": run_id} if run_id else {"answer": place + 1}
        return self._changed(**chosen)

    def beside(self, run: str) -> str | None:
        """This page compared with the answer of another run."""
        return self._changed(**{"with": run})

    def document(self, doc_id: str | None, rev: str | None, offsets: Offsets | None) -> str | None:
        """A document at a span; offsets in tokens are no place in a text."""
        if not doc_id:
            return None
        in_text = offsets if offsets and offsets.unit == "char" else None
        start, end = (in_text.start, in_text.end) if in_text else (None, None)
        return self.links.document(self.run.id, doc_id, rev or "", start, end, self.unit)

    def _changed(self, **fields: Field) -> str | None:
        """None where the mount has one page for a unit, whatever is asked of it."""
        changed = self.links.question(self.run.id, self.unit, **{**self.fields, **fields})
        plain = self.links.question(self.run.id, self.unit, **self.fields)
        return None if changed == plain else changed
