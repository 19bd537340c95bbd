"""How units ended: stratum by stratum of a run, and question by question over some runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, and_, select

from ragauge.contracts.history import Run
from ragauge.contracts.paging import Ended, Rightness
from ragauge.store.column_making import key_of
from ragauge.store.columns import Column, Columns
from ragauge.store.gold_pages import columns_of_gold, number_of_questions
from ragauge.store.read_runs import run_number
from ragauge.store.recorded import plain
from ragauge.store.tables import packed_units, run_units, runs, unit_keys

WAYS: tuple[Rightness, ...] = ("right", "wrong", "untold")
_RIGHT, _WRONG, _UNTOLD = range(len(WAYS))

Codes = NDArray[np.int64]


def rightness(connection: Connection, run: Run) -> dict[str, dict[str, Ended]]:
    """By stratum and value, how the units ended that ask a question which has it."""
    gold = columns_of_gold(connection, run.record.gold_sha256)
    if gold is None:
        return {}
    number = run_number(connection, run.id)
    units = Columns(connection, packed_units, packed_units.c.run == number, f"run {run.shown}")
    asked = units.own("question")
    how = _how(units.own("right"), run.record.units)[asked.places]
    questions = number_of_questions(gold)
    return {name: _by_value(each, asked.values, how, questions) for name, each in gold.strata()}


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
        .join(
            run_units,
            and_(run_units.c.run == unit_keys.c.run, run_units.c.place == unit_keys.c.place),
        )
        .where(runs.c.id.in_(found), unit_keys.c.key.in_([key_of(unit) for unit in units]))
        .order_by(unit_keys.c.run, unit_keys.c.place)
    )
    for id, unit, right in connection.execute(which):
        if unit in known:
            way = _UNTOLD if right is None else _RIGHT if right else _WRONG
            found[id].setdefault(known[unit], WAYS[way])
    return found


def _how(right: Column, size: int) -> Codes:
    """How each unit ended, by its place."""
    made = np.full(size, _UNTOLD)
    made[right.places] = np.where(right.values != 0, _RIGHT, _WRONG)
    return made


def _by_value(
    stratum: Column, asked: NDArray[np.int32], how: Codes, questions: int
) -> dict[str, Ended]:
    values = np.full(questions, -1)
    values[stratum.places] = stratum.values
    met = values[asked]
    told = met >= 0
    slots = met[told] * len(WAYS) + how[told]
    counts = np.bincount(slots, minlength=len(stratum.names) * len(WAYS)).reshape(-1, len(WAYS))
    ended = (Ended(*row) for row in counts.tolist())
    return dict(zip(stratum.names, ended, strict=True))
