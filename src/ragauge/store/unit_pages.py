"""Pages of a run's units."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, and_, func, or_, select

from ragauge.contracts.history import Run, UnitRow
from ragauge.contracts.paging import Paged, UnitCounts, UnitInRun, UnitQuery
from ragauge.errors import UsageError
from ragauge.store.column_making import key_of
from ragauge.store.columns import (
    FARTHEST,
    Chosen,
    Column,
    Columns,
    Places,
    bounds,
    counted,
    named,
    ordered,
    these,
    words_of,
)
from ragauge.store.gold_pages import columns_of_gold, number_of_questions
from ragauge.store.read_runs import run_number, runs_numbered
from ragauge.store.recorded import plain
from ragauge.store.references import newest_first
from ragauge.store.tables import packed_units, run_units, runs, unit_keys

_OWN = ("unit", "label", "right")
_unit = msgspec.json.Decoder(UnitRow)


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

    def beside(self, unit: str, query: UnitQuery) -> tuple[str | None, str | None]:
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
        told = self.columns.own("right").values
        labels = counted(self.columns.own("label"))
        right = int(np.count_nonzero(told))
        return UnitCounts(
            units=self._size,
            labels=dict(sorted(labels.items(), key=lambda each: (-each[1], each[0]))),
            right=right,
            wrong=len(told) - right,
            untold=self._size - len(told),
        )

    def values(self, metric: str) -> NDArray[np.float64]:
        """The values of a metric by place; NaN where a unit has none."""
        column = self.columns.metric(metric)
        found = np.full(self._size, np.nan)
        found[column.places] = column.values
        return found

    def _places(self, query: UnitQuery) -> Places:
        by = None if query.sort == "place" else self._sorted_by(query.sort)
        return ordered(self.chosen(query), by, descending=query.descending)

    def _sorted_by(self, name: str) -> Column:
        return self.columns.own(name) if name in _OWN else self.columns.metric(name)

    def chosen(self, query: UnitQuery) -> Chosen:
        """The units that a query asks for, as a mask."""
        chosen = np.ones(self._size, np.bool_)
        if query.label is not None:
            chosen &= named(self.columns.own("label"), query.label, self._size)
        if query.right is not None:
            chosen &= self._ended(query.right)
        if query.stratum is not None and query.value is not None:
            chosen &= self._in_stratum(query.stratum, query.value)
        if words := words_of(query.words):
            chosen &= self._with_words(words)
        return chosen

    def _ended(self, how: str) -> Chosen:
        right = self.columns.own("right")
        if how == "untold":
            return ~these(right.places, self._size)
        return these(right.places[right.values == (how == "right")], self._size)

    def _in_stratum(self, stratum: str, value: str) -> Chosen:
        gold = columns_of_gold(self._connection, self.run.record.gold_sha256)
        if gold is None:
            return np.zeros(self._size, np.bool_)
        return self._asking(named(gold.stratum(stratum), value, number_of_questions(gold)))

    def _with_words(self, words: Sequence[str]) -> Chosen:
        """A unit of the gold set is searched by its question, which has its id; others by id."""
        gold = columns_of_gold(self._connection, self.run.record.gold_sha256)
        chosen = np.zeros(self._size, np.bool_)
        if gold is not None:
            found = np.fromiter(gold.with_words(words), np.int64)
            chosen |= self._asking(these(found, number_of_questions(gold)))
        if len(self.columns.own("question").places) < self._size:
            chosen[np.fromiter(self.columns.with_words(words), np.int64)] = True
        return chosen

    def _asking(self, questions: Chosen) -> Chosen:
        """The units that ask one of these questions."""
        asked = self.columns.own("question")
        return these(asked.places[questions[asked.values]], self._size)

    def _place(self, unit: str) -> int | None:
        here = unit_keys.c.run == self.number, unit_keys.c.key == key_of(unit)
        which = (
            select(unit_keys.c.place)
            .join(
                run_units,
                and_(run_units.c.run == unit_keys.c.run, run_units.c.place == unit_keys.c.place),
            )
            .where(*here, run_units.c.unit == plain(unit))
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
        return [_unit.decode(lines[place]) for place in places]


def _asks_the_same(like: Run) -> ColumnElement[bool]:
    """Runs with the gold set of one; without any, a unit's id means the same only in its line."""
    record = like.record
    if record.gold_sha256 is not None:
        return runs.c.gold_sha256 == record.gold_sha256
    of_its_line = and_(runs.c.command == plain(record.command), runs.c.name == plain(record.name))
    return and_(runs.c.gold_sha256.is_(None), of_its_line)


def unit_over_runs(connection: Connection, unit: str, like: Run, last: int) -> list[UnitInRun]:
    """The unit in the last runs that ask the same as one does, and in that one itself."""
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
        .where(or_(_asks_the_same(like), runs.c.id == like.id))
    )
    found = connection.execute(newest_first(which).limit(min(max(last, 0), FARTHEST))).all()
    order = runs_numbered(connection, [number for number, _ in found])
    return [
        UnitInRun(run=run, row=_unit.decode(line))
        for run, (_, line) in zip(order, found, strict=True)
    ]
