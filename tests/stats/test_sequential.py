"""The test that may stop at any moment keeps its promise, and always comes to an end."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.stats.sequential import ALPHA, ShareTest
from tests.profiles import times

DRAWS = times(500)
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
