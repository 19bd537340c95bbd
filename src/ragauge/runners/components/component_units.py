"""The units of several tasks as one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import structs

from ragauge.contracts.evaluation import Task
from ragauge.contracts.score import Measured, UnitRows

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array


def unit_id(task: Task, id: str) -> str:
    """What a unit of one task is called among those of all.

    >>> unit_id("qa", "q1")
    'qa/q1'
    """
    return f"{task}/{id}"


def joined_units(tasks: Mapping[Task, UnitRows]) -> UnitRows:
    """The units of all tasks, one after the other, each under its task's name.

    A metric has no value for the units of another task, and they add nothing to its counts.
    """
    total = sum(len(rows.ids) for rows in tasks.values())
    measured: dict[str, Measured] = {}
    names = sorted({name for rows in tasks.values() for name in rows.details})
    details: dict[str, list[Any]] = {name: [] for name in names}
    start = 0
    for rows in tasks.values():
        count = len(rows.ids)
        for name in names:
            details[name] += rows.details.get(name, [None] * count)
        for id, one in rows.measured.items():
            measured[id] = _placed(one, start, total)
        start += count
    ids = [unit_id(task, id) for task, rows in tasks.items() for id in rows.ids]
    details["task"] = [task for task, rows in tasks.items() for _ in rows.ids]
    return UnitRows(
        ids=ids,
        labels=_joined([rows.labels for rows in tasks.values()]),
        right=_joined([rows.right for rows in tasks.values()]),
        details=dict(sorted(details.items())),
        measured=measured,
    )


def _joined(columns: Sequence[Sequence[Any]]) -> list[Any]:
    return [value for column in columns for value in column]


def _placed(one: Measured, start: int, total: int) -> Measured:
    values: Array = np.full(total, np.nan)
    counts: Array = np.zeros((total, one.counts.shape[1]), dtype=one.counts.dtype)
    values[start : start + len(one.values)] = one.values
    counts[start : start + len(one.counts)] = one.counts
    return structs.replace(one, values=values, counts=counts)
