"""Two samples told apart: the AUC of the field's own tools, and thresholds by a plain twin."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from ragauge.stats.separation import (
    auc,
    auc_interval,
    best_threshold,
    cut_at,
    threshold_range,
)

values = st.integers(0, 12).map(lambda number: number / 12)
samples = st.lists(values, min_size=1, max_size=15)
pairs = st.lists(st.tuples(values, values), min_size=1, max_size=15)


def unzipped(some):
    return [low for low, _ in some], [high for _, high in some]


def plain_auc(low, high):
    won = sum(2 if a < b else a == b for a in low for b in high)
    return won / (2 * len(low) * len(high))


def plain_threshold(low, high):
    """Every place between two neighbouring values, tried one after the other."""
    known = sorted({*low, *high})
    tried = []
    for here, there in pairwise(known):
        middle = (here + there) / 2
        right = sum(a <= middle for a in low) + sum(b > middle for b in high)
        tried.append((-right, -round(there - here, 9), middle))
    right, _, middle = min(tried, default=(0, 0, None))
    return middle if -right > len(low) else None


@given(samples, samples)
def test_the_auc_is_that_of_scikit_learn_and_of_a_plain_count(low, high):
    truth = [0] * len(low) + [1] * len(high)
    assert auc(low, high) == pytest.approx(roc_auc_score(truth, [*low, *high]), abs=1e-12)
    assert auc(low, high) == plain_auc(low, high)


@given(samples, samples)
def test_samples_that_change_places_have_the_other_auc(low, high):
    assert auc(low, high) + auc(high, low) == pytest.approx(1)
    assert auc(low[::-1], high) == auc(low, high)


def test_without_values_there_is_no_auc():
    assert auc([], [0.5]) is None
    assert auc([0.5], []) is None
    assert auc_interval([], []) is None
    assert auc_interval([0.1], [0.9]) is None


@given(pairs)
def test_the_threshold_is_the_plain_twins(some):
    low, high = unzipped(some)
    found, twin = best_threshold(low, high), plain_threshold(low, high)
    assert found == (twin if twin is None else pytest.approx(twin))


@given(pairs)
def test_no_place_between_the_values_is_more_accurate(some):
    low, high = unzipped(some)
    found = best_threshold(low, high)
    truth = [0] * len(low) + [1] * len(high)

    def accuracy(threshold):
        said = [int(value > threshold) for value in (*low, *high)]
        return balanced_accuracy_score(truth, said)

    best = max(accuracy(value + 1e-9) for value in (*low, *high))
    if found is None:
        assert best <= 0.5
        return
    cut = cut_at(found, low, high)
    assert accuracy(found) == pytest.approx(best)
    assert (cut.sensitivity + cut.specificity) / 2 == pytest.approx(best)


def test_of_equal_thresholds_the_widest_gap_wins_then_the_lowest():
    assert best_threshold([0.1, 0.5], [0.2, 0.9]) == pytest.approx(0.7)
    assert best_threshold([0.1, 0.3], [0.2, 0.4]) == pytest.approx(0.15)


def test_what_lies_on_the_threshold_is_low():
    cut = cut_at(0.5, [0.5, 0.6], [0.5, 0.6])
    assert (cut.low, cut.high, cut.pairs) == (1, 1, 2)


def test_samples_that_cannot_be_told_apart_have_no_threshold():
    assert best_threshold([0.5] * 9, [0.5] * 9) is None
    assert best_threshold([0.9, 0.8], [0.1, 0.2]) is None
    assert best_threshold([], []) is None


@pytest.mark.parametrize("made", [auc_interval, best_threshold, threshold_range])
def test_units_without_their_other_half_are_refused(made):
    with pytest.raises(ValueError, match="2 lows and 1 highs are no pairs"):
        made([0.1, 0.2], [0.9])
    with pytest.raises(ValueError, match="finite"):
        made([math.nan], [0.9])


def delong_variance(low, high):
    """The variance of pairs from DeLong's two covariances, each as it is printed."""
    n = len(low)
    wins = np.array([[float(a < b) + (a == b) / 2 for b in high] for a in low])
    of_low, of_high = wins.mean(axis=1), wins.mean(axis=0)
    cov = np.cov(of_low, of_high)
    return (cov[0, 0] + cov[1, 1] + 2 * cov[0, 1]) / n


def test_the_interval_rests_on_delongs_variance():
    draw = np.random.default_rng(3)
    low = draw.normal(0, 1, 60)
    high = low * 0.4 + draw.normal(0.8, 1, 60)
    value = auc(low, high)
    lowest, highest = auc_interval(low, high)
    worth = value * (1 - value) / delong_variance(low, high)
    assert 60 < worth < 120
    z = 1.959963984540054
    # Wilson's ends are where the value is z standard errors away.
    for end in (lowest, highest):
        assert abs(value - end) / math.sqrt(end * (1 - end) / worth) == pytest.approx(z)


def test_perfect_separation_of_a_few_pairs_is_no_certainty():
    few, many = (auc_interval([0.1] * n, [0.9] * n) for n in (10, 100))
    assert few[1] == many[1] == 1
    assert few[0] == pytest.approx(20 / (20 + 1.959963984540054**2))
    assert few[0] < many[0] < 1


@given(pairs.filter(lambda some: len(some) > 1))
def test_the_interval_holds_the_value(some):
    low, high = unzipped(some)
    lowest, highest = auc_interval(low, high)
    assert 0 <= lowest <= auc(low, high) + 1e-12
    assert auc(low, high) - 1e-12 <= highest <= 1


@pytest.mark.parametrize("truth", [0.75, 0.9, 0.97])
def test_the_interval_holds_the_truth_about_as_often_as_it_says(truth):
    from scipy.stats import norm

    draw = np.random.default_rng(5)
    shift = norm.ppf(truth) * math.sqrt(2)
    held, times = 0, 600
    for _ in range(times):
        low = draw.normal(0, 1, 25)
        high = 0.3 * low + math.sqrt(1 - 0.3**2) * draw.normal(0, 1, 25) + shift
        lowest, highest = auc_interval(low, high)
        held += lowest <= truth <= highest
    assert held / times >= 0.93


def sample(n=40):
    draw = np.random.default_rng(7)
    return np.round(draw.normal(0.5, 0.1, n), 6), np.round(draw.normal(0.75, 0.1, n), 6)


def test_the_range_is_that_of_the_plain_twin_over_the_same_draws():
    from ragauge.stats.draws import below

    low, high = np.array(sorted(zip(*sample(12), strict=True))).T
    drawn = [plain_threshold(low[units], high[units]) for units in below(4, 12, (300, 12))]
    known = [found for found in drawn if found is not None]
    made = threshold_range(low, high, seed=4, draws=300)
    assert made.ci == pytest.approx(tuple(np.quantile(known, [0.025, 0.975])))


def test_the_same_seed_draws_the_same_range():
    low, high = sample(200)
    first = threshold_range(low, high, draws=200)
    assert first == threshold_range(low, high, draws=200)
    assert first != threshold_range(low, high, seed=1, draws=200)
    assert first.ci[0] <= best_threshold(low, high) <= first.ci[1]
    wide, narrow = (threshold_range(low, high, level, draws=200).ci for level in (99, 50))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_a_range_that_says_little_says_so():
    assert threshold_range([], []).reason == "no pairs"
    assert threshold_range([0.1], [0.9]).reason == "one pair has no interval"
    same = threshold_range([0.1] * 5, [0.9] * 5, draws=50)
    assert same.ci == (0.5, 0.5)
    assert same.reason == "every draw gives the same threshold: the interval says nothing"
    none = threshold_range([0.9] * 5, [0.1] * 5, draws=50)
    assert none.ci is None
    assert none.reason == "none of 50 draws has a threshold better than chance"
    some = threshold_range([0.5, 0.9], [0.7, 0.6], draws=50)
    assert "of 50 draws have no threshold better than chance" in some.reason


@given(pairs.filter(lambda some: len(some) > 2), st.randoms())
def test_the_order_of_the_units_changes_no_value(some, random):
    other = list(some)
    random.shuffle(other)
    before, after = unzipped(some), unzipped(other)
    assert auc(*before) == auc(*after)
    assert auc_interval(*before) == auc_interval(*after)
    assert best_threshold(*before) == best_threshold(*after)
    assert threshold_range(*before, draws=20) == threshold_range(*after, draws=20)
