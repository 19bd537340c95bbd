"""Types against the field's own tools: scikit-learn for rates and matrices, hiclass for paths."""

import math
import random

import numpy as np
import pytest
from hiclass import metrics as hiclass
from sklearn.metrics import accuracy_score, confusion_matrix, precision_recall_fscore_support

from ragauge.contracts.labels import LabelSet
from ragauge.ingest.label_sets import labels_met, read_label_set
from ragauge.metrics.label_sums import label_patterns, label_values
from ragauge.runners.components.evaluate_types import evaluate_types

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


def sets():
    return (drawn(seed, HERITAGE.labels) for seed in SEEDS)


def test_averages_equal_sklearn():
    declared = {"labels": HERITAGE.labels}
    for gold, predicted in sets():
        value = label_values(label_patterns(labels_met(gold, predicted), gold, predicted))
        names = ("labels.macro_precision", "labels.macro_recall", "labels.macro_f1")
        macro = report(gold, predicted, "macro")
        assert [value[name] for name in names] == [pytest.approx(one) for one in macro]
        assert value["labels.weighted_f1"] == pytest.approx(report(gold, predicted, "weighted")[2])
        assert value["labels.accuracy"] == accuracy_score(gold, predicted)
        value = label_values(label_patterns(HERITAGE, gold, predicted))
        without_absent = report(gold, predicted, "macro", **declared, zero_division=math.nan)
        every = report(gold, predicted, "macro", **declared)
        assert value["labels.macro_f1"] == pytest.approx(without_absent[2])
        assert value["labels.macro_f1_all"] == pytest.approx(every[2])


def test_labels_outside_the_set_count_as_sklearn_counts_them_and_not_in_gold():
    for gold, predicted in sets():
        said = ["foo" if place % 7 == 0 else one for place, one in enumerate(predicted)]
        value = label_values(label_patterns(HERITAGE, gold, said))
        found = report(gold, said, "macro", labels=HERITAGE.labels)
        assert value["labels.macro_f1_all"] == pytest.approx(found[2])
        assert value["labels.accuracy"] == accuracy_score(gold, said)
        odd = ["foo" if place % 5 == 0 else one for place, one in enumerate(gold)]
        value = label_values(label_patterns(HERITAGE, odd, predicted))
        kept = [place for place, one in enumerate(odd) if one != "foo"]
        one, other = [gold[place] for place in kept], [predicted[place] for place in kept]
        assert value["labels.accuracy"] == accuracy_score(one, other)
        assert value["labels.macro_f1"] == pytest.approx(report(one, other, "macro")[2])


def test_each_label_and_the_matrix_equal_sklearn():
    for gold, predicted in sets():
        sides = ({str(id): label for id, label in enumerate(side)} for side in (gold, predicted))
        found = evaluate_types(*sides, labels="heritage", intervals=False).report
        columns = precision_recall_fscore_support(
            gold, predicted, labels=HERITAGE.labels, average=None, zero_division=math.nan
        )
        for label, *row in zip(HERITAGE.labels, *columns, strict=True):
            rates = found.per_type[label]
            mine = [rates[name] for name in ("precision", "recall", "f1", "support")]
            assert mine == [None if math.isnan(one) else pytest.approx(one) for one in row]
            assert rates["predicted"] == predicted.count(label)
        theirs = confusion_matrix(gold, predicted, labels=HERITAGE.labels).tolist()
        assert [list(row) for row in found.detail.matrix] == theirs


DEEP = LabelSet(
    name="deep",
    labels=("a.b.c.d", "a.b.c.e", "a.b.f", "a.g", "h.i.j", "h.k", "l"),
)


@pytest.mark.parametrize("known", [HERITAGE, DEEP], ids=["heritage", "deep"])
def test_paths_of_any_depth_equal_hiclass(known):
    depth = max(len(known.path(one)) for one in known.labels)
    for gold, predicted in (drawn(seed, known.labels) for seed in SEEDS):
        value = label_values(label_patterns(known, gold, predicted))
        paths = [
            np.array([(*known.path(one), *[""] * (depth - len(known.path(one)))) for one in side])
            for side in (gold, predicted)
        ]
        names = ("precision", "recall", "f1")
        theirs = (hiclass.precision(*paths), hiclass.recall(*paths))
        theirs = (*theirs, hiclass.f1(*paths, zero_division=0.0))
        assert [value[f"labels.hierarchical_{name}"] for name in names] == [
            pytest.approx(one) for one in theirs
        ]


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
