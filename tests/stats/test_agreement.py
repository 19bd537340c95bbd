"""Agreement against the textbooks, against a plain twin, and against drawn samples."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragauge.stats.agreement import (
    Confusion,
    chance_agreement,
    confusion,
    kappa,
    kappa_interval,
    kappa_variance,
    percent_agreement,
    specific_agreement,
)

drawn = settings(derandomize=True, max_examples=200, deadline=None)
close = pytest.approx
LABELS = ("a", "b", "c", "d")


def table(*rows):
    return Confusion(LABELS[: len(rows)], tuple(map(tuple, rows)))


DIAGNOSES = table((75, 1, 4), (5, 4, 1), (0, 0, 10))
SKIN = table((10, 4, 1, 0), (5, 10, 12, 2), (2, 4, 12, 5), (0, 2, 6, 13))
GRANTS = table((20, 5), (10, 15))
UNEVEN = table((0, 4, 1), (0, 8, 0), (0, 1, 5))


@pytest.mark.parametrize(
    ("counted", "observed", "chance", "value"),
    [
        # Fleiss, Levin and Paik, Statistical Methods for Rates and Proportions, table 18.1.
        (DIAGNOSES, Fraction(89, 100), Fraction(66, 100), Fraction(23, 34)),
        # The grant proposals that the encyclopedias use.
        (GRANTS, Fraction(7, 10), Fraction(1, 2), Fraction(2, 5)),
        # Cohen 1960: .70 observed, .41 by chance, κ .492.
        (
            table((88, 14, 18), (10, 40, 10), (2, 6, 12)),
            Fraction(7, 10),
            Fraction(41, 100),
            Fraction(29, 59),
        ),
    ],
)
def test_kappa_is_the_textbooks_and_exact(counted, observed, chance, value):
    assert percent_agreement(counted) == observed
    assert chance_agreement(counted) == chance
    assert kappa(counted) == value


@pytest.mark.parametrize(
    ("counted", "value", "error", "low", "high"),
    [
        (SKIN, 0.3449, 0.0724, 0.2030, 0.4868),  # SAS, PROC FREQ, agreement of two dermatologists
        (UNEVEN, 0.4842, 0.1380, 0.2137, 0.7547),  # SAS, as the tests of statsmodels quote it
    ],
)
def test_the_interval_of_kappa_is_the_published_one(counted, value, error, low, high):
    assert float(kappa(counted)) == close(value, abs=5e-5)
    assert math.sqrt(kappa_variance(counted)) == close(error, abs=5e-5)
    assert kappa_interval(counted) == close((low, high), abs=5e-5)


counts = st.lists(st.lists(st.integers(0, 9), min_size=4, max_size=4), min_size=4, max_size=4)
tables = counts.map(lambda rows: table(*rows)).filter(lambda one: one.n)


def twin(counted):
    """κ as scikit-learn computes it: weighted disagreement over the disagreement to expect."""
    observed = np.array(counted.counts, dtype=float)
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0)) / observed.sum()
    weights = 1 - np.eye(len(observed))
    return 1 - (weights * observed).sum() / (weights * expected).sum()


@drawn
@given(tables)
def test_kappa_equals_its_plain_twin(counted):
    value = kappa(counted)
    if value is None:
        assert chance_agreement(counted) == 1
    else:
        assert float(value) == close(twin(counted), abs=1e-12)
        assert -1 <= value <= 1


def gradient_variance(counted, step=1e-6):
    """The delta method by numbers: the gradient of κ over the cells, and their covariance."""
    shares = np.array(counted.counts, dtype=float) / counted.n

    def kappa_of(shares):
        chance = shares.sum(axis=1) @ shares.sum(axis=0)
        return (np.trace(shares) - chance) / (1 - chance)

    slopes = np.zeros_like(shares)
    for place in np.ndindex(shares.shape):
        moved = np.zeros_like(shares)
        moved[place] = step
        slopes[place] = (kappa_of(shares + moved) - kappa_of(shares - moved)) / (2 * step)
    return ((shares * slopes**2).sum() - (shares * slopes).sum() ** 2) / counted.n


@drawn
@given(tables.filter(lambda one: kappa(one) is not None))
def test_the_variance_is_the_delta_methods(counted):
    assert float(kappa_variance(counted)) == close(gradient_variance(counted), abs=1e-6, rel=1e-3)


@drawn
@given(tables)
def test_the_interval_holds_kappa_and_is_no_point(counted):
    ends, value = kappa_interval(counted), kappa(counted)
    if value is None:
        assert ends is None
    else:
        assert -1 <= ends[0] <= value <= ends[1] <= 1
        assert ends[0] < ends[1]


def test_full_agreement_over_few_questions_is_not_certain():
    few, many = table((3, 0), (0, 3)), table((300, 0), (0, 300))
    assert kappa(few) == kappa(many) == 1
    assert kappa_interval(few)[0] < 0.5 < 0.98 < kappa_interval(many)[0]
    assert kappa_interval(few)[1] == 1


def test_one_label_throughout_is_absent_not_perfect():
    assert kappa(table((7, 0), (0, 0))) is None
    assert kappa_interval(table((7, 0), (0, 0))) is None
    assert percent_agreement(table((7, 0), (0, 0))) == 1


def test_a_judge_who_always_says_the_same_agrees_as_chance_does():
    assert kappa(table((7, 3), (0, 0))) == 0


def test_no_question_no_number():
    empty = table((0, 0), (0, 0))
    assert percent_agreement(empty) is chance_agreement(empty) is kappa(empty) is None
    assert specific_agreement(empty) == {"a": None, "b": None}


def test_agreement_on_a_label_is_its_own():
    assert specific_agreement(GRANTS) == {"a": Fraction(40, 55), "b": Fraction(30, 45)}


@drawn
@given(st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), max_size=30))
def test_the_table_counts_pairs_by_row_and_column(pairs):
    counted = confusion(pairs, LABELS)
    assert counted.n == len(pairs)
    assert counted.first == tuple(Counter(a for a, _ in pairs)[label] for label in LABELS)
    assert counted.second == tuple(Counter(b for _, b in pairs)[label] for label in LABELS)
    assert sum(counted.same) == sum(a == b for a, b in pairs)
    swapped = confusion([(b, a) for a, b in pairs], LABELS)
    assert kappa(swapped) == kappa(counted)
    assert kappa_variance(swapped) == kappa_variance(counted)


@pytest.mark.parametrize(("n", "apart"), [(100, 0.1), (200, 0.3)])
def test_intervals_hold_the_truth_about_as_often_as_they_say(n, apart):
    rng = np.random.default_rng(20)
    habits = np.array([0.6, 0.2, 0.18, 0.02])
    chances = np.diag(habits) * (1 - apart) + apart * np.outer(habits, habits)

    def covers():
        rows = rng.multinomial(n, chances.ravel()).reshape(4, 4).tolist()
        low, high = kappa_interval(table(*rows))
        return low <= 1 - apart <= high

    assert 0.90 <= sum(covers() for _ in range(400)) / 400 <= 0.98
