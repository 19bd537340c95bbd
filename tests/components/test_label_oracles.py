"""Types against the field's own tools: scikit-learn for rates and matrices, hiclass for paths."""

import math
import random

import numpy as np
import pytest
from hiclass import metrics as hiclass
from sklearn.metrics import accuracy_score, confusion_matrix, precision_recall_fscore_support

from ragauge.contracts.labels import LabelSet
from ragauge.ingest.labelled.label_sets import labels_met, read_label_set
from ragauge.metrics.label_sums import label_patterns, label_values
from ragauge.runners.components.evaluate_types import evaluate_types
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


def muddled(seed, labels, items=200):
    """Gold and predictions by id: some outside the set on either side, some without an answer."""
    source = random.Random(seed)
    gold, predicted = drawn(seed, labels, items)
    gold = [source.choice(("foo", "bar")) if source.random() < 0.1 else one for one in gold]
    said = [source.choice(("foo", "baz")) if source.random() < 0.15 else one for one in predicted]
    ids = [f"i{place:03}" for place in range(items)]
    answered = {id: one for id, one in zip(ids, said, strict=True) if source.random() < 0.8}
    return dict(zip(ids, gold, strict=True)), answered


def table(file, labels):
    file.write_text("id\tlabel\n" + "".join(f"{id}\t{one}\n" for id, one in labels.items()))
    return file


@pytest.mark.parametrize("seed", SEEDS)
def test_missing_answers_and_strange_labels_together_equal_sklearn(tmp_path, seed):
    """To scikit-learn a missing answer is one more label that gold never has."""
    gold, said = muddled(seed, HERITAGE.labels)
    sides = table(tmp_path / "gold.tsv", gold), table(tmp_path / "predicted.tsv", said)
    found = evaluate_types(*sides, labels="heritage", intervals=False).report
    value = {id.partition(".")[2]: score.value for id, score in found.metrics.items()}
    judged = [id for id in gold if gold[id] in HERITAGE.labels]
    one, other = [gold[id] for id in judged], [said.get(id, "MISSING") for id in judged]
    assert value["accuracy"] == accuracy_score(one, other)
    declared = {"labels": HERITAGE.labels}
    assert value["macro_f1_all"] == pytest.approx(report(one, other, "macro", **declared)[2])
    present = report(one, other, "macro", **declared, zero_division=math.nan)
    assert value["macro_f1"] == pytest.approx(present[2])
    assert value["weighted_f1"] == pytest.approx(report(one, other, "weighted", **declared)[2])
    columns = precision_recall_fscore_support(one, other, average=None, zero_division=0, **declared)
    for label, *row in zip(HERITAGE.labels, *columns, strict=True):
        told = found.per_type[label]
        assert [told[name] or 0 for name in ("precision", "recall", "f1", "support")] == [
            pytest.approx(one) for one in row
        ]
    assert found.finding_counts["missing_prediction"] == len(gold) - len(said)
    assert found.finding_counts["unknown_gold_label"] == len(gold) - len(judged)
    strange = sum(one not in HERITAGE.labels for one in said.values())
    assert found.finding_counts["unknown_predicted_label"] == strange
    assert sum(map(sum, found.detail.matrix)) == len(gold)


@pytest.mark.parametrize("seed", SEEDS)
def test_without_a_set_all_labels_met_count_and_a_missing_answer_is_none_of_them(seed):
    gold, said = muddled(seed, HERITAGE.labels)
    found = evaluate_types(gold, said, intervals=False).report
    one, other = list(gold.values()), [said.get(id, "MISSING") for id in gold]
    met = sorted({*one, *said.values()})
    assert found.metrics["labels.accuracy"].value == accuracy_score(one, other)
    macro = report(one, other, "macro", labels=met)[2]
    assert found.metrics["labels.macro_f1"].value == pytest.approx(macro)
