"""Pages of a run's units: how they ended, over runs, and how they changed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, and_, func, or_, select

from ragauge.contracts.history import Run, UnitRow
from ragauge.contracts.kept import SPENT, Spent, SpentOver
from ragauge.contracts.paging import (
    OutcomeCounts,
    Paged,
    Rightness,
    UnitCounts,
    UnitInRun,
    UnitQuery,
)
from ragauge.contracts.unit_changes import ChangeQuery, Direction, UnitChange, UnitChanges
from ragauge.errors import UsageError
from ragauge.store.column_filling import KEY, key_of
from ragauge.store.columns import (
    FARTHEST,
    Chosen,
    Columns,
    Places,
    bounds,
    columns_of_gold,
    counted,
    named,
    ordered,
    these,
    words_of,
)
from ragauge.store.recorded import decode_unit, newest_first, plain, run_number, runs_numbered
from ragauge.store.tables import packed_units, run_units, runs, unit_keys

_OWN = ("unit", "label", "right")
_AT_PLACE = and_(run_units.c.run == unit_keys.c.run, run_units.c.place == unit_keys.c.place)


WAYS: tuple[Rightness, ...] = ("right", "wrong", "untold")


class UnitPages:
    """The units of one run, as they are at one moment."""

    def __init__(self, connection: Connection, run: Run) -> None:
        self._connection, self.run, self._size = connection, run, run.record.units
        self.number = run_number(connection, run.id)
        self.columns = Columns(
            connection, packed_units, packed_units.c.run == self.number, f"run {run.shown}"
        )

    def page(self, query: UnitQuery) -> Paged[UnitRow]:
        places = self._places(query)
        start, stop = bounds(query.start, query.limit)
        rows = self.rows(places[start:stop].tolist())
        return Paged(rows=tuple(rows), total=len(places), start=start)

    def unit(self, unit: str) -> UnitRow | None:
        place = self._place(unit)
        return None if place is None else self.rows([place])[0]

    def neighbours(self, unit: str, query: UnitQuery) -> tuple[str | None, str | None]:
        """The units before and after one, in the order of a query."""
        place = self._place(unit)
        places = self._places(query)
        found = np.flatnonzero(places == (-1 if place is None else place)).tolist()
        if not found:
            return None, None
        at = found[0]
        before, after = places[max(at - 1, 0) : at], places[at + 1 : at + 2]
        return self._id(before.tolist()), self._id(after.tolist())

    def counts(self) -> UnitCounts:
        known = self.columns.own("right").values
        labels = counted(self.columns.own("label"))
        right = int(np.count_nonzero(known))
        return UnitCounts(
            units=self._size,
            labels=dict(sorted(labels.items(), key=lambda each: (-each[1], each[0]))),
            right=right,
            wrong=len(known) - right,
            untold=self._size - len(known),
        )

    def values(self, metric: str) -> NDArray[np.float64]:
        """The values of a metric by place; NaN where a unit has none."""
        column = self.columns.metric(metric)
        found = np.full(self._size, np.nan)
        found[column.places] = column.values
        return found

    def spent(self, units: Sequence[str]) -> dict[str, Spent]:
        """What the answers to these units took, by unit."""
        keys = {key_of(unit): unit for unit in units}
        which = select(unit_keys.c.key, unit_keys.c.place).where(
            unit_keys.c.run == self.number, unit_keys.c.key.in_(keys)
        )
        places = {place: keys[key] for key, place in self._connection.execute(which)}
        found: dict[str, Spent] = {}
        for name in SPENT:
            column = self.columns.spent(name)
            at = np.flatnonzero(np.isin(column.places, list(places)))
            for place, value in zip(column.places[at], column.values[at], strict=True):
                found.setdefault(places[int(place)], {})[name] = float(value)
        return found

    def spent_over(self) -> dict[str, SpentOver]:
        """What the answers of the run took, over the units that say so."""
        found = {}
        for name in SPENT:
            values = self.columns.spent(name).values
            if len(values):
                p50, p95 = np.percentile(values, [50, 95]).tolist()
                total = math.fsum(values.tolist())
                found[name] = SpentOver(n=len(values), p50=p50, p95=p95, total=total)
        return found

    def _places(self, query: UnitQuery) -> Places:
        by = None
        if query.sort != "place":
            read = self.columns.spent if query.sort in SPENT else self.columns.metric
            by = (self.columns.own if query.sort in _OWN else read)(query.sort)
        return ordered(self.chosen(query), by, descending=query.descending)

    def chosen(self, query: UnitQuery) -> Chosen:
        """The units that a query asks for, as a mask."""
        chosen = np.ones(self._size, np.bool_)
        if query.label is not None:
            chosen &= named(self.columns.own("label"), query.label, self._size)
        if query.right is not None:
            right = self.columns.own("right")
            if query.right == "untold":
                chosen &= ~these(right.places, self._size)
            else:
                alike = right.values == (query.right == "right")
                chosen &= these(right.places[alike], self._size)
        if query.stratum is not None and query.value is not None:
            gold = columns_of_gold(self._connection, self.run.record.gold_sha256)
            if gold is None:
                chosen[:] = False
            else:
                having = named(gold.stratum(query.stratum), query.value, gold.questions)
                chosen &= self._asking(having)
        if words := words_of(query.words):
            chosen &= self._with_words(words)
        return chosen

    def _with_words(self, words: Sequence[str]) -> Chosen:
        """A unit of the gold set is searched by its question, which has its id; others by id."""
        gold = columns_of_gold(self._connection, self.run.record.gold_sha256)
        chosen = np.zeros(self._size, np.bool_)
        if gold is not None:
            found = np.fromiter(gold.with_words(words), np.int64)
            chosen |= self._asking(these(found, gold.questions))
        if len(self.columns.own("question").places) < self._size:
            chosen[np.fromiter(self.columns.with_words(words), np.int64)] = True
        return chosen

    def rightness(self) -> dict[str, dict[str, OutcomeCounts]]:
        """By stratum and value, how the units ended that ask a question which has it."""
        gold = columns_of_gold(self._connection, self.run.record.gold_sha256)
        if gold is None:
            return {}
        asked, right = self.columns.own("question"), self.columns.own("right")
        how = np.full(self._size, WAYS.index("untold"))
        how[right.places] = np.where(right.values != 0, WAYS.index("right"), WAYS.index("wrong"))
        how = how[asked.places]
        found = {}
        for name, stratum in gold.strata():
            values = np.full(gold.questions, -1)
            values[stratum.places] = stratum.values
            met = values[asked.values]
            told = met >= 0
            slots = met[told] * len(WAYS) + how[told]
            counts = np.bincount(slots, minlength=len(stratum.names) * len(WAYS))
            ended = (OutcomeCounts(*row) for row in counts.reshape(-1, len(WAYS)).tolist())
            found[name] = dict(zip(stratum.names, ended, strict=True))
        return found

    def keys(self) -> NDArray[np.int64]:
        """A number for each unit's id, by place: from the gold set, or from the table of keys."""
        asked = self.columns.own("question")
        gold = columns_of_gold(self._connection, self.run.record.gold_sha256)
        keys = np.zeros(self._size, np.int64)
        if gold is not None and len(asked.places) == len(keys):
            keys[asked.places] = gold.own("key", KEY).values[asked.values]
            return keys
        which = select(unit_keys.c.place, unit_keys.c.key).where(unit_keys.c.run == self.number)
        for place, key in self._connection.execute(which):
            keys[place] = key
        return keys

    def _asking(self, questions: Chosen) -> Chosen:
        """The units that ask one of these questions."""
        asked = self.columns.own("question")
        return these(asked.places[questions[asked.values]], self._size)

    def _place(self, unit: str) -> int | None:
        which = (
            select(unit_keys.c.place)
            .join(run_units, _AT_PLACE)
            .where(unit_keys.c.run == self.number, unit_keys.c.key == key_of(unit))
            .where(run_units.c.unit == plain(unit))
        )
        return self._connection.execute(which.order_by(unit_keys.c.place).limit(1)).scalar()

    def _id(self, places: list[int]) -> str | None:
        return self.rows(places)[0].unit if places else None

    def rows(self, places: list[int]) -> list[UnitRow]:
        """The units at these places, in their order; raises UsageError where one is gone."""
        which = select(run_units.c.place, run_units.c.line).where(
            run_units.c.run == self.number, run_units.c.place.in_(places)
        )
        lines = {row.place: row.line for row in self._connection.execute(which)}
        if len(lines) != len(places):
            raise UsageError(
                f"run {self.run.shown}: its rows are not all there; `ragauge runs verify` says "
                "what is wrong"
            )
        return [decode_unit(lines[place]) for place in places]


def unit_over_runs(connection: Connection, unit: str, like: Run, last: int) -> list[UnitInRun]:
    """The unit in the last runs that ask the same as one does, and in that one itself."""
    # Runs with its gold set; without any, a unit's id means the same only in its line.
    record = like.record
    asks_the_same: ColumnElement[bool] = runs.c.gold_sha256 == record.gold_sha256
    if record.gold_sha256 is None:
        of_its_line = runs.c.command == plain(record.command), runs.c.name == plain(record.name)
        asks_the_same = and_(runs.c.gold_sha256.is_(None), *of_its_line)
    held = run_units.alias()
    place = (
        select(func.min(unit_keys.c.place))
        .join(held, and_(held.c.run == unit_keys.c.run, held.c.place == unit_keys.c.place))
        .where(unit_keys.c.run == runs.c.number, unit_keys.c.key == key_of(unit))
        .where(held.c.unit == plain(unit))
        .correlate(runs)
        .scalar_subquery()
    )
    which = (
        select(runs.c.number, run_units.c.line)
        .select_from(runs)
        .join(run_units, and_(run_units.c.run == runs.c.number, run_units.c.place == place))
        .where(or_(asks_the_same, runs.c.id == like.id))
    )
    found = connection.execute(newest_first(which).limit(min(max(last, 0), FARTHEST))).all()
    order = runs_numbered(connection, [number for number, _ in found])
    return [
        UnitInRun(run=run, row=decode_unit(line))
        for run, (_, line) in zip(order, found, strict=True)
    ]


def ends(
    connection: Connection, those: Sequence[Run], units: Sequence[str]
) -> dict[str, dict[str, Rightness]]:
    """By run id and unit, how these units ended; a unit that a run does not have is left out."""
    known = {plain(unit): unit for unit in units}
    found: dict[str, dict[str, Rightness]] = {run.id: {} for run in those}
    which = (
        select(runs.c.id, run_units.c.unit, run_units.c.right)
        .select_from(unit_keys)
        .join(runs, runs.c.number == unit_keys.c.run)
        .join(run_units, _AT_PLACE)
        .where(runs.c.id.in_(found), unit_keys.c.key.in_([key_of(unit) for unit in units]))
        .order_by(unit_keys.c.run, unit_keys.c.place)
    )
    for id, unit, right in connection.execute(which):
        if unit in known:
            way: Rightness = "untold" if right is None else "right" if right else "wrong"
            found[id].setdefault(known[unit], way)
    return found


class _Paired(Struct, frozen=True):
    """The units of both runs in the order of the later one, and their values, NaN for none."""

    before: Places
    after: Places
    was: NDArray[np.float64]
    now: NDArray[np.float64]

    @property
    def size(self) -> NDArray[np.float64]:
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
    paired = _paired(was, now, query)
    is_absent = np.isnan(paired.was) & np.isnan(paired.now)
    told = paired.of(np.flatnonzero((paired.was != paired.now) & ~is_absent))
    ways: dict[Direction, Chosen] = {
        "up": told.now > told.was,
        "down": told.now < told.was,
        "one-sided": np.isnan(told.size),
    }
    wanted = np.ones(len(told.after), np.bool_) if query.way is None else ways[query.way]
    if query.words:
        wanted = wanted & now.chosen(UnitQuery(words=query.words))[told.after]
    found = told.of(np.flatnonzero(wanted))
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


def _paired(was: UnitPages, now: UnitPages, query: ChangeQuery) -> _Paired:
    """The units that both have; where an id stands twice in a run, the first."""
    old, first_old = np.unique(was.keys(), return_index=True)
    new, first_new = np.unique(now.keys(), return_index=True)
    left_out = np.fromiter(map(key_of, query.left_out), np.int64, len(query.left_out))
    shared, at_old, at_new = np.intersect1d(old, new, assume_unique=True, return_indices=True)
    kept = ~np.isin(shared, left_out)
    before, after = first_old[at_old[kept]], first_new[at_new[kept]]
    in_order = np.argsort(after)
    before, after = before[in_order], after[in_order]
    values = [pages.values(query.metric) for pages in (was, now)]
    return _Paired(before, after, values[0][before], values[1][after])
