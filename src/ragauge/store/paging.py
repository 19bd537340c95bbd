"""A history in SQL, read a page at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from ragauge.contracts.gold import Gold
from ragauge.contracts.history import Run, UnitRow
from ragauge.contracts.paging import (
    Ended,
    GoldSet,
    MetricLine,
    Paged,
    QuestionQuery,
    Rightness,
    RunKind,
    RunQuery,
    UnitCounts,
    UnitInRun,
    UnitQuery,
)
from ragauge.contracts.unit_changes import ChangeQuery, Direction, UnitChange, UnitChanges
from ragauge.store import gold_pages, kind_pages, run_pages, strata_pages
from ragauge.store.column_making import KEY, key_of
from ragauge.store.columns import Chosen, Places, bounds
from ragauge.store.database import Database
from ragauge.store.gold_pages import columns_of_gold
from ragauge.store.shelf import Shelf
from ragauge.store.tables import unit_keys
from ragauge.store.unit_pages import UnitPages, unit_over_runs


class SqlPages:
    """Pages of the runs in tables; each answer is of one moment, whoever writes meanwhile."""

    def __init__(self, database: Database, shelf: Shelf) -> None:
        self._database, self._shelf = database, shelf

    def runs(self, query: RunQuery) -> Paged[Run]:
        with self._database.reading() as connection:
            return run_pages.run_page(connection, query)

    def commands(self) -> dict[str, int]:
        """How many runs each command has, by command."""
        with self._database.reading() as connection:
            return run_pages.runs_by_command(connection)

    def metrics(self) -> dict[str, int]:
        """How many runs have a value of each metric, by id."""
        with self._database.reading() as connection:
            return run_pages.runs_by_metric(connection)

    def names(self) -> int:
        """How many names runs have."""
        with self._database.reading() as connection:
            return kind_pages.number_of_names(connection)

    def kinds(self, metric: str, most: int) -> list[RunKind]:
        """The commands and names of runs that have a metric, the one recorded last first."""
        with self._database.reading() as connection:
            return kind_pages.kinds_with(connection, metric, most)

    def lines(
        self, kinds: Sequence[tuple[str, str]], metrics: Sequence[str], last: int
    ) -> list[MetricLine]:
        """Each metric over the last runs of each command and name; those without runs left out."""
        with self._database.reading() as connection:
            return run_pages.metric_lines(connection, kinds, metrics, last)

    def units(self, run: Run, query: UnitQuery) -> Paged[UnitRow]:
        with self._database.reading() as connection:
            return UnitPages(connection, run).page(query)

    def unit(self, run: Run, unit: str) -> UnitRow | None:
        with self._database.reading() as connection:
            return UnitPages(connection, run).unit(unit)

    def beside(self, run: Run, unit: str, query: UnitQuery) -> tuple[str | None, str | None]:
        """The units before and after this one in the order of the query; None where there is none.

        Both are None where the unit is not among those asked for.
        """
        with self._database.reading() as connection:
            return UnitPages(connection, run).beside(unit, query)

    def changes(self, before: Run, after: Run, query: ChangeQuery) -> UnitChanges:
        """The units of two runs whose value differs, the largest difference first, up or down."""
        with self._database.reading() as connection:
            return unit_changes(connection, before, after, query)

    def counts(self, run: Run) -> UnitCounts:
        with self._database.reading() as connection:
            return UnitPages(connection, run).counts()

    def over_runs(self, unit: str, like: Run, last: int) -> list[UnitInRun]:
        """The unit in the last runs that share the gold set of `like`, the newest first."""
        with self._database.reading() as connection:
            return unit_over_runs(connection, unit, like, last)

    def ends(self, runs: Sequence[Run], units: Sequence[str]) -> dict[str, dict[str, Rightness]]:
        """By run id and unit, how each unit ended; what a run does not have is left out."""
        with self._database.reading() as connection:
            return strata_pages.ends(connection, runs, units)

    def rightness(self, run: Run) -> dict[str, dict[str, Ended]]:
        """By stratum and value of the run's gold set, how the units of those questions ended."""
        with self._database.reading() as connection:
            return strata_pages.rightness(connection, run)

    def gold_sets(self) -> list[GoldSet]:
        """The newest first."""
        with self._database.reading() as connection:
            return gold_pages.gold_sets(connection)

    def runs_of_gold(self, sha256: str, last: int) -> list[Run]:
        """The last runs that were measured with the set, the newest first."""
        with self._database.reading() as connection:
            return run_pages.runs_of_gold(connection, sha256, last)

    def questions(self, sha256: str, query: QuestionQuery) -> Paged[Gold]:
        with self._database.reading() as connection:
            return gold_pages.question_page(connection, sha256, query)

    def question(self, sha256: str, qid: str) -> Gold | None:
        with self._database.reading() as connection:
            return gold_pages.questions_with_ids(connection, sha256, [qid]).get(qid)

    def questions_with(self, sha256: str, qids: Sequence[str]) -> dict[str, Gold]:
        """The questions of these ids, by id; those that the set does not have are left out."""
        with self._database.reading() as connection:
            return gold_pages.questions_with_ids(connection, sha256, qids)

    def strata(self, sha256: str) -> dict[str, dict[str, int]]:
        """By stratum and value, how many questions have it; `answerable` among them."""
        with self._database.reading() as connection:
            return gold_pages.strata_of(connection, sha256)

    def part(self, run: Run, name: str, start: int, stop: int) -> bytes:
        """Bytes of a run's file, fewer where it ends before; raises UsageError where it is gone."""
        return self._shelf.part(run, name, start, stop)

    def size(self, run: Run, name: str) -> int | None:
        """Bytes of a run's file, as it was sealed; None where the run was recorded without it."""
        seal = run.record.files.get(name)
        return None if seal is None else seal.size


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
