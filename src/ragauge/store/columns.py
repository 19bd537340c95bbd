"""Columns read again: what is chosen by them, and in which order.

They come from the database one at a time, some bytes a unit; of the rows themselves only those of
a page are read. So both databases sort and search alike, whatever language a server sorts by.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, Table, select

from ragauge.contracts.paging import LONGEST_PAGE, BadQuery
from ragauge.errors import UsageError
from ragauge.store.column_filling import CODE, METRIC, OWN, PLACE, TAKEN, VALUE, WORDS, folded
from ragauge.store.recorded import plain
from ragauge.store.tables import packed_gold

MOST_WORDS = 100
"""Words that may be searched for at once."""
AT_ONCE = 8
"""Rows of words in memory at a time."""
FARTHEST = 2**31 - 1

Chosen = NDArray[np.bool_]
Places = NDArray[np.int_]

_names = msgspec.json.Decoder(list[str])


class Column(NamedTuple):
    """The places that have a value, in their order, and the values."""

    places: NDArray[np.int32]
    values: NDArray[Any]
    names: list[str]
    """What the values count into; empty where they are numbers of their own."""


NOTHING = Column(np.empty(0, PLACE), np.empty(0, VALUE), [])


class Columns:
    """The columns of a run's units, or of a gold set's questions."""

    def __init__(
        self, connection: Connection, table: Table, owner: ColumnElement[bool], shown: str
    ) -> None:
        self._connection, self._table, self._owner = connection, table, owner
        self._shown = shown

    def own(self, name: str, type: Any = CODE) -> Column:
        """A column that every run has; raises UsageError where it is gone."""
        found = self._read(OWN, name, type)
        if found is None:
            raise UsageError(
                f"{self._shown}: what its pages are made from is gone; `ragauge runs verify` says "
                "what else is; restore the database from a copy"
            )
        return found

    @property
    def questions(self) -> int:
        """How many questions a gold set has."""
        return len(self.own("qid").places)

    def metric(self, id: str) -> Column:
        """The values of a metric; nothing where no unit has one."""
        return self._read(METRIC, id, VALUE) or NOTHING

    def spent(self, name: str) -> Column:
        """What the answers took; nothing where no trace says so, or the run is an older one."""
        return self._read(TAKEN, name, VALUE) or NOTHING

    def stratum(self, name: str) -> Column:
        return self._read("stratum", name, CODE) or NOTHING

    def strata(self) -> Iterator[tuple[str, Column]]:
        """Each stratum with its column."""
        which = select(self._table.c.name).where(self._owner, self._table.c.kind == "stratum")
        for name in self._connection.execute(which.order_by(self._table.c.number)).scalars().all():
            yield name, self.stratum(name)

    def with_words(self, words: Sequence[str]) -> Iterator[int]:
        """The places whose line has all the words."""
        which = select(self._table.c.text).where(self._owner, self._table.c.kind == WORDS)
        seen = 0
        ordered_parts = which.order_by(self._table.c.number).execution_options(yield_per=AT_ONCE)
        with self._connection.execute(ordered_parts) as parts:
            for text in parts.scalars():
                if all(word in text for word in words):
                    lines = text.split("\n")
                    places = list(range(len(lines)))
                    for word in words:
                        places = [place for place in places if word in lines[place]]
                    yield from (seen + place for place in places)
                seen += text.count("\n") + 1

    def _read(self, kind: str, name: str, type: np.dtype[Any]) -> Column | None:
        columns = self._table.c
        which = select(columns.text, columns.content).where(
            self._owner, columns.kind == kind, columns.name == plain(name)
        )
        row = self._connection.execute(which.order_by(columns.number).limit(1)).first()
        if row is None:
            return None
        content = bytes(row.content)
        count = len(content) // (PLACE.itemsize + type.itemsize)
        places = np.frombuffer(content, PLACE, count)
        values = np.frombuffer(content, type, count, offset=count * PLACE.itemsize)
        return Column(places, values, _names.decode(row.text) if row.text else [])


def columns_of_gold(connection: Connection, sha256: str | None) -> Columns | None:
    """The columns of a gold set; None where no run has it."""
    owner = packed_gold.c.gold_sha256 == plain(sha256)
    if connection.execute(select(packed_gold.c.number).where(owner).limit(1)).first() is None:
        return None
    return Columns(connection, packed_gold, owner, f"gold set {str(sha256)[:12]}")


def ordered(chosen: Chosen, by: Column | None, *, descending: bool) -> Places:
    """The chosen places in the order of a column, or in their own.

    Ties in the order of the places; those without a value at the end, both ways.
    """
    if by is None:
        found = np.flatnonzero(chosen)
        return found[::-1] if descending else found
    kept = chosen[by.places]
    places, values = by.places[kept], by.values[kept]
    rest = chosen.copy()
    rest[places] = False
    order = np.argsort(-values if descending else values, kind="stable")
    return np.concatenate([places[order], np.flatnonzero(rest)])


def named(column: Column, name: str, size: int) -> Chosen:
    """The places whose value has this name."""
    name = plain(name)
    code = bisect_left(column.names, name)
    if code == len(column.names) or column.names[code] != name:
        return np.zeros(size, np.bool_)
    return these(column.places[column.values == code], size)


def these(places: Any, size: int) -> Chosen:
    """The chosen places as a mask."""
    chosen = np.zeros(size, np.bool_)
    chosen[places] = True
    return chosen


def counted(column: Column) -> dict[str, int]:
    """How many places have each name."""
    counts = np.bincount(column.values, minlength=len(column.names)).tolist()
    return dict(zip(column.names, counts, strict=True))


def words_of(text: str) -> list[str]:
    """The words to search for, in one case; raises BadQuery where they are too many."""
    words = list(dict.fromkeys(folded(text).split()))
    if len(words) > MOST_WORDS:
        raise BadQuery(f"search: {len(words):,} words are given; give {MOST_WORDS} at most")
    return words


def bounds(start: int, limit: int) -> tuple[int, int]:
    """Where a page begins and ends, whatever was asked for."""
    first = min(max(start, 0), FARTHEST)
    return first, first + min(max(limit, 0), LONGEST_PAGE)
