"""Rows of many units at once: summed by question, from the distinct patterns of their facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from ragauge.contracts.facts import Pattern, pattern_facts
from ragauge.contracts.metric import Absent, Metric, Tally

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


class QuestionSums(Struct, frozen=True):
    """A metric's column sums, and how many units were scored, for each question.

    Where a component is evaluated, a document, item, mention or query stands for the question.
    """

    metric: Metric
    sums: Ints
    """(questions, columns)"""
    scored: Ints
    """(questions,)"""
    units: Ints
    """(questions,): scored or not"""
    absent: dict[str, int]
    """Reasons, counted over all units."""

    def tally(self) -> Tally:
        """The totals, as exact integers."""
        sums = tuple(int(total) for total in self.sums.sum(axis=0))
        return Tally(sums, int(self.scored.sum()), dict(sorted(self.absent.items())))


class Groups(Struct, frozen=True):
    """Units counted by question and pattern: all that the built-in metrics need to know."""

    questions: int
    question: Ints
    pattern: Ints
    count: Ints
    patterns: Sequence[Pattern]


def sums_of(metric: Metric, groups: Groups) -> QuestionSums:
    """The sums of a metric that reads patterns: `measure` is called once for each of them."""
    rows = [metric(pattern_facts(pattern)) for pattern in groups.patterns]
    width = len(metric.columns)
    counts = np.zeros((len(rows), width), dtype=np.int64)
    scored = np.zeros(len(rows), dtype=np.int64)
    for place, row in enumerate(rows):
        if not isinstance(row, Absent):
            counts[place], scored[place] = row.counts, 1
    sums = np.zeros((groups.questions, width), dtype=np.int64)
    for column in range(width):
        _add(sums[:, column], groups, counts[:, column])
    return QuestionSums(
        metric,
        sums,
        _add(np.zeros(groups.questions, dtype=np.int64), groups, scored),
        _add(np.zeros(groups.questions, dtype=np.int64), groups, np.ones_like(scored)),
        _reasons(rows, groups),
    )


def _add(into: Ints, groups: Groups, by_pattern: Ints) -> Ints:
    np.add.at(into, groups.question, by_pattern[groups.pattern] * groups.count)
    return into


def _reasons(rows: list[Any], groups: Groups) -> dict[str, int]:
    met = np.zeros(len(rows), dtype=np.int64)
    np.add.at(met, groups.pattern, groups.count)
    reasons: Counter[str] = Counter()
    for row, times in zip(rows, met.tolist(), strict=True):
        if isinstance(row, Absent) and times:
            reasons[row.reason] += times
    return dict(reasons)
