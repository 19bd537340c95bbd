"""Types against the field's own tools: scikit-learn for rates and matrices, hiclass for paths."""

import math
import random

import numpy as np
import pytest
from hiclass import metrics as hiclass
from sklearn.metrics import accuracy_score, confusion_matrix, precision_recall_fscore_support

from ragauge.contracts.labels import LabelSet
from ragauge.ingest.labelled.label_sets import labels_met, read_label_set
from ragauge.metrics.label_codes import label_patterns
from ragauge.metrics.label_sums import label_values
from ragauge.runners.components.types_detail import per_label

HERITAGE = read_label_set("heritage")
SEEDS = range(12)


def drawn(seed, labels, items=200):
    """Gold and predictions, most of them right, over some of the labels."""
    source = random.Random(seed)
    used = source.sample(labels, source.randint(1, len(labels)))
    gold = source.choices(used, k=items)
    others = source.sample(labels, source.randint(1, len(labels)))
    return gold, [one if source.random() < 0.6 else source.choice(others) for one in gold]


def report(gold, predicted, average, **how):
    precision, recall, f1, _ = precision_recall_fscore_support(
        gold, predicted, average=average, **{"zero_division": 0.0, **how}
    )
    return precision, recall, f1


@pytest.mark.parametrize("seed", SEEDS)
def test_averages_over_labels_met_equal_sklearn(seed):
    gold, predicted = drawn(seed, HERITAGE.labels)
    value = label_values(label_patterns(labels_met(gold, predicted), gold, predicted))
    precision, recall, f1 = report(gold, predicted, "macro")
    assert value["labels.macro_precision"] == pytest.approx(precision)
    assert value["labels.macro_recall"] == pytest.approx(recall)
    assert value["labels.macro_f1"] == pytest.approx(f1)
    assert value["labels.weighted_f1"] == pytest.approx(report(gold, predicted, "weighted")[2])
    assert value["labels.accuracy"] == accuracy_score(gold, predicted)


@pytest.mark.parametrize("seed", SEEDS)
def test_averages_over_a_declared_set_equal_sklearn(seed):
    gold, predicted = drawn(seed, HERITAGE.labels)
    value = label_values(label_patterns(HERITAGE, gold, predicted))
    declared = {"labels": HERITAGE.labels}
    without_absent = report(gold, predicted, "macro", **declared, zero_division=math.nan)
    assert value["labels.macro_f1"] == pytest.approx(without_absent[2])
    assert value["labels.macro_f1_all"] == pytest.approx(
        report(gold, predicted, "macro", **declared)[2]
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_predictions_outside_the_set_count_as_sklearn_counts_them(seed):
    gold, predicted = drawn(seed, HERITAGE.labels)
    predicted = ["foo" if place % 7 == 0 else one for place, one in enumerate(predicted)]
    value = label_values(label_patterns(HERITAGE, gold, predicted))
    found = report(gold, predicted, "macro", labels=HERITAGE.labels)
    assert value["labels.macro_f1_all"] == pytest.approx(found[2])
    assert value["labels.accuracy"] == accuracy_score(gold, predicted)


@pytest.mark.parametrize("seed", SEEDS)
def test_gold_outside_the_set_is_left_out(seed):
    gold, predicted = drawn(seed, HERITAGE.labels)
    gold = ["foo" if place % 5 == 0 else one for place, one in enumerate(gold)]
    value = label_values(label_patterns(HERITAGE, gold, predicted))
    kept = [place for place, one in enumerate(gold) if one != "foo"]
    gold, predicted = [gold[place] for place in kept], [predicted[place] for place in kept]
    assert value["labels.accuracy"] == accuracy_score(gold, predicted)
    assert value["labels.macro_f1"] == pytest.approx(report(gold, predicted, "macro")[2])


@pytest.mark.parametrize("seed", SEEDS)
def test_each_label_equals_sklearn(seed):
    gold, predicted = drawn(seed, HERITAGE.labels)
    found = per_label(label_patterns(HERITAGE, gold, predicted))
    columns = precision_recall_fscore_support(
        gold, predicted, labels=HERITAGE.labels, average=None, zero_division=math.nan
    )
    for label, *row in zip(HERITAGE.labels, *columns, strict=True):
        mine = [found[label][name] for name in ("precision", "recall", "f1", "support")]
        assert mine == [None if math.isnan(one) else pytest.approx(one) for one in row]
        assert found[label]["predicted"] == predicted.count(label)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_matrix_equals_sklearn(seed):
    gold, predicted = drawn(seed, HERITAGE.labels)
    matrix = label_patterns(HERITAGE, gold, predicted).matrix()
    assert (
        matrix[:-1, :-2].tolist()
        == confusion_matrix(gold, predicted, labels=HERITAGE.labels).tolist()
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_groups_equal_hiclass(seed):
    gold, predicted = drawn(seed, HERITAGE.labels)
    value = label_values(label_patterns(HERITAGE, gold, predicted))
    paths = [np.array([HERITAGE.path(one) for one in side]) for side in (gold, predicted)]
    assert value["labels.hierarchical_precision"] == pytest.approx(hiclass.precision(*paths))
    assert value["labels.hierarchical_recall"] == pytest.approx(hiclass.recall(*paths))
    assert value["labels.hierarchical_f1"] == pytest.approx(hiclass.f1(*paths, zero_division=0.0))


DEEP = LabelSet(
    name="deep",
    labels=("a.b.c.d", "a.b.c.e", "a.b.f", "a.g", "h.i.j", "h.k", "l"),
)


@pytest.mark.parametrize("seed", SEEDS)
def test_paths_of_any_depth_equal_hiclass(seed):
    gold, predicted = drawn(seed, DEEP.labels)
    value = label_values(label_patterns(DEEP, gold, predicted))
    depth = max(len(DEEP.path(one)) for one in DEEP.labels)
    paths = [
        np.array([(*DEEP.path(one), *[""] * (depth - len(DEEP.path(one)))) for one in side])
        for side in (gold, predicted)
    ]
    assert value["labels.hierarchical_precision"] == pytest.approx(hiclass.precision(*paths))
    assert value["labels.hierarchical_recall"] == pytest.approx(hiclass.recall(*paths))
    assert value["labels.hierarchical_f1"] == pytest.approx(hiclass.f1(*paths, zero_division=0.0))


def test_a_single_class_equals_sklearn():
    gold, predicted = ["M"] * 4, ["M"] * 4
    value = label_values(label_patterns(labels_met(gold, predicted), gold, predicted))
    assert value["labels.macro_f1"] == report(gold, predicted, "macro")[2] == 1.0
