"""Units that stand for others, as rows of whole numbers that a test can exchange."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ragauge.contracts.metric import ratio
from ragauge.runners.paired_units import Columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragauge.contracts.metric import Array

    Finish = Callable[[Array], Array]
    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

SUM_BITS = 60
"""Sums of rows stay below 2^60: two runs of them are added, and 64 bits hold that."""
VALUE_BITS = 24
"""A value that is no count keeps so many bits."""
WEIGHT_BITS = 30
"""More bits of a weight no result would show."""
ALIKE = 1e-12


def weighted_total(finish: Finish | None, columns: Columns) -> float:
    """The population's value, as far as the sample tells: just as a run records it.

    Without a finish it is the mean of the values. Rounded once, whatever the order of the units.
    """
    weights = _weights(columns)
    if finish is None:
        scored = columns.scored
        return _fsum(weights[scored] * columns.values[scored]) / _fsum(weights[scored])
    sums = [_fsum(column) for column in (columns.counts * weights[:, None]).T]
    return float(finish(np.array(sums)))


def weighted_rows(
    finish: Finish | None, before: Columns, after: Columns
) -> tuple[Ints, Ints, Finish]:
    """The rows of both runs, each unit's times its weight, and what finishes their sums.

    Weights become whole numbers, so that sums do not depend on the order of the units. Where a
    total is the mean of the values, these are weighted rather than the counts, which may be so
    large that few bits would be left for weights.
    """
    rows: tuple[Ints, Ints] = (before.counts, after.counts)
    if finish is None or (_is_mean(finish, before) and _is_mean(finish, after)):
        rows, finish = _rows_of_values(before, after)
    whole = _whole(_weights(after), np.maximum(*(np.abs(run).max(axis=1) for run in rows)))
    return rows[0] * whole[:, None], rows[1] * whole[:, None], finish


def _is_mean(finish: Finish, columns: Columns) -> bool:
    """Whether the total is the weighted mean of the values."""
    return abs(weighted_total(finish, columns) - weighted_total(None, columns)) <= ALIKE


def _rows_of_values(before: Columns, after: Columns) -> tuple[tuple[Ints, Ints], Finish]:
    """Rows of value and 1, in steps of a power of two far below the largest value."""
    values = np.concatenate([before.values, after.values])
    step = math.frexp(float(np.nanmax(np.abs(values))))[1] - VALUE_BITS

    def mean(sums: Array) -> Array:
        return np.ldexp(ratio(sums), step)

    return (_rows(before, step), _rows(after, step)), mean


def _rows(columns: Columns, step: int) -> Ints:
    steps = np.rint(np.ldexp(np.nan_to_num(columns.values), -step))
    return np.column_stack([steps, columns.scored]).astype(np.int64)


def _whole(weights: Floats, sizes: Ints) -> Ints:
    """Weights as whole numbers: as they are where they are such, else in steps of a power of two.

    As many bits as there is room for beside rows of these sizes.
    """
    divisor = math.gcd(*map(int, weights)) if (weights == np.rint(weights)).all() else 0
    room = SUM_BITS - math.frexp(_fsum(weights * sizes))[1]
    if divisor and room + math.frexp(divisor)[1] > 0:
        return (weights / divisor).astype(np.int64)
    bits = min(room, WEIGHT_BITS - math.frexp(float(weights.min()))[1])
    return np.maximum(1, np.rint(np.ldexp(weights, bits))).astype(np.int64)


def _weights(columns: Columns) -> Floats:
    return np.ones(len(columns.values)) if columns.weights is None else columns.weights


def _fsum(numbers: Array) -> float:
    return math.fsum(numbers.tolist())
