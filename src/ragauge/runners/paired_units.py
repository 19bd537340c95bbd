"""The units of two runs, side by side: those that both have and that mean the same in both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from ragauge.contracts.comparison import ComparisonCoverage
from ragauge.contracts.gold import Gold
from ragauge.contracts.history import History, Run, UnitRow
from ragauge.runners.gold_diff import diff

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Mask = NDArray[np.bool_]


class Columns(Struct, frozen=True):
    """A metric over the shared units of one run."""

    values: Floats
    """NaN where the metric does not apply."""
    counts: Ints
    """(units, columns), zeros where the metric does not apply."""

    @property
    def scored(self) -> Mask:
        return ~np.isnan(self.values)

    def of(self, mask: Mask) -> Columns:
        return Columns(self.values[mask], self.counts[mask])


class PairedUnits(Struct, frozen=True, kw_only=True):
    """Units in the order of the later run, and what is known of each."""

    before: Sequence[UnitRow]
    after: Sequence[UnitRow]
    gold: Mapping[str, Gold]
    """By qid, as the later run has it; empty where it was measured without a gold set."""
    coverage: ComparisonCoverage

    def columns(self, metric: str, width: int) -> tuple[Columns, Columns]:
        """The metric before and after, with so many columns of counts; 0 where none are wanted."""
        return _columns(self.before, metric, width), _columns(self.after, metric, width)


def paired_units(before: Run, after: Run, history: History) -> PairedUnits:
    """The units to compare; those whose question changed its meaning are left out and counted."""
    was = {row.unit: row for row in history.units(before.id)}
    now = {row.unit: row for row in history.units(after.id)}
    gold = gold_of(after, history)
    changed = changed_meaning(before, after, history) & was.keys() & now.keys()
    shared = [unit for unit in now if unit in was and unit not in changed]
    return PairedUnits(
        before=[was[unit] for unit in shared],
        after=[now[unit] for unit in shared],
        gold={question.qid: question for question in gold},
        coverage=ComparisonCoverage(
            both=len(shared),
            only_before=len(was.keys() - now.keys()),
            only_after=len(now.keys() - was.keys()),
            changed_meaning=len(changed),
        ),
    )


def gold_of(run: Run, history: History) -> list[Gold]:
    """The questions a run was measured with; none where it had no gold set."""
    sha256 = run.record.gold_sha256
    return history.gold(sha256) if sha256 is not None else []


def changed_meaning(before: Run, after: Run, history: History) -> set[str]:
    """The qids that both gold sets have, and that do not ask or demand the same in both."""
    if before.record.gold_sha256 == after.record.gold_sha256:
        return set()
    found = diff(gold_of(before, history), gold_of(after, history), allow_removed=True)
    return {revision.qid for revision in found.changed}


def _columns(rows: Sequence[UnitRow], metric: str, width: int) -> Columns:
    nothing = (0,) * width
    values = [row.values.get(metric, np.nan) for row in rows]
    counts = [row.counts.get(metric, nothing) if width else nothing for row in rows]
    return Columns(
        np.array(values, dtype=np.float64),
        np.array(counts, dtype=np.int64).reshape(len(rows), width),
    )
