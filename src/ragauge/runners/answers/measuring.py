"""Rows measured: facts made and read by every metric, some rows at a time, on as many workers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragauge.contracts.metric import Absent, Metric, Row
from ragauge.engines.local import ordered
from ragauge.metrics.answer_facts import AnswerFacts
from ragauge.metrics.sums import QuestionSums
from ragauge.metrics.table import find

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragauge.runners.answers.supporting import Supporting

PIECE = 128
"""Rows that a worker takes at a time: it is what a progress bar moves by."""
Progress = Callable[[int, int], None]


MANY = 2_000
"""Rows from which on further processes are worth their start."""


def supported_answers(
    facts: Sequence[AnswerFacts],
    supporting: Supporting,
    workers: int,
    progress: Progress | None = None,
) -> list[AnswerFacts]:
    """The facts with what the sentence supporter says of them."""
    if not supporting.asked:
        return list(facts)
    found: list[AnswerFacts] = []
    for made in ordered(_Supported, (supporting,), _pieces(facts), _workers(facts, workers)):
        found += made
        if progress is not None:
            progress(len(found), len(facts))
    return found


def measured_answers(
    facts: Sequence[AnswerFacts], metrics: Mapping[str, Metric], workers: int
) -> dict[str, list[Row | Absent]]:
    """By metric id what it found in each answer."""
    rows: dict[str, list[Row | Absent]] = {id: [] for id in metrics}
    each = ordered(_Measured, (tuple(metrics),), _pieces(facts), _workers(facts, workers))
    for columns in each:
        for id, column in zip(metrics, columns, strict=True):
            rows[id] += column
    return rows


def _pieces(facts: Sequence[AnswerFacts]) -> list[Sequence[AnswerFacts]]:
    return [facts[at : at + PIECE] for at in range(0, len(facts), PIECE)]


def _workers(facts: Sequence[AnswerFacts], workers: int) -> int:
    return workers if len(facts) >= MANY else 1


class _Supported:
    """What a worker does to find support."""

    def __init__(self, supporting: Supporting) -> None:
        self._support = supporting.ready()

    def __call__(self, facts: Sequence[AnswerFacts]) -> list[AnswerFacts]:
        return [self._support(one) for one in facts]


class _Measured:
    """What a worker does to measure; it looks metrics up by itself, for functions do not travel."""

    def __init__(self, ids: tuple[str, ...]) -> None:
        self._metrics = [find(id, "answers") for id in ids]

    def __call__(self, facts: Sequence[AnswerFacts]) -> list[list[Row | Absent]]:
        # An answer at a time: what one metric reads of it, the next one remembers.
        rows = [[metric(one) for metric in self._metrics] for one in facts]
        return [list(column) for column in zip(*rows, strict=True)]


def sums_of_rows(metric: Metric, rows: Sequence[Row | Absent]) -> QuestionSums:
    """A metric's sums, an answer at a time."""
    sums: NDArray[np.int64] = np.zeros((len(rows), len(metric.columns)), dtype=np.int64)
    scored: NDArray[np.int64] = np.zeros(len(rows), dtype=np.int64)
    for place, row in enumerate(rows):
        if isinstance(row, Row):
            sums[place], scored[place] = row.counts, 1
    reasons = Counter(row.reason for row in rows if isinstance(row, Absent))
    return QuestionSums(metric, sums, scored, np.ones_like(scored), dict(sorted(reasons.items())))


def values_by_row(
    metrics: Mapping[str, Metric], rows: Mapping[str, Sequence[Row | Absent]]
) -> dict[str, list[float | None]]:
    """By metric the value of each row; None where it is absent."""
    return {id: list(_values(metrics[id], column)) for id, column in rows.items()}


def _values(metric: Metric, rows: Sequence[Row | Absent]) -> Iterator[float | None]:
    there = [row.counts for row in rows if isinstance(row, Row)]
    counts = np.array(there, dtype=np.int64).reshape(len(there), len(metric.columns))
    values = iter(metric.finish(counts).tolist())
    for row in rows:
        value = None if isinstance(row, Absent) else next(values)
        yield None if value is None or not np.isfinite(value) else value
