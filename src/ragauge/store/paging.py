"""A history in SQL, read a page at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    collate,
    distinct,
    exists,
    func,
    or_,
    select,
    tuple_,
)

from ragauge.contracts.gold import ANSWERABLE, Gold
from ragauge.contracts.history import Run, RunFilter, UnitRow
from ragauge.contracts.kept import Spent, SpentOver
from ragauge.contracts.paging import (
    GoldSet,
    MetricLine,
    OutcomeCounts,
    Paged,
    Point,
    QuestionQuery,
    Rightness,
    RunKind,
    RunQuery,
    UnitCounts,
    UnitInRun,
    UnitQuery,
)
from ragauge.contracts.unit_changes import ChangeQuery, UnitChanges
from ragauge.store.column_filling import CODE, KEY, key_of
from ragauge.store.columns import (
    FARTHEST,
    bounds,
    columns_of_gold,
    counted,
    named,
    ordered,
    these,
    words_of,
)
from ragauge.store.database import Database
from ragauge.store.recorded import decode_gold, matching, newest_first, plain, read_runs
from ragauge.store.shelf import Shelf
from ragauge.store.tables import (
    gold_questions,
    packed_units,
    run_metrics,
    run_words,
    runs,
    tags,
)
from ragauge.store.unit_pages import UnitPages, ends, unit_changes, unit_over_runs


class SqlPages:
    """Pages of the runs in tables; each answer is of one moment, whoever writes meanwhile."""

    def __init__(self, database: Database, shelf: Shelf) -> None:
        self._database, self._shelf = database, shelf

    def runs(self, query: RunQuery) -> Paged[Run]:
        with self._database.reading() as connection:
            found = matching(
                RunFilter(
                    name=query.name, command=query.command, green=query.green, labels=query.labels
                )
            )
            for word in words_of(query.words):
                found = found.where(_has_word(connection, word))
            total = connection.execute(
                select(func.count()).select_from(found.subquery())
            ).scalar_one()
            start, stop = bounds(query.start, query.limit)
            page = _sorted(connection, found, query).offset(start).limit(stop - start)
            return Paged(rows=tuple(read_runs(connection, page)), total=total, start=start)

    def commands(self) -> dict[str, int]:
        """How many runs each command has, by command."""
        with self._database.reading() as connection:
            counted = select(runs.c.command, func.count().label("runs")).group_by(runs.c.command)
            return {row.command: row.runs for row in sorted(connection.execute(counted))}

    def metrics(self) -> dict[str, int]:
        """How many runs have a value of each metric, by id."""
        with self._database.reading() as connection:
            counted = (
                select(run_metrics.c.metric, func.count().label("runs"))
                .where(run_metrics.c.value.is_not(None))
                .group_by(run_metrics.c.metric)
            )
            return {row.metric: row.runs for row in sorted(connection.execute(counted))}

    def names(self) -> int:
        """How many names runs have."""
        with self._database.reading() as connection:
            return int(connection.execute(select(func.count(distinct(runs.c.name)))).scalar_one())

    def kinds(self, metric: str, most: int) -> list[RunKind]:
        """The commands and names of runs that have a metric, the one recorded last first."""
        with self._database.reading() as connection:
            last = func.max(runs.c.recorded_at)
            which = (
                select(runs.c.command, runs.c.name, func.count(), last)
                .join(run_metrics, run_metrics.c.run == runs.c.number)
                .where(run_metrics.c.metric == plain(metric))
                .group_by(runs.c.command, runs.c.name)
                .order_by(last.desc(), runs.c.command, runs.c.name)
                .limit(min(max(most, 0), FARTHEST))
            )
            return [
                RunKind(command=command, name=name, runs=count, last=when)
                for command, name, count, when in connection.execute(which)
            ]

    def lines(
        self, kinds: Sequence[tuple[str, str]], metrics: Sequence[str], last: int
    ) -> list[MetricLine]:
        """Each metric over the last runs of each command and name; those without runs left out."""
        with self._database.reading() as connection:
            points: dict[tuple[str, str, str], list[Any]] = {}
            for row in connection.execute(_recorded(kinds, metrics, last)):
                points.setdefault((row.command, row.name, row.metric), []).append(row)
            asked = [
                (command, name, metric)
                for command, name in dict.fromkeys(kinds)
                for metric in dict.fromkeys(metrics)
            ]
            return [
                _line(*each, points[found])
                for each in asked
                if (found := tuple(map(plain, each))) in points
            ]

    def units(self, run: Run, query: UnitQuery) -> Paged[UnitRow]:
        with self._database.reading() as connection:
            return UnitPages(connection, run).page(query)

    def unit(self, run: Run, unit: str) -> UnitRow | None:
        with self._database.reading() as connection:
            return UnitPages(connection, run).unit(unit)

    def neighbours(self, run: Run, unit: str, query: UnitQuery) -> tuple[str | None, str | None]:
        """The units before and after this one in the order of the query; None where there is none.

        Both are None where the unit is not among those asked for.
        """
        with self._database.reading() as connection:
            return UnitPages(connection, run).neighbours(unit, query)

    def changes(self, before: Run, after: Run, query: ChangeQuery) -> UnitChanges:
        """The units of two runs whose value differs, the largest difference first, up or down."""
        with self._database.reading() as connection:
            return unit_changes(connection, before, after, query)

    def counts(self, run: Run) -> UnitCounts:
        with self._database.reading() as connection:
            return UnitPages(connection, run).counts()

    def spent(self, run: Run, units: Sequence[str]) -> dict[str, Spent]:
        """By unit, the latency, the tokens and the cost of its answers, where they say so."""
        with self._database.reading() as connection:
            return UnitPages(connection, run).spent(units)

    def spent_over(self, run: Run) -> dict[str, SpentOver]:
        """The same over all units of the run."""
        with self._database.reading() as connection:
            return UnitPages(connection, run).spent_over()

    def over_runs(self, unit: str, like: Run, last: int) -> list[UnitInRun]:
        """The unit in the last runs that share the gold set of `like`, the newest first."""
        with self._database.reading() as connection:
            return unit_over_runs(connection, unit, like, last)

    def ends(self, runs: Sequence[Run], units: Sequence[str]) -> dict[str, dict[str, Rightness]]:
        """By run id and unit, how each unit ended; what a run does not have is left out."""
        with self._database.reading() as connection:
            return ends(connection, runs, units)

    def rightness(self, run: Run) -> dict[str, dict[str, OutcomeCounts]]:
        """By stratum and value of the run's gold set, how the units of those questions ended."""
        with self._database.reading() as connection:
            return UnitPages(connection, run).rightness()

    def gold_sets(self) -> list[GoldSet]:
        """The newest first."""
        with self._database.reading() as connection:
            first, last = func.min(runs.c.recorded_at), func.max(runs.c.recorded_at)
            which = (
                select(runs.c.gold_sha256, func.count(), first, last)
                .where(runs.c.gold_sha256.is_not(None))
                .group_by(runs.c.gold_sha256)
                .order_by(last.desc(), runs.c.gold_sha256)
            )
            found = []
            for sha256, count, begun, ended in connection.execute(which).all():
                gold = columns_of_gold(connection, sha256)
                answerable = np.empty(0, CODE) if gold is None else gold.own(ANSWERABLE).values
                right = int(np.count_nonzero(answerable))
                found.append(
                    GoldSet(
                        sha256=sha256,
                        questions=len(answerable),
                        answerable=right,
                        runs=count,
                        first=begun,
                        last=ended,
                    )
                )
            return found

    def runs_of_gold(self, sha256: str, last: int) -> list[Run]:
        """The last runs that were measured with the set, the newest first."""
        with self._database.reading() as connection:
            which = select(runs.c.number).where(runs.c.gold_sha256 == plain(sha256))
            return read_runs(connection, newest_first(which).limit(min(max(last, 0), FARTHEST)))

    def questions(self, sha256: str, query: QuestionQuery) -> Paged[Gold]:
        with self._database.reading() as connection:
            gold = columns_of_gold(connection, sha256)
            start, stop = bounds(query.start, query.limit)
            if gold is None:
                return Paged(rows=(), total=0, start=start)
            by = None if query.sort == "place" else gold.own(query.sort)
            size = gold.questions
            chosen = np.ones(size, np.bool_)
            if query.answerable is not None:
                answerable = gold.own(ANSWERABLE)
                chosen &= these(answerable.places[answerable.values == query.answerable], size)
            if query.stratum is not None and query.value is not None:
                chosen &= named(gold.stratum(query.stratum), query.value, size)
            if words := words_of(query.words):
                chosen &= these(np.fromiter(gold.with_words(words), np.int64), size)
            places = ordered(chosen, by, descending=query.descending)
            rows = _questions(connection, sha256, places[start:stop].tolist())
            return Paged(rows=tuple(rows), total=len(places), start=start)

    def question(self, sha256: str, qid: str) -> Gold | None:
        return self.questions_with(sha256, [qid]).get(qid)

    def questions_with(self, sha256: str, qids: Sequence[str]) -> dict[str, Gold]:
        """The questions of these ids, by id; those that the set does not have are left out."""
        with self._database.reading() as connection:
            gold = columns_of_gold(connection, sha256)
            if gold is None:
                return {}
            keys = gold.own("key", KEY)
            wanted = np.fromiter((key_of(qid) for qid in qids), keys.values.dtype, len(qids))
            places = keys.places[np.isin(keys.values, wanted)].tolist()
            found = {
                plain(each.qid): each for each in reversed(_questions(connection, sha256, places))
            }
            return {qid: found[plain(qid)] for qid in qids if plain(qid) in found}

    def strata(self, sha256: str) -> dict[str, dict[str, int]]:
        """By stratum and value, how many questions have it; `answerable` among them."""
        with self._database.reading() as connection:
            gold = columns_of_gold(connection, sha256)
            return {} if gold is None else {name: counted(each) for name, each in gold.strata()}

    def part(self, run: Run, name: str, start: int, stop: int) -> bytes:
        """Bytes of a run's file, fewer where it ends before; raises UsageError where it is gone."""
        return self._shelf.part(run, name, start, stop)

    def size(self, run: Run, name: str) -> int | None:
        """Bytes of a run's file, as it was sealed; None where the run was recorded without it."""
        seal = run.record.files.get(name)
        return None if seal is None else seal.size


def _has_word(connection: Connection, word: str) -> ColumnElement[bool]:
    """Whether a word stands in what a run is searched by, or in one of its tags.

    Tags are brought to one case by the database: SQLite, and a server whose locale is C, know the
    capitals of ASCII only.
    """
    at = func.instr if connection.dialect.name == "sqlite" else func.strpos
    here = exists().where(run_words.c.run == runs.c.number, at(run_words.c.words, word) > 0)
    tagged = exists().where(tags.c.run == runs.c.number, at(func.lower(tags.c.tag), word) > 0)
    return or_(here, tagged)


def _sorted(connection: Connection, found: Select[Any], query: RunQuery) -> Select[Any]:
    """In the order of the query; ties the newest first, runs without a value last."""
    if query.sort == "recorded_at":
        when = runs.c.recorded_at
        return found.order_by(when.desc() if query.descending else when, runs.c.id)
    value: ColumnElement[Any]
    if query.sort in ("name", "command"):
        text = runs.c[query.sort]  # by its bytes, whatever language a server sorts by
        value = text if connection.dialect.name == "sqlite" else collate(text, "C")
    elif query.sort == "passed":
        value = runs.c.passed
    elif query.sort == "units":  # the first column is the order of the ids, which every unit has
        here = (packed_units.c.run == runs.c.number) & (packed_units.c.number == 0)
        found, value = found.outerjoin(packed_units, here), func.length(packed_units.c.content)
    else:
        here = (run_metrics.c.run == runs.c.number) & (run_metrics.c.metric == plain(query.sort))
        found, value = found.outerjoin(run_metrics, here), run_metrics.c.value
    by = value.desc() if query.descending else value.asc()
    return newest_first(found.order_by(value.is_(None), by))


def _recorded(kinds: Sequence[tuple[str, str]], metrics: Sequence[str], last: int) -> Select[Any]:
    """The metrics of the last runs of each kind, oldest first."""
    kind = (runs.c.command, runs.c.name)
    age = func.row_number().over(partition_by=kind, order_by=(runs.c.recorded_at.desc(), runs.c.id))
    wanted = [tuple(map(plain, each)) for each in kinds]
    # Not the documents: the database would sort them too.
    shown = (runs.c.number, *kind, runs.c.id, runs.c.recorded_at, runs.c.gold_sha256)
    aged = select(*shown, age.label("age")).where(tuple_(*kind).in_(wanted)).subquery()
    return (
        select(*(aged.c[column.name] for column in shown[1:]), run_metrics)
        .join(run_metrics, run_metrics.c.run == aged.c.number)
        .where(aged.c.age <= min(max(last, 0), FARTHEST))
        .where(run_metrics.c.metric.in_([plain(metric) for metric in metrics]))
        .order_by(aged.c.age.desc())
    )


def _line(command: str, name: str, metric: str, rows: Sequence[Any]) -> MetricLine:
    return MetricLine(
        command=command,
        name=name,
        metric=metric,
        better=rows[-1].better,
        points=tuple(
            Point(
                run=row.id,
                recorded_at=row.recorded_at,
                value=row.value,
                low=row.low,
                high=row.high,
                gold_sha256=row.gold_sha256,
                version=row.version,
            )
            for row in rows
        ),
    )


def _questions(connection: Connection, sha256: str, places: list[int]) -> list[Gold]:
    which = select(gold_questions.c.place, gold_questions.c.line).where(
        gold_questions.c.gold_sha256 == sha256, gold_questions.c.place.in_(places)
    )
    lines = {row.place: row.line for row in connection.execute(which)}
    return [decode_gold(lines[place]) for place in places]
