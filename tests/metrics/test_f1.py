"""F1 is one number, whoever asks for it."""

import numpy as np
from sklearn.metrics import f1_score

from ragauge.contracts.metric import f1_of, f1_of_sums
from ragauge.metrics.entities import f1
from ragauge.metrics.labels import label_f1, shared_f1
from ragauge.metrics.linking import f1_of_mentions

COUNTS = np.array([[tp, fp, fn] for tp in range(4) for fp in range(4) for fn in range(4)])


def test_entities_labels_and_links_have_the_same():
    tp, fp, fn = COUNTS.T
    wanted = f1_of_sums(COUNTS)
    of_links = f1_of_mentions.keywords["finish"](COUNTS)
    of_paths = shared_f1(np.stack([tp, tp + fp, tp + fn], axis=-1))
    for found in (f1("null")(COUNTS), of_links, of_paths):
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(label_f1(COUNTS)[:, 0], f1("zero")(COUNTS))


def test_it_is_what_scikit_learn_says():
    for tp, fp, fn in COUNTS.tolist():
        gold = [1] * tp + [0] * fp + [1] * fn + [0]
        said = [1] * tp + [1] * fp + [0] * fn + [0]
        assert f1_of(tp, fp, fn, 0.0) == f1_score(gold, said, zero_division=0.0)


def test_nothing_counted_is_no_number_unless_one_is_asked_for():
    assert np.isnan(f1_of(0, 0, 0))
    assert f1_of(0, 0, 0, 1.0) == 1.0
