"""Paired tests against scipy, and against every arrangement of the pairs counted out by hand."""

import itertools
import math
from fractions import Fraction

import msgspec
import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import optimize, stats

from ragauge.contracts.metric import ratio
from ragauge.stats import random_signs
from ragauge.stats.differences import Paired
from ragauge.stats.intervals import score_interval
from ragauge.stats.paired import (
    METHODS,
    compared,
    mcnemar,
    paired_bootstrap,
    paired_t,
    randomisation,
    spread,
    wilcoxon,
)
from ragauge.stats.swapped import p_of_unlike_counts, spread_of_rows, swapped

close = pytest.approx

AFTER, BEFORE = [0.9, 0.8, 0.7, 0.6, 0.95], [0.8, 0.69, 0.58, 0.47, 0.81]

tenths = st.integers(-10, 10).map(lambda tenth: tenth / 10)
few_pairs = st.lists(st.tuples(tenths, tenths), min_size=1, max_size=9)
flips = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=40)


def runs(pairs):
    return [a for a, _ in pairs], [b for _, b in pairs]


# The fixture, by each test.


@given(few_pairs)
def test_statistics_are_scipys(pairs):
    after, before = np.array(pairs).T
    moved = np.round(after - before, 9)
    assume(moved.any() and len(set(moved)) > 1)
    assert paired_t(after, before).statistic == close(stats.ttest_rel(after, before).statistic)
    assert wilcoxon(after, before).statistic == close(stats.wilcoxon(moved).statistic)
    by_signs = stats.permutation_test(
        (moved, np.zeros_like(moved)),
        lambda a, b: np.mean(a - b),
        permutation_type="samples",
        n_resamples=1,
    )
    assert randomisation(after, before).statistic == close(by_signs.statistic)
    assert paired_bootstrap(after, before).statistic == close(by_signs.statistic)


def test_the_statistic_of_mcnemar_is_the_smaller_count_and_of_a_share_its_standard_errors():
    assert mcnemar([1, 1, 1, 1, 0, 1], [0, 0, 0, 1, 1, 1]).statistic == 1
    after, before = [[1, 1]] * 9 + [[0, 1]], [[1, 1]] * 4 + [[0, 1]] * 6
    found, turned = swapped(after, before, ratio), swapped(before, after, ratio)
    assert found.statistic > 0
    assert turned.statistic == close(-found.statistic)


@pytest.mark.parametrize("method", METHODS)
def test_runs_that_do_not_differ_have_a_statistic_of_0_and_no_spread_has_none(method):
    assert compared([1, 0, 1], [1, 0, 1], method=method).statistic == 0
    assert paired_t([1.0, 2.0], [0.5, 1.5]).statistic is None


@pytest.mark.parametrize(
    ("alpha", "differing", "reason"),
    [
        (0.05, 5, "five pairs can never reach .05 by Wilcoxon"),
        (0.05, 6, None),
        (0.1, 5, None),
        (0.1, 4, "four pairs can never reach .1 by Wilcoxon"),
        (0.01, 7, "7 pairs can never reach .01 by Wilcoxon"),
        (0.01, 8, None),
    ],
)
def test_too_few_pairs_are_said_of_the_alpha_that_is_used(alpha, differing, reason):
    after = [0.1 * place for place in range(1, differing + 1)]
    found = wilcoxon(after, [0.0] * differing, alpha=alpha, confidence=50)
    assert found.reason == reason


def test_the_fixture_by_t():
    found = paired_t(AFTER, BEFORE)
    assert found.estimate == close(0.12)
    assert found.statistic == close(16.9706, abs=5e-5)
    assert found.effect * math.sqrt(5) == close(16.9706, abs=5e-5)
    assert found.p == close(7.07e-05, rel=1e-3)


def test_the_fixture_by_wilcoxon_says_that_five_pairs_are_too_few():
    found = wilcoxon(AFTER, BEFORE)
    assert (found.p, found.n, found.n_zero, found.ci) == (0.0625, 5, 0, None)
    assert found.reason == "five pairs can never reach .05 by Wilcoxon"


@pytest.mark.parametrize("test", [wilcoxon, randomisation, mcnemar])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_pairs_that_all_rise_are_enough_from_six_on(test, n):
    found = test([1] * n, [0] * n)
    assert found.p == min(1, 2 / 2**n)
    assert (found.p < 0.05) == (found.reason is None) == (n == 6)


def test_pairs_without_a_difference_do_not_help():
    found = randomisation([1, 0.5, 0.5] + [0] * 97, [0] * 100)
    assert (found.n, found.n_zero, found.p) == (100, 97, 0.25)
    assert found.reason == (
        "only three of 100 pairs differ: three pairs can never reach .05 by randomisation"
    )


# Student.


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=2, max_size=30))
def test_t_equals_scipy(pairs):
    after, before = runs(pairs)
    assume(spread(after, before) > 1e-6)
    theirs = stats.ttest_rel(after, before)
    low, high = theirs.confidence_interval(0.9)
    found = paired_t(after, before, confidence=90)
    assert found.p == close(theirs.pvalue, rel=1e-6)
    assert found.ci == close((low, high), abs=1e-9)


@pytest.mark.parametrize("test", [paired_t, paired_bootstrap])
def test_without_a_spread_there_is_nothing_to_judge_by(test):
    found = test([0.9, 0.7, 0.5], [0.8, 0.6, 0.4])
    assert (found.p, found.ci, found.effect) == (None, None, None)
    assert found.reason == "all 3 pairs differ by the same: no spread to judge by"
    assert test([0.9], [0.8]).reason == "one pair has no spread to judge by"


# Wilcoxon.


def ranks_by_hand(differences):
    return stats.rankdata([abs(d) for d in differences])


@given(few_pairs)
def test_wilcoxon_is_every_choice_of_signs_of_the_ranks(pairs):
    differences = [round(10 * a) - round(10 * b) for a, b in pairs]
    moved = [d for d in differences if d]
    ranks = ranks_by_hand(moved)
    up = sum(rank for d, rank in zip(moved, ranks, strict=True) if d > 0)
    middle = sum(ranks) / 2
    choices = list(itertools.product((0, 1), repeat=len(moved)))
    far = sum(abs(np.dot(choice, ranks) - middle) >= abs(up - middle) for choice in choices)
    found = wilcoxon(*runs(pairs))
    assert found.p == close(far / len(choices))
    assert found.n_zero == len(differences) - len(moved)


@given(st.lists(st.floats(-1, 1).filter(bool), min_size=1, max_size=50, unique_by=abs))
def test_wilcoxon_without_ties_equals_scipys_exact_one(differences):
    assume(len({round(abs(d), 9) for d in differences} - {0}) == len(differences))
    theirs = stats.wilcoxon(differences, method="exact")
    assert wilcoxon(differences, [0] * len(differences)).p == close(theirs.pvalue)


@given(st.lists(st.tuples(tenths, tenths), min_size=70, max_size=90))
def test_wilcoxon_of_many_pairs_equals_scipys_normal_one(pairs):
    differences = np.array([round(10 * a) - round(10 * b) for a, b in pairs])
    assume((differences != 0).sum() > 50)
    theirs = stats.wilcoxon(differences, zero_method="wilcox", correction=False, method="approx")
    found = wilcoxon(*runs(pairs))
    assert found.p == close(theirs.pvalue)
    assert found.method == "Wilcoxon, normal"


def hodges_lehmann_by_hand(differences, confidence):
    """All means of two, ordered; ends where the signed-rank test of untied values would stop."""
    n = len(differences)
    means = sorted((a + b) / 2 for a, b in itertools.combinations_with_replacement(differences, 2))
    sums = [sum(s) for s in itertools.product(*((0, rank) for rank in range(1, n + 1)))]
    outside = (1 - confidence / 100) / 2
    k = sum(np.mean(np.array(sums) <= w) <= outside for w in range(len(means)))
    return np.median(means), (means[k - 1], means[-k]) if k else None


@given(few_pairs, st.sampled_from([80, 90, 95]))
def test_the_centre_is_hodges_and_lehmanns(pairs, confidence):
    after, before = runs(pairs)
    found = wilcoxon(after, before, confidence=confidence)
    if found.n_zero == found.n:
        return
    centre, ci = hodges_lehmann_by_hand(np.subtract(after, before), confidence)
    assert found.estimate == close(centre, abs=1e-9)
    assert found.ci == (ci and close(ci, abs=1e-9))
    assert found.ci or found.reason


def test_the_centre_of_many_pairs_is_found_without_listing_their_means():
    differences = np.random.default_rng(5).normal(0.1, 1, 400)
    means = np.sort(np.add.outer(differences, differences)[np.triu_indices(400)] / 2)
    found = wilcoxon(differences, np.zeros(400))
    assert found.estimate == close(np.median(means), rel=1e-9)
    sd = math.sqrt(400 * 401 * 801 / 24)
    k = math.floor(len(means) / 2 - stats.norm.ppf(0.975) * sd)
    assert found.ci == close((means[k - 1], means[-k]), rel=1e-9)


# Randomisation.


def share_of_signs(tenths_of, at_least=None):
    """The share of all choices of signs whose sum, in whole tenths, is as far from 0."""
    far = abs(sum(tenths_of)) if at_least is None else at_least
    choices = itertools.product((-1, 1), repeat=len(tenths_of))
    return np.mean([abs(np.dot(choice, tenths_of)) >= far for choice in choices])


@given(few_pairs)
@example([(0.9, 0.8), (0.7, 0.6), (0.3, 0.1), (0.2, 0.1), (0.1, 0.3), (0.4, 0.1)])
def test_randomisation_is_every_choice_of_signs(pairs):
    """Tenths are not whole in binary: a tie that rounding breaks would show here."""
    differences = [round(10 * a) - round(10 * b) for a, b in pairs]
    found = randomisation(*runs(pairs))
    assert found.p == close(share_of_signs(differences))
    assert (found.method, found.seed) == ("randomisation, exact", None)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=9))
def test_sums_of_thirds_tie(pairs):
    differences = [a - b for a, b in pairs]
    found = randomisation([a / 3 for a, _ in pairs], [b / 3 for _, b in pairs])
    assert found.p == close(share_of_signs(differences))


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=9).filter(any), st.sampled_from([80, 95]))
def test_the_interval_holds_what_the_test_does_not_reject(differences, confidence):
    """Each change on a fine grid, tested by hand with one side at a time."""
    found = randomisation(differences, [0] * len(differences), confidence=confidence)
    outside = (1 - confidence / 100) / 2
    signs = np.array(list(itertools.product((-1, 1), repeat=len(differences))))
    grid = np.arange(-10 * 840, 10 * 840 + 1, 105)  # eighths, and no mean of a subset is finer
    kept = []
    for change in grid:
        shifted = 840 * np.array(differences) - change
        sums = signs @ shifted
        if min((sums >= shifted.sum()).mean(), (sums <= shifted.sum()).mean()) > outside:
            kept.append(change / 840)
    if found.ci is None:
        assert kept[0] == grid[0] / 840 and kept[-1] == grid[-1] / 840 and found.reason
    else:
        low, high = found.ci
        assert low - 1e-9 <= kept[0] < low + 0.125 + 1e-9
        assert high + 1e-9 >= kept[-1] > high - 0.125 - 1e-9


@given(st.lists(st.floats(-1, 1), min_size=6, max_size=12).filter(any))
def test_the_interval_excludes_0_where_p_says_so(differences):
    found = randomisation(differences, [0] * len(differences))
    low, high = found.ci
    assume(min(abs(low), abs(high)) > 1e-9)
    assert (found.p <= 0.05) == (not low <= 0 <= high)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("n", "values"), [(24, None), (60, None), (300, 5), (2_000, 3)])
def test_drawn_signs_come_near_the_exact_share(monkeypatch, n, values, seed):
    """Sums of whole numbers have an exact distribution by convolution."""
    rng = np.random.default_rng(seed)
    differences = rng.integers(-500, 520, n) if values is None else rng.integers(0, values, n) - 1
    ways = np.ones(1)
    for size in np.abs(differences[differences != 0]).tolist():
        ways = np.convolve(ways, [0.5] + [0] * (2 * size - 1) + [0.5])
    sums = np.arange(len(ways)) - len(ways) // 2
    exact = ways[np.abs(sums) >= abs(differences.sum())].sum()
    monkeypatch.setattr(random_signs, "_FEW_ARRANGEMENTS", 1)
    found = randomisation(differences, np.zeros(n), seed=seed)
    assert found.method == "randomisation, 10,000 draws" and found.seed == seed
    assert found.p == close(exact, abs=4 * math.sqrt(exact * (1 - exact) / 10_000) + 1e-4)
    low, high = found.ci
    t_low, t_high = paired_t(differences, np.zeros(n)).ci
    assert (low, high) == close((t_low, t_high), abs=0.15 * (t_high - t_low))
    assert (found.p <= 0.05) == (not low <= 0 <= high)


def test_no_drawn_probability_is_0():
    found = randomisation(np.arange(1, 101), np.zeros(100), draws=99)
    assert found.p == 1 / 100


def test_a_hundred_thousand_flips_are_looked_at_one_and_all():
    after, before = np.zeros(100_000), np.zeros(100_000)
    after[:2_000], before[2_000:3_800] = 0.5, 0.5
    found = randomisation(after, before)
    assert found.p == close(stats.binomtest(2_000, 3_800).pvalue, rel=1e-9)
    assert found.method == "randomisation, exact"


# McNemar.


@given(flips)
def test_mcnemar_is_scipys_binomial_test_of_the_flips(pairs):
    after, before = runs(pairs)
    mended, broken = pairs.count((1, 0)), pairs.count((0, 1))
    found = mcnemar(after, before)
    either = mended + broken
    expected = stats.binomtest(mended, either).pvalue if either else 1.0
    assert found.p == close(expected)
    assert found.effect == (close(mended / either - 0.5) if either else None)
    assert found.n_zero == len(pairs) - either


def score_by_hand(rose, fell, n, change):
    """The score test of a difference of shares, its nuisance found by climbing the likelihood."""

    def unlikely(falls):
        shares = (falls + change, falls, 1 - 2 * falls - change)
        counts = (rose, fell, n - rose - fell)
        return -sum(k * math.log(max(s, 1e-300)) for k, s in zip(counts, shares, strict=True) if k)

    bounds = (max(0.0, -change), (1 - change) / 2)
    falls = optimize.minimize_scalar(unlikely, bounds=bounds, options={"xatol": 1e-12}).x
    return (rose - fell - n * change) / math.sqrt(n * (2 * falls + change * (1 - change)))


@pytest.mark.parametrize(
    ("rose", "fell", "n"), [(5, 2, 20), (0, 6, 30), (7, 0, 9), (1, 0, 44), (12, 30, 200)]
)
def test_the_interval_of_flips_ends_where_the_score_test_does(rose, fell, n):
    after = [1] * rose + [0] * (n - rose)
    before = [0] * rose + [1] * fell + [0] * (n - rose - fell)
    low, high = mcnemar(after, before).ci
    z = stats.norm.ppf(0.975)
    assert -1 < low < (rose - fell) / n < high < 1
    assert score_by_hand(rose, fell, n, low) == close(z, abs=1e-3)
    assert score_by_hand(rose, fell, n, high) == close(-z, abs=1e-3)


@pytest.mark.parametrize(("n", "up", "down"), [(40, 0.05, 0.1), (80, 0.0, 0.05), (200, 0.1, 0.2)])
def test_the_interval_of_flips_keeps_its_level_on_either_side(n, up, down):
    """Over every outcome there can be, by its probability."""
    above = below = 0.0
    for rose in range(n + 1):
        for fell in range(n + 1 - rose):
            chance = stats.multinomial.pmf(
                (rose, fell, n - rose - fell), n, (up, down, 1 - up - down)
            )
            if chance > 1e-9:
                low, high = score_interval(rose, fell, n, 95)
                above += chance * (low > up - down)
                below += chance * (high < up - down)
    assert above <= 0.026 and below <= 0.033 and above + below <= 0.055


@given(flips)
def test_random_signs_of_flips_are_mcnemars_test(pairs):
    assert randomisation(*runs(pairs)).p == close(mcnemar(*runs(pairs)).p)


def test_mcnemar_refuses_other_scores():
    with pytest.raises(ValueError, match="0 or 1"):
        mcnemar([0.5], [1])


# The way a test leans.


def test_many_small_gains_and_a_few_great_losses_are_a_gain_by_ranks():
    after, before = [0.51] * 30 + [0.05] * 3, [0.5] * 30 + [0.95] * 3
    found = wilcoxon(after, before)
    assert np.mean(after) < np.mean(before)
    assert found.p < 0.001
    assert found.estimate == close(0.01)
    assert (found.leans, found.ci[0] > 0) == (1, True)
    assert paired_t(after, before).leans == -1


def test_ranks_lean_where_their_centre_is_0():
    found = wilcoxon([0.0] * 20 + [1.0] * 80, [0.3] * 20 + [1.0] * 80)
    assert (found.estimate, found.leans) == (0.0, -1)
    assert found.p < 0.001


# Bootstrap.


def test_the_bootstrap_level_is_the_one_whose_interval_reaches_0():
    """Against plain resampling by numpy: twice the share of means beyond 0."""
    rng = np.random.default_rng(3)
    differences = rng.exponential(1, 40) - 0.75
    means = rng.choice(differences, (200_000, 40)).mean(axis=1)
    expected = 2 * (means <= 0).mean()
    found = paired_bootstrap(differences, np.zeros(40), seed=4)
    assert found.p == close(expected, rel=0.1)
    assert found.ci == close(tuple(np.quantile(means, (0.025, 0.975))), abs=0.02)
    assert (found.seed, found.reason) == (4, None)


def test_the_bootstrap_warns_of_few_pairs():
    assert "6 pairs are few" in paired_bootstrap([1, 2, 3, 4, 5, 6], [0] * 6).reason


# Swapping rows.


def f1(sums):
    with np.errstate(all="ignore"):
        return 2 * sums[..., 0] / (2 * sums[..., 0] + sums[..., 1] + sums[..., 2])


def share_of_swaps(after, before, finish):
    observed = abs(finish(after.sum(0)) - finish(before.sum(0)))
    far, defined = 0, 0
    for choice in itertools.product((False, True), repeat=len(after)):
        swap = np.array(choice)[:, None]
        a, b = np.where(swap, before, after).sum(0), np.where(swap, after, before).sum(0)
        change = abs(finish(a) - finish(b))
        if math.isfinite(change):
            defined += 1
            far += change >= observed - 1e-12
    return far / defined


counts = st.tuples(*[st.integers(0, 2)] * 3)


@given(st.lists(st.tuples(counts, counts), min_size=1, max_size=6), st.sampled_from([f1, ratio]))
def test_swapping_is_every_way_of_swapping_units(pairs, finish):
    after, before = runs(pairs)
    after, before = np.array(after), np.array(before)
    found = swapped(after, before, finish, draws=50)
    with np.errstate(all="ignore"):
        change = finish(after.sum(0)) - finish(before.sum(0))
    if not math.isfinite(change):
        assert (found.estimate, found.p, found.ci) == (None, None, None)
        assert found.reason == "one of the runs has nothing to score"
        return
    assert found.estimate == close(change)
    assert found.p == close(share_of_swaps(after, before, finish))
    assert found.n_zero == (after == before).all(axis=1).sum()


@given(st.lists(st.tuples(tenths, tenths), min_size=2, max_size=9))
def test_swapping_rows_of_a_mean_is_flipping_signs(pairs):
    """Rows of value and 1, finished to a mean: the plain test, and the plain d_z and spread."""
    scores = np.array(runs(pairs)) * 10
    rows = [np.column_stack([np.rint(s), np.ones(len(s))]).astype(np.int64) for s in scores]
    by_rows = swapped(*rows, ratio, draws=50)
    by_scores = randomisation(*np.rint(scores))
    assert by_rows.p == close(by_scores.p)
    assert by_rows.estimate == close(by_scores.estimate)
    assert by_rows.effect == (by_scores.effect and close(by_scores.effect))
    assert spread_of_rows(*rows, ratio) == close(spread(*np.rint(scores)), abs=1e-12)


def in_errors(after, before):
    """`in_errors_by_hand` of many arrangements, (arrangements, units, columns)."""
    sums = after.sum(axis=1, keepdims=True), before.sum(axis=1, keepdims=True)
    units, changes = 0, 0
    for run, total, sign in zip((after, before), sums, (1, -1), strict=True):
        share = total[..., 0] / total[..., 1]
        units = units + sign * (run[..., 0] - share * run[..., 1]) / total[..., 1]
        changes = changes + sign * share[:, 0]
    return np.abs(changes) / np.sqrt((units**2).sum(axis=1))


@pytest.mark.parametrize("kinds", [3, 400])
def test_drawn_swaps_come_near_the_exact_share(kinds):
    """Precision over answered questions, few distinct rows and many, against numpy's own draws."""
    rng = np.random.default_rng(kinds)
    rows = rng.integers(0, 2, (2, 300, 2)) if kinds == 3 else rng.integers(0, kinds, (2, 300, 2))
    rows[..., 1] += rows[..., 0]
    after, before = rows
    swap = rng.random((5_000, 300, 1)) < 0.5
    drawn_ones = in_errors(np.where(swap, before, after), np.where(swap, after, before))
    observed = in_errors(after[None], before[None])[0]
    by_swaps = (drawn_ones >= observed * (1 - 1e-8)).mean()
    expected = max(by_swaps, p_of_unlike_counts(after, before))
    found = swapped(after, before, ratio, seed=1, draws=20_000)
    assert found.method.startswith("randomisation of units, 20,000 draws") and found.seed == 1
    assert found.p == close(expected, abs=5 * math.sqrt(by_swaps * (1 - by_swaps) / 5_000))
    assert found.least_p < 0.001
    low, high = found.ci
    assert low < found.estimate < high


def answers(right, wrong, absent):
    rows = [[1, 1]] * right + [[0, 1]] * wrong + [[0, 0]] * absent
    return np.array(rows)


def in_errors_by_hand(after, before):
    """The change of a share over its standard error: what each unit does to it, squared."""
    if not (after[:, 1].sum() and before[:, 1].sum()):
        return None
    shares = [Fraction(int(run[:, 0].sum()), int(run[:, 1].sum())) for run in (after, before)]
    units = [
        (int(ya) - shares[0] * int(oa)) / int(after[:, 1].sum())
        - (int(yb) - shares[1] * int(ob)) / int(before[:, 1].sum())
        for (ya, oa), (yb, ob) in zip(after, before, strict=True)
    ]
    change, variance = shares[0] - shares[1], sum(unit * unit for unit in units)
    return abs(change) / math.sqrt(variance) if variance else math.inf if change else 0.0


def shares_of_swaps(after, before):
    """The share of arrangements as far as the one at hand, and as the furthest one."""
    found = []
    for choice in itertools.product((False, True), repeat=len(after)):
        swap = np.array(choice)[:, None]
        found.append(
            in_errors_by_hand(np.where(swap, before, after), np.where(swap, after, before))
        )
    defined = np.array([far for far in found if far is not None])
    return [np.mean(defined >= far * (1 - 1e-8)) for far in (found[0], defined.max())]


of_and_yes = st.tuples(st.integers(0, 3), st.integers(0, 3)).map(sorted)
yes_and_of = of_and_yes.map(tuple)


@given(
    st.lists(st.tuples(yes_and_of, yes_and_of), min_size=1, max_size=8),
    st.sampled_from([1, 3, 1 << 40]),
)
def test_swapping_units_of_a_share_is_every_arrangement_in_its_own_errors(pairs, weight):
    """Rows as heavy as weights can make them, whose products no 64 bits would hold, too."""
    after, before = (np.array(run) for run in runs(pairs))
    assume(after[:, 1].any() and before[:, 1].any())
    found = swapped(after * weight, before * weight, ratio, draws=50)
    p, least_p = shares_of_swaps(after, before)
    assert found.p == close(max(p, p_of_unlike_counts(after, before)))
    assert found.least_p == close(least_p)
    assert found.p >= found.least_p > 0


def unlike_by_hand(after, before):
    """For units of one answer at most: shares with their spread, pairs with their own flips."""
    (n, before_n), both = (run[:, 1].sum() for run in (after, before)), after[:, 1] & before[:, 1]
    common = (after[:, 0].sum() + before[:, 0].sum()) / (n + before_n)
    flips = (both & (after[:, 0] != before[:, 0])).sum()
    alone = (n - both.sum()) / n**2 + (before_n - both.sum()) / before_n**2
    reweighted = both.sum() * (1 / n - 1 / before_n) ** 2
    variance = flips / n / before_n + common * (1 - common) * (alone + reweighted)
    change = ratio(after.sum(0)) - ratio(before.sum(0))
    return 2 * stats.norm.sf(abs(change) / math.sqrt(variance)) if variance else 0.0


@given(
    st.lists(st.tuples(*[st.sampled_from([(0, 0), (0, 1), (1, 1)])] * 2), min_size=5, max_size=40)
)
def test_what_one_run_alone_counted_has_the_spread_of_all(pairs):
    after, before = (np.array(run) for run in runs(pairs))
    assume(after[:, 1].any() and before[:, 1].any())
    assume((after[:, 1] != before[:, 1]).any())
    assert p_of_unlike_counts(after, before) == close(unlike_by_hand(after, before), abs=1e-12)


def test_right_answers_that_become_refusals_do_not_make_a_share_worse():
    """Eight of 120, of which 114 were right: such eight are right two times out of three."""
    before = answers(114, 6, 0)
    after = before.copy()
    after[:8] = 0
    found = swapped(after, before, ratio)
    assert found.estimate == close(106 / 112 - 114 / 120)
    assert found.least_p == close(2 / 2**8)
    assert found.p > 0.4
    assert found.method == "randomisation of units, exact, raised by the normal test"


def test_right_citations_that_are_left_out_do_not_make_a_share_worse():
    rng = np.random.default_rng(2)
    before = np.column_stack([rng.binomial(5, 0.95, 100), np.full(100, 5)])
    after = before - np.outer(np.arange(100) < 16, [1, 1])
    assert swapped(after, before, ratio).p > 0.2


def test_a_share_that_no_arrangement_changes_could_never_be_found():
    found = swapped(answers(30, 0, 10), answers(40, 0, 0), ratio)
    assert (found.p, found.least_p, found.estimate) == (1.0, 1.0, 0.0)


@pytest.mark.parametrize("scored", [1, 2, 3, 9])
def test_few_units_that_a_run_scored_prove_nothing(scored):
    """All right before, and after the few that are left: a resample never varies."""
    found = swapped(answers(scored, 0, 60 - scored), answers(60, 0, 0), ratio)
    assert (found.estimate, found.ci, found.n) == (0.0, None, 60)
    assert f"the run after scored only {scored} unit" in found.reason
    assert found.reason.endswith("too few for an interval")


def test_the_smaller_run_bounds_what_was_seen():
    found = swapped(answers(12, 0, 48), answers(60, 0, 0), ratio)
    assert found.estimate == 0
    assert found.ci == close(mcnemar([1] * 12, [1] * 12).ci)
    assert found.ci[0] < -0.2
    assert found.ci == close(swapped(answers(60, 0, 0), answers(12, 0, 48), ratio).ci)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=10, max_size=60))
def test_the_interval_of_0_1_rows_is_nearly_the_score_interval(pairs):
    """The jackknife divides by n - 1, and the units are otherwise those of McNemar's test."""
    after, before = (np.array(run) for run in runs(pairs))
    rows = [np.column_stack([run, np.ones_like(run)]) for run in (after, before)]
    found, expected = swapped(*rows, ratio, draws=50, span=1).ci, mcnemar(after, before).ci
    assert found == close(expected, abs=0.03)
    assert found[1] - found[0] >= expected[1] - expected[0] - 1e-9


def test_units_are_not_worth_more_for_counting_more():
    after, before = answers(20, 6, 4), answers(24, 3, 3)
    plain, often = (swapped(after * m, before * m, ratio, draws=50).ci for m in (1, 7))
    assert plain == close(often)
    heavy = np.where(np.arange(30) < 2, 1_000, 1)[:, None]
    found = swapped(after * heavy, before * heavy, ratio, draws=50)
    assert found.ci is None
    assert "are so unequal that they count as 2" in found.reason


def test_values_that_never_leave_0_may_still_rise_as_far_as_is_known():
    none = answers(0, 40, 0)
    assert swapped(none, none, ratio).ci is None
    assert swapped(none, none, ratio, span=1.0).ci == close(mcnemar([0] * 40, [0] * 40).ci)


def test_a_run_that_scores_nothing_cannot_be_compared():
    found = swapped(np.array([[0, 0], [0, 0]]), np.array([[1, 1], [0, 1]]), ratio)
    assert found.reason == "one of the runs has nothing to score"


# What holds of every test.


def every_test(after, before):
    return [compared(after, before, method=method, draws=200) for method in METHODS]


@given(st.lists(st.integers(0, 1), max_size=30))
def test_equal_runs_have_probability_1(scores):
    for found in every_test(scores, scores):
        assert found.p == (1.0 if scores else None)
        assert found.estimate == (0.0 if scores else None)
        assert (found.effect, found.n_zero) == (None, len(scores))
        assert found.reason == ("no pair differs" if scores else "no pairs")


@given(st.integers(1, 500))
def test_equal_runs_may_still_differ_by_as_much_as_equal_flips(n):
    scores = [0, *[1] * n]
    rows = np.column_stack([scores, np.ones_like(scores)])
    expected = mcnemar(scores, scores).ci
    for found in [*every_test(scores, scores), swapped(rows, rows, ratio)]:
        assert (found.p, found.estimate, found.reason) == (1.0, 0.0, "no pair differs")
        assert found.ci == close(expected)


def test_runs_that_only_rounding_tells_apart_are_equal():
    found = randomisation([0.1 + 0.2, 0.7 + 0.1], [0.3, 0.8])
    assert (found.p, found.n_zero, found.estimate) == (1.0, 2, 0.0)


everything = st.lists(
    st.tuples(st.floats(-1e99, 1e99), st.floats(-1e99, 1e99)) | st.tuples(tenths, tenths),
    max_size=12,
)


@given(everything)
def test_every_result_is_fit_for_json(pairs):
    for method in METHODS[1:]:
        found = compared(*runs(pairs), method=method, draws=50)
        numbers = [found.estimate, found.p, found.effect, *(found.ci or ())]
        assert all(number is None or math.isfinite(number) for number in numbers)
        assert found.p is None or 0 < found.p <= 1
        assert None not in (found.estimate, found.ci, found.p) or found.reason
        assert msgspec.json.decode(msgspec.json.encode(found), type=Paired) == found


@given(few_pairs)
def test_turning_the_runs_round_turns_the_result_round(pairs):
    after, before = runs(pairs)
    for method in METHODS[1:4]:
        there, back = (
            compared(after, before, method=method),
            compared(before, after, method=method),
        )
        assert back.p == close(there.p) if there.p else back.p is None
        assert back.estimate == close(-there.estimate, abs=1e-12)
        if there.ci:
            assert back.ci == close((-there.ci[1], -there.ci[0]), abs=1e-9)


many_pairs = st.lists(st.tuples(tenths, tenths), min_size=30, max_size=40)


def assert_mirrored(there, back):
    assert (back.p, back.least_p, back.n_zero) == (there.p, there.least_p, there.n_zero)
    assert (back.estimate, back.leans) == (there.estimate and -there.estimate, -there.leans)
    assert back.ci == (there.ci and (-there.ci[1], -there.ci[0]))


@given(few_pairs | many_pairs, st.booleans())
@example([(0.1 * k, 0.0) for k in range(-9, 10) if k] * 2, False)
def test_draws_do_not_depend_on_which_run_stands_first(pairs, flips_only):
    """To the last digit, also where the runs differ as much one way as the other."""
    after, before = runs(pairs)
    if flips_only:
        after, before = ([float(score > 0) for score in run] for run in (after, before))
    for method in METHODS if flips_only else METHODS[1:]:
        assert_mirrored(
            compared(after, before, method=method, draws=50),
            compared(before, after, method=method, draws=50),
        )


@given(
    st.lists(st.tuples(yes_and_of, yes_and_of), min_size=1, max_size=40)
    | st.lists(st.tuples(counts, counts), min_size=1, max_size=40),
    st.sampled_from([1, 1 << 40]),
)
def test_swaps_do_not_depend_on_which_run_stands_first(pairs, weight):
    after, before = (np.array(run) * weight for run in runs(pairs))
    finish = ratio if after.shape[1] == 2 else f1
    assert_mirrored(
        swapped(after, before, finish, draws=50), swapped(before, after, finish, draws=50)
    )


# What a test could have found, and what its interval is of.


@given(few_pairs)
def test_the_least_probability_is_that_of_pairs_that_all_go_one_way(pairs):
    after, before = (np.array(run) for run in runs(pairs))
    signed = {
        "randomisation": (np.abs(after - before), 0 * before),
        "wilcoxon": (np.abs(after - before), 0 * before),
        "mcnemar": (np.ones(len(after)), 0 * before),
    }
    for method, one_way in signed.items():
        runs_of = (after > 0, before > 0) if method == "mcnemar" else (after, before)
        found = compared(*runs_of, method=method)
        differing = found.n - found.n_zero
        assert found.least_p == min(1, 2 / 2**differing) <= found.p
        if differing == found.n:
            assert compared(*one_way, method=method).p == found.least_p


def test_the_least_probability_of_drawn_signs_and_of_normal_ranks():
    differences = np.arange(1, 101) * np.where(np.arange(100) % 3, 1, -1)
    found = randomisation(differences, np.zeros(100), draws=99)
    assert found.least_p == 1 / 100
    by_ranks = wilcoxon(differences, np.zeros(100))
    assert by_ranks.least_p == wilcoxon(np.abs(differences), np.zeros(100)).p < by_ranks.p
    assert mcnemar([1] * 2_000, [0] * 2_000).least_p > 0


@pytest.mark.parametrize("test", [paired_t, paired_bootstrap])
def test_the_least_probability_of_other_tests_is_not_known(test):
    assert test(AFTER, BEFORE).least_p is None


@pytest.mark.parametrize("method", METHODS)
def test_only_wilcoxons_interval_is_not_of_the_mean(method):
    after, before = ([1, 0, 1, 1], [0, 1, 1, 0])
    assert compared(after, before, method=method).ci_of == (
        "median" if method == "wilcoxon" else "mean"
    )
    # Of runs that nowhere differ, what is left unseen bounds the mean.
    assert compared(after, after, method=method).ci_of == "mean"


@given(
    few_pairs | many_pairs,
    st.randoms(use_true_random=False),
)
def test_the_order_of_the_pairs_does_not_matter(pairs, random):
    shuffled = random.sample(pairs, len(pairs))
    for method in METHODS[1:]:
        there, back = (compared(*runs(p), method=method, draws=50) for p in (pairs, shuffled))
        assert there == back


def test_the_same_seed_gives_the_same_bytes_and_another_one_others():
    rng = np.random.default_rng(0)
    after, before = rng.random(50), rng.random(50)
    first, again, other = (
        msgspec.json.encode(compared(after, before, seed=seed)) for seed in (1, 1, 2)
    )
    assert first == again != other


@pytest.mark.parametrize(
    ("after", "before", "method"),
    [
        ([1, 0], [0, 0], "McNemar, exact"),
        ([True, False], [1.0, 0.0], "McNemar, exact"),
        ([1, 0.5], [0, 0], "randomisation, exact"),
        ([1, 2], [0, 0], "randomisation, exact"),
    ],
)
def test_the_default_is_as_stated(after, before, method):
    assert compared(after, before).method == method


@pytest.mark.parametrize(
    ("after", "before", "words"),
    [
        ([1.0], [1.0, 2.0], "differ in length: 1 and 2"),
        ([float("nan")], [1.0], "leave out absent ones"),
        ([float("inf")], [1.0], "leave out absent ones"),
        ([[1.0]], [[1.0]], "plain list"),
    ],
)
def test_what_cannot_be_compared_is_refused(after, before, words):
    with pytest.raises(ValueError, match=words):
        compared(after, before, method="t")


def test_an_unknown_test_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="no test 'sign': it is one of mcnemar, randomisation"):
        compared([1], [0], method="sign")


@pytest.mark.parametrize(
    ("after", "before"), [([[1, 2]], [[1, 2], [3, 4]]), ([[0.5, 1]], [[1, 1]]), ([1], [1])]
)
def test_rows_that_cannot_be_swapped_are_refused(after, before):
    with pytest.raises(ValueError, match=r"shape|whole"):
        swapped(np.array(after), np.array(before), ratio)
