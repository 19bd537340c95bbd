"""Rows of the label metrics for many items: measured once a pattern, then handed to each item."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ragauge.contracts.labels import LabelFacts
from ragauge.contracts.metric import Absent, Metric, NotApplicable, Row
from ragauge.metrics.label_averages import COUNTED
from ragauge.metrics.label_codes import LabelPatterns
from ragauge.metrics.labels import METRICS, OUTSIDE, OVER_LABELS
from ragauge.metrics.sums import Sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

LARGEST = 1 << 28
"""Cells of the rows with three counts a label: a set of thousands of labels has no room."""
NO_ITEMS = Absent("no item has a gold label")


def label_sums(patterns: LabelPatterns) -> dict[str, Sums]:
    """For each metric its row of every item, without those that would not fit into memory."""
    facts = patterns.facts()
    found = {
        entry.id: _measured(entry, facts, patterns)
        for entry in METRICS
        if entry.id not in OVER_LABELS
    }
    if not too_many_labels(patterns):
        found |= _over_labels(patterns)
    return found


def too_many_labels(patterns: LabelPatterns) -> bool:
    """Whether rows with counts for every label would not fit into memory."""
    return len(patterns.pattern) * len(COUNTED) * patterns.outside > LARGEST


def label_totals(patterns: LabelPatterns) -> Ints:
    """The summed row of the metrics over labels: tp, fp and fn of each label in turn."""
    judged, count = patterns.judged, patterns.count
    labels = patterns.outside
    right, wrong = judged & patterns.right, judged & ~patterns.right
    told = wrong & (patterns.predicted < labels)
    parts = [
        _tallied(patterns.gold[right], count[right], labels),
        _tallied(patterns.predicted[told], count[told], labels),
        _tallied(patterns.gold[wrong], count[wrong], labels),
    ]
    return np.stack(parts, axis=1).ravel()


def label_values(patterns: LabelPatterns) -> dict[str, float | None]:
    """The value of every metric, without intervals: all there is to compute for a quick look.

    >>> from ragauge.contracts.labels import LabelSet
    >>> from ragauge.metrics.label_codes import label_patterns
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


def _tallied(codes: Ints, count: Ints, labels: int) -> Ints:
    return np.bincount(codes, weights=count, minlength=labels).astype(np.int64)


def _measured(entry: Metric, facts: list[LabelFacts], patterns: LabelPatterns) -> Sums:
    rows, scored, due, absent = _rows(entry, facts, patterns.count)
    return _handed_out(entry, patterns, rows[patterns.pattern], scored, due, absent)


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


def _over_labels(patterns: LabelPatterns) -> dict[str, Sums]:
    """The metrics over labels; they share one array, a byte a count."""
    labels, judged = patterns.outside, patterns.judged
    right, wrong = (np.flatnonzero(judged & met) for met in (patterns.right, ~patterns.right))
    told = wrong[patterns.predicted[wrong] < labels]
    rows = np.zeros((len(judged), labels, len(COUNTED)), dtype=np.int8)
    rows[right, patterns.gold[right], 0] = 1
    rows[told, patterns.predicted[told], 1] = 1
    rows[wrong, patterns.gold[wrong], 2] = 1
    every: Any = rows.reshape(len(judged), len(COUNTED) * labels)[patterns.pattern]
    scored = judged.astype(np.int64)
    left_out = int(patterns.count[~judged].sum())
    absent: Counter[Absent] = Counter({OUTSIDE: left_out} if left_out else {})
    due = np.ones_like(scored)
    return {
        entry.id: _handed_out(entry, patterns, every, scored, due, absent)
        for entry in METRICS
        if entry.id in OVER_LABELS
    }


def _handed_out(
    entry: Metric,
    patterns: LabelPatterns,
    rows: Ints,
    scored: Ints,
    due: Ints,
    absent: Counter[Absent],
) -> Sums:
    reasons = absent if len(patterns.pattern) else Counter({NO_ITEMS: 0})
    return Sums(entry, rows, scored[patterns.pattern], due[patterns.pattern], reasons)
