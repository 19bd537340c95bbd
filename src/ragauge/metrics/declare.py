"""How a metric is declared, and the ways in which summed columns become a value.

Families of metrics import this module; only `ragauge.metrics.table` imports the families.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from math import nan
from typing import TYPE_CHECKING, Any

from ragauge.contracts.metric import SCALE, Absent, Better, Metric, Reads, Row, Unit

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array

DIGITS = 12
"""What of a value is whole after it travelled as a whole number: SCALE has 40 bits."""


def ratio(sums: Array) -> Array:
    """The first column over the second: a share, once the columns are summed.

    0 / 0 is NaN without a warning; whoever reads the value says why it is absent.
    """
    import numpy as np

    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(sums[..., 0], sums[..., 1])


def metric(
    id: str,
    *,
    version: int,
    better: Better,
    bounds: tuple[float, float | None],
    unit: Unit,
    needs: Iterable[str],
    reads: Reads = "facts",
    columns: tuple[str, ...] = ("yes", "of"),
    finish: Callable[[Array], Array] = ratio,
    rate: bool | None = None,
) -> Callable[[Callable[[Any], Row | Absent]], Metric]:
    """Makes a function of one unit's facts an entry of the metric table.

    `rate` says that a unit's columns count trials, such as (0 or 1, 1), so that a Wilson interval
    applies; it is assumed of the default columns.
    """

    def made(measure: Callable[[Any], Row | Absent]) -> Metric:
        return Metric(
            id=id,
            version=version,
            better=better,
            bounds=bounds,
            unit=unit,
            columns=columns,
            reads=reads,
            needs=frozenset(needs),
            measure=measure,
            finish=finish,
            rate=columns == ("yes", "of") if rate is None else rate,
            doc=inspect.cleandoc(measure.__doc__ or ""),
        )

    return made


def value_row(value: float, reason: str | None = None) -> Row:
    """A unit's value as the columns `value` and `of`, of which `scaled_mean` takes the mean."""
    return Row((round(value * SCALE), 1), reason)


def scaled_mean(sums: Array) -> Array:
    """The mean of values that travelled as whole numbers, without the digits lost on the way.

    >>> import numpy as np
    >>> float(scaled_mean(np.array([round(0.4 * SCALE), 1])))
    0.4
    """
    import numpy as np

    rounded: Array = np.round(ratio(sums) / SCALE, DIGITS)
    return rounded


def quotient(part: Any, whole: Any, empty: Any = nan) -> Array:
    """Part over whole, and what that is where the whole is zero."""
    import numpy as np

    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    found = np.empty(whole.shape)
    found[...] = empty
    np.divide(part, whole, out=found, where=whole > 0)
    return found


def f1_of(tp: Any, fp: Any, fn: Any, empty: float = nan) -> Array:
    """F1 from counts, and what it is where all of them are zero.

    >>> float(f1_of(1, 1, 0)), float(f1_of(0, 0, 0))
    (0.6666666666666666, nan)
    """
    return quotient(2 * tp, 2 * tp + fp + fn, empty)


def f1_of_sums(sums: Array, empty: float = nan) -> Array:
    """The same from summed columns: true positives, false positives, false negatives."""
    return f1_of(sums[..., 0], sums[..., 1], sums[..., 2], empty)
