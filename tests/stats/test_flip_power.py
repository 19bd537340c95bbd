"""What McNemar's test can see, against the binomial distribution of scipy."""

import pytest
from scipy import stats

from ragauge.stats.flip_power import fewest_flips, smallest_seen
from ragauge.stats.power import detectable


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


def test_too_few_units_see_nothing():
    assert smallest_seen(0.5, 5, flips=True) is None
    assert smallest_seen(0.5, 5, flips=False) is not None
    assert smallest_seen(0.0, 50, flips=True) is None
