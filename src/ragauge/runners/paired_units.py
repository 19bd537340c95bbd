"""The units of two runs, side by side: those that both have and that mean the same in both."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, structs

from ragauge.contracts.comparison import ComparisonCoverage
from ragauge.contracts.gold import Gold
from ragauge.contracts.gold_report import DiffReport
from ragauge.contracts.history import History, Run
from ragauge.runners.evaluation import weights_of
from ragauge.runners.gold_diff import diff

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragauge.contracts.metric import Array

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Places = NDArray[np.intp]
    Mask = NDArray[np.bool_]
    Said = NDArray[np.int8]

NOT_SAID, WRONG, RIGHT = -1, 0, 1
"""What a run says of a unit; the first where it tells nothing."""


class Comparable(Struct, frozen=True):
    """A metric that both runs have, and how to come from its units to its total."""

    id: str
    finish: Callable[[Array], Array] | None
    """None where a total is the mean of the units' values."""
    width: int
    weighted: bool = False
    """Whether units count as often as they stand for others."""
    span: float | None = None
    """How far apart its values can lie, where that is known."""


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


class PairedUnits(Struct, frozen=True, kw_only=True):
    """Units in the order of the later run, and what is known of each."""

    before: RunColumns
    after: RunColumns
    gold: Mapping[str, Gold]
    """By qid, as the later run has it; empty where it was measured without a gold set."""
    coverage: ComparisonCoverage

    def columns(self, metric: str) -> tuple[Columns, Columns]:
        """The metric before and after."""
        return self.before.metrics[metric], self.after.metrics[metric]


def paired_units(
    before: Run, after: Run, history: History, metrics: Collection[Comparable]
) -> PairedUnits:
    """The units to compare; those whose question changed its meaning are left out and counted."""
    was, now = (run_columns(run, history, metrics) for run in (before, after))
    place_before = {unit: place for place, unit in enumerate(was.ids)}
    common = place_before.keys() & set(now.ids)
    changed = changed_meaning(before, after, history) & common
    kept = common - changed
    shared = [place for place, unit in enumerate(now.ids) if unit in kept]
    ids = [now.ids[place] for place in shared]
    gold = {question.qid: question for question in gold_of(after, history)}
    weights = _weights(ids, gold)
    heavy = {one.id: weights if one.weighted else None for one in metrics}

    def side(run: RunColumns, places: list[int]) -> RunColumns:
        at = np.array(places, dtype=np.intp)
        columns = {
            id: structs.replace(one.of(at), weights=heavy[id]) for id, one in run.metrics.items()
        }
        return RunColumns(ids=ids, right=run.right[at], metrics=columns)

    return PairedUnits(
        before=side(was, [place_before[unit] for unit in ids]),
        after=side(now, shared),
        gold=gold,
        coverage=ComparisonCoverage(
            both=len(shared),
            only_before=len(place_before) - len(common),
            only_after=len(now.ids) - len(common),
            changed_meaning=len(changed),
        ),
    )


def run_columns(run: Run, history: History, metrics: Collection[Comparable]) -> RunColumns:
    """The units of a run as columns: its rows are read one by one, and none is kept."""
    n = run.record.units
    ids: list[str] = []
    right = np.full(n, NOT_SAID, dtype=np.int8)
    values = {one.id: np.full(n, np.nan) for one in metrics}
    counts = {one.id: np.zeros((n, one.width), dtype=np.int64) for one in metrics}
    for place, row in enumerate(history.units(run.id)):
        ids.append(row.unit)
        if row.right is not None:
            right[place] = RIGHT if row.right else WRONG
        for id in values.keys() & row.values.keys():
            values[id][place] = row.values[id]
            if counts[id].shape[1]:
                # A mean over types has three columns for each type of the run.
                if (more := len(row.counts[id]) - counts[id].shape[1]) > 0:
                    counts[id] = np.pad(counts[id], ((0, 0), (0, more)))
                counts[id][place] = row.counts[id]
    columns = {id: Columns(values[id], counts[id]) for id in values}
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
