"""Labels of many items at once: counted by distinct pair, measured once per pattern."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from ragauge.contracts.labels import LabelFacts, LabelSet
from ragauge.contracts.metric import Absent, Metric, NotApplicable, Row
from ragauge.metrics.labels import COUNTED, METRICS, OUTSIDE, OVER_LABELS
from ragauge.metrics.sums import Kinds, Sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

DENSE = 1 << 16
"""Possible patterns that are counted in a table, however few the items."""


class LabelPatterns(Struct, frozen=True):
    """The distinct pairs of gold and predicted labels, and the pattern of each item.

    A label is its place in the set; labels outside the set have the next number, and missing
    predictions the one after that.
    """

    label_set: LabelSet
    gold: Ints
    predicted: Ints
    accepted: Bools
    count: Ints
    """How many items have each pattern."""
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
        """The facts of each pattern."""
        known = self.label_set.labels
        labels, grouped = (*known, None, None), self.label_set.grouped
        paths = (*map(self.label_set.path, known), (), ())
        columns = (column.tolist() for column in (self.gold, self.predicted, self.accepted))
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
            for gold, predicted, accepted in zip(*columns, strict=True)
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
    """The patterns of items, from two lists of the same length.

    None is a missing prediction. `secondary` has the other accepted labels of each item.

    >>> kinds = LabelSet(name="x", labels=("M", "L"))
    >>> label_patterns(kinds, ["M", "M", "L"], ["M", "L", None]).matrix().tolist()
    [[1, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    """
    if len(gold) != len(predicted):
        raise ValueError(f"{len(gold)} gold labels, but {len(predicted)} predictions")
    codes = {label: code for code, label in enumerate(label_set.labels)}
    outside = len(codes)
    of_gold = _encode(gold, codes, outside)
    of_prediction = _encode(predicted, {**codes, None: outside + 1}, outside)
    accepted = (of_gold == of_prediction) & (of_gold != outside)
    for place, others in enumerate(secondary or ()):
        if others and not accepted[place] and of_prediction[place] < outside:
            accepted[place] = predicted[place] in others
    width = len(codes) + 2
    keys = (of_gold * width + of_prediction) * 2 + accepted
    if width * width * 2 <= max(DENSE, 4 * len(keys)):
        counts = np.bincount(keys, minlength=width * width * 2)
        occurring = np.flatnonzero(counts)
        numbers = np.zeros(len(counts), dtype=np.int64)
        numbers[occurring] = np.arange(len(occurring))
        pattern, count = numbers[keys], counts[occurring]
    else:
        occurring, pattern, count = np.unique(keys, return_inverse=True, return_counts=True)
    pairs, is_accepted = np.divmod(occurring, 2)
    return LabelPatterns(
        label_set, *np.divmod(pairs, width), is_accepted.astype(bool), count, pattern
    )


def _encode(labels: Sequence[Any], codes: dict[Any, int], outside: int) -> Ints:
    try:
        return np.fromiter(map(codes.__getitem__, labels), dtype=np.int64, count=len(labels))
    except KeyError:
        found = (codes.get(label, outside) for label in labels)
        return np.fromiter(found, dtype=np.int64, count=len(labels))


LARGEST = 1 << 28
"""Cells of the rows with three counts per label: thousands of labels would not fit."""
NO_ITEMS = Absent("no item has a gold label")


def label_sums(patterns: LabelPatterns) -> dict[str, Sums]:
    """Each metric's sums by item, without metrics whose rows would not fit into memory."""

    of = patterns.pattern

    def by_item(
        entry: Metric, rows: Ints, each: Ints, scored: Ints, due: Ints, absent: Any
    ) -> Sums:
        reasons = absent if len(of) else Counter({NO_ITEMS: 0})
        kinds = Kinds(each, scored, of)
        return Sums(entry, rows, scored.take(of), due.take(of), reasons, kinds=kinds)

    facts, found = patterns.facts(), {}
    for entry in METRICS:
        if entry.id not in OVER_LABELS:
            rows, scored, due, absent = _rows(entry, facts, patterns.count)
            found[entry.id] = by_item(entry, rows.take(of, axis=0), rows, scored, due, absent)
    if too_many_labels(patterns):
        return found
    # The metrics over labels share one array, a byte per count.
    labels, judged = patterns.outside, patterns.judged
    right, wrong = (np.flatnonzero(judged & met) for met in (patterns.right, ~patterns.right))
    other_label = wrong[patterns.predicted[wrong] < labels]
    each = np.zeros((len(judged), labels, len(COUNTED)), dtype=np.int8)
    each[right, patterns.gold[right], 0] = 1
    each[other_label, patterns.predicted[other_label], 1] = 1
    each[wrong, patterns.gold[wrong], 2] = 1
    counts: Any = each.reshape(len(judged), len(COUNTED) * labels)
    every = counts.take(of, axis=0)
    scored = judged.astype(np.int64)
    left_out = int(patterns.count[~judged].sum())
    absent = Counter({OUTSIDE: left_out} if left_out else {})
    over_labels = (entry for entry in METRICS if entry.id in OVER_LABELS)
    return found | {
        entry.id: by_item(entry, every, counts, scored, np.ones_like(scored), absent)
        for entry in over_labels
    }


def too_many_labels(patterns: LabelPatterns) -> bool:
    """Whether rows with counts for every label would not fit into memory."""
    return len(patterns.pattern) * len(COUNTED) * patterns.outside > LARGEST


def label_totals(patterns: LabelPatterns) -> Ints:
    """The summed row of the metrics over labels: tp, fp and fn of each label in turn."""
    judged, count = patterns.judged, patterns.count
    labels = patterns.outside
    right, wrong = judged & patterns.right, judged & ~patterns.right
    other_label = wrong & (patterns.predicted < labels)
    parts = [
        np.bincount(codes[mask], weights=count[mask], minlength=labels).astype(np.int64)
        for codes, mask in (
            (patterns.gold, right),
            (patterns.predicted, other_label),
            (patterns.gold, wrong),
        )
    ]
    return np.stack(parts, axis=1).ravel()


def label_values(patterns: LabelPatterns) -> dict[str, float | None]:
    """The value of every metric, without intervals.

    >>> from ragauge.contracts.labels import LabelSet
    >>> from ragauge.metrics.label_sums import label_patterns
    >>> found = label_patterns(LabelSet(name="x", labels=("M", "L")), ["M", "L"], ["M", None])
    >>> label_values(found)["labels.accuracy"], label_values(found)["labels.macro_f1"]
    (0.5, 0.5)
    """
    over_labels, facts = label_totals(patterns), patterns.facts()
    values = {}
    for entry in METRICS:
        if entry.id in OVER_LABELS:
            total = float(entry.finish(over_labels))
        else:
            rows, *_ = _rows(entry, facts, patterns.count)
            total = float(entry.finish(patterns.count @ rows))
        values[entry.id] = total if np.isfinite(total) else None
    return values


def _rows(
    entry: Metric, facts: list[LabelFacts], count: Ints
) -> tuple[Ints, Ints, Ints, Counter[Absent]]:
    """A metric's row of each pattern, whether it was scored, whether it should be, and why not."""
    none = (0,) * len(entry.columns)
    rows, scored, due = [], [], []
    absent: Counter[Absent] = Counter()
    for each, times in zip(facts, count.tolist(), strict=True):
        row = entry.measure(each)
        if isinstance(row, Absent):
            absent[row] += times
        scored.append(int(isinstance(row, Row)))
        due.append(int(not isinstance(row, NotApplicable)))
        rows.append(row.counts if isinstance(row, Row) else none)
    shaped = np.array(rows, dtype=np.int64).reshape(-1, len(none))
    return shaped, np.array(scored, dtype=np.int64), np.array(due, dtype=np.int64), absent
