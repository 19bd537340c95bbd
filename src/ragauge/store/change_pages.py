"""Pages of the units that two runs of a metric tell apart.

Only columns are read of all units: which question each asks, and its value. So a page is as quick
as one of a single run, and the rows themselves are read of the units it shows.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from ragauge.contracts.history import Run
from ragauge.contracts.paging import Paged, UnitQuery
from ragauge.contracts.unit_changes import ChangeQuery, Direction, UnitChange, UnitChanges
from ragauge.store.column_making import KEY, key_of
from ragauge.store.columns import Chosen, Places, bounds
from ragauge.store.gold_pages import columns_of_gold
from ragauge.store.tables import unit_keys
from ragauge.store.unit_pages import UnitPages

Keys = NDArray[np.int64]
Values = NDArray[np.float64]


class _Paired(Struct, frozen=True):
    """The units of both runs in the order of the later one, and their values, NaN for none."""

    before: Places
    after: Places
    was: Values
    now: Values

    @property
    def size(self) -> Values:
        """How far each value moved, whichever way; NaN where it is there in one run only."""
        return np.abs(self.now - self.was)

    def of(self, places: Places) -> _Paired:
        at = (self.before[places], self.after[places])
        return _Paired(*at, self.was[places], self.now[places])


def unit_changes(
    connection: Connection, before: Run, after: Run, query: ChangeQuery
) -> UnitChanges:
    """The units whose value of the metric differs, as many as fit the page."""
    was, now = UnitPages(connection, before), UnitPages(connection, after)
    paired = _paired(connection, was, now, query)
    is_absent = np.isnan(paired.was) & np.isnan(paired.now)
    told = paired.of(np.flatnonzero((paired.was != paired.now) & ~is_absent))
    ways = _ways(told)
    found = told.of(_wanted(told, ways, now, query))
    order = np.argsort(-found.size, kind="stable")  # what is not a number comes last
    start, stop = bounds(query.start, query.limit)
    shown = found.of(order[start:stop])
    rows = zip(was.rows(shown.before.tolist()), now.rows(shown.after.tolist()), strict=True)
    return UnitChanges(
        page=Paged(
            rows=tuple(UnitChange(before=old, after=new) for old, new in rows),
            total=len(found.after),
            start=start,
        ),
        rose=int(np.count_nonzero(ways["up"])),
        fell=int(np.count_nonzero(ways["down"])),
        same=int(np.count_nonzero(paired.was == paired.now)),
        one_sided=int(np.count_nonzero(ways["one-sided"])),
    )


def _ways(told: _Paired) -> dict[Direction, Chosen]:
    return {
        "up": told.now > told.was,
        "down": told.now < told.was,
        "one-sided": np.isnan(told.size),
    }


def _paired(connection: Connection, was: UnitPages, now: UnitPages, query: ChangeQuery) -> _Paired:
    """The units that both have; where an id stands twice in a run, the first."""
    old, first_old = np.unique(_keys(connection, was), return_index=True)
    new, first_new = np.unique(_keys(connection, now), return_index=True)
    left_out = np.fromiter(map(key_of, query.left_out), np.int64, len(query.left_out))
    shared, at_old, at_new = np.intersect1d(old, new, assume_unique=True, return_indices=True)
    kept = ~np.isin(shared, left_out)
    before, after = first_old[at_old[kept]], first_new[at_new[kept]]
    in_order = np.argsort(after)
    before, after = before[in_order], after[in_order]
    values = [pages.values(query.metric) for pages in (was, now)]
    return _Paired(before, after, values[0][before], values[1][after])


def _keys(connection: Connection, pages: UnitPages) -> Keys:
    """A number for each unit's id, by place: from the gold set, or from the table of keys."""
    asked = pages.columns.own("question")
    gold = columns_of_gold(connection, pages.run.record.gold_sha256)
    keys = np.zeros(pages.run.record.units, np.int64)
    if gold is not None and len(asked.places) == len(keys):
        keys[asked.places] = gold.own("key", KEY).values[asked.values]
        return keys
    which = select(unit_keys.c.place, unit_keys.c.key).where(unit_keys.c.run == pages.number)
    for place, key in connection.execute(which):
        keys[place] = key
    return keys


def _wanted(
    told: _Paired, ways: dict[Direction, Chosen], now: UnitPages, query: ChangeQuery
) -> Places:
    wanted = np.ones(len(told.after), np.bool_)
    if query.way is not None:
        wanted &= ways[query.way]
    if query.words:
        wanted &= now.chosen(UnitQuery(words=query.words))[told.after]
    return np.flatnonzero(wanted)
