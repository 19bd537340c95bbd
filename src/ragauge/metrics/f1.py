"""F1, the one way it is computed: from counts of what is right, too much and lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array


def quotient(part: Any, whole: Any, empty: Any = np.nan) -> Array:
    """Part over whole, and what that is where the whole is zero."""
    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    found = np.empty(whole.shape)
    found[...] = empty
    np.divide(part, whole, out=found, where=whole > 0)
    return found


def f1_of(tp: Any, fp: Any, fn: Any, empty: float = np.nan) -> Array:
    """F1 from counts, and what it is where all of them are zero.

    >>> float(f1_of(1, 1, 0)), float(f1_of(0, 0, 0))
    (0.6666666666666666, nan)
    """
    return quotient(2 * tp, 2 * tp + fp + fn, empty)


def f1_of_sums(sums: Array, empty: float = np.nan) -> Array:
    """The same from summed columns: true positives, false positives, false negatives."""
    return f1_of(sums[..., 0], sums[..., 1], sums[..., 2], empty)
