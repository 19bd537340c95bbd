"""Agreement of two judges over the same questions, counted exactly; of more, pair by pair.

κ and α of labels that come in clusters, such as the tokens of texts, have intervals over the
clusters: tokens of one text resemble each other, so what counts is how much a little more weight on
each text would move the value.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Literal

import numpy as np
from msgspec import Struct

from ragauge.stats.intervals import DEFAULT_CONFIDENCE, Interval, clustered, wilson, z_of
from ragauge.stats.krippendorff import alpha_ends

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragauge.stats.intervals import Counts, Floats

    Codes = NDArray[np.int64]


_NO_SPREAD = 1e-24
"""A variance of rounding errors alone: that of full agreement is some 1e-32."""

Weights = Literal["none", "linear", "quadratic"]
"""How much of an agreement two labels are that stand near each other in their order."""


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


def weighted_agreement(table: Confusion, weights: Weights) -> Fraction | None:
    """The agreement reached where near labels count in part; None without a question.

    >>> weighted_agreement(Confusion(("low", "mid", "high"), ((1, 1, 0), (0, 0, 0), (0, 0, 0))),
    ...                    "linear")
    Fraction(3, 4)
    """
    if not table.n:
        return None
    credit = _credit(len(table.labels), weights)
    reached = sum(
        count * credit[abs(row - column)]
        for row, counts in enumerate(table.counts)
        for column, count in enumerate(counts)
        if count
    )
    return Fraction(reached, table.n * credit[0])


def chance_agreement(table: Confusion, weights: Weights = "none") -> Fraction | None:
    """The agreement to expect of judges who keep their habits and do not look (Cohen 1960)."""
    if not table.n:
        return None
    expected = _expected(table.second, weights)
    together = sum(times * one for times, one in zip(table.first, expected, strict=True))
    return Fraction(together, table.n**2 * _credit(len(table.labels), weights)[0])


def kappa(table: Confusion, weights: Weights = "none") -> Fraction | None:
    """Cohen's κ: of the agreement that chance leaves open, the share that was reached.

    With weights (Cohen 1968) the labels stand in order, and near ones agree in part. None without
    a question, and where both gave one and the same label throughout: then chance explains
    everything, and 0 / 0 is no number.

    >>> kappa(Confusion(("yes", "no"), ((20, 5), (10, 15))))
    Fraction(2, 5)
    """
    observed, chance = weighted_agreement(table, weights), chance_agreement(table, weights)
    if observed is None or chance is None or chance == 1:
        return None
    return (observed - chance) / (1 - chance)


def kappa_variance(table: Confusion, weights: Weights = "none") -> Fraction | None:
    """The large-sample variance of κ (Fleiss, Cohen and Everitt 1969), exact.

    It is 0 at κ = 1 and wherever one judge gave one label throughout; None where κ is.
    """
    value, chance = kappa(table, weights), chance_agreement(table, weights)
    if value is None or chance is None:
        return None
    n, rest = table.n, 1 - value
    credit = _credit(len(table.labels), weights)
    down, across = _expected(table.second, weights), _expected(table.first, weights)
    squares = 0
    for row, counts in enumerate(table.counts):
        for column, count in enumerate(counts):
            if count:  # whole numbers until the last line: fractions would be reduced every time
                habit = (down[row] + across[column]) * rest.numerator
                here = credit[abs(row - column)] * n * rest.denominator
                squares += count * (here - habit) ** 2
    spread = Fraction(squares, n * (n * credit[0] * rest.denominator) ** 2)
    return (spread - (value - chance * rest) ** 2) / (n * (1 - chance) ** 2)


def kappa_interval(
    table: Confusion, confidence: float = DEFAULT_CONFIDENCE, weights: Weights = "none"
) -> Interval | None:
    """A normal interval of κ by its large-sample variance, inside [-1, 1].

    Where that variance is 0 the interval would be a point, however few the questions; there it
    is the Wilson interval of the agreement, set against the chance agreement as it was found.
    """
    value, variance = kappa(table, weights), kappa_variance(table, weights)
    chance, observed = chance_agreement(table, weights), weighted_agreement(table, weights)
    if value is None or variance is None or chance is None or observed is None:
        return None
    if variance == 0:
        return _beyond_chance(float(observed), float(chance), table.n, confidence)
    return _normal(float(value), float(variance), confidence)


def mean_kappa_interval(
    codes: NDArray[np.int64],
    pairs: Iterable[tuple[int, int, Confusion]],
    confidence: float = DEFAULT_CONFIDENCE,
    weights: Weights = "none",
) -> Interval | None:
    """The interval of the mean κ of pairs of judges over the same questions, inside [-1, 1].

    `codes` has a row a judge and a column a question: the place of the label, -1 where there is
    none. Pairs share judges and questions, so their errors add up question by question (the
    delta method; for one pair it is the variance of Fleiss, Cohen and Everitt). A pair without
    a κ is left out; None where none has one.
    """
    known = [pair for pair in pairs if kappa(pair[2], weights) is not None]
    if not known:
        return None
    pulls = np.zeros(codes.shape[1])
    for one, other, table in known:
        both = (codes[one] >= 0) & (codes[other] >= 0)
        pull = _kappa_pulls(table, weights)[codes[one][both], codes[other][both]]
        pulls[both] += pull / (table.n * len(known))
    tables = [table for *_, table in known]
    value, variance = _mean(kappa(table, weights) for table in tables), float((pulls**2).sum())
    if variance > _NO_SPREAD:
        return _normal(value, variance, confidence)
    questions = int(((codes >= 0).sum(axis=0) > 1).sum())
    observed = _mean(weighted_agreement(table, weights) for table in tables)
    chance = _mean(chance_agreement(table, weights) for table in tables)
    low, high = _beyond_chance(observed, chance, questions, confidence)
    return min(low, value), max(high, value)


def mean_share(yes: Counts, of: Counts) -> float | None:
    """The mean of shares, one a pair of judges; a share is the ratio of a column's sums.

    A pair without a trial has none and is left out; None where that is all of them.

    >>> mean_share(np.array([[1, 0, 0], [1, 1, 0]]), np.array([[1, 1, 0], [1, 1, 0]]))
    0.75
    """
    trials = of.sum(axis=0)
    shares = yes.sum(axis=0)[trials > 0] / trials[trials > 0]
    return float(shares.mean()) if shares.size else None


def mean_share_interval(
    yes: Counts, of: Counts, confidence: float = DEFAULT_CONFIDENCE
) -> Interval | None:
    """The interval of the mean of shares, one a pair of judges, over the same questions.

    `yes` and `of` have a row a question and a column a pair. Wilson's, for as many trials as would
    vary like these questions do (see `clustered`, which it is for one pair); where they do not
    vary, each question counts once. None where no pair has a trial.
    """
    yes, of = yes[:, of.any(axis=0)], of[:, of.any(axis=0)]
    if not of.shape[1]:
        return None
    if of.shape[1] == 1:
        return clustered(yes[:, 0], of[:, 0], confidence)
    shares = yes.sum(axis=0) / of.sum(axis=0)
    share, questions = float(shares.mean()), int(of.any(axis=1).sum())
    pulls = ((yes - shares * of) / of.sum(axis=0)).mean(axis=1)
    variance = float((pulls**2).sum()) * questions / max(1, questions - 1)
    worth = share * (1 - share) / variance if variance > _NO_SPREAD else questions
    return wilson(share, min(worth, int(of.sum())), confidence)


def _kappa_pulls(table: Confusion, weights: Weights) -> Floats:
    """By pair of labels, how one more question with them would pull κ, times the questions."""
    credit = np.array(_credit(len(table.labels), weights), dtype=float)
    places = np.arange(len(table.labels))
    agreed = credit[abs(places[:, None] - places)] / credit[0]
    scale = table.n * credit[0]
    down = np.array(_expected(table.second, weights), dtype=float) / scale
    across = np.array(_expected(table.first, weights), dtype=float) / scale
    value, chance = kappa(table, weights), chance_agreement(table, weights)
    assert value is not None and chance is not None
    rest = float(1 - value)
    pulls = agreed - (down[:, None] + across) * rest - float(value - chance * (1 - value))
    return np.asarray(pulls / float(1 - chance))


def _credit(labels: int, weights: Weights) -> tuple[int, ...]:
    """What labels 0, 1, 2 … places apart count as agreement; whole numbers, the first is full."""
    most = max(1, labels - 1)
    match weights:
        case "none":
            return (1,) + (0,) * most
        case "linear":
            return tuple(most - apart for apart in range(most + 1))
        case "quadratic":
            return tuple(most**2 - apart**2 for apart in range(most + 1))


def _expected(given: tuple[int, ...], weights: Weights) -> tuple[int, ...]:
    """For each label, the credit it earns beside a judge who gave the labels so often."""
    if weights == "none":
        return given
    credit = _credit(len(given), weights)
    return tuple(
        sum(times * credit[abs(place - other)] for other, times in enumerate(given))
        for place in range(len(given))
    )


def _beyond_chance(observed: float, chance: float, n: int, confidence: float) -> Interval:
    """The Wilson interval of an agreement, set against the chance agreement as it was found."""
    low, high = ((end - chance) / (1 - chance) for end in wilson(observed, n, confidence))
    return max(-1.0, low), min(1.0, high)


def _normal(value: float, variance: float, confidence: float) -> Interval:
    half = z_of(confidence) * math.sqrt(variance)
    return max(-1.0, value - half), min(1.0, value + half)


def _mean(values: Iterable[Fraction | None]) -> float:
    known = [value for value in values if value is not None]
    return float(sum(known) / len(known))


def specific_agreement(table: Confusion) -> dict[str, Fraction | None]:
    """For each label, the share of its givings that the other judge joined (Dice).

    Overall agreement hides a rare label; this is its own. None where nobody gave the label.
    """
    given = [a + b for a, b in zip(table.first, table.second, strict=True)]
    return {
        label: Fraction(2 * both, either) if either else None
        for label, both, either in zip(table.labels, table.same, given, strict=True)
    }


class PairCounts(Struct, frozen=True):
    """What κ of two judges is made of, a row a cluster."""

    same: Counts
    """How often both gave the same label."""
    first: Counts
    """(clusters, labels): how often the first judge gave each."""
    second: Counts

    @property
    def n(self) -> Counts:
        """How many labels both gave."""
        return np.asarray(self.first.sum(axis=1))


def pair_counts(one: Codes, other: Codes, clusters: Codes, shape: tuple[int, int]) -> PairCounts:
    """The counts of two judges' labels, given by their places, each with the place of its cluster.

    `shape` is how many clusters and labels there are.

    >>> made = pair_counts(np.array([0, 1, 1]), np.array([0, 1, 0]), np.array([0, 0, 1]), (2, 2))
    >>> made.same.tolist(), made.first.tolist(), made.second.tolist()
    ([2, 0], [[1, 1], [0, 1]], [[1, 1], [1, 0]])
    """
    same = np.bincount(clusters[one == other], minlength=shape[0])
    return PairCounts(same, _by_label(one, clusters, shape), _by_label(other, clusters, shape))


def clustered_kappa(pair: PairCounts) -> float | None:
    """Cohen's κ over all clusters together; None without a label, and where both gave one alone.

    >>> clustered_kappa(PairCounts(np.array([35]), np.array([[25, 25]]), np.array([[30, 20]])))
    0.4
    """
    n, chance = int(pair.n.sum()), _chance(pair)
    if not n or chance == n**2:
        return None
    return (n * int(pair.same.sum()) - chance) / (n**2 - chance)


def clustered_kappa_interval(
    pairs: Sequence[PairCounts], confidence: float = DEFAULT_CONFIDENCE
) -> Interval | None:
    """The interval of the mean κ of pairs of judges over the same clusters, inside [-1, 1].

    Normal, by the delta method. Where no cluster moves it, as in full agreement, the interval
    would be a point; there it is Wilson's of an agreement over as many clusters, set against the
    chance agreement as it was found. None under two clusters, and where no pair has a κ.
    """
    known = [pair for pair in pairs if clustered_kappa(pair) is not None]
    clusters = int(np.sum([pair.n for pair in known], axis=0).astype(bool).sum()) if known else 0
    if clusters < 2:
        return None
    pulls = np.mean([_cluster_pulls(pair) for pair in known], axis=0)
    variance = float((pulls**2).sum()) * clusters / (clusters - 1)
    value = float(np.mean([clustered_kappa(pair) for pair in known]))
    if variance > _NO_SPREAD:
        return _normal(value, variance, confidence)
    observed = float(np.mean([pair.same.sum() / pair.n.sum() for pair in known]))
    chance = float(np.mean([_chance(pair) / int(pair.n.sum()) ** 2 for pair in known]))
    low, high = _beyond_chance(observed, chance, clusters, confidence)
    return min(low, value), max(high, value)


def clustered_alpha_interval(
    codes: Codes,
    clusters: Codes,
    shape: tuple[int, int],
    confidence: float = DEFAULT_CONFIDENCE,
) -> Interval | None:
    """The interval of nominal α over clusters, inside [-1, 1].

    `codes` has a row a judge and a column a unit: the place of the label, -1 where there is none;
    `shape` is how many clusters and labels there are. Made as `krippendorff.alpha_interval` makes
    it, with each cluster in the place of a unit. None under two clusters, and where there is no α.
    """
    given = (codes >= 0).sum(axis=0)
    codes, clusters, given = codes[:, given > 1], clusters[given > 1], given[given > 1]
    if len({*clusters.tolist()}) < 2:
        return None
    by_judge = [_by_label(row[row >= 0], clusters[row >= 0], shape) for row in codes]
    seen = np.sum(by_judge, axis=0)
    apart = np.bincount(clusters, _apart(codes, given), len(seen))
    n, of_label, within = int(seen.sum()), seen.sum(axis=0), float(apart.sum())
    overall = float(n**2 - sum(times**2 for times in of_label.tolist()))
    if not overall:
        return None
    there = seen.any(axis=1)
    value, different = 1 - (n - 1) * within / overall, overall / (n * (n - 1))
    variance = 0.0
    if within:
        slopes = 2 * (n - of_label) / overall
        moved = seen.sum(axis=1) / (n - 1) + apart / within - (seen * slopes).sum(axis=1)
        variance = float(moved[there].var(ddof=1)) * int(there.sum())
    variance = variance if variance > _NO_SPREAD else 0.0
    return alpha_ends(value, variance, different, int(there.sum()), confidence)


def _by_label(codes: Codes, clusters: Codes, shape: tuple[int, int]) -> Counts:
    """(clusters, labels): how often each label was given."""
    met = np.bincount(clusters * shape[1] + codes, minlength=shape[0] * shape[1])
    return met.reshape(shape)


def _chance(pair: PairCounts) -> int:
    """The agreement by chance, times the labels squared: whole, and so exact."""
    given = zip(pair.first.sum(axis=0).tolist(), pair.second.sum(axis=0).tolist(), strict=True)
    return sum(one * other for one, other in given)


def _cluster_pulls(pair: PairCounts) -> Floats:
    """How a little more weight on each cluster moves κ; they add up to nothing."""
    n, chance = int(pair.n.sum()), _chance(pair) / int(pair.n.sum()) ** 2
    observed = int(pair.same.sum()) / n
    first, second = pair.first.sum(axis=0) / n, pair.second.sum(axis=0) / n
    of_observed = (pair.same - observed * pair.n) / n
    met = (pair.first * second + pair.second * first).sum(axis=1)
    of_chance = (met - 2 * chance * pair.n) / n
    moved = of_observed * (1 - chance) - of_chance * (1 - observed)
    return np.asarray(moved / (1 - chance) ** 2)


def _apart(codes: Codes, given: Counts) -> Floats:
    """The disagreement within each unit, over one less than its labels."""
    agreed = np.zeros(given.size)
    for one, other in combinations(codes, 2):
        agreed += (one == other) & (one >= 0)
    return np.asarray(given - 2 * agreed / (given - 1))
