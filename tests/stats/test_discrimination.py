"""Discrimination against scikit-learn and scipy, with ties and weights; intervals over groups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn.calibration import calibration_curve
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score, roc_auc_score

from ragauge.stats.discrimination import (
    AS_GOOD,
    auroc,
    balanced_accuracy,
    best_threshold,
    calibration_error,
    difference,
    interval_over_groups,
    kappa,
    matching_shift,
    rank_correlation,
    steady_threshold,
    value_of,
)

rows = st.lists(
    st.tuples(st.integers(0, 6), st.booleans(), st.booleans(), st.integers(1, 3)),
    min_size=4,
    max_size=40,
)


def columns(drawn):
    scores, right, said, weights = (np.array(column) for column in zip(*drawn, strict=True))
    assume(0 < right.sum() < len(right))
    return scores / 6, right, said, weights


@given(rows)
def test_auroc_is_scikit_learns_with_ties_and_weights(drawn):
    scores, right, _, weights = columns(drawn)
    found = auroc(scores, right)(np.stack([np.ones_like(weights), weights]))
    theirs = [roc_auc_score(right, scores), roc_auc_score(right, scores, sample_weight=weights)]
    assert found == pytest.approx(theirs)


@given(rows)
def test_what_a_threshold_says_is_scored_as_scikit_learn_does(drawn):
    _, right, said, weights = columns(drawn)
    assume(0 < said.sum() < len(said))
    both = weights[None]
    assert balanced_accuracy(said, right)(both)[0] == pytest.approx(
        balanced_accuracy_score(right, said, sample_weight=weights)
    )
    assert kappa(said, right)(both)[0] == pytest.approx(
        cohen_kappa_score(right, said, sample_weight=weights)
    )


@given(rows)
def test_a_weight_is_a_row_repeated(drawn):
    scores, _, said, weights = columns(drawn)
    lengths = (3 * scores + said) % 1
    assume(len(set(scores)) > 1 and len(set(lengths)) > 1)
    found = rank_correlation(scores, lengths)(weights[None])[0]
    theirs = spearmanr(np.repeat(scores, weights), np.repeat(lengths, weights)).statistic
    assert found == pytest.approx(theirs)


@given(rows)
def test_pairs_within_a_stratum_are_the_pairs_one_by_one(drawn):
    scores, right, said, _ = columns(drawn)
    names = ["a" if one else "b" for one in said]
    pairs = [
        (scores[i] > scores[j]) + (scores[i] == scores[j]) / 2
        for i in np.flatnonzero(right)
        for j in np.flatnonzero(~right)
        if names[i] == names[j]
    ]
    found = value_of(auroc(scores, right, names), len(scores))
    assert found == (pytest.approx(np.mean(pairs)) if pairs else None)


@given(rows)
def test_calibration_error_is_the_gap_of_each_bin_by_its_rows(drawn):
    scores, right, _, _ = columns(drawn)
    scores = scores * 0.97 + 0.013  # off the ends of bins, which scikit-learn gives to the lower
    true, said = calibration_curve(right, scores, n_bins=10)
    met = np.bincount((scores * 10).astype(int), minlength=10)
    theirs = np.abs(true - said) @ met[met > 0] / len(scores)
    assert calibration_error(scores, right) == pytest.approx(theirs)


def test_calibration_error_knows_its_ends():
    assert calibration_error([0.0, 1.0], [False, True]) == 0
    assert calibration_error([0.0, 1.0], [True, False]) == 1
    assert calibration_error([], []) is None
    with pytest.raises(ValueError, match="from 0 to 1"):
        calibration_error([3.0], [True])


@given(rows)
def test_the_threshold_is_as_good_as_the_best_of_all(drawn):
    scores, right, _, _ = columns(drawn)
    values = np.unique(scores)
    cuts = (values[1:] + values[:-1]) / 2
    rates = [balanced_accuracy_score(right, scores >= cut) for cut in cuts]
    best = max(rates, default=0.0)
    found = best_threshold(scores, right)
    if best <= 0.5 + 1e-12:
        assert found is None
    else:
        near = cuts[np.array(rates) >= best - AS_GOOD / 2 - 1e-12]
        assert near.min() <= found <= near.max()


def test_a_threshold_needs_both_labels_and_something_to_part_them():
    assert best_threshold([0.1, 0.9], [True, True]) is None
    assert best_threshold([0.9, 0.1], [False, True]) is None
    assert best_threshold([0.5, 0.5], [False, True]) is None


@given(st.lists(st.floats(-8, 8), min_size=2, max_size=30), st.data())
def test_shifted_log_odds_have_the_share_of_good_rows(odds, data):
    right = data.draw(st.lists(st.booleans(), min_size=len(odds), max_size=len(odds)))
    assume(0 < sum(right) < len(right))
    shifted = np.array(odds) + matching_shift(odds, right)
    assert (1 / (1 + np.exp(-shifted))).mean() == pytest.approx(np.mean(right), abs=1e-9)


def test_statistics_of_nothing_are_absent():
    assert value_of(auroc([0.1, 0.2], [True, True]), 2) is None
    assert value_of(auroc([], []), 0) is None
    assert value_of(kappa([True], [True]), 1) is None
    assert value_of(balanced_accuracy([True], [True]), 1) is None
    assert value_of(rank_correlation([1.0, 1.0], [1.0, 2.0]), 2) is None
    with pytest.raises(ValueError, match="finite"):
        auroc([float("nan")], [True])


def noisy(groups, size):
    generator = np.random.default_rng(7)
    names = np.repeat([f"s{place}" for place in range(groups)], size)
    lifts = np.repeat(generator.normal(size=groups), size)
    right = np.repeat(generator.random(groups) < 0.5, size)
    return right + lifts, right, names


def test_rows_of_a_source_are_no_evidence_of_their_own():
    """The same rows written ten times tell as much as once: sources are drawn, not rows."""
    scores, right, names = noisy(60, 1)
    once = interval_over_groups(auroc(scores, right), names).ci
    many = [np.repeat(column, 10) for column in (scores, right, names)]
    often = interval_over_groups(auroc(many[0], many[1]), many[2]).ci
    as_rows = interval_over_groups(auroc(many[0], many[1]), [str(i) for i in range(600)]).ci
    assert often == pytest.approx(once)
    assert as_rows[1] - as_rows[0] < (once[1] - once[0]) / 2


def test_intervals_cover_the_truth_and_not_the_order_of_rows():
    scores, right, names = noisy(80, 3)
    spread = interval_over_groups(auroc(scores, right), names)
    low, high = spread.ci
    assert low < 0.76 < high  # Φ(1/√2), what noise of one step leaves of a step of one
    assert 0.1 < high - low < 0.35
    turned = interval_over_groups(auroc(scores[::-1], right[::-1]), names[::-1])
    assert turned == spread


def test_a_perfect_score_is_not_certain():
    right = [True, False] * 10
    spread = interval_over_groups(auroc(right, right), [str(place) for place in range(20)])
    assert spread.ci == pytest.approx((0.8389, 1.0), abs=1e-4)


def test_what_cannot_vary_has_no_interval():
    flat = interval_over_groups(auroc([1, 0], [True, False]), ["a", "a"])
    assert (flat.ci, flat.reason) == (None, "one source has no interval")
    same = difference(auroc([1, 0] * 4, [True, False] * 4), auroc([1, 0] * 4, [True, False] * 4))
    spread = interval_over_groups(same, list("aabbccdd"), share=False)
    assert (spread.ci, spread.reason) == (None, "every draw gives the same value")


def test_draws_of_one_label_are_counted():
    spread = interval_over_groups(auroc([3, 1, 2], [True, False, False]), ["a", "b", "c"])
    assert "of 2,000 draws have no value and are left out" in spread.reason


def test_a_steady_threshold_leans_less_on_single_rows():
    """Fresh rows are parted better, on the mean of many samples, and never much worse."""
    generator = np.random.default_rng(3)
    fresh_right = np.arange(4000) % 2 == 0
    fresh = fresh_right * 1.2 + generator.normal(size=4000)
    gained = []
    for _ in range(40):
        right = np.arange(60) % 2 == 0
        scores = right * 1.2 + generator.normal(size=60)
        cuts = (
            best_threshold(scores, right),
            steady_threshold(scores, right, list(map(str, scores))),
        )
        plain, steady = (balanced_accuracy_score(fresh_right, fresh >= cut) for cut in cuts)
        gained.append(steady - plain)
    assert np.mean(gained) > 0
    assert min(gained) > -0.06


def test_a_steady_threshold_does_not_depend_on_the_order_of_rows():
    scores, right, names = noisy(20, 3)
    turned = steady_threshold(scores[::-1], right[::-1], names[::-1])
    assert turned == steady_threshold(scores, right, names)
    assert steady_threshold([0.5, 0.5], [True, False], ["a", "b"]) is None
