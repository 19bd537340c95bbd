"""Labels of many items at once: as places in their set, counted by distinct pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from ragauge.contracts.labels import LabelFacts, LabelSet

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

DENSE = 1 << 16
"""Possible patterns that are counted in a table, however few the items."""


class LabelPatterns(Struct, frozen=True):
    """The distinct ways in which items met their label, and which item met which.

    A label is its place in the set; one the set does not have stands behind the last, and a
    missing prediction behind that.
    """

    label_set: LabelSet
    gold: Ints
    predicted: Ints
    accepted: Bools
    count: Ints
    """How many items met each pattern."""
    pattern: Ints
    """(items,): the pattern of each."""

    @property
    def outside(self) -> int:
        """The code of labels that the set does not have."""
        return len(self.label_set.labels)

    @property
    def missing(self) -> int:
        return self.outside + 1

    @property
    def judged(self) -> Bools:
        """The patterns whose gold label the set has."""
        judged: Bools = self.gold != self.outside
        return judged

    @property
    def answered(self) -> Bools:
        """The patterns with a prediction, in the set or not."""
        answered: Bools = self.predicted != self.missing
        return answered

    @property
    def right(self) -> Bools:
        right: Bools = (self.gold == self.predicted) & self.judged
        return right

    def facts(self) -> list[LabelFacts]:
        """Each pattern as the metrics read it."""
        known = self.label_set.labels
        labels, grouped = (*known, None, None), self.label_set.grouped
        paths = (*map(self.label_set.path, known), (), ())
        met = (column.tolist() for column in (self.gold, self.predicted, self.accepted))
        return [
            LabelFacts(
                labels=known,
                grouped=grouped,
                gold=labels[gold],
                gold_path=paths[gold],
                predicted=labels[predicted],
                predicted_path=paths[predicted],
                answered=predicted != self.missing,
                accepted=accepted,
            )
            for gold, predicted, accepted in zip(*met, strict=True)
        ]

    def matrix(self) -> Ints:
        """Items by gold label (rows, the last outside the set) and prediction (and missing)."""
        shape = self.outside + 1, self.missing + 1
        places = self.gold * shape[1] + self.predicted
        # float64 counts whole numbers exactly far beyond any number of items
        cells = np.bincount(places, weights=self.count, minlength=shape[0] * shape[1])
        return cells.astype(np.int64).reshape(shape)


def label_patterns(
    label_set: LabelSet,
    gold: Sequence[str],
    predicted: Sequence[str | None],
    secondary: Sequence[Sequence[str]] | None = None,
) -> LabelPatterns:
    """The patterns of items, in the order of two lists that stand side by side.

    None is a missing prediction. `secondary` has the labels that are accepted beside each gold
    one.

    >>> kinds = LabelSet(name="x", labels=("M", "L"))
    >>> label_patterns(kinds, ["M", "M", "L"], ["M", "L", None]).matrix().tolist()
    [[1, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    """
    if len(gold) != len(predicted):
        raise ValueError(f"{len(gold)} gold labels, but {len(predicted)} predictions")
    codes = {label: code for code, label in enumerate(label_set.labels)}
    outside = len(codes)
    of_gold = _coded(gold, codes, outside)
    of_prediction = _coded(predicted, {**codes, None: outside + 1}, outside)
    accepted = (of_gold == of_prediction) & (of_gold != outside)
    for place, others in enumerate(secondary or ()):
        if others and not accepted[place] and of_prediction[place] < outside:
            accepted[place] = predicted[place] in others
    return _counted(label_set, of_gold, of_prediction, accepted)


def _coded(labels: Sequence[Any], codes: dict[Any, int], outside: int) -> Ints:
    try:
        return np.fromiter(map(codes.__getitem__, labels), dtype=np.int64, count=len(labels))
    except KeyError:
        found = (codes.get(label, outside) for label in labels)
        return np.fromiter(found, dtype=np.int64, count=len(labels))


def _counted(label_set: LabelSet, gold: Ints, predicted: Ints, accepted: Bools) -> LabelPatterns:
    width = len(label_set.labels) + 2
    keys = (gold * width + predicted) * 2 + accepted
    if width * width * 2 <= max(DENSE, 4 * len(keys)):
        counts = np.bincount(keys, minlength=width * width * 2)
        met = np.flatnonzero(counts)
        numbers = np.zeros(len(counts), dtype=np.int64)
        numbers[met] = np.arange(len(met))
        pattern, count = numbers[keys], counts[met]
    else:
        met, pattern, count = np.unique(keys, return_inverse=True, return_counts=True)
    pairs, taken = np.divmod(met, 2)
    of_gold, of_prediction = np.divmod(pairs, width)
    return LabelPatterns(label_set, of_gold, of_prediction, taken.astype(bool), count, pattern)
