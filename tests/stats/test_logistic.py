"""Logistic regression with signs and a prior, held against scikit-learn and against its laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from ragauge.stats.discrimination import matching_shift
from ragauge.stats.logistic import Fit, chance, fit_logistic, log_odds


def drawn(seed, rows=400, slopes=(1.0, -0.7, 0.0), shift=0.3):
    """Rows whose labels follow these slopes, on columns of very different width."""
    random = np.random.default_rng(seed)
    values = random.normal(size=(rows, len(slopes))) * [1.0, 5.0, 0.1] + [0.0, 3.0, -1.0]
    odds = ((values - values.mean(0)) / values.std(0)) @ np.array(slopes) + shift
    labels = random.random(rows) < 1 / (1 + np.exp(-odds))
    return values, labels.tolist()


def mean_loss(fit, values, labels):
    side = np.where(labels, 1.0, -1.0)
    return np.logaddexp(0, -side * log_odds(fit, values)).mean()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("spread", [0.1, 1.0, 30.0])
def test_where_no_sign_binds_it_is_the_fields_own_fit(seed, spread):
    values, labels = drawn(seed)
    ours = fit_logistic(values, labels, signs=[0, 0, 0], spread=spread)
    scale = values.std(axis=0)
    # scikit-learn's C weighs the losses: 1/C is our 1/spread² on columns of unit variance.
    theirs = LogisticRegression(C=spread**2, tol=1e-10, max_iter=10_000).fit(
        (values - values.mean(axis=0)) / scale, labels
    )
    assert np.array(ours.coefficients) * scale == pytest.approx(theirs.coef_[0], abs=2e-4)


@given(
    seed=st.integers(0, 50),
    signs=st.lists(st.sampled_from([-1, 0, 1]), min_size=3, max_size=3),
    prior=st.none() | st.lists(st.floats(-2, 2), min_size=3, max_size=3),
)
def test_every_sign_holds(seed, signs, prior):
    values, labels = drawn(seed, rows=60)
    fit = fit_logistic(values, labels, signs=signs, spread=0.5, prior=prior)
    for sign, coefficient in zip(signs, fit.coefficients, strict=True):
        assert sign * coefficient >= 0


def test_a_sign_that_binds_leaves_nothing_of_the_column():
    values, labels = drawn(1)
    free = fit_logistic(values, labels, signs=[0, 0, 0], spread=1.0)
    held = fit_logistic(values, labels, signs=[-1, 0, 0], spread=1.0)
    assert free.coefficients[0] > 0
    assert held.coefficients[0] == 0
    without = fit_logistic(values[:, 1:], labels, signs=[0, 0], spread=1.0)
    assert held.coefficients[1:] == pytest.approx(without.coefficients, abs=1e-4)


def test_signs_that_do_not_bind_change_nothing():
    values, labels = drawn(2)
    free = fit_logistic(values, labels, signs=[0, 0, 0], spread=1.0)
    signs = [1 if weight > 0 else -1 for weight in free.coefficients]
    held = fit_logistic(values, labels, signs=signs, spread=1.0)
    assert held.coefficients == pytest.approx(free.coefficients, abs=1e-4)


def test_a_prior_pulls_the_more_the_smaller_the_spread():
    values, labels = drawn(3)
    prior = [4.0, 0.5, -6.0]
    far = [
        np.abs(
            np.array(
                fit_logistic(values, labels, signs=[0] * 3, spread=s, prior=prior).coefficients
            )
            - prior
        ).sum()
        for s in (0.001, 0.1, 10.0)
    ]
    assert far[0] < 0.01
    assert far[0] < far[1] < far[2]


def test_without_labels_to_learn_from_the_prior_stays():
    values = np.array([[0.0], [1.0], [0.0], [1.0]])
    fit = fit_logistic(values, [True, True, False, False], signs=[1], spread=0.5, prior=[2.0])
    assert 0 < fit.coefficients[0] < 2.0
    closer = fit_logistic(values, [True, True, False, False], signs=[1], spread=0.01, prior=[2.0])
    assert closer.coefficients[0] == pytest.approx(2.0, abs=0.01)


def test_a_prior_of_the_wrong_sign_ends_at_zero():
    values, labels = drawn(1)
    fit = fit_logistic(values, labels, signs=[1, 1, 1], spread=0.01, prior=[-1.0, -1.0, -1.0])
    assert fit.coefficients == (0.0, 0.0, 0.0)


def test_groups_absorb_what_tells_them_apart():
    """One group has larger values and more good rows; within each the column says nothing."""
    random = np.random.default_rng(5)
    group = np.repeat([0, 1], 400)
    values = random.normal(size=(800, 1)) + 4.0 * group[:, None]
    labels = (random.random(800) < np.where(group, 0.9, 0.1)).tolist()
    names = np.array(["one", "other"])[group].tolist()
    pooled = fit_logistic(values, labels, signs=[0], spread=10.0)
    within = fit_logistic(values, labels, signs=[0], spread=10.0, groups=names)
    assert pooled.coefficients[0] > 0.5
    assert abs(within.coefficients[0]) < 0.25


def test_a_shift_of_one_group_changes_no_slope_where_groups_have_their_own_intercept():
    values, labels = drawn(4)
    names = ["a", "b"] * (len(labels) // 2)
    moved = values + np.where(np.array(names) == "b", 3.0, 0.0)[:, None] * [1.0, 0.0, 0.0]
    prior_free = {"signs": [0, 0, 0], "spread": 100.0, "groups": names}
    one = fit_logistic(values, labels, **prior_free)
    other = fit_logistic(moved, labels, **prior_free)
    assert other.coefficients == pytest.approx(one.coefficients, abs=1e-3)


@given(seed=st.integers(0, 30), shift=st.sampled_from([-2.0, 0.0, 2.0]))
def test_the_intercept_makes_both_labels_weigh_the_same(seed, shift):
    values, labels = drawn(seed, rows=80, shift=shift)
    fit = fit_logistic(values, labels, signs=[0, 0, 0], spread=1.0)
    right = np.array(labels)
    if right.all() or not right.any():
        return
    chance = 1 / (1 + np.exp(-log_odds(fit, values)))
    assert chance[right].mean() + chance[~right].mean() == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("label", [True, False])
def test_one_label_alone_still_gives_numbers(label):
    values, _ = drawn(0, rows=20)
    fit = fit_logistic(values, [label] * 20, signs=[0, 0, 0], spread=1.0)
    assert np.isfinite([*fit.coefficients, fit.intercept]).all()


def test_a_column_that_never_varies_weighs_nothing_and_harms_nothing():
    values, labels = drawn(1)
    flat = np.hstack([values, np.full((len(labels), 1), 7.0)])
    fit = fit_logistic(flat, labels, signs=[0] * 4, spread=1.0)
    assert fit.coefficients[3] == pytest.approx(0.0, abs=1e-9)
    without = fit_logistic(values, labels, signs=[0] * 3, spread=1.0)
    assert fit.coefficients[:3] == pytest.approx(without.coefficients, abs=1e-4)


def test_the_order_of_rows_changes_nothing_to_speak_of():
    values, labels = drawn(6)
    one = fit_logistic(values, labels, signs=[1, -1, 0], spread=0.3)
    other = fit_logistic(values[::-1], labels[::-1], signs=[1, -1, 0], spread=0.3)
    assert other.coefficients == pytest.approx(one.coefficients, abs=1e-4)


def test_rows_that_a_line_parts_are_fitted_without_overflow():
    values = np.array([[place] for place in range(-500, 500)], dtype=float)
    fit = fit_logistic(values, [place >= 0 for place in range(-500, 500)], signs=[1], spread=1e3)
    assert np.isfinite(mean_loss(fit, values, [place >= 0 for place in range(-500, 500)]))
    assert fit.coefficients[0] > 0


def test_log_odds_are_the_intercept_and_the_weighted_columns():
    assert log_odds(Fit((2.0, -1.0), 0.5), np.array([[3.0, 4.0], [0.0, 0.0]])).tolist() == [
        2.5,
        0.5,
    ]


def test_it_is_the_fields_own_function():
    odds = np.linspace(-700, 700, 4001)
    np.testing.assert_allclose(chance(odds), expit(odds), rtol=1e-12)


def test_log_odds_that_lie_far_out_do_not_overflow():
    shift = matching_shift([-900.0, -2.0, 1.0, 900.0], [False, True, False, True])
    assert chance(np.array([-900.0, -2.0, 1.0, 900.0]) + shift).mean() == pytest.approx(0.5)
