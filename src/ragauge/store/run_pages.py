"""Pages of runs, and metrics over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    collate,
    exists,
    func,
    or_,
    select,
    tuple_,
)

from ragauge.contracts.history import Run, RunFilter
from ragauge.contracts.paging import MetricLine, Paged, Point, RunQuery
from ragauge.store.columns import FARTHEST, bounds, words_of
from ragauge.store.read_runs import matching, read_runs
from ragauge.store.recorded import plain
from ragauge.store.references import newest_first
from ragauge.store.tables import packed_units, run_metrics, run_words, runs, tags


def run_page(connection: Connection, query: RunQuery) -> Paged[Run]:
    """The runs that match, as many as fit the page."""
    asked = RunFilter(
        name=query.name, command=query.command, green=query.green, labels=query.labels
    )
    found = matching(asked)
    for word in words_of(query.words):
        found = found.where(_has_word(connection, word))
    total = connection.execute(select(func.count()).select_from(found.subquery())).scalar_one()
    start, stop = bounds(query.start, query.limit)
    page = _sorted(connection, found, query).offset(start).limit(stop - start)
    return Paged(rows=tuple(read_runs(connection, page)), total=total, start=start)


def runs_by_command(connection: Connection) -> dict[str, int]:
    counted = select(runs.c.command, func.count().label("runs")).group_by(runs.c.command)
    return {row.command: row.runs for row in sorted(connection.execute(counted))}


def runs_by_metric(connection: Connection) -> dict[str, int]:
    """How many runs have a value of each metric."""
    counted = (
        select(run_metrics.c.metric, func.count().label("runs"))
        .where(run_metrics.c.value.is_not(None))
        .group_by(run_metrics.c.metric)
    )
    return {row.metric: row.runs for row in sorted(connection.execute(counted))}


def metric_lines(
    connection: Connection, kinds: Sequence[tuple[str, str]], metrics: Sequence[str], last: int
) -> list[MetricLine]:
    """Each metric over the last runs of each command and name that have it."""
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


def runs_of_gold(connection: Connection, sha256: str, last: int) -> list[Run]:
    which = select(runs.c.number).where(runs.c.gold_sha256 == plain(sha256))
    return read_runs(connection, newest_first(which).limit(min(max(last, 0), FARTHEST)))


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
    found, value = _valued(connection, found, query.sort)
    by = value.desc() if query.descending else value.asc()
    return newest_first(found.order_by(value.is_(None), by))


def _valued(
    connection: Connection, found: Select[Any], sort: str
) -> tuple[Select[Any], ColumnElement[Any]]:
    if sort in ("name", "command"):
        return found, _by_bytes(connection, runs.c[sort])
    if sort == "passed":
        return found, runs.c.passed
    if sort == "units":  # the first column is the order of the ids, which every unit has
        here = (packed_units.c.run == runs.c.number) & (packed_units.c.number == 0)
        return found.outerjoin(packed_units, here), func.length(packed_units.c.content)
    here = (run_metrics.c.run == runs.c.number) & (run_metrics.c.metric == plain(sort))
    return found.outerjoin(run_metrics, here), run_metrics.c.value


def _by_bytes(connection: Connection, text: ColumnElement[str]) -> ColumnElement[str]:
    return text if connection.dialect.name == "sqlite" else collate(text, "C")


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
