"""Runs by their command and name: how many there are, and which have a metric."""

from __future__ import annotations

from sqlalchemy import Connection, distinct, func, select

from ragauge.contracts.paging import RunKind
from ragauge.store.columns import FARTHEST
from ragauge.store.recorded import plain
from ragauge.store.tables import run_metrics, runs


def number_of_names(connection: Connection) -> int:
    return int(connection.execute(select(func.count(distinct(runs.c.name)))).scalar_one())


def kinds_with(connection: Connection, metric: str, most: int) -> list[RunKind]:
    """The kinds of runs that have a metric, the one recorded last first."""
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
