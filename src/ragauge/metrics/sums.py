"""Rows of many units at once: summed by question, from the distinct patterns of their facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from ragauge.contracts.facts import Pattern, pattern_facts
from ragauge.contracts.metric import Absent, Metric, NotApplicable, Row, Tally

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
    """(questions,): units that should have a value, scored or not"""
    absent: Mapping[Absent, int]
    """Reasons for having no value, counted over all units, also those it does not apply to."""

    def tally(self) -> Tally:
        """The totals, as exact integers."""
        sums = tuple(int(total) for total in self.sums.sum(axis=0))
        reasons: Counter[str] = Counter()
        for absent, times in self.absent.items():
            reasons[absent.reason] += times
        return Tally(sums, int(self.scored.sum()), dict(sorted(reasons.items())))


class Groups(Struct, frozen=True):
    """Units counted by question and pattern: all that the built-in metrics need to know."""

    questions: int
    question: Ints
    pattern: Ints
    count: Ints
    patterns: Sequence[Pattern]


def sums_of_rows(metric: Metric, rows: Sequence[Row | Absent]) -> QuestionSums:
    """The sums of a metric that was measured once for each unit."""
    sums = np.zeros((len(rows), len(metric.columns)), dtype=np.int64)
    scored = np.zeros(len(rows), dtype=np.int64)
    for place, row in enumerate(rows):
        if isinstance(row, Row):
            sums[place], scored[place] = row.counts, 1
    due = np.array([not isinstance(row, NotApplicable) for row in rows], dtype=np.int64)
    absent = Counter(row for row in rows if isinstance(row, Absent))
    return QuestionSums(metric, sums, scored, due, absent)


def sums_of(metric: Metric, groups: Groups) -> QuestionSums:
    """The sums of a metric that reads patterns: `measure` is called once for each of them."""
    rows = [metric(pattern_facts(pattern)) for pattern in groups.patterns]
    width = len(metric.columns)
    counts = np.zeros((len(rows), width), dtype=np.int64)
    scored, due = np.zeros(len(rows), dtype=np.int64), np.ones(len(rows), dtype=np.int64)
    for place, row in enumerate(rows):
        if isinstance(row, Row):
            counts[place], scored[place] = row.counts, 1
        elif isinstance(row, NotApplicable):
            due[place] = 0
    sums = np.zeros((groups.questions, width), dtype=np.int64)
    for column in range(width):
        _add(sums[:, column], groups, counts[:, column])
    return QuestionSums(
        metric,
        sums,
        _add(np.zeros(groups.questions, dtype=np.int64), groups, scored),
        _add(np.zeros(groups.questions, dtype=np.int64), groups, due),
        _reasons(rows, groups),
    )


def _add(into: Ints, groups: Groups, by_pattern: Ints) -> Ints:
    np.add.at(into, groups.question, by_pattern[groups.pattern] * groups.count)
    return into


def _reasons(rows: list[Any], groups: Groups) -> Counter[Absent]:
    met = np.zeros(len(rows), dtype=np.int64)
    np.add.at(met, groups.pattern, groups.count)
    reasons: Counter[Absent] = Counter()
    for row, times in zip(rows, met.tolist(), strict=True):
        if isinstance(row, Absent) and times:
            reasons[row] += times
    return reasons
