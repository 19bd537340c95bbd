"""What tests of signs and flips can see, against the binomial distribution of scipy."""

import pytest
from scipy import stats

from ragauge.stats.paired import mcnemar, randomisation
from ragauge.stats.power import (
    detectable,
    fewest_flips,
    fewest_to_find,
    fewest_to_rule_out,
    smallest_seen,
)


@pytest.mark.parametrize("alpha", [0.05, 0.01, 0.05 / 9])
def test_the_fewest_flips_are_the_first_that_the_exact_test_sees(alpha):
    fewest = fewest_flips(alpha)
    assert stats.binomtest(0, fewest).pvalue < alpha <= stats.binomtest(0, fewest - 1).pvalue


@pytest.mark.parametrize("n", [10, 24, 80])
def test_a_change_that_is_seen_makes_enough_flips_in_four_of_five_runs(n):
    seen = smallest_seen(0.01, n, flips=True)
    assert stats.binom.sf(fewest_flips() - 1, n, seen) == pytest.approx(0.8)


def test_with_many_units_the_spread_decides_as_it_does_for_grades():
    for flips in (True, False):
        assert smallest_seen(0.5, 2_000, flips=flips) == detectable(0.5, 2_000)


@pytest.mark.parametrize("flips", [True, False])
def test_too_few_units_see_nothing(flips):
    assert randomisation([1.0, 1.1, 1.2, 1.3, 1.4], [0.0] * 5).p > 0.05
    assert smallest_seen(0.5, 5, flips=flips) is None
    assert smallest_seen(0.5, 6, flips=flips) is not None
    assert smallest_seen(0.5, 7, flips=flips, alpha=0.01) is None
    assert smallest_seen(0.0, 50, flips=flips) is None


@pytest.mark.parametrize(("n", "differing", "alpha"), [(6, 5, 0.05), (40, 3, 0.05), (9, 9, 0.001)])
def test_what_would_decide_is_more_than_there_is_and_could_be_significant(n, differing, alpha):
    enough = fewest_to_find(n, differing, alpha)
    moved = enough * differing // n
    assert enough > n
    assert mcnemar([1] * moved + [0] * (enough - moved), [0] * enough).p < alpha


@pytest.mark.parametrize("margin", [0.02, 0.05, 0.3])
def test_as_many_equal_units_rule_the_margin_out_and_one_fewer_does_not(margin):
    enough = fewest_to_rule_out(2, margin)
    assert mcnemar([1] * enough, [1] * enough).ci[0] > -margin
    assert mcnemar([1] * (enough - 1), [1] * (enough - 1)).ci[0] <= -margin
