"""Bootstrap intervals against exact distributions, scipy, plain twins and drawn samples."""

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.fft import next_fast_len
from scipy.stats import bootstrap, norm

from ragauge.contracts.metric import ratio
from ragauge.stats import bootstrap as module
from ragauge.stats.bootstrap import expanded, mean_interval, metric_interval, next_terms, spread_of
from ragauge.stats.draws import below, multinomials

close = pytest.approx
TAILS = (0.025, 0.975)
DRAWN_ERROR = math.sqrt(0.025 * 0.975 / 10_000) / norm.pdf(norm.ppf(0.025))
"""The standard error of an end of 10,000 draws, in standard errors of the mean."""


def standard_error(values):
    return np.std(values) / math.sqrt(len(values))


def exact_ends(values):
    """The ends of whole numbers' bootstrap distribution: a power of their own by convolution.

    Sums are folded at 60 standard errors, where nothing is left to overlap.
    """
    n, around = len(values), int(values.sum())
    size = next_fast_len(int(60 * n * standard_error(values)) + 60)
    shares = np.bincount(values % size, minlength=size) / n
    folded = np.fft.irfft(np.fft.rfft(shares) ** n, size)
    sums = np.arange(around - size // 2, around - size // 2 + size)
    below_or_at = np.cumsum(folded[sums % size])
    return [sums[np.searchsorted(below_or_at, tail)] / n for tail in TAILS]


def whole_numbers(n):
    """Samples of all manners: two values, few, many, skewed, with a rare one, in two heaps."""
    rng = np.random.default_rng(n)
    yes = (rng.random(n) < 0.1).astype(np.int64)
    samples = [
        yes,
        rng.integers(0, 2, n),
        rng.integers(0, 5, n),
        rng.integers(0, 101, n),
        rng.choice([-1, 0, 1], n, p=[0.1, 0.75, 0.15]),
        rng.choice([0, 1, 7], n, p=[0.6, 0.38, 0.02]),
        rng.choice([0, 50, 51], n, p=[0.5, 0.45, 0.05]),
        np.where(yes, 0, rng.integers(90, 101, n)),
        np.where(rng.random(n) < 0.02, rng.integers(1, 100, n), 0),
        rng.geometric(0.3, n),
        rng.lognormal(3, 1, n).astype(np.int64),
        (rng.pareto(2.5, n) * 5).astype(np.int64),
    ]
    return [values for values in samples if np.ptp(values)]


@pytest.mark.parametrize("n", [20, 50, 100, 300, 1_000, 3_000, 10_000])
def test_closed_forms_come_nearer_to_the_exact_ends_than_draws_would(n):
    methods = Counter()
    for values in whole_numbers(n):
        made = mean_interval(values)
        off = np.subtract(made.ci, exact_ends(values)) / standard_error(values)
        methods[made.method] += 1
        if made.method == "closed form":
            assert np.abs(off).max() < DRAWN_ERROR
    assert methods["closed form"] >= {300: 3, 1_000: 6, 3_000: 9, 10_000: 10}.get(n, 0)
    assert n > 50 or not methods["closed form"]


@pytest.mark.parametrize("n", [20, 100, 1_000])
def test_the_stated_error_of_a_closed_form_is_not_too_small(n):
    """Also where it is not used: the expansion and its stated error, beside the exact ends."""
    for values in whole_numbers(n):
        mean = values.mean()
        distinct, counts = np.unique(values, return_counts=True)
        spread = spread_of(distinct - mean, counts)
        for tail, exact in zip(TAILS, exact_ends(values), strict=True):
            z = norm.ppf(tail)
            stated = next_terms(z, spread) + spread.lumps
            off = (mean + expanded(z, spread) * spread.error - exact) / spread.error
            assert abs(off) < 1.5 * stated


def continuous(n):
    rng = np.random.default_rng(n)
    yield rng.beta(2, 3, n) - rng.beta(2, 3.2, n)
    yield rng.normal(0.1, 1, n)
    yield rng.exponential(1, n)
    yield rng.lognormal(0, 1, n)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "n"), [("percentile", 300), ("bca", 800)])
def test_closed_forms_agree_with_many_draws(kind, n):
    used = 0
    for values in continuous(n):
        made = mean_interval(values, kind=kind)
        if made.method == "closed form":
            used += 1
            many = mean_interval(values, kind=kind, draws=200_000, seed=1)
            assert many.method == "draws"
            off = np.subtract(made.ci, many.ci) / standard_error(values)
            assert np.abs(off).max() < DRAWN_ERROR / 3
    assert used >= 2


def test_more_draws_leave_less_room_for_a_closed_form():
    values = np.random.default_rng(0).integers(0, 5, 1_000)
    assert mean_interval(values).method == "closed form"
    assert mean_interval(values, draws=100_000).method == "distinct draws"


def test_fewer_draws_leave_no_more_room_for_it():
    values = np.random.default_rng(0).integers(0, 5, 50)
    assert mean_interval(values).method == "distinct draws"
    assert mean_interval(values, draws=10).method == "distinct draws"


# Draws.


def by_plain_draws(values, seed, draws):
    """Means of units drawn one by one, by the same places, in fractions."""
    ordered = sorted(map(Fraction, values))
    places = below(seed, len(ordered), (draws, len(ordered))).tolist()
    return [float(sum(ordered[place] for place in row) / len(row)) for row in places]


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=12), st.integers(0, 2**40))
def test_plain_draws_equal_a_loop_over_the_same_places(values, seed):
    made = mean_interval(values, seed=seed, draws=50)
    if made.method == "draws":
        means = by_plain_draws(values, seed, 50)
        assert made.seed == seed and made.draws == 50
        wide = max(values) - min(values)
        assert made.ci == close(np.percentile(means, [2.5, 97.5]), rel=1e-12, abs=1e-12 * wide)


@pytest.mark.parametrize("seed", [0, 5])
def test_distinct_draws_equal_a_loop_over_the_same_counts(seed):
    values = [0.1] * 30 + [0.7] * 8 + [2.5] * 2
    made = mean_interval(values, seed=seed, draws=400)
    assert made.method == "distinct draws"
    counts = multinomials(seed, [30, 8, 2], 400).tolist()
    means = [(a * 0.1 + b * 0.7 + c * 2.5) / 40 for a, b, c in counts]
    assert made.ci == close(np.percentile(means, [2.5, 97.5]), rel=1e-12)


@pytest.mark.parametrize("kind", ["percentile", "bca"])
@pytest.mark.parametrize("n", [15, 60, 400])
def test_the_interval_is_scipys(kind, n):
    rng = np.random.default_rng(n)
    for values in (rng.exponential(1, n), rng.integers(0, 4, n), rng.normal(5, 2, n)):
        method = {"percentile": "percentile", "bca": "BCa"}[kind]
        theirs = bootstrap(
            (values,), np.mean, n_resamples=20_000, method=method, rng=rng, batch=500
        ).confidence_interval
        ours = mean_interval(values, kind=kind)
        off = np.subtract(ours.ci, theirs) / standard_error(values)
        # Two sets of draws, and for whole numbers the step between two means.
        step = 0.5 / n / standard_error(values) if values.dtype.kind == "i" else 0
        times = {"percentile": 4, "bca": 8}[kind]
        assert np.abs(off).max() < times * DRAWN_ERROR + step


def test_bca_of_two_draws_worth_of_numbers_is_the_textbook_formula():
    values = np.array([1.0, 2.0, 2.5, 4.0, 9.0])
    means = np.array(by_plain_draws(values.tolist(), 3, 2_000))
    away = values - values.mean()
    acceleration = (away**3).sum() / (6 * (away**2).sum() ** 1.5)
    same = np.isclose(means, values.mean(), rtol=0, atol=1e-12)
    bias = norm.ppf(((means < values.mean()) & ~same).mean() + same.mean() / 2)
    z = bias + norm.ppf(TAILS)
    ends = np.quantile(means, norm.cdf(bias + z / (1 - acceleration * z)))
    assert mean_interval(values, kind="bca", seed=3, draws=2_000).ci == close(ends, rel=1e-9)


@given(
    st.lists(st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.0]), min_size=2, max_size=60),
    st.randoms(use_true_random=False),
    st.sampled_from(["percentile", "bca"]),
)
def test_the_order_of_the_units_changes_no_byte(values, random, kind):
    shuffled = random.sample(values, len(values))
    rows, other = (
        np.array([[int(4 * value), 1 + int(value)] for value in sample])
        for sample in (values, shuffled)
    )
    first = mean_interval(values, kind=kind, draws=200)
    assert mean_interval(shuffled, kind=kind, draws=200) == first
    assert metric_interval(other, ratio, kind=kind, draws=200) == metric_interval(
        rows, ratio, kind=kind, draws=200
    )


@given(
    st.lists(st.floats(-1e299, 1e299), max_size=30),
    st.floats(1, 99.9),
    st.sampled_from(["percentile", "bca"]),
)
def test_whatever_comes_out_is_json_and_lies_among_the_values(values, confidence, kind):
    made = mean_interval(values, confidence, kind=kind, draws=40)
    assert msgspec.json.decode(msgspec.json.encode(made), type=module.Bootstrap) == made
    assert (made.ci is None) <= (made.reason is not None)
    if made.ci is not None:
        slack = 1e-9 * max(map(abs, values))
        assert min(values) - slack <= made.ci[0] <= made.ci[1] <= max(values) + slack


@pytest.mark.parametrize("by", [2.0**-400, 0.5, 2.0**600])
def test_a_scale_by_a_power_of_two_scales_the_ends(by):
    values = np.random.default_rng(3).exponential(1, 40)
    ends = np.array(mean_interval(values).ci) * by
    assert mean_interval(values * by).ci == tuple(ends)


def test_memory_does_not_change_the_numbers(monkeypatch):
    values = np.random.default_rng(3).pareto(1.5, 100)
    rows = np.random.default_rng(3).integers(0, 3, (200, 2))
    before = mean_interval(values), metric_interval(rows, ratio)
    assert [made.method for made in before] == ["draws", "distinct draws"]
    monkeypatch.setattr(module, "BLOCK", 1_000)
    assert (mean_interval(values), metric_interval(rows, ratio)) == before


# Count vectors.

pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=2, max_size=9)


@given(pairs, st.integers(0, 99))
def test_ratios_equal_a_loop_over_the_same_places(rows, seed):
    made = metric_interval(np.array(rows), ratio, seed=seed, draws=60)
    ordered = sorted(rows)
    if made.method != "draws":
        assert made.reason
        return
    shares = []
    for places in below(seed, len(rows), (60, len(rows))).tolist():
        yes, of = (sum(ordered[place][column] for place in places) for column in (0, 1))
        if of:
            shares.append(yes / of)
    if min(shares) < max(shares):
        assert made.ci == close(np.percentile(shares, [2.5, 97.5]), rel=1e-12)
    lost = 60 - len(shares)
    assert (f"{lost} of 60 draws" in (made.reason or "")) == (lost > 0)


@pytest.mark.parametrize("kind", ["percentile", "BCa"])
def test_the_interval_of_a_ratio_is_scipys(kind):
    rng = np.random.default_rng(8)
    of = rng.integers(1, 6, 120)
    rows = np.column_stack([rng.binomial(of, 0.4), of])
    theirs = bootstrap(
        tuple(rows.T),
        lambda yes, of, axis: yes.sum(axis=axis) / of.sum(axis=axis),
        paired=True,
        n_resamples=20_000,
        method=kind,
        rng=rng,
    )
    ours = metric_interval(rows, ratio, kind=kind.lower())
    off = np.subtract(ours.ci, theirs.confidence_interval) / theirs.standard_error
    assert np.abs(off).max() < 6 * DRAWN_ERROR


def test_a_difference_of_runs_is_one_row_with_the_columns_of_both():
    rng = np.random.default_rng(8)
    now, before = rng.integers(0, 2, 200), rng.integers(0, 2, 200)
    ones = np.ones_like(now)
    rows = np.column_stack([now, ones, before, ones])
    made = metric_interval(rows, difference)
    plain = mean_interval(now - before)
    assert made.value == close(plain.value)
    assert made.ci == close(plain.ci, abs=2 * DRAWN_ERROR * standard_error(now - before) + 1 / 200)


def f1(sums):
    return 2 * sums[..., 0] / (2 * sums[..., 0] + sums[..., 1] + sums[..., 2])


def difference(sums):
    return ratio(sums[..., :2]) - ratio(sums[..., 2:])


def metrics(n):
    """Rows of many distinct kinds, and what finishes them."""
    rng = np.random.default_rng(n)
    of = rng.integers(1, 30, n)
    yes = rng.binomial(of, rng.beta(2, 2, n))
    one, other = (rng.lognormal(0, 0.7, (2, n)) * 2**40).astype(np.int64)
    counts = rng.poisson(rng.gamma(1, 5, (n, 1)) * np.array([3, 1, 2]))
    return [
        (np.column_stack([yes, of]), ratio),
        (np.column_stack([one, other]), ratio),
        (np.column_stack([yes, of, rng.binomial(of, 0.5), of]), difference),
        (np.column_stack([one, np.ones_like(one), other, np.ones_like(one)]), difference),
        (counts, f1),
        (np.column_stack([one, other]), lambda sums: np.sqrt(sums[..., 0] / sums[..., 1])),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "least"), [(300, 0), (1_000, 4), (2_000, 5)])
def test_closed_forms_of_metrics_agree_with_draws(n, least, monkeypatch):
    made = [metric_interval(*metric) for metric in metrics(n)]
    monkeypatch.setattr(module, "metric_ends", lambda *_: None)
    closed = [(a, b) for a, b in zip(made, metrics(n), strict=True) if a.method == "closed form"]
    assert len(closed) >= least
    for one, metric in closed:
        draws = 10_000_000 // n
        many = metric_interval(*metric, draws=draws, seed=1)
        assert many.method == "draws"
        chance = DRAWN_ERROR * math.sqrt(10_000 / draws)
        error = (many.ci[1] - many.ci[0]) / (2 * norm.ppf(0.975))
        assert np.abs(np.subtract(one.ci, many.ci)).max() / error < DRAWN_ERROR + 3 * chance


def test_a_metric_that_is_a_mean_has_the_means_closed_form():
    values = np.random.default_rng(8).integers(0, 2**40, 3_000)
    rows = np.column_stack([values, np.ones_like(values)])
    made, mean = metric_interval(rows, ratio), mean_interval(values)
    assert made.method == mean.method == "closed form"
    assert made.ci == close(mean.ci, rel=1e-9)


@pytest.mark.parametrize(
    "finish",
    [
        lambda sums: np.maximum(sums[..., 0], sums[..., 1]),
        lambda sums: np.abs(sums[..., 0] - sums[..., 1]),
        lambda sums: np.where(sums[..., 0] > sums[..., 1], sums[..., 0], np.nan),
        lambda sums: np.sqrt(np.maximum(sums[..., 0] - sums[..., 1], 0)),
        lambda sums: sums[..., 0] // 2**30,
    ],
    ids=["largest", "distance", "absent", "root", "floor"],
)
def test_a_metric_with_an_edge_is_drawn(finish):
    rows = np.random.default_rng(8).integers(0, 2**30, (2_000, 2))
    rows[:, 1] += (rows[:, 0].sum() - rows[:, 1].sum()) // len(rows)
    rows[0, 0] += 2**20
    assert metric_interval(rows, finish, draws=500).method == "draws"


def test_sums_beyond_64_bits_are_floats_within_a_rounding():
    rows = np.random.default_rng(8).integers(-3, 4, (50, 2)) + np.array([0, 5])
    seen = []

    def finish(sums):
        seen.append(sums.dtype.kind)
        return ratio(sums)

    small, large = metric_interval(rows, ratio), metric_interval(rows << 58, finish)
    assert large.ci == close(small.ci, rel=1e-12) and large.value == close(small.value)
    assert set(seen) == {"f"}


def test_a_distribution_small_enough_to_write_down():
    """Every one of the 27 samples of three rows, and the quantiles of their ratios."""
    rows = [(0, 1), (1, 2), (3, 3)]
    ratios = [
        Fraction(sum(yes for yes, _ in draw), sum(of for _, of in draw))
        for draw in product(rows, repeat=3)
    ]
    exact = sorted(map(float, ratios))
    made = metric_interval(np.array(rows), ratio, 80, draws=100_000)
    assert made.ci == close((exact[2], exact[24]))


# What there is to say where there is nothing to draw.


@pytest.mark.parametrize(
    ("values", "value", "ci", "reason"),
    [
        ([], None, None, "no values"),
        ([2.5], 2.5, None, "one value has no interval"),
        ([0.1] * 7, 0.1, (0.1, 0.1), "all 7 values are equal: the interval says nothing"),
        ([0.0, -0.0], 0.0, (0.0, 0.0), "all 2 values are equal: the interval says nothing"),
    ],
)
def test_values_that_do_not_vary_say_so(values, value, ci, reason):
    for kind in ("percentile", "bca"):
        made = mean_interval(values, kind=kind)
        assert (made.value, made.ci, made.reason) == (value, ci, reason)
        assert made.seed is made.draws is None


@pytest.mark.parametrize(
    ("rows", "value", "ci", "reason"),
    [
        (np.zeros((0, 2), dtype=np.int64), None, None, "no rows"),
        ([[1, 2]], 0.5, None, "one row has no interval"),
        ([[1, 2]] * 1_200, 0.5, (0.5, 0.5), "all 1,200 rows are equal: the interval says nothing"),
        ([[0, 0]] * 3, None, None, "the sums have no finished value"),
        ([[1, 0], [2, 0]], None, None, "the sums have no finished value"),
        (
            [[1, 2], [2, 4]],
            0.5,
            (0.5, 0.5),
            "every draw gives the same value: the interval says nothing",
        ),
    ],
)
def test_rows_that_do_not_vary_say_so(rows, value, ci, reason):
    made = metric_interval(np.array(rows), ratio)
    assert (made.value, made.ci, made.reason) == (value, ci, reason)


def test_bca_is_absent_where_leaving_out_a_unit_leaves_nothing():
    rows = np.array([[1, 1], [0, 0], [1, 0]])
    made = metric_interval(rows, ratio, kind="bca", draws=50)
    assert (made.value, made.ci) == (2.0, None)
    assert made.reason == "no BCa interval: leaving out a unit can leave no finished value"


def test_bca_is_absent_where_the_draws_lie_on_one_side():
    """Only a draw that has every unit once reaches the value, and none of a hundred does."""

    def evenness(sums):
        return -((sums - 1) ** 2).sum(axis=-1)

    made = metric_interval(np.eye(20, dtype=np.int64), evenness, kind="bca", draws=100)
    assert (made.value, made.ci) == (0.0, None)
    assert made.reason == "no BCa interval: every draw lies on one side of the value"


@pytest.mark.parametrize(
    "ask",
    [
        lambda: mean_interval([1.0, math.nan]),
        lambda: mean_interval([1.0, math.inf]),
        lambda: mean_interval([[1.0], [2.0]]),
        lambda: mean_interval([1.0, 2.0], 100),
        lambda: mean_interval([1.0, 2.0], kind="basic"),
        lambda: mean_interval([1.0, 2.0], draws=0),
        lambda: metric_interval(np.array([[1.5, 2.0]]), ratio),
        lambda: metric_interval(np.array([1, 2]), ratio),
    ],
)
def test_what_cannot_be_drawn_from_is_refused(ask):
    with pytest.raises(ValueError, match="must be"):
        ask()


# Does it hold the truth?


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "least"), [("percentile", 0.925), ("bca", 0.93)])
def test_intervals_of_skewed_values_hold_the_mean_about_as_often_as_they_say(kind, least):
    rng = np.random.default_rng(20)

    def covers():
        low, high = mean_interval(rng.exponential(1, 80), kind=kind, draws=2_000).ci
        return low <= 1 <= high

    assert least <= sum(covers() for _ in range(2_000)) / 2_000 <= 0.96


@given(
    st.integers(1, 12).flatmap(
        lambda columns: st.lists(
            st.lists(st.integers(-2, 2), min_size=columns, max_size=columns), max_size=40
        ).map(lambda rows: np.array(rows, dtype=np.int64).reshape(-1, columns))
    )
)
def test_different_rows_are_told_apart_whatever_their_width(rows):
    plain = np.unique(rows, axis=0, return_counts=True)
    for found in (module._distinct(rows), module._distinct(*plain)):
        assert [one.tolist() for one in found] == [one.tolist() for one in plain]


def test_of_units_that_are_alike_one_row_will_do():
    rows = np.random.default_rng(7).integers(0, 4, (3_000, 9))
    alike, times = np.unique(rows, axis=0, return_counts=True)
    assert metric_interval(alike, ratio, times=times) == metric_interval(rows, ratio)
