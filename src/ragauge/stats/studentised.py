"""The change of a share in units of its own standard error, for any way of swapping units.

A share is one summed column over another. Swapping units asks whether two runs are alike in
everything; a run that refuses more questions is not, and its share may be the same. Divided by its
standard error, anew in each arrangement, the change of a share keeps its level in large samples
though the runs differ in how much they answered (Janssen 1997; Chung and Romano 2013), and stays
exact where they do not.

The squared error is made of sums over units of products, so a unit's row is extended by these.
They are floats: exact up to 2^53, and to the digits of a float where weights make them larger.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]
    Finish = Callable[[Counts], Floats]

_PROBES = np.array([[1, 1], [1, 2], [2, 1], [3, 7], [0, 5]])
_ROUNDING = 1e-13
"""What is left of sums that cancel, as a part of them."""


def is_share(finish: Finish, columns: int) -> bool:
    """Whether a metric is its first column over its second, in whatever unit of measure."""
    if columns != 2:
        return False
    with np.errstate(all="ignore"):
        made = finish(_PROBES)
    return bool(made[0] != 0 and np.allclose(made, made[0] * _PROBES[:, 0] / _PROBES[:, 1]))


def extended(rows: Counts, others: Counts) -> Floats:
    """Rows of yes and of with their products: yes², yes·of, of², and yes by the other run's of."""
    yes, of = rows.T.astype(np.float64)
    return np.column_stack([yes, of, yes * yes, yes * of, of * of, yes * others[:, 1]])


def studentised(after: Counts, before: Counts) -> Callable[[Floats], Floats]:
    """The change over its standard error, from the sums of the extended rows that stand after.

    Without an error it is infinite where there is a change, and 0 where there is none. NaN where
    one of the runs has nothing to divide by.
    """
    both = (extended(after, before) + extended(before, after)).sum(axis=0)
    crossed = (after.astype(np.float64) * before).sum(axis=0)

    def in_errors(sums: Floats) -> Floats:
        now, then = sums.T, (both - sums).T
        with np.errstate(all="ignore"):
            shares = now[0] / now[1], then[0] / then[1]
            change = _cleared(shares[0] - shares[1], np.abs(shares[0]) + np.abs(shares[1]))
            return _quotient(change, np.sqrt(_variance(now, then, shares, crossed)))

    return in_errors


def p_of_unlike_counts(after: Counts, before: Counts) -> float:
    """How likely so large a change is, were what only one run counted like all the rest.

    Eight right answers that become refusals move a share, and always the same way: each swap moves
    it back, and they have no spread of their own. So what one run counted more of a unit, or what
    weighs more in it, is given the spread of all units about the common share; what both counted
    keeps its own. The test is the normal one. 0 where the runs counted alike.
    """
    (yes, of), (yes_before, of_before) = after.T.astype(np.float64), before.T.astype(np.float64)
    total, total_before = math.fsum(of), math.fsum(of_before)
    if (of == of_before).all() or min(of.min(), of_before.min()) < 0 or not total * total_before:
        return 0.0
    common = (math.fsum(yes) + math.fsum(yes_before)) / (total + total_before)
    away, away_before = yes - common * of, yes_before - common * of_before
    spread = (_squared(away) + _squared(away_before)) / (_squared(of) + _squared(of_before))
    fewer, more = np.minimum(of, of_before), np.maximum(of, of_before)
    moved = fewer * (_share(yes, of) - _share(yes_before, of_before))
    largest = np.where(of > of_before, 1 / total, 1 / total_before)
    variance = _squared(moved) / (total * total_before) + spread * (
        _squared(fewer * (1 / total - 1 / total_before))
        + math.fsum(largest * largest * more * (more - fewer))
    )
    change = math.fsum(away) / total - math.fsum(away_before) / total_before
    return math.erfc(abs(change) / math.sqrt(2 * variance)) if variance else 0.0


def _variance(now: Floats, then: Floats, shares: tuple[Floats, Floats], crossed: Floats) -> Floats:
    """The squared error of the change, linearised: the sum of what each unit does to it, squared.

    The runs stand in it alike, to the last digit: turned round, it is the same number.
    """
    parts, sizes = [], []
    for (_, of, yes_yes, yes_of, of_of, _), share in zip((now, then), shares, strict=True):
        squares = yes_yes + share * share * of_of
        parts.append((squares - 2 * share * yes_of) / of / of)
        sizes.append(squares / of / of)
    yes_crossed, of_crossed = crossed
    together = yes_crossed + shares[0] * shares[1] * of_crossed
    across = together - (shares[1] * now[5] + shares[0] * then[5])
    variance = (parts[0] + parts[1]) - 2 * across / (now[1] * then[1])
    return _cleared(variance, sizes[0] + sizes[1])


def _cleared(values: Floats, sizes: Floats) -> Floats:
    """Values with 0 for what is only rounding, in numbers of these sizes."""
    return np.where(np.abs(values) <= _ROUNDING * sizes, 0.0, values)


def _quotient(change: Floats, error: Floats) -> Floats:
    """0 / 0 is 0; NaN stays NaN."""
    return np.where((change == 0) & (error == 0), 0.0, change / error)


def _share(yes: Floats, of: Floats) -> Floats:
    """0 where there is nothing to divide by."""
    return np.divide(yes, of, out=np.zeros_like(yes), where=of != 0)


def _squared(values: Floats) -> float:
    return math.fsum(values * values)
