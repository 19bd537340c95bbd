"""What a metric of entities counts, written once for a document and for the columns of many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from ragauge.contracts.entities import Empty, EntityFacts
from ragauge.contracts.metric import Absent, Metric, NotApplicable, Row
from ragauge.metrics.declare import f1_of, f1_of_sums, quotient
from ragauge.metrics.sums import Sums

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array

    Finish = Callable[[Array], Array]

COUNTED = ("tp", "fp", "fn")
"""The columns of an F1, and of each type in turn where types are averaged."""
OF_EMPTY: dict[Empty, float] = {"null": np.nan, "gerbil": 1.0, "zero": 0.0}

Read = Callable[[EntityFacts], Any]
"""Something of the facts: of one document a number, of many at once a column."""
Reason = tuple[Absent, Read]
"""Why a document has no value, and where that holds."""


class Counting(Struct, frozen=True):
    """The columns of a metric, and where it does not apply."""

    columns: Read
    missing: tuple[Reason, ...] = ()
    """The first reason that holds is told."""

    def measure(self, facts: EntityFacts) -> Row | Absent:
        for reason, holds in self.missing:
            if holds(facts):
                return reason
        return Row(tuple(int(count) for count in self.columns(facts)))


def none_of(reason: str, some: Read) -> Reason:
    """There is none of something, where the metric then does not apply and is not 0 or 1."""
    return NotApplicable(reason), lambda facts: (some(facts) == 0) & (facts.empty == "null")


def entity_sums(entry: Metric, counting: Counting, facts: EntityFacts) -> Sums:
    """A metric's sums for every document at once, from the columns of their facts."""
    documents = len(facts.answered)
    absent: Counter[Absent] = Counter()
    scored, due = np.ones(documents, dtype=bool), np.ones(documents, dtype=bool)
    for reason, holds in counting.missing:
        here = holds(facts) & scored
        scored &= ~here
        if isinstance(reason, NotApplicable):
            due &= ~here
        if here.any():
            absent[reason] += int(here.sum())
    columns = counting.columns(facts)
    rows = columns if isinstance(columns, np.ndarray) else np.stack(columns, axis=-1)
    rows = rows.astype(np.int64, copy=False)
    if absent:
        rows = rows * scored[:, None]
    return Sums(entry, rows, scored.astype(np.int64), due.astype(np.int64), absent)


def value_of(entry: Metric, sums: Array) -> float | None:
    """A metric's value from summed columns; None where they give none."""
    value = float(entry.finish(sums))
    return None if np.isnan(value) else value


def f1(empty: Empty) -> Finish:
    return lambda sums: f1_of_sums(sums, OF_EMPTY[empty])


def half_f1(empty: Empty) -> Finish:
    """F1 from twice the credit, what there is to find and what was found."""
    return lambda sums: quotient(sums[..., 0], sums[..., 1] + sums[..., 2], OF_EMPTY[empty])


def share(empty: Empty) -> Finish:
    """The first column over the second; 0 / 0 is empty only if the third is 0 too."""

    def finish(sums: Array) -> Array:
        alone = np.nan if empty == "null" else 0.0
        without = np.where(sums[..., 2] > 0, alone, OF_EMPTY[empty])
        return quotient(sums[..., 0], sums[..., 1], without)

    return finish


def mean_f1(empty: Empty, *, union: bool = False) -> Finish:
    """The mean F1 of the types that stand in gold, or in either; three columns a type."""

    def finish(sums: Array) -> Array:
        tp, fp, fn = (
            np.asarray(sums[..., place :: len(COUNTED)], dtype=np.float64)
            for place in range(len(COUNTED))
        )
        there = tp + fp + fn > 0 if union else tp + fn > 0
        values = f1_of(tp, fp, fn, 0.0) * there
        any_there = (tp + fp + fn).sum(axis=-1) > 0
        alone = np.nan if empty == "null" else 0.0
        without = np.where(any_there, alone, OF_EMPTY[empty])
        return quotient(values.sum(axis=-1), there.sum(axis=-1), without)

    return finish
