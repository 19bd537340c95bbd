"""Agreement against the textbooks, against a plain twin, and against drawn samples."""

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from ragauge.stats.agreement import (
    Confusion,
    chance_agreement,
    confusion,
    kappa,
    kappa_interval,
    kappa_variance,
    mean_kappa_interval,
    mean_share_interval,
    percent_agreement,
    specific_agreement,
    weighted_agreement,
)
from ragauge.stats.intervals import clustered

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


@given(tables)
def test_kappa_equals_its_plain_twin(counted):
    value = kappa(counted)
    if value is None:
        assert chance_agreement(counted) == 1
    else:
        assert float(value) == close(twin(counted), abs=1e-12)
        assert -1 <= value <= 1


WEIGHTS = ("linear", "quadratic")


def weight_matrix(labels, weights):
    """What each pair of labels counts as agreement."""
    places = np.arange(labels)
    apart = abs(places[:, None] - places) / max(1, labels - 1)
    return {"none": apart == 0, "linear": 1 - apart, "quadratic": 1 - apart**2}[weights]


def gradient_variance(counted, weights="none", step=1e-6):
    """The delta method by numbers: the gradient of κ over the cells, and their covariance."""
    shares = np.array(counted.counts, dtype=float) / counted.n
    agreed = weight_matrix(len(shares), weights)

    def kappa_of(shares):
        chance = shares.sum(axis=1) @ agreed @ shares.sum(axis=0)
        return ((shares * agreed).sum() - chance) / (1 - chance)

    slopes = np.zeros_like(shares)
    for place in np.ndindex(shares.shape):
        moved = np.zeros_like(shares)
        moved[place] = step
        slopes[place] = (kappa_of(shares + moved) - kappa_of(shares - moved)) / (2 * step)
    return ((shares * slopes**2).sum() - (shares * slopes).sum() ** 2) / counted.n


@given(tables.filter(lambda one: kappa(one) is not None), st.sampled_from(("none", *WEIGHTS)))
def test_the_variance_is_the_delta_methods(counted, weights):
    expected = gradient_variance(counted, weights)
    assert float(kappa_variance(counted, weights)) == close(expected, abs=1e-6, rel=1e-3)


@given(tables, st.sampled_from(("none", *WEIGHTS)))
def test_the_interval_holds_kappa_and_is_no_point(counted, weights):
    ends, value = kappa_interval(counted, weights=weights), kappa(counted, weights)
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


@pytest.mark.parametrize(
    ("weights", "value", "error", "low", "high"),
    [
        # SAS, PROC FREQ, the same dermatologists: it weighs by linear distance.
        ("linear", 0.5082, 0.0655, 0.3798, 0.6366),
    ],
)
def test_weighted_kappa_and_its_interval_are_the_published_ones(weights, value, error, low, high):
    assert float(kappa(SKIN, weights)) == close(value, abs=5e-5)
    assert math.sqrt(kappa_variance(SKIN, weights)) == close(error, abs=5e-5)
    assert kappa_interval(SKIN, weights=weights) == close((low, high), abs=5e-5)


@given(tables, st.sampled_from(WEIGHTS))
def test_weighted_kappa_is_that_of_scikit_learn(counted, weights):
    value = kappa(counted, weights)
    if value is None:
        assert kappa(counted) is None
        return
    cells = [
        (one, other, times)
        for one, row in zip(LABELS, counted.counts, strict=True)
        for other, times in zip(LABELS, row, strict=True)
    ]
    first, second, times = zip(*cells, strict=True)
    theirs = cohen_kappa_score(first, second, labels=LABELS, weights=weights, sample_weight=times)
    assert float(value) == close(theirs, abs=1e-12)
    assert -1 <= value <= 1


@given(st.tuples(*[st.integers(0, 9)] * 4).filter(any), st.sampled_from(WEIGHTS))
def test_two_labels_know_no_nearness(cells, weights):
    counted = table(cells[:2], cells[2:])
    assert kappa(counted, weights) == kappa(counted)
    assert kappa_variance(counted, weights) == kappa_variance(counted)
    assert weighted_agreement(counted, weights) == percent_agreement(counted)


def test_a_label_that_nobody_gave_changes_nothing():
    wide = Confusion((*LABELS, "e"), tuple((*row, 0) for row in (*SKIN.counts, (0, 0, 0, 0))))
    for weights in WEIGHTS:
        assert kappa(wide, weights) == kappa(SKIN, weights)
        assert kappa_variance(wide, weights) == kappa_variance(SKIN, weights)


def test_one_label_throughout_has_no_weighted_kappa():
    for weights in WEIGHTS:
        assert kappa(table((7, 0), (0, 0)), weights) is None
        assert kappa_variance(table((7,)), weights) is None
        assert kappa_interval(table((0, 0), (0, 0)), weights=weights) is None


def test_a_table_of_many_labels_is_counted_in_good_time():
    labels = tuple(map(str, range(300)))
    counted = confusion([(str(n), str(n * 7 % 300)) for n in range(300)], labels)
    assert kappa_interval(counted, weights="quadratic")[0] < kappa(counted, "quadratic") < 1


def pairs_of(codes):
    """Every two judges, with their table."""
    for one, other in combinations(range(len(codes)), 2):
        both = (codes[one] >= 0) & (codes[other] >= 0)
        labels = [(LABELS[a], LABELS[b]) for a, b in codes[[one, other]][:, both].T]
        yield one, other, confusion(labels, LABELS)


judged = st.integers(2, 4).flatmap(
    lambda judges: st.lists(st.tuples(*[st.integers(-1, 3)] * judges), min_size=1, max_size=15).map(
        lambda questions: np.array(questions).T
    )
)


@given(judged.filter(lambda codes: len(codes) == 2), st.sampled_from(("none", *WEIGHTS)))
def test_the_mean_over_one_pair_has_the_interval_of_the_pair(codes, weights):
    ((_, _, counted),) = pairs = list(pairs_of(codes))
    ends = mean_kappa_interval(codes, pairs, weights=weights)
    assert ends == close(kappa_interval(counted, weights=weights), abs=1e-7)


def left_out_error(codes, weights):
    """The jackknife by numbers: the mean κ without each question in turn."""
    means = []
    for question in range(codes.shape[1]):
        rest = np.delete(codes, question, axis=1)
        values = [kappa(counted, weights) for *_, counted in pairs_of(rest)]
        means.append(float(sum(values) / len(values)))
    n = len(means)
    return math.sqrt((n - 1) ** 2 / n * np.var(means, ddof=1))


@pytest.mark.parametrize("weights", ["none", *WEIGHTS])
def test_the_interval_of_a_mean_of_pairs_is_the_jackknifes(weights):
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 4, 300)
    codes = np.array([np.where(rng.random(300) < 0.8, truth, rng.integers(0, 4, 300))] * 4)
    codes = np.where(rng.random(codes.shape) < 0.8, codes, rng.integers(-1, 4, codes.shape))
    low, high = mean_kappa_interval(codes, pairs_of(codes), weights=weights)
    assert (high - low) / 2 == close(1.96 * left_out_error(codes, weights), rel=0.03)


@given(judged)
def test_the_interval_of_a_mean_holds_it_and_is_no_point(codes):
    pairs = list(pairs_of(codes))
    values = [value for *_, counted in pairs if (value := kappa(counted)) is not None]
    ends = mean_kappa_interval(codes, pairs)
    if not values:
        assert ends is None
    else:
        mean = float(sum(values) / len(values))
        assert -1 <= ends[0] <= mean + 1e-9
        assert mean - 1e-9 <= ends[1] <= 1
        assert ends[0] < ends[1]


@given(
    st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=1, max_size=12),
    st.lists(st.integers(0, 5), min_size=36, max_size=36),
)
def test_the_interval_of_a_mean_of_shares_holds_it(yes, more):
    yes = np.array(yes)
    of = yes + np.array(more).reshape(12, 3)[: len(yes)]
    ends = mean_share_interval(yes, of)
    held = of.sum(axis=0) > 0
    if not held.any():
        assert ends is None
        return
    share = (yes.sum(axis=0)[held] / of.sum(axis=0)[held]).mean()
    assert 0 <= ends[0] <= share + 1e-9
    assert share - 1e-9 <= ends[1] <= 1
    assert ends[0] < ends[1]
    assert mean_share_interval(yes[:, :1], of[:, :1]) == (
        clustered(yes[:, 0], of[:, 0]) if held[0] else None
    )


def test_a_mean_of_shares_over_few_questions_is_not_certain():
    few = np.full((4, 3), 5)
    assert mean_share_interval(few, few)[0] < 0.6


def test_equal_pairs_are_no_more_certain_than_one():
    rng = np.random.default_rng(5)
    yes = rng.integers(0, 2, (200, 1))
    once = mean_share_interval(yes, np.ones_like(yes))
    thrice = mean_share_interval(np.repeat(yes, 3, 1), np.ones((200, 3), dtype=int))
    assert thrice == close(once, abs=1e-3)
