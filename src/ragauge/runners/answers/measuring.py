"""Rows measured: facts made and read by every metric, some rows at a time, on as many workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import structs

from ragauge.contracts.metric import Absent, Metric, Row
from ragauge.engines.local import ordered
from ragauge.metrics.answers import AnswerFacts
from ragauge.metrics.table import find

if TYPE_CHECKING:
    from ragauge.runners.answers.supporting import Supporting

PIECE = 128
"""Rows that a worker takes at a time: it is what a progress bar moves by."""
Progress = Callable[[int, int], None]
Found = dict[str, Any]
"""Fields of an answer's facts."""
MANY = 2_000
"""Rows from which on further processes are worth their start."""


def measured_answers(
    facts: Sequence[AnswerFacts],
    supporting: Supporting,
    metrics: Mapping[str, Metric],
    workers: int,
    progress: Progress | None = None,
    many: int = MANY,
) -> tuple[list[AnswerFacts], dict[str, list[Row | Absent]]]:
    """The facts with what the sentence supporter says of them; by metric id, what it found.

    From `many` rows on they are spread over the workers.
    """
    known: list[AnswerFacts] = []
    rows: dict[str, list[Row | Absent]] = {id: [] for id in metrics}
    pieces = [facts[at : at + PIECE] for at in range(0, len(facts), PIECE)]
    used = workers if len(facts) >= many else 1
    for found, columns in ordered(_Measured, (supporting, tuple(metrics)), pieces, used):
        for one, more in zip(facts[len(known) : len(known) + PIECE], found, strict=True):
            known.append(structs.replace(one, **more))
        for id, column in zip(metrics, columns, strict=True):
            rows[id] += column
        if progress is not None:
            progress(len(known), len(facts))
    return known, rows


class _Measured:
    """What a worker does; it looks metrics up by itself, for functions do not travel."""

    def __init__(self, supporting: Supporting, ids: tuple[str, ...]) -> None:
        self._support = supporting.ready()
        self._metrics = [find(id, "answers") for id in ids]

    def __call__(
        self, facts: Sequence[AnswerFacts]
    ) -> tuple[list[Found], list[list[Row | Absent]]]:
        # Only what was found goes back, not the rows; they are known there.
        found = [self._support.found(one) for one in facts]
        known = [structs.replace(one, **more) for one, more in zip(facts, found, strict=True)]
        # An answer at a time: what one metric reads of it, the next one remembers.
        rows = [[metric(one) for metric in self._metrics] for one in known]
        return found, [list(column) for column in zip(*rows, strict=True)]


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
