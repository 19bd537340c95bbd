"""Types given to items: how often they are right, label by label and group by group.

Each metric reads one item. A missing prediction is wrong, never left out. A prediction that the
label set does not have matches nothing. An item whose gold label the set does not have cannot be
judged: every metric leaves it out and counts it, and `coverage` falls below 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ragauge.contracts.labels import LabelFacts, LabelSet
from ragauge.contracts.metric import (
    Absent,
    Metric,
    NotApplicable,
    Row,
    f1_of,
    metric,
    quotient,
    ratio,
)

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
    return f1_of(*label_counts(sums), 0.0)


def _mean_of_present(values: Array, sums: Array) -> Array:
    """The mean over the labels with support or prediction."""
    tp, fp, fn = label_counts(sums)
    present = tp + fp + fn > 0
    return quotient((values * present).sum(axis=-1), present.sum(axis=-1))


def mean_f1(sums: Array) -> Array:
    return _mean_of_present(label_f1(sums), sums)


def mean_f1_of_all(sums: Array) -> Array:
    """The mean F1 of all labels; NaN where nothing at all was counted."""
    of_each, counted = label_f1(sums), np.any(sums, axis=-1)
    return quotient(of_each.sum(axis=-1), counted * of_each.shape[-1])


def weighted_mean_f1(sums: Array) -> Array:
    """The mean F1 of the labels, each as often as it stands in gold."""
    tp, _, fn = label_counts(sums)
    return quotient((label_f1(sums) * (tp + fn)).sum(axis=-1), (tp + fn).sum(axis=-1))


def mean_precision(sums: Array) -> Array:
    tp, fp, _ = label_counts(sums)
    return _mean_of_present(quotient(tp, tp + fp, 0.0), sums)


def mean_recall(sums: Array) -> Array:
    tp, _, fn = label_counts(sums)
    return _mean_of_present(quotient(tp, tp + fn, 0.0), sums)


def shared_f1(sums: Array) -> Array:
    """F1 from what is common, predicted and gold."""
    common = sums[..., 0]
    return f1_of(common, sums[..., 1] - common, sums[..., 2] - common)


OUTSIDE = Absent("the set does not have the gold label")
UNGROUPED = NotApplicable("the labels have no groups")
UNANSWERED = Absent("nothing was predicted")

of_items = partial(metric, version=1, better="higher", bounds=(0, 1), unit="item", reads="labels")
"""A metric of items with labels: by default a share of them."""
over_labels = partial(of_items, needs=("labels", "gold", "predicted"), columns=COUNTED)
"""One that needs the counts of every label; `finish` takes any number of labels."""
in_categories = partial(
    of_items, needs=("grouped", "gold", "gold_path", "predicted", "predicted_path")
)
over_paths = partial(of_items, needs=("gold_path", "predicted_path", "answered"))


@of_items("labels.accuracy", needs=("gold", "predicted"))
def accuracy(facts: LabelFacts) -> Row | Absent:
    """Items with the gold label, over items."""
    if facts.gold is None:
        return OUTSIDE
    return Row((int(facts.gold == facts.predicted), 1))


@of_items("labels.accuracy_lenient", needs=("gold", "accepted"))
def accuracy_lenient(facts: LabelFacts) -> Row | Absent:
    """Items with the gold label or one of its secondary ones, over items."""
    if facts.gold is None:
        return OUTSIDE
    return Row((int(facts.accepted), 1))


@over_labels("labels.macro_f1", finish=mean_f1)
def macro_f1(facts: LabelFacts) -> Row | Absent:
    """Mean F1 of the labels that appear in gold or prediction.

    As scikit-learn's macro average over the labels it meets.
    """
    return _counted(facts)


@over_labels("labels.macro_f1_all", finish=mean_f1_of_all)
def macro_f1_all(facts: LabelFacts) -> Row | Absent:
    """Mean F1 of all labels of the set, 0 for those that do not appear.

    The brief's definition: it falls with every label that the gold set has no example of.
    """
    return _counted(facts)


@over_labels("labels.weighted_f1", finish=weighted_mean_f1)
def weighted_f1(facts: LabelFacts) -> Row | Absent:
    """Mean F1 of the labels, each weighted by its items in gold."""
    return _counted(facts)


@over_labels("labels.macro_precision", finish=mean_precision)
def macro_precision(facts: LabelFacts) -> Row | Absent:
    """Mean precision of the labels that appear in gold or prediction.

    0 for a label that is never predicted: it missed every one of its items.
    """
    return _counted(facts)


@over_labels("labels.macro_recall", finish=mean_recall)
def macro_recall(facts: LabelFacts) -> Row | Absent:
    """Mean recall of the labels that appear in gold or prediction.

    0 for a label that stands in predictions alone.
    """
    return _counted(facts)


@in_categories("labels.category_accuracy")
def category_accuracy(facts: LabelFacts) -> Row | Absent:
    """Items whose label is of the gold label's widest group, over items."""
    alike = _same_category(facts)
    return alike if isinstance(alike, Absent) else Row((int(alike), 1))


@in_categories("labels.category_gap", better="lower")
def category_gap(facts: LabelFacts) -> Row | Absent:
    """Items with the correct group and an incorrect label, over items.

    Category accuracy minus accuracy: what is lost within the groups.
    """
    alike = _same_category(facts)
    if isinstance(alike, Absent):
        return alike
    return Row((int(alike and facts.gold != facts.predicted), 1))


@over_paths("labels.hierarchical_precision", columns=("common", "predicted"), finish=ratio)
def hierarchical_precision(facts: LabelFacts) -> Row | Absent:
    """Labels and groups that prediction and gold share, over those of the prediction.

    A label counts with all it belongs to. A prediction outside the set is one label, shared with
    nobody.
    """
    if facts.gold_path and not facts.answered:
        return UNANSWERED
    shared = _shared(facts)
    return shared if isinstance(shared, Absent) else Row(shared[:2])


@over_paths("labels.hierarchical_recall", columns=("common", "gold"), finish=ratio)
def hierarchical_recall(facts: LabelFacts) -> Row | Absent:
    """Labels and groups that prediction and gold share, over those of gold."""
    shared = _shared(facts)
    return shared if isinstance(shared, Absent) else Row((shared[0], shared[2]))


@over_paths("labels.hierarchical_f1", columns=("common", "predicted", "gold"), finish=shared_f1)
def hierarchical_f1(facts: LabelFacts) -> Row | Absent:
    """Twice what prediction and gold share, over the labels and groups of both.

    >>> from ragauge.contracts.labels import LabelSet
    >>> museums = LabelSet(name="x", labels=("M", "L"), parents={"M": "CULTURAL", "L": "CULTURAL"})
    >>> hierarchical_f1(facts_of(museums, gold="M", predicted="L"))
    Row(counts=(1, 2, 2), reason=None)
    """
    shared = _shared(facts)
    return shared if isinstance(shared, Absent) else Row(shared)


@of_items("labels.coverage", needs=("gold", "answered"))
def coverage(facts: LabelFacts) -> Row | Absent:
    """Items that have a prediction, and a gold label the set has, over items."""
    return Row((int(facts.answered and facts.gold is not None), 1))


METRICS: tuple[Metric, ...] = (
    *(accuracy, accuracy_lenient, macro_f1, macro_f1_all, weighted_f1, macro_precision),
    *(macro_recall, category_accuracy, category_gap, hierarchical_precision, hierarchical_recall),
    *(hierarchical_f1, coverage),
)
OVER_LABELS = frozenset(entry.id for entry in METRICS if entry.columns == COUNTED)
"""The metrics that share their rows: three counts a label."""


def facts_of(
    label_set: LabelSet, gold: str, predicted: str | None, secondary: Sequence[str] = ()
) -> LabelFacts:
    """What is known of an item with this gold label and this prediction, None for none at all."""
    told = predicted if predicted in label_set.labels else None
    known = gold if gold in label_set.labels else None
    return LabelFacts(
        labels=label_set.labels,
        grouped=label_set.grouped,
        gold=known,
        gold_path=() if known is None else label_set.path(known),
        predicted=told,
        predicted_path=() if told is None else label_set.path(told),
        answered=predicted is not None,
        accepted=told is not None and (told == known or told in secondary),
    )


def _counted(facts: LabelFacts) -> Row | Absent:
    if facts.gold is None:
        return OUTSIDE
    counts = [0] * (len(COUNTED) * len(facts.labels))
    place = len(COUNTED) * facts.labels.index(facts.gold)
    if facts.gold == facts.predicted:
        counts[place] = 1
    else:
        counts[place + 2] = 1
        if facts.predicted is not None:
            counts[len(COUNTED) * facts.labels.index(facts.predicted) + 1] = 1
    return Row(tuple(counts))


def _same_category(facts: LabelFacts) -> bool | Absent:
    if not facts.grouped:
        return UNGROUPED
    if facts.gold is None:
        return OUTSIDE
    return facts.predicted is not None and facts.gold_path[0] == facts.predicted_path[0]


def _shared(facts: LabelFacts) -> tuple[int, int, int] | Absent:
    """How many labels and groups are common, of the prediction, and of gold."""
    gold, predicted = facts.gold_path, facts.predicted_path
    if not gold:
        return OUTSIDE
    if not predicted:
        return 0, int(facts.answered), len(gold)
    return len({*gold} & {*predicted}), len(predicted), len(gold)
