"""Averages over labels, from the counts of each: (..., 3 times the labels) -> (...,)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ragauge.metrics.declare import f1_of, ratio

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array

COUNTED = ("tp", "fp", "fn")
"""For each label of the set in turn."""


def label_counts(sums: Array) -> tuple[Array, Array, Array]:
    """True positives, false positives and false negatives, (..., labels) each."""
    shape = (*sums.shape[:-1], sums.shape[-1] // len(COUNTED), len(COUNTED))
    folded = np.asarray(sums, dtype=np.float64).reshape(shape)
    return folded[..., 0], folded[..., 1], folded[..., 2]


def label_f1(sums: Array) -> Array:
    """The F1 of each label; 0 for one with neither support nor prediction."""
    tp, fp, fn = label_counts(sums)
    return f1_of(tp, fp, fn, 0.0)


def mean_f1(sums: Array) -> Array:
    """The mean F1 of the labels with support or prediction."""
    return _mean_of_present(label_f1(sums), sums)


def mean_f1_of_all(sums: Array) -> Array:
    """The mean F1 of all labels; NaN where nothing at all was counted."""
    of_each, counted = label_f1(sums), np.any(sums, axis=-1)
    return _quotient(of_each.sum(axis=-1), counted * of_each.shape[-1])


def weighted_mean_f1(sums: Array) -> Array:
    """The mean F1 of the labels, each as often as it stands in gold."""
    tp, _, fn = label_counts(sums)
    return _quotient((label_f1(sums) * (tp + fn)).sum(axis=-1), (tp + fn).sum(axis=-1))


def mean_precision(sums: Array) -> Array:
    tp, fp, _ = label_counts(sums)
    return _mean_of_present(_share(tp, tp + fp), sums)


def mean_recall(sums: Array) -> Array:
    tp, _, fn = label_counts(sums)
    return _mean_of_present(_share(tp, tp + fn), sums)


def shared_f1(sums: Array) -> Array:
    """F1 from what is common, predicted and gold."""
    common = sums[..., 0]
    return f1_of(common, sums[..., 1] - common, sums[..., 2] - common)


def _mean_of_present(values: Array, sums: Array) -> Array:
    tp, fp, fn = label_counts(sums)
    present = tp + fp + fn > 0
    return _quotient((values * present).sum(axis=-1), present.sum(axis=-1))


def _share(part: Array, whole: Array) -> Array:
    """Part over whole, 0 where both are 0."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def _quotient(part: Array, whole: Array) -> Array:
    return ratio(np.stack([part, whole], axis=-1))
