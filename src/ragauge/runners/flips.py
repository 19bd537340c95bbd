"""Questions that are right in one of two runs only, with their answers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ragauge.contracts.comparison import FLIPS_KEPT, Flip, Side, Way
from ragauge.contracts.history import History, Run, UnitRow
from ragauge.runners.paired_units import NOT_SAID, RIGHT, PairedUnits


def flips_of(
    units: PairedUnits, before: Run, after: Run, history: History
) -> tuple[tuple[Flip, ...], dict[Way, int]]:
    """What broke and what was mended, by qid, as far as a report holds it; and how many of each.

    A unit that a run says nothing of did not flip. Answers are read again, and only those kept
    that are told: a run has far more of them than a report.
    """
    found = {way: sorted(flipped) for way, flipped in _flipped(units).items()}
    kept = {way: flipped[:FLIPS_KEPT] for way, flipped in found.items()}
    wanted = {unit for flipped in kept.values() for unit in flipped}
    was, now = (_sides(run, history, wanted) for run in (before, after))
    flips = tuple(
        _flip(units, unit, way, was, now) for way, flipped in kept.items() for unit in flipped
    )
    return flips, {way: len(flipped) for way, flipped in found.items()}


def _flipped(units: PairedUnits) -> dict[Way, list[str]]:
    """The units that flipped, broken first."""
    was, now = units.before.right, units.after.right
    apart = (was != NOT_SAID) & (now != NOT_SAID) & (was != now)
    ways: dict[Way, list[str]] = {"broken": [], "mended": []}
    for place in np.flatnonzero(apart).tolist():
        ways["mended" if now[place] == RIGHT else "broken"].append(units.after.ids[place])
    return ways


def _sides(run: Run, history: History, wanted: set[str]) -> dict[str, Side]:
    if not wanted:
        return {}
    return {row.unit: _side(row) for row in history.units(run.id) if row.unit in wanted}


def _flip(
    units: PairedUnits, unit: str, way: Way, was: Mapping[str, Side], now: Mapping[str, Side]
) -> Flip:
    question = units.gold.get(unit)
    return Flip(
        qid=unit,
        question=question.question if question else None,
        way=way,
        was=was[unit],
        now=now[unit],
    )


def _side(row: UnitRow) -> Side:
    """What a run answered, and why not always the same; where it answered nothing, its error."""
    said = row.detail.get("claim") or row.detail.get("error")
    why = row.detail.get("explained_by")
    return Side(
        label=row.label,
        claim=str(said) if said else None,
        cited=tuple(str(id) for id in row.detail.get("cited") or ()),
        why=str(why) if why else None,
    )
