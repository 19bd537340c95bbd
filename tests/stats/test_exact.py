"""Fisher's test of many tables against scipy, and which tests count against their definition."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact, hypergeom

from ragauge.stats.exact import ALPHA, ShareTest, counted_level, fisher_log_p


@st.composite
def tables(draw, most=300):
    of = draw(st.integers(1, most))
    inside, wrong = draw(st.integers(0, of)), draw(st.integers(0, of))
    both = draw(st.integers(max(0, inside + wrong - of), min(inside, wrong)))
    return both, inside, wrong, of


def by_scipy(both, inside, wrong, of):
    cells = [[both, inside - both], [wrong - both, of - inside - wrong + both]]
    return fisher_exact(cells, alternative="greater").pvalue


@given(st.lists(tables(), min_size=1, max_size=8))
def test_many_tables_at_once_equal_scipy_one_by_one(some):
    ours = np.exp(fisher_log_p(*zip(*some, strict=True)))
    assert ours == pytest.approx([by_scipy(*one) for one in some], rel=1e-9, abs=1e-300)


@given(tables(most=12))
def test_a_small_table_is_counted_out(table):
    both, inside, wrong, of = table
    ways = sum(
        math.comb(wrong, found) * math.comb(of - wrong, inside - found)
        for found in range(both, min(inside, wrong) + 1)
    )
    assert math.exp(fisher_log_p(*table)) == pytest.approx(ways / math.comb(of, inside), rel=1e-12)


def test_the_lady_tasting_tea():
    """Fisher 1935: three of the four cups right is 17 in 70, all four one in 70."""
    assert np.exp(fisher_log_p([3, 4], 4, 4, 8)) == pytest.approx([17 / 70, 1 / 70], rel=1e-12)


def test_a_large_set_equals_scipy_too():
    of, wrong, inside = 100_000, 9_000, np.array([2_000, 5_000, 40_000])
    both = np.array([240, 430, 3_700])
    theirs = hypergeom.logsf(both - 1, of, wrong, inside)
    assert fisher_log_p(both, inside, wrong, of) == pytest.approx(theirs, rel=1e-8)


def test_a_chance_below_all_numbers_still_has_a_logarithm():
    log_p = float(fisher_log_p(5_000, 5_000, 5_000, 100_000))
    assert math.exp(log_p) == 0.0
    assert log_p == pytest.approx(-math.log(math.comb(100_000, 5_000)), rel=1e-12)


@pytest.mark.parametrize("table", [(0, 0, 3, 9), (0, 3, 0, 9), (4, 9, 4, 9), (4, 4, 9, 9)])
def test_a_table_with_one_outcome_is_certain(table):
    assert math.exp(fisher_log_p(*table)) == 1.0


@given(st.lists(st.floats(0, 1), max_size=30), st.sampled_from([0.01, 0.05, 0.2]))
def test_the_level_is_that_of_the_smallest_number_that_agrees_with_itself(least, alpha):
    level = counted_level(np.array(least), alpha)
    for tests in range(1, len(least) + 2):
        if sum(one < alpha / tests for one in least) <= tests:
            break
    assert level == alpha / tests


def test_a_hundred_tests_that_find_nothing_do_not_count():
    assert counted_level(np.array([1e-5, *[0.004] * 100]), 0.05) == 0.05 / 13
    assert counted_level(np.array([1e-5, *[0.2] * 100]), 0.05) == 0.05
    assert counted_level(np.array([]), 0.05) == 0.05


DRAWS = 2000
GRIDS = [(50, 48), (25, 24), (18, 18), (200, 190), (50, 49)]


def orders(successes, of, times=DRAWS):
    outcomes = [True] * successes + [False] * (of - successes)
    random = Random(f"{successes}/{of}")
    for _ in range(times):
        random.shuffle(outcomes)
        yield list(outcomes)


@pytest.mark.parametrize(("of", "needed"), GRIDS)
@pytest.mark.parametrize("margin", [0, -1, 1, -3])
def test_a_wrong_decision_is_made_no_more_often_than_promised(of, needed, margin):
    successes = min(of, needed + margin)
    truth = "pass" if successes >= needed else "fail"
    test = ShareTest(of, needed)
    wrong = sum(test.decide(order) not in (truth, None) for order in orders(successes, of))
    # Fixed orders, so the same each time: the promise itself can be asked for.
    assert wrong / DRAWS <= ALPHA


@given(st.integers(1, 40), st.data())
def test_the_whole_grid_leaves_nothing_open_and_nothing_wrong(of, data):
    """A number of successes that the last run has shown to be the true one is never ruled out
    by that run: only an earlier, early decision can be wrong."""
    needed = data.draw(st.integers(1, of))
    outcomes = data.draw(st.lists(st.booleans(), min_size=of, max_size=of))
    test = ShareTest(of, needed, alpha=1e-300)
    assert test.decide(outcomes) == ("pass" if sum(outcomes) >= needed else "fail")


def test_a_system_that_is_always_right_is_let_off_early_and_one_that_fails_at_once():
    test = ShareTest(50, 48)
    assert test.decide([True] * 34) is None
    assert test.decide([True] * 36) == "pass"
    assert test.decide([False] * 2) == "fail"


def test_a_long_grid_does_not_vanish_in_rounding():
    test = ShareTest(5000, 4750)
    assert test.decide([True] * 4000) == "pass"
    assert test.decide([True, False] * 100) == "fail"
