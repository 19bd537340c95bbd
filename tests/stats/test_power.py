"""Sample sizes against the noncentral t by its definition, published tables, and drawn samples."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from ragauge.stats.paired import mcnemar, randomisation
from ragauge.stats.power import (
    detectable,
    fewest_flips,
    fewest_to_find,
    fewest_to_rule_out,
    margin_power_at,
    needed,
    needed_for_margin,
    power_at,
    smallest_seen,
)

close = pytest.approx


def chance_above(bound, n, away):
    """P(t > bound) where t = (Z + away) / S, by integrating over the sample's own spread S."""
    df = n - 1

    def density(s):
        return 2 * df * s * stats.chi2.pdf(df * s * s, df)

    around = (max(0.0, 1 - 9 / math.sqrt(2 * df)), 1 + 9 / math.sqrt(2 * df))
    return integrate.quad(lambda s: stats.norm.sf(bound * s - away) * density(s), *around)[0]


def power_by_definition(n, sd, difference, alpha=0.05):
    bound, away = stats.t.ppf(1 - alpha / 2, n - 1), difference / sd * math.sqrt(n)
    return chance_above(bound, n, away) + chance_above(bound, n, -away)


@pytest.mark.parametrize("n", [3, 5, 12, 34, 200])
@pytest.mark.parametrize("effect", [0.05, 0.2, 0.5, 0.8, 2.0])
def test_power_is_the_noncentral_t(n, effect):
    assert power_at(n, 1.0, effect) == close(power_by_definition(n, 1.0, effect), abs=1e-6)
    margin = chance_above(stats.t.ppf(0.975, n - 1), n, effect * math.sqrt(n))
    assert margin_power_at(n, 1.0, effect) == close(margin, abs=1e-6)


# As G*Power 3.1 gives them for "means: difference between two dependent means (matched pairs)".
PUBLISHED = [(0.2, 0.8, 199), (0.5, 0.8, 34), (0.8, 0.8, 15), (0.5, 0.9, 44), (0.5, 0.95, 54)]


@pytest.mark.parametrize(("effect", "power", "n"), PUBLISHED)
def test_published_numbers_of_pairs(effect, power, n):
    assert needed(1.0, effect, power=power) == n
    assert needed(0.25, -effect * 0.25, power=power) == n


@given(st.floats(0.05, 3), st.sampled_from([0.5, 0.8, 0.95]), st.sampled_from([0.01, 0.05, 0.1]))
def test_one_pair_fewer_is_not_enough(effect, power, alpha):
    n = needed(1.0, effect, power=power, alpha=alpha)
    assert power_at(n, 1.0, effect, alpha=alpha) >= power
    assert n == 2 or power_at(n - 1, 1.0, effect, alpha=alpha) < power


@given(st.floats(0.01, 0.3), st.floats(-0.009, 0.1), st.floats(0.05, 1))
def test_one_pair_fewer_does_not_show_the_margin(margin, change, sd):
    n = needed_for_margin(sd, margin, change)
    assert margin_power_at(n, sd, margin, change) >= 0.8
    assert n == 2 or margin_power_at(n - 1, sd, margin, change) < 0.8


@given(st.integers(2, 5_000), st.floats(0.01, 100), st.sampled_from([0.5, 0.8, 0.99]))
def test_what_is_detectable_is_found_with_just_that_power(n, sd, power):
    assert power_at(n, sd, detectable(sd, n, power=power)) == close(power, abs=1e-6)


@given(st.floats(0.03, 2))
def test_needed_and_detectable_are_each_others_inverse(effect):
    n = needed(1.0, effect)
    assert detectable(1.0, n) <= effect + 1e-9
    assert n == 2 or detectable(1.0, n - 1) > effect


def test_many_pairs_are_the_normal_distribution():
    z = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    assert detectable(1.0, 10**8) * 10**4 == close(z, rel=1e-5)
    assert needed(1.0, 1e-4) == close((z / 1e-4) ** 2, rel=1e-5)


@pytest.mark.parametrize("sd", [0.0, math.nan, math.inf])
def test_without_a_spread_nothing_is_said(sd):
    assert needed(sd, 0.1) is needed_for_margin(sd, 0.1) is detectable(sd, 10) is None


def test_what_no_number_of_pairs_decides():
    assert needed(1.0, 0.0) is None
    assert needed(1.0, 1e-9) is None
    assert needed_for_margin(1.0, 0.05, -0.05) is None
    assert needed_for_margin(1.0, 0.05, -0.2) is None
    assert detectable(1.0, 1) is None


@pytest.mark.parametrize("difference", [1e3, 1e150, 1e300])
def test_a_gulf_is_seen_in_the_fewest_pairs_there_can_be(difference):
    assert needed(1.0, difference) == needed_for_margin(1.0, difference) == 2
    assert power_at(2, 1e-5, difference) == close(1)
    assert margin_power_at(20, 1e-5, 0.0, -difference) == close(0)


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
