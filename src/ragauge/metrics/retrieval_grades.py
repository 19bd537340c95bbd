"""Grades of one query: what is relevant in them, where it was found, what a rank is worth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ldexp, log2

from msgspec import Struct

from ragauge.contracts.rankings import Ranking

GREATEST_POWER = 1000
"""Of 2, as a gain. A sum of more leaves floating point, and smaller grades are lost long before."""


class Parameters(Struct, frozen=True, kw_only=True):
    """What the name of a metric says beside its kind."""

    k: int | None = None
    """The cut-off: the results beyond it are not looked at."""
    rel: int = 1
    """The lowest grade that is relevant."""
    p: float = 0.8
    """Persistence: how likely a reader goes on to the next result."""


def relevant(ranking: Ranking, at: Parameters) -> int:
    """How many documents are relevant, retrieved or not."""
    return sum(grade >= at.rel for grade in ranking.judged)


def ranks_found(ranking: Ranking, at: Parameters) -> list[int]:
    """The ranks, from 1, of the relevant documents within the cut-off.

    >>> ranks_found(Ranking(retrieved=(0, 2, None, 1), judged=(0, 2, 1)), Parameters(k=3))
    [2]
    """
    shown = enumerate(ranking.retrieved[: at.k], start=1)
    return [rank for rank, grade in shown if grade is not None and grade >= at.rel]


def is_judged(grade: int | None) -> bool:
    """A negative grade, as TREC has them, says that nobody could or did judge."""
    return grade is not None and grade >= 0


def linear(grade: int | None) -> float:
    return float(grade) if grade is not None and grade > 0 else 0.0


def exponential(grade: int | None) -> float:
    return ldexp(1.0, min(grade, GREATEST_POWER)) - 1 if grade is not None and grade > 0 else 0.0


def discount(rank: int) -> float:
    """What the gain at a rank is divided by."""
    return log2(rank + 1)


def attention(rank: int, persistence: float) -> float:
    """The share of a reader's looks that a rank gets; over all ranks they sum to 1."""
    return (1 - persistence) * persistence ** (rank - 1)


def summed(parts: Iterable[float]) -> float:
    """The sum from first to last, on every Python: the built-in one compensates since 3.12."""
    total = 0.0
    for part in parts:
        total += part
    return total


def discounted(gains: Sequence[float]) -> float:
    """The gains by rank, each divided by its rank's discount, and summed.

    >>> discounted([1.0, 1.0])
    1.6309297535714575
    """
    return summed(gain / discount(rank) for rank, gain in enumerate(gains, start=1))
