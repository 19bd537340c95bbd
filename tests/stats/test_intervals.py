"""Intervals against the textbooks, against scipy, and against drawn samples."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm

from ragauge.contracts.metric import ratio
from ragauge.stats.intervals import (
    clustered,
    effective_n,
    jackknife,
    paired_change,
    wilson,
    z_of,
)

close = pytest.approx


def whole(numbers):
    return np.array(numbers, dtype=np.int64)


@pytest.mark.parametrize("confidence", [50, 80, 90, 95, 99, 99.9])
@pytest.mark.parametrize("n", [1, 2, 3, 7, 20, 100, 5_000])
def test_wilson_equals_scipy(n, confidence):
    for yes in sorted({0, 1, n // 3, n // 2, n - 1, n}):
        theirs = binomtest(yes, n).proportion_ci(confidence / 100, method="wilson")
        assert wilson(yes / n, n, confidence) == close((theirs.low, theirs.high), abs=1e-12)
    assert z_of(confidence) == close(norm.ppf(0.5 + confidence / 200), rel=1e-12)


@st.composite
def clusters(draw, most=6):
    of = draw(st.lists(st.integers(0, most), min_size=1, max_size=10).filter(any))
    return whole([draw(st.integers(0, n)) for n in of]), whole(of)


@given(clusters(most=1))
def test_one_trial_a_cluster_is_plain_wilson(trials):
    yes, of = trials
    assert clustered(yes, of) == wilson(yes.sum() / of.sum(), of.sum())


@given(clusters())
def test_clusters_never_make_an_interval_narrower(trials):
    yes, of = trials
    share = yes.sum() / of.sum()
    low, high = clustered(yes, of)
    plain_low, plain_high = wilson(share, of.sum())
    assert 0 <= low <= share <= high <= 1
    assert high - low >= plain_high - plain_low - 1e-12


@given(st.lists(st.booleans(), min_size=2, max_size=30), st.integers(2, 9))
def test_repeats_that_always_agree_are_worth_their_clusters(answers, times):
    """The design effect is times·K/(K - 1), which leaves K - 1 trials; K where all agree."""
    of = whole([times] * len(answers))
    everyone_agrees = len(set(answers)) == 1
    worth = len(answers) - (not everyone_agrees)
    assert effective_n(whole(answers) * times, of) == close(worth)


def coverage(covers, times=600):
    return sum(covers() for _ in range(times)) / times


@pytest.mark.parametrize(("share", "alike"), [(0.5, 0.5), (0.8, 0.3), (0.8, 0.9)])
def test_clustered_intervals_hold_the_truth_as_often_as_they_say(share, alike):
    rng = np.random.default_rng(20)
    strength = (1 - alike) / alike

    def covers():
        chance = rng.beta(share * strength, (1 - share) * strength, 60)
        of = rng.integers(1, 8, 60)
        low, high = clustered(rng.binomial(of, chance), of)
        return low <= share <= high

    assert 0.92 <= coverage(covers) <= 0.98


@pytest.mark.parametrize("bounds", [(0, None), (0, 100), (19, 21)])
def test_jackknife_of_a_mean_is_the_textbook_interval(bounds):
    values = whole([11, 14, 17, 19, 23, 24, 31])
    rows = np.column_stack([values, np.ones_like(values)])
    half = norm.ppf(0.975) * values.std(ddof=1) / math.sqrt(len(values))
    low, high = values.mean() - half, values.mean() + half
    high = high if bounds[1] is None else min(high, bounds[1])
    assert jackknife(rows, ratio, bounds) == close((max(low, bounds[0]), high))


@pytest.mark.parametrize("rows", [[[3, 1]], [[3, 1], [0, 0]]], ids=["one unit", "nothing left"])
def test_jackknife_says_none_rather_than_guess(rows):
    assert jackknife(whole(rows), ratio, (0, None)) is None


# The change between two runs: a pairs right in both, b now only, c before only, d in neither.


def newcombe(a, b, c, d):
    """Newcombe 1998, method 10, from the table of pairs as he writes it."""
    n = a + b + c + d
    now, before = (a + b) / n, (a + c) / n
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    together = a * d - b * c
    corrected = max(together - n / 2, 0) if together > 0 else together
    phi = corrected / math.sqrt(margins) if margins else 0.0
    return square_and_add(now, n, before, n, phi)


def square_and_add(now, n_now, before, n_before, phi=0.0):
    l1, u1 = wilson(now, n_now)
    l0, u0 = wilson(before, n_before)
    down = (now - l1) ** 2 - 2 * phi * (now - l1) * (u0 - before) + (u0 - before) ** 2
    up = (u1 - now) ** 2 - 2 * phi * (u1 - now) * (before - l0) + (before - l0) ** 2
    change = now - before
    return max(-1.0, change - math.sqrt(down)), min(1.0, change + math.sqrt(up))


def pairs(a, b, c, d):
    ones = np.ones(a + b + c + d, dtype=np.int64)
    now, before = whole([1] * (a + b) + [0] * (c + d)), whole([1] * a + [0] * b + [1] * c + [0] * d)
    return (now, ones), (before, ones)


tables = st.tuples(*[st.integers(0, 15)] * 4).filter(any)


@given(tables)
def test_a_change_of_plain_pairs_is_newcombes_method_10(table):
    assert paired_change(*pairs(*table)) == close(newcombe(*table), abs=1e-9)


@given(clusters(), clusters())
def test_runs_that_share_no_question_are_independent(now, before):
    (yes_1, of_1), (yes_0, of_0) = now, before
    apart_1 = np.append(yes_1, 0 * yes_0), np.append(of_1, 0 * of_0)
    apart_0 = np.append(0 * yes_1, yes_0), np.append(0 * of_1, of_0)
    expected = square_and_add(
        yes_1.sum() / of_1.sum(),
        effective_n(yes_1, of_1),
        yes_0.sum() / of_0.sum(),
        effective_n(yes_0, of_0),
    )
    assert paired_change(apart_1, apart_0) == close(expected, abs=1e-9)


@st.composite
def two_runs(draw):
    """The same questions twice, each with its own trials, perhaps none."""
    questions = draw(st.integers(1, 10))
    runs = []
    for _ in range(2):
        of = draw(st.lists(st.integers(0, 3), min_size=questions, max_size=questions).filter(any))
        runs.append((whole([draw(st.integers(0, n)) for n in of]), whole(of)))
    return tuple(runs)


@given(two_runs())
def test_swapping_the_runs_turns_the_interval_round(runs):
    now, before = runs
    low, high = paired_change(now, before)
    assert paired_change(before, now) == close((-high, -low), abs=1e-12)
    assert -1 <= low <= high <= 1


@given(clusters())
def test_where_nothing_changed_the_interval_holds_0_and_is_no_point(run):
    low, high = paired_change(run, run)
    assert low < 0 < high


@pytest.mark.parametrize("alike", [0.0, 0.5, 0.9])
def test_paired_intervals_hold_the_truth_as_often_as_they_say(alike):
    rng = np.random.default_rng(20)
    ones = np.ones(80, dtype=np.int64)

    def covers():
        same = rng.random(80)
        fresh = rng.random(80)
        now = same < 0.8
        before = np.where(rng.random(80) < alike, same, fresh) < 0.7
        low, high = paired_change((whole(now), ones), (whole(before), ones))
        return low <= 0.8 - 0.7 <= high

    assert 0.925 <= coverage(covers) <= 0.99


def test_a_change_with_two_denominators_holds_the_truth():
    """Precision: of 120 questions each run answers its own share, and is right in 3 of 4."""
    rng = np.random.default_rng(20)

    def covers():
        runs = []
        easy = rng.random(120)
        for shift in (0.0, 0.1):
            of = rng.random(120) < 0.7
            right = of & (np.where(rng.random(120) < 0.6, easy, rng.random(120)) < 0.75 + shift)
            runs.append((whole(right), whole(of)))
        low, high = paired_change(*runs)
        return low <= -0.1 <= high

    assert 0.925 <= coverage(covers) <= 0.98
