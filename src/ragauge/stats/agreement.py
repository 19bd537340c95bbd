"""Agreement of two judges over the same questions, counted exactly."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction

from msgspec import Struct

from ragauge.stats.intervals import DEFAULT_CONFIDENCE, Interval, wilson, z_of


class Confusion(Struct, frozen=True):
    """How often two judges gave each pair of labels: the first judge's label is the row."""

    labels: tuple[str, ...]
    """In the order of rows and columns."""
    counts: tuple[tuple[int, ...], ...]

    @property
    def n(self) -> int:
        return sum(map(sum, self.counts))

    @property
    def first(self) -> tuple[int, ...]:
        """How often the first judge gave each label."""
        return tuple(map(sum, self.counts))

    @property
    def second(self) -> tuple[int, ...]:
        """How often the second judge gave each label."""
        return tuple(map(sum, zip(*self.counts, strict=True)))

    @property
    def same(self) -> tuple[int, ...]:
        """How often both gave each label."""
        return tuple(row[place] for place, row in enumerate(self.counts))


def confusion(pairs: Iterable[tuple[str, str]], labels: Sequence[str]) -> Confusion:
    """The table of pairs of labels, one pair a question.

    >>> confusion([("yes", "yes"), ("yes", "no")], ("no", "yes"))
    Confusion(labels=('no', 'yes'), counts=((0, 0), (1, 1)))
    """
    met = Counter(pairs)
    counts = tuple(tuple(met[row, column] for column in labels) for row in labels)
    return Confusion(tuple(labels), counts)


def percent_agreement(table: Confusion) -> Fraction | None:
    """The share of questions with the same label from both; None without a question."""
    return Fraction(sum(table.same), table.n) if table.n else None


def chance_agreement(table: Confusion) -> Fraction | None:
    """The agreement to expect of judges who keep their habits and do not look (Cohen 1960)."""
    if not table.n:
        return None
    together = sum(a * b for a, b in zip(table.first, table.second, strict=True))
    return Fraction(together, table.n**2)


def kappa(table: Confusion) -> Fraction | None:
    """Cohen's κ: of the agreement that chance leaves open, the share that was reached.

    None without a question, and where both gave one and the same label throughout: then chance
    explains everything, and 0 / 0 is no number.

    >>> kappa(Confusion(("yes", "no"), ((20, 5), (10, 15))))
    Fraction(2, 5)
    """
    observed, chance = percent_agreement(table), chance_agreement(table)
    if observed is None or chance is None or chance == 1:
        return None
    return (observed - chance) / (1 - chance)


def kappa_variance(table: Confusion) -> Fraction | None:
    """The large-sample variance of κ (Fleiss, Cohen and Everitt 1969), exact.

    It is 0 at κ = 1 and wherever one judge gave one label throughout; None where κ is.
    """
    value, chance = kappa(table), chance_agreement(table)
    if value is None or chance is None:
        return None
    n, rest = table.n, 1 - value
    spread = Fraction(0)
    for row, counts in enumerate(table.counts):
        for column, count in enumerate(counts):
            habit = Fraction(table.second[row] + table.first[column], n)
            spread += Fraction(count, n) * ((row == column) - habit * rest) ** 2
    return (spread - (value - chance * rest) ** 2) / (n * (1 - chance) ** 2)


def kappa_interval(table: Confusion, confidence: float = DEFAULT_CONFIDENCE) -> Interval | None:
    """A normal interval of κ by its large-sample variance, inside [-1, 1].

    Where that variance is 0 the interval would be a point, however few the questions; there it
    is the Wilson interval of the agreement, set against the chance agreement as it was found.
    """
    value, variance, chance = kappa(table), kappa_variance(table), chance_agreement(table)
    observed = percent_agreement(table)
    if value is None or variance is None or chance is None or observed is None:
        return None
    if variance == 0:
        low, high = (
            (end - float(chance)) / float(1 - chance)
            for end in wilson(float(observed), table.n, confidence)
        )
    else:
        half = z_of(confidence) * math.sqrt(variance)
        low, high = float(value) - half, float(value) + half
    return max(-1.0, low), min(1.0, high)


def specific_agreement(table: Confusion) -> dict[str, Fraction | None]:
    """For each label, the share of its givings that the other judge joined (Dice).

    Overall agreement hides a rare label; this is its own. None where nobody gave the label.
    """
    given = [a + b for a, b in zip(table.first, table.second, strict=True)]
    return {
        label: Fraction(2 * both, either) if either else None
        for label, both, either in zip(table.labels, table.same, given, strict=True)
    }
