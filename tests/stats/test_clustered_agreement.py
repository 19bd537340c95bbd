"""κ and α of labels in clusters, against the packages and the plain functions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from ragauge.stats.agreement import (
    clustered_alpha_interval,
    clustered_kappa,
    clustered_kappa_interval,
    confusion,
    kappa_interval,
    pair_counts,
)
from ragauge.stats.intervals import wilson
from ragauge.stats.krippendorff import alpha, alpha_interval

close = pytest.approx
LABELS = 3


def labelled(judges, units, clusters, keep=0.7, seed=0):
    """Judges who mostly see the same, and the clusters of what they saw."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, LABELS, units)
    other = rng.integers(0, LABELS, (judges, units))
    codes = np.where(rng.random((judges, units)) < keep, truth, other)
    return codes, np.sort(rng.integers(0, clusters, units))


def rows_of(codes, clusters, size):
    return pair_counts(codes[0], codes[1], clusters, (size, LABELS))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 3)), max_size=30))
def test_kappa_is_that_of_scikit_learn_whatever_the_clusters(units):
    one, other, clusters = np.array(units, dtype=np.int64).reshape(-1, 3).T
    found = clustered_kappa(pair_counts(one, other, clusters, (4, LABELS)))
    if not units or len({*one.tolist(), *other.tolist()}) == 1:
        assert found is None
    else:
        assert found == close(cohen_kappa_score(one, other))


def test_where_each_unit_is_a_cluster_the_intervals_are_the_plain_ones():
    codes, _ = labelled(2, 60, 1)
    alone = np.arange(60)
    low, high = clustered_kappa_interval([rows_of(codes, alone, 60)])
    table = confusion([(str(a), str(b)) for a, b in codes.T.tolist()], ("0", "1", "2"))
    plain = kappa_interval(table)
    # The plain variance is of a large sample: it does not divide by one unit less.
    assert (high - low) / (plain[1] - plain[0]) == close(math.sqrt(60 / 59))
    shape = (60, LABELS)
    assert clustered_alpha_interval(codes, alone, shape) == close(alpha_interval(codes))


def test_units_said_twice_in_one_cluster_make_nothing_surer():
    """Each unit five times, in its own cluster, tells what each unit once tells."""
    codes, _ = labelled(3, 40, 1)
    codes[0, :5] = -1
    alone, again = np.arange(40), np.repeat(np.arange(40), 5)
    many = np.repeat(codes, 5, axis=1)
    looked = (codes[0] >= 0) & (codes[1] >= 0)
    both = np.repeat(looked, 5)
    once = clustered_kappa_interval([rows_of(codes[:, looked], alone[looked], 40)])
    assert clustered_kappa_interval([rows_of(many[:, both], again[both], 40)]) == close(once)
    # As units of their own they would look surer than they are.
    ratings = np.where(many < 0, math.nan, many)
    naive = alpha_interval(ratings)
    low, high = clustered_alpha_interval(many, again, (40, LABELS))
    assert high - low > 1.8 * (naive[1] - naive[0])
    assert low < alpha(ratings).value < high


def jackknifed(values):
    n = len(values)
    return (n - 1) / n * float(((np.array(values) - np.mean(values)) ** 2).sum())


def test_intervals_are_near_those_of_leaving_each_cluster_out():
    codes, clusters = labelled(2, 2000, 50, seed=3)
    kept = [clusters != one for one in range(50)]
    kappas = [clustered_kappa(rows_of(codes[:, k], clusters[k], 50)) for k in kept]
    low, high = clustered_kappa_interval([rows_of(codes, clusters, 50)])
    assert (high - low) / 2 / 1.959964 == close(math.sqrt(jackknifed(kappas)), rel=0.05)
    alphas = [alpha(codes[:, k].astype(float)).value for k in kept]
    low, high = clustered_alpha_interval(codes, clusters, (50, LABELS))
    assert (high - low) / 2 / 1.959964 == close(math.sqrt(jackknifed(alphas)), rel=0.05)


def test_full_agreement_is_not_a_point():
    codes, clusters = labelled(2, 30, 10, keep=1.0)
    size = len({*clusters.tolist()})
    low, high = clustered_kappa_interval([rows_of(codes, clusters, 10)])
    shares = np.bincount(codes[0], minlength=LABELS) / 30
    chance = float((shares**2).sum())
    assert high == 1
    assert low == close((wilson(1.0, size)[0] - chance) / (1 - chance))
    low, high = clustered_alpha_interval(codes, clusters, (10, LABELS))
    assert 0 < low < high == 1


def test_one_cluster_or_one_label_has_no_interval():
    codes, _ = labelled(2, 30, 1)
    nowhere = np.zeros(30, dtype=np.int64)
    assert clustered_kappa_interval([rows_of(codes, nowhere, 1)]) is None
    assert clustered_alpha_interval(codes, nowhere, (1, LABELS)) is None
    same, clusters = codes * 0, np.arange(30)
    assert clustered_kappa_interval([rows_of(same, clusters, 30)]) is None
    assert clustered_alpha_interval(same, clusters, (30, LABELS)) is None
