"""Changes of level: few false alarms, clear shifts at the right place, and numbers by hand."""

import itertools
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.stats.change_points import ALPHA, SHORTEST, fewest, shifts, variation
from ragauge.stats.trend import trend
from tests.profiles import times

close = pytest.approx
finite = st.floats(-1e6, 1e6)


def test_a_clear_shift_is_found_where_it_is():
    rng = np.random.default_rng(1)
    series = np.append(rng.normal(0.8, 0.01, 14), rng.normal(0.7, 0.01, 9))
    (shift,) = shifts(series)
    assert shift.at == 14
    assert shift.before == close(series[:14].mean()) and shift.after == close(series[14:].mean())
    assert 0 < shift.p <= ALPHA


def test_several_shifts_are_found_in_order_each_with_the_levels_beside_it():
    rng = np.random.default_rng(2)
    levels, length = [0.8, 0.7, 0.85, 0.6], 15
    series = np.concatenate([rng.normal(level, 0.01, length) for level in levels])
    found = shifts(series)
    assert [shift.at for shift in found] == [15, 30, 45]
    means = series.reshape(4, length).mean(axis=1)
    assert [shift.before for shift in found] == close(means[:-1].tolist())
    assert [shift.after for shift in found] == close(means[1:].tolist())


@pytest.mark.parametrize(("before", "after"), [(5, 5), (9, 3), (3, 9), (40, 3)])
def test_a_system_that_always_scores_the_same_is_seen_to_change(before, after):
    assert [shift.at for shift in shifts([0.9] * before + [0.85] * after)] == [before]


def test_one_bad_run_is_no_level():
    assert shifts([0.9, 0.91] * 10 + [0.2] + [0.9, 0.91] * 10) == []


@pytest.mark.parametrize("alpha", [0.01, 0.05])
def test_the_fewest_values_are_those_that_can_show_a_change(alpha):
    n = fewest(alpha)
    clear = [0.0] * (n // 2) + [1.0] * (n - n // 2)
    assert len(shifts(clear, alpha=alpha)) == 1
    shorter = [0.0] * ((n - 1) // 2) + [1.0] * (n - 1 - (n - 1) // 2)
    assert shifts(shorter, alpha=alpha) == []


def clearest(values):
    """The greatest |t| without its pooled variance, over all places, by its definition."""
    n = len(values)
    return max(
        abs(statistics.fmean(values[:k]) - statistics.fmean(values[k:]))
        / (1 / k + 1 / (n - k)) ** 0.5
        for k in range(SHORTEST, n - SHORTEST + 1)
    )


def test_the_probability_is_the_share_of_all_orders_that_are_as_clear():
    values = [0.1, 0.32, 0.2, 0.15, 0.9, 0.81, 1.0, 0.77]
    orders = [clearest(order) for order in itertools.permutations(values)]
    expected = np.mean(np.array(orders) >= clearest(values) - 1e-12)
    (shift,) = shifts(values, alpha=0.2)
    assert shift.at == 4
    assert shift.p == close(expected, abs=4 * (expected / 125_000) ** 0.5)


NOISES = {
    "normal": lambda rng, n: rng.normal(0.8, 0.02, n),
    "skewed": lambda rng, n: rng.exponential(1, n),
    "heavy": lambda rng, n: rng.standard_t(2, n),
    "two values": lambda rng, n: rng.integers(0, 2, n) / 10,
    "rare dips": lambda rng, n: np.where(rng.random(n) < 0.15, 0.5, 0.9),
}


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("n", [12, 40])
def test_a_level_that_does_not_change_rarely_gives_an_alarm(noise, n):
    """At alpha 5 %: at most 5 % of the series and three standard errors."""
    rng = np.random.default_rng(n)
    runs = times(150)
    alarms = sum(bool(shifts(NOISES[noise](rng, n), alpha=0.05, seed=run)) for run in range(runs))
    assert alarms <= 0.05 * runs + 3 * (runs * 0.05 * 0.95) ** 0.5


@given(
    st.lists(finite, max_size=5)
    | st.tuples(finite, st.integers(6, 60)).map(lambda v: [v[0]] * v[1])
)
def test_too_few_or_equal_values_have_no_shift(values):
    assert shifts(values) == []


@given(st.lists(st.integers(0, 5), min_size=10, max_size=14), st.sampled_from([0.1, 3.0, 1e-30]))
def test_neither_scale_nor_offset_moves_a_shift(values, scale):
    plain = shifts(values, alpha=0.3)
    scaled = shifts([scale * (value + 7) for value in values], alpha=0.3)
    assert [(s.at, s.p) for s in scaled] == [(s.at, s.p) for s in plain]
    assert [s.after for s in scaled] == [close(scale * (s.after + 7)) for s in plain]


def test_the_same_seed_gives_the_same_shifts():
    values = np.random.default_rng(3).normal(0, 1, 30) + np.repeat([0, 1.5], 15)
    assert shifts(values, seed=5) == shifts(values, seed=5)


@given(st.lists(st.floats(0.1, 100), min_size=2, max_size=20))
def test_variation_is_the_standard_deviation_over_the_mean(values):
    expected = statistics.stdev(values) / statistics.fmean(values)
    assert variation(values) == close(expected, abs=1e-9)
    assert variation([-value for value in values]) == close(expected, abs=1e-9)


@pytest.mark.parametrize("values", [[], [1.0], [0.0, 0.0], [-2.0, 2.0]])
def test_variation_is_absent_where_it_has_no_meaning(values):
    assert variation(values) is None


@pytest.mark.parametrize("values", [[1.0, float("nan")], [float("inf")], [[1.0]]])
def test_absent_values_are_refused(values):
    with pytest.raises(ValueError, match="leave out absent ones"):
        shifts(values)


def test_a_drift_has_a_slope_and_is_taken_for_levels():
    """What the docstring warns of; the slope beside it says which of the two it is."""
    values = np.linspace(0.9, 0.7, 40)
    assert shifts(values)
    line = trend(range(40), values.tolist())
    assert line.slope == close(-0.2 / 39) and line.error < 1e-9
