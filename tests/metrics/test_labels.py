"""The label metrics: laws of their own, and the columnar rows beside the plain ones."""

from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import ragauge.metrics.label_sums as kernel
from ragauge.contracts.labels import LabelSet
from ragauge.contracts.metric import Absent, NotApplicable, Row
from ragauge.metrics.label_sums import (
    label_patterns,
    label_sums,
    label_totals,
    label_values,
    too_many_labels,
)
from ragauge.metrics.labels import METRICS, OVER_LABELS, facts_of
from ragauge.runners.evaluation import scored

KINDS = LabelSet(
    name="kinds",
    labels=("M", "L", "A", "C", "D"),
    parents={"M": "CULTURAL", "L": "CULTURAL", "A": "PAPER", "PAPER": "CULTURAL", "C": "PRIVATE"},
)
FLAT = LabelSet(name="flat", labels=("M", "L", "A"))
DOTTED = LabelSet(name="dotted", labels=("GRP.HER.MUS", "GRP.HER.LIB", "GRP.EDU", "TOP"))
BY_ID = {entry.id: entry for entry in METRICS}


@st.composite
def labelled(draw):
    """A label set with gold, predictions and secondary labels, some of them outside the set."""
    label_set = draw(st.sampled_from((KINDS, FLAT, DOTTED)))
    label = st.sampled_from((*label_set.labels, "foo", "bar"))
    items = draw(
        st.lists(st.tuples(label, st.none() | label, st.lists(label, max_size=2)), max_size=14)
    )
    return label_set, items


def patterns_of(label_set, items):
    gold, predicted, secondary = zip(*items, strict=True) if items else ((), (), ())
    return label_patterns(label_set, gold, predicted, secondary)


def facts(label_set, gold, predicted, secondary=()):
    return facts_of(label_set, gold, predicted, secondary)


@given(labelled())
def test_rows_from_patterns_equal_the_plain_ones(drawn):
    label_set, items = drawn
    found = label_sums(patterns_of(label_set, items))
    assert set(found) == set(BY_ID)
    for id, sums in found.items():
        plain = [BY_ID[id](facts(label_set, *item)) for item in items]
        assert [bool(one) for one in sums.scored] == [isinstance(row, Row) for row in plain]
        assert sum(sums.absent.values()) == sum(isinstance(row, Absent) for row in plain)
        for row, kept in zip(plain, sums.sums.tolist(), strict=True):
            assert kept == (list(row.counts) if isinstance(row, Row) else [0] * len(kept))


@given(labelled())
def test_values_from_totals_equal_those_of_the_rows(drawn):
    label_set, items = drawn
    patterns = patterns_of(label_set, items)
    quick = label_values(patterns)
    for id, sums in label_sums(patterns).items():
        assert quick[id] == scored(sums, "", intervals=False).value


@given(labelled(), st.data())
def test_units_that_are_alike_are_computed_once_and_come_out_as_each_alone(drawn, data):
    label_set, items = drawn
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(items), max_size=len(items))))
    for sums in label_sums(patterns_of(label_set, items)).values():
        each = replace(sums, kinds=None)
        np.testing.assert_array_equal(sums.values(), each.values())
        for some in (None, mask.astype(bool)):
            assert scored(sums, "", some) == scored(each, "", some)


@given(labelled(), st.randoms(use_true_random=False))
def test_the_order_of_items_changes_nothing(drawn, random):
    label_set, items = drawn
    shuffled = random.sample(items, len(items))
    assert label_values(patterns_of(label_set, items)) == label_values(
        patterns_of(label_set, shuffled)
    )


@given(labelled())
def test_values_keep_their_order(drawn):
    label_set, items = drawn
    value = label_values(patterns_of(label_set, items))
    for entry in METRICS:
        assert value[entry.id] is None or 0 <= value[entry.id] <= 1
    if value["labels.accuracy"] is None:
        return
    assert value["labels.accuracy"] <= value["labels.accuracy_lenient"]
    assert value["labels.macro_f1_all"] <= value["labels.macro_f1"]
    if label_set.grouped:
        gap = value["labels.category_accuracy"] - value["labels.accuracy"]
        assert value["labels.category_gap"] == pytest.approx(gap)


@given(labelled())
def test_the_matrix_sums_to_the_items_and_its_diagonal_to_the_right_ones(drawn):
    label_set, items = drawn
    patterns = patterns_of(label_set, items)
    matrix = patterns.matrix()
    assert matrix.sum() == len(items)
    plain = [BY_ID["labels.accuracy"](facts(label_set, *item)) for item in items]
    right = sum(row.counts[0] for row in plain if isinstance(row, Row))
    assert sum(matrix[place, place] for place in range(len(label_set.labels))) == right


@given(labelled())
def test_many_possible_patterns_are_counted_like_few(drawn):
    label_set, items = drawn
    with pytest.MonkeyPatch.context() as patch:
        table = patterns_of(label_set, items)
        patch.setattr(kernel, "DENSE", -1)
        sorted_out = label_patterns(label_set, *zip(*items, strict=True)) if items else table
    for name in ("gold", "predicted", "accepted", "count", "pattern"):
        assert getattr(table, name).tolist() == getattr(sorted_out, name).tolist()


def test_lists_of_different_length_are_refused():
    with pytest.raises(ValueError, match="3 gold labels, but 1 predictions"):
        label_patterns(FLAT, ["M", "L", "A"], ["M"])


@pytest.mark.parametrize("id", sorted(OVER_LABELS))
def test_averages_take_any_number_of_labels(id):
    finish = BY_ID[id].finish
    one = np.array([3, 1, 2])
    assert finish(one) == pytest.approx(float(finish(np.tile(one, 4))))
    stacked = np.stack([np.tile(one, 4), np.zeros(12, dtype=int)])
    assert finish(stacked)[0] == pytest.approx(float(finish(one)))


def test_d1_macro_f1_leaves_out_labels_that_stand_nowhere():
    letters = LabelSet(name="letters", labels=tuple("GLAMORCUBESFIXPHDNT"))
    perfect = label_values(label_patterns(letters, list("MLA"), list("MLA")))
    assert perfect["labels.macro_f1"] == 1.0
    assert perfect["labels.macro_f1_all"] == pytest.approx(3 / 19)


def test_d3_nothing_in_the_list_is_none_with_a_reason():
    for gold in ([], ["foo", "bar"]):
        sums = label_sums(label_patterns(KINDS, gold, ["M"] * len(gold)))
        for id in set(sums) - {"labels.coverage"}:
            found = scored(sums[id], "")
            assert (found.value, found.n, found.of) == (None, 0, len(gold))
            wanted = "the set does not have the gold label" if gold else "no item has a gold label"
            assert wanted in found.reason


def test_d4_a_missing_prediction_counts_as_wrong():
    value = label_values(label_patterns(FLAT, ["M", "L", "A"], ["M", None, None]))
    assert value["labels.accuracy"] == pytest.approx(1 / 3)
    assert value["labels.macro_f1"] == pytest.approx(1 / 3)
    assert value["labels.hierarchical_recall"] == pytest.approx(1 / 3)
    assert value["labels.hierarchical_precision"] == 1.0
    assert value["labels.coverage"] == pytest.approx(1 / 3)


def test_d6_lenient_accuracy_takes_the_secondary_labels():
    patterns = label_patterns(FLAT, ["M", "M", "M"], ["L", "A", "M"], [("L",), ("L",), ()])
    value = label_values(patterns)
    assert value["labels.accuracy"] == pytest.approx(1 / 3)
    assert value["labels.accuracy_lenient"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(("gold", "predicted"), [("M", "foo"), ("M", None), ("M", "")])
def test_e1_an_unknown_prediction_never_matches(gold, predicted):
    item = facts(KINDS, gold, predicted, secondary=["foo"])
    for id in ("accuracy", "accuracy_lenient", "category_accuracy", "hierarchical_recall"):
        assert BY_ID[f"labels.{id}"](item).counts[0] == 0


@pytest.mark.parametrize("predicted", ["foo", "bar", "M", None])
def test_e1_an_unknown_gold_label_is_left_out_and_counted(predicted):
    item = facts(KINDS, "foo", predicted)
    for id in set(BY_ID) - {"labels.coverage"}:
        assert BY_ID[id](item) == Absent("the set does not have the gold label")
    assert BY_ID["labels.coverage"](item) == Row((0, 1))


def test_e2_hierarchical_values_of_the_published_example():
    groups = {"M": "CULTURAL", "L": "CULTURAL", "C": "PRIVATE"}
    label_set = LabelSet(name="x", labels=("M", "L", "C"), parents=groups)
    value = label_values(label_patterns(label_set, ["M", "L"], ["L", "C"]))
    assert value["labels.category_accuracy"] == 0.5
    assert value["labels.category_gap"] == 0.5
    for name in ("precision", "recall", "f1"):
        assert value[f"labels.hierarchical_{name}"] == 0.25


def test_e2_paths_may_be_of_any_depth():
    deep = facts(DOTTED, "GRP.HER.MUS", "GRP.HER.LIB")
    assert BY_ID["labels.hierarchical_f1"](deep) == Row((2, 3, 3))
    shallow = facts(DOTTED, "GRP.HER.MUS", "GRP.EDU")
    assert BY_ID["labels.hierarchical_f1"](shallow) == Row((1, 2, 3))


def test_flat_labels_have_no_category():
    assert BY_ID["labels.category_accuracy"](facts(FLAT, "M", "L")) == NotApplicable(
        "the labels have no groups"
    )


def test_thousands_of_labels_leave_out_the_rows_that_do_not_fit(monkeypatch):
    from ragauge.metrics import label_sums as module

    patterns = label_patterns(FLAT, ["M", "L"], ["M", "A"])
    monkeypatch.setattr(module, "LARGEST", 17)
    assert too_many_labels(patterns)
    assert set(BY_ID) - set(label_sums(patterns)) == OVER_LABELS
    assert label_totals(patterns).tolist() == [1, 0, 0, 0, 0, 1, 0, 1, 0]


@given(labelled())
def test_the_totals_are_the_sum_of_the_plain_rows(drawn):
    label_set, items = drawn
    rows = [BY_ID["labels.macro_f1"](facts(label_set, *item)) for item in items]
    width = 3 * len(label_set.labels)
    counted = [np.array(row.counts) for row in rows if isinstance(row, Row)]
    plain = reduce(add, counted, np.zeros(width, dtype=int))
    assert label_totals(patterns_of(label_set, items)).tolist() == plain.tolist()
