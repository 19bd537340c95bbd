"""The units of two runs, side by side: those that both have and that mean the same in both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from ragauge.contracts.comparison import ComparisonCoverage
from ragauge.contracts.gold import Gold
from ragauge.contracts.gold_report import DiffReport
from ragauge.contracts.history import History, Run
from ragauge.runners.evaluation import weights_of
from ragauge.runners.gold_diff import diff

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Places = NDArray[np.intp]
    Mask = NDArray[np.bool_]
    Said = NDArray[np.int8]

NOT_SAID, WRONG, RIGHT = -1, 0, 1
"""What a run says of a unit; the first where it tells nothing."""


class Columns(Struct, frozen=True):
    """A metric over the shared units of one run."""

    values: Floats
    """NaN where the metric does not apply."""
    counts: Ints
    """(units, columns), zeros where the metric does not apply."""
    weights: Floats | None = None
    """How many of the population each unit stands for, where the metric was measured so."""

    @property
    def scored(self) -> Mask:
        return ~np.isnan(self.values)

    def of(self, places: Mask | Places) -> Columns:
        weights = None if self.weights is None else self.weights[places]
        return Columns(self.values[places], self.counts[places], weights)


class RunColumns(Struct, frozen=True, kw_only=True):
    """What a run said of each of its units, a column for each metric."""

    ids: Sequence[str]
    right: Said
    metrics: Mapping[str, Columns]

    def of(self, places: Places) -> RunColumns:
        return RunColumns(
            ids=[self.ids[place] for place in places.tolist()],
            right=self.right[places],
            metrics={id: columns.of(places) for id, columns in self.metrics.items()},
        )


class PairedUnits(Struct, frozen=True, kw_only=True):
    """Units in the order of the later run, and what is known of each."""

    before: RunColumns
    after: RunColumns
    gold: Mapping[str, Gold]
    """By qid, as the later run has it; empty where it was measured without a gold set."""
    coverage: ComparisonCoverage
    weights: Floats | None
    """How many of the population each unit stands for; None where each is one."""

    def columns(self, metric: str, *, weighted: bool = False) -> tuple[Columns, Columns]:
        """The metric before and after, with the units' weights where these are asked for."""
        found = (run.metrics[metric] for run in (self.before, self.after))
        weights = self.weights if weighted else None
        before, after = (Columns(one.values, one.counts, weights) for one in found)
        return before, after


def paired_units(
    before: Run, after: Run, history: History, widths: Mapping[str, int]
) -> PairedUnits:
    """The units to compare; those whose question changed its meaning are left out and counted.

    `widths` has the metrics to compare, each with how many columns of counts are wanted of it.
    """
    was, now = (run_columns(run, history, widths) for run in (before, after))
    place_before = {unit: place for place, unit in enumerate(was.ids)}
    common = place_before.keys() & set(now.ids)
    changed = changed_meaning(before, after, history) & common
    kept = common - changed
    shared = [place for place, unit in enumerate(now.ids) if unit in kept]
    there = now.of(np.array(shared, dtype=np.intp))
    gold = {question.qid: question for question in gold_of(after, history)}
    return PairedUnits(
        before=was.of(np.array([place_before[unit] for unit in there.ids], dtype=np.intp)),
        after=there,
        gold=gold,
        coverage=ComparisonCoverage(
            both=len(shared),
            only_before=len(was.ids) - len(common),
            only_after=len(now.ids) - len(common),
            changed_meaning=len(changed),
        ),
        weights=_weights(there.ids, gold),
    )


def run_columns(run: Run, history: History, widths: Mapping[str, int]) -> RunColumns:
    """The units of a run as columns: its rows are read one by one, and none is kept."""
    n = run.record.units
    ids: list[str] = []
    right = np.full(n, NOT_SAID, dtype=np.int8)
    values = {id: np.full(n, np.nan) for id in widths}
    counts = {id: np.zeros((n, width), dtype=np.int64) for id, width in widths.items()}
    for place, row in enumerate(history.units(run.id)):
        ids.append(row.unit)
        if row.right is not None:
            right[place] = RIGHT if row.right else WRONG
        for id, width in widths.items():
            if id in row.values:
                values[id][place] = row.values[id]
                if width:
                    # A mean over types has three columns for each type of the run.
                    if (more := len(row.counts[id]) - counts[id].shape[1]) > 0:
                        counts[id] = np.pad(counts[id], ((0, 0), (0, more)))
                    counts[id][place] = row.counts[id]
    columns = {id: Columns(values[id], counts[id]) for id in widths}
    return RunColumns(ids=ids, right=right, metrics=columns)


def gold_of(run: Run, history: History) -> list[Gold]:
    """The questions a run was measured with; none where it had no gold set."""
    sha256 = run.record.gold_sha256
    return history.gold(sha256) if sha256 is not None else []


def changed_meaning(before: Run, after: Run, history: History) -> set[str]:
    """The qids that both gold sets have, and that do not ask or demand the same in both."""
    if before.record.gold_sha256 == after.record.gold_sha256:
        return set()
    return {revision.qid for revision in _differences(before, after, history).changed}


def ask_the_same(before: Run, after: Run, history: History) -> bool:
    """Whether two runs were measured with the same questions, each meaning and weighing the same.

    A gold set that was edited beside that, in its strata, notes or paraphrases, has another hash,
    and the numbers measured with it are what they would have been.
    """
    shas = {run.record.gold_sha256 for run in (before, after)}
    if len(shas) == 1 or None in shas:
        return len(shas) == 1
    found = _differences(before, after, history)
    reweighed = any("weight" in revision.fields for revision in found.edited)
    return not (found.added or found.removed or found.changed or reweighed)


def _differences(before: Run, after: Run, history: History) -> DiffReport:
    return diff(gold_of(before, history), gold_of(after, history), allow_removed=True)


def _weights(ids: Sequence[str], gold: Mapping[str, Gold]) -> Floats | None:
    """None where each unit stands for itself, as a unit that is no question does."""
    known = [gold[unit] for unit in ids if unit in gold]
    weights = weights_of(known)
    if weights is None or len(known) == len(ids):
        return weights
    by_unit = dict(zip((one.qid for one in known), weights.tolist(), strict=True))
    return np.array([by_unit.get(unit, 1.0) for unit in ids])
