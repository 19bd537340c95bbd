"""Thousands of simulated comparisons: errors as rare, and findings as frequent, as is promised.

Seeds are fixed, so each figure is the same every time. A promised rate is met where the share of
simulations lies within three standard errors of it; a rate that is promised as a limit, where it
is not exceeded by more than that.
"""

import math

import numpy as np
import pytest

from ragauge.contracts.metric import ratio
from ragauge.stats import random_signs
from ragauge.stats.decision import benjamini_hochberg, holm, outlook
from ragauge.stats.paired import (
    mcnemar,
    paired_bootstrap,
    paired_t,
    randomisation,
    wilcoxon,
)
from ragauge.stats.power import (
    margin_power_at,
    needed,
    needed_for_margin,
    power_at,
)
from ragauge.stats.swapped import interval_of_rows, swapped
from tests import profiles

pytestmark = pytest.mark.slow

TIMES = profiles.times(1_000)
ALPHA = 0.05


def error(rate, times=TIMES):
    """Three standard errors of a share of simulations."""
    return 3 * math.sqrt(rate * (1 - rate) / times)


def share(simulate, times=TIMES):
    rng = np.random.default_rng(2024)
    return sum(simulate(rng) for _ in range(times)) / times


def any_seed(rng):
    """Few draws of one seed would lean the same way in every simulation."""
    return int(rng.integers(1 << 32))


def graded(rng, n, change=0.0):
    """Scores of two runs from 0 to 1, alike question by question, and their true change."""
    question = rng.normal(0, 0.2, n)
    before = 0.5 + question + rng.normal(0, 0.1, n)
    after = 0.5 + question + rng.normal(0, 0.1, n) + change
    return after, before


GRADED_SD = math.sqrt(2) * 0.1


def coarse(rng, n):
    """Quarters, with many ties and pairs that do not differ: such as F1 over few entities."""
    question = rng.integers(0, 4, n)
    return [(question + (rng.random(n) < 0.2)) / 4 for _ in range(2)]


def right_or_wrong(rng, n, up=0.1, down=0.1):
    """0/1 scores of which so large a share is mended, and so large a share broken."""
    moved = rng.random(n)
    before = np.where(moved < up, 0, np.where(moved < up + down, 1, rng.random(n) < 0.7))
    after = np.where(moved < up, 1, np.where(moved < up + down, 0, before))
    return after.astype(np.int64), before.astype(np.int64)


# Runs of the same system: nothing is to be found.


def test_t_errs_as_often_as_it_says():
    found = share(lambda rng: paired_t(*graded(rng, 20)).p < ALPHA)
    assert found == pytest.approx(ALPHA, abs=error(ALPHA))


@pytest.mark.parametrize("scores", [graded, coarse])
def test_randomisation_errs_as_often_as_it_says(scores):
    def simulate(rng):
        return randomisation(*scores(rng, 24), draws=399, seed=any_seed(rng)).p <= ALPHA

    found = share(simulate)
    assert found <= ALPHA + error(ALPHA)
    assert scores is coarse or found == pytest.approx(ALPHA, abs=error(ALPHA))


def test_randomisation_of_few_pairs_errs_no_more_often():
    found = share(lambda rng: randomisation(*graded(rng, 9)).p < ALPHA)
    assert found == pytest.approx(24 / 512, abs=error(ALPHA))  # the largest step below 5 %


@pytest.mark.parametrize("scores", [graded, coarse])
def test_wilcoxon_errs_no_more_often_than_it_says(scores):
    assert share(lambda rng: wilcoxon(*scores(rng, 16)).p < ALPHA) <= ALPHA + error(ALPHA)


@pytest.mark.parametrize("n", [20, 80, 400])
def test_mcnemar_errs_no_more_often_than_it_says(n):
    assert share(lambda rng: mcnemar(*right_or_wrong(rng, n)).p < ALPHA) <= ALPHA


def answered(rng, n, precision=(0.8, 0.8)):
    """Precision over what is answered: rows of right and answered, a run at a time."""
    easy = rng.random(n)
    for chance in precision:
        given = rng.random(n) < 0.7
        likely = np.where(rng.random(n) < 0.5, easy, rng.random(n))
        yield np.column_stack([given & (likely < chance), given]).astype(np.int64)


def test_swapping_units_errs_no_more_often_than_it_says():
    def simulate(rng):
        return swapped(*answered(rng, 60), ratio, draws=199, seed=any_seed(rng)).p <= ALPHA

    assert share(simulate) <= ALPHA + error(ALPHA)


def refused(rng, n, precision, given, nested):
    """Rows of right and answered, of runs that answer such shares of the questions.

    Nested: what one run answers, the other that answers more does too.
    """
    easy, first = rng.random((2, n))
    for chance, share_given in zip(precision, given, strict=True):
        likely = np.where(rng.random(n) < 0.5, easy, rng.random(n))
        answers = (first if nested else rng.random(n)) < share_given
        yield np.column_stack([answers & (likely < chance), answers]).astype(np.int64)


@pytest.fixture
def found_by_swapping(monkeypatch):
    """How often swapping finds a change; by draws, as all arrangements would take minutes."""
    monkeypatch.setattr(random_signs, "_FEW_ARRANGEMENTS", 1 << 9)

    def found(precision, given, n, times, nested=False):
        def simulate(rng):
            rows = refused(rng, n, precision, given, nested)
            return swapped(*rows, ratio, draws=199, seed=any_seed(rng)).p <= ALPHA

        return share(simulate, times)

    return found


@pytest.mark.parametrize("n", [40, 80, 300])
@pytest.mark.parametrize("given", [(0.9, 0.5), (0.9, 0.2), (0.95, 0.2), (0.7, 0.7)])
def test_a_run_that_refuses_more_is_no_worse_where_it_answers(found_by_swapping, n, given):
    """By swaps of the plain change it was one of the two in one comparison of seven."""
    found = found_by_swapping((0.8, 0.8), given, n, 2_000)
    assert found <= 0.065 + error(0.065, 2_000)
    assert given[0] > given[1] or found <= ALPHA + error(ALPHA, 2_000)


@pytest.mark.parametrize("n", [40, 80, 300])
@pytest.mark.parametrize("given", [(0.92, 1.0), (0.9, 0.5)])
def test_refusals_of_what_was_answered_make_nothing_worse(found_by_swapping, n, given):
    """Nearly all of it was right: two comparisons of five, whatever statistic is swapped."""
    found = found_by_swapping((0.95, 0.95), given, n, 1_000, nested=True)
    assert found <= 0.065 + error(0.065, 1_000)


@pytest.mark.parametrize(
    ("precision", "given", "n", "power"),
    [((0.65, 0.8), (0.9, 0.9), 80, 0.5), ((0.6, 0.8), (0.9, 0.5), 80, 0.6)],
)
def test_a_real_loss_is_still_found_among_refusals(found_by_swapping, precision, given, n, power):
    """Swaps of the plain change found 57 and 68 in a hundred."""
    assert found_by_swapping(precision, given, n, 1_000) >= power


def test_the_bootstrap_is_near_its_level_with_many_pairs():
    """It is promised to be too sure with few pairs; with sixty it errs in 6 % at most."""

    def simulate(rng):
        return paired_bootstrap(*graded(rng, 60), draws=199, seed=any_seed(rng)).p <= ALPHA

    assert share(simulate, 2_000) <= 0.06 + error(0.06, 2_000)


def family(rng, metrics, n, lift=0.0):
    """The probabilities of several metrics of one run, alike because the questions are."""
    question = rng.random(n)
    for metric in range(metrics):
        own = np.where(rng.random((2, n)) < 0.6, question, rng.random((2, n)))
        after, before = own < np.array([[0.7 + lift * (metric == 0)], [0.7]])
        yield mcnemar(after.astype(np.int64), before.astype(np.int64)).p


def test_holm_errs_in_no_more_families_than_it_says():
    assert share(lambda rng: min(holm(list(family(rng, 5, 120)))) < ALPHA) <= ALPHA


def test_benjamini_and_hochberg_keep_the_share_of_false_findings():
    """One metric of five is better: of what is found, at most 5 % is not."""

    def false_share(rng):
        found = [p < ALPHA for p in benjamini_hochberg(list(family(rng, 5, 120, lift=0.2)))]
        return sum(found[1:]) / max(1, sum(found))

    assert share(false_share) <= ALPHA


def test_no_verdict_is_given_on_equal_systems_more_often_than_alpha():
    def simulate(rng):
        found = mcnemar(*right_or_wrong(rng, 80))
        return outlook(found.estimate, found.ci, found.p, "higher") != "cannot_tell"

    assert share(simulate) <= ALPHA


# Known effects, found as often as stats.power says.


@pytest.mark.parametrize("difference", [0.5, 0.8, 1.1])
def test_t_finds_an_effect_at_the_stated_power(difference):
    change = difference * GRADED_SD
    n = needed(GRADED_SD, change)
    stated = power_at(n, GRADED_SD, change)
    found = share(lambda rng: paired_t(*graded(rng, n, change)).p < ALPHA)
    assert found == pytest.approx(stated, abs=error(stated))


def test_randomisation_finds_an_effect_at_nearly_the_stated_power():
    """A hundredth less for the pairs, and one for so few draws."""
    change = 0.5 * GRADED_SD
    stated = power_at(34, GRADED_SD, change)

    def simulate(rng):
        return randomisation(*graded(rng, 34, change), draws=399, seed=any_seed(rng)).p <= ALPHA

    assert share(simulate) == pytest.approx(stated, abs=error(stated) + 0.02)


@pytest.mark.parametrize(("up", "down"), [(0.15, 0.05), (0.12, 0.02), (0.25, 0.15)])
def test_mcnemar_finds_an_effect_at_little_less_than_the_stated_power(up, down):
    """Its probabilities come in steps, so it finds up to six in a hundred less; never more."""
    sd = math.sqrt(up + down - (up - down) ** 2)
    n = needed(sd, up - down)
    stated = power_at(n, sd, up - down)
    found = share(lambda rng: mcnemar(*right_or_wrong(rng, n, up, down)).p < ALPHA)
    assert stated - 0.06 - error(stated) <= found <= stated + error(stated)


def not_worse(found, margin):
    verdict = outlook(found.estimate, found.ci, found.p, "higher", margin)
    return verdict in ("not_worse", "better")


@pytest.mark.parametrize("change", [0.0, -0.02])
def test_a_margin_is_shown_at_the_stated_power(change):
    n = needed_for_margin(GRADED_SD, 0.06, change)
    stated = margin_power_at(n, GRADED_SD, 0.06, change)
    found = share(lambda rng: not_worse(paired_t(*graded(rng, n, change)), 0.06))
    assert found == pytest.approx(stated, abs=error(stated))


# A loss as large as the margin is called not worse in 2.5 % at most.


@pytest.mark.parametrize("n", [8, 60])
def test_a_loss_of_the_margin_is_seldom_not_worse_by_t(n):
    found = share(lambda rng: not_worse(paired_t(*graded(rng, n, -0.05)), 0.05))
    assert found == pytest.approx(0.025, abs=error(0.025))


@pytest.mark.parametrize("n", [9, 40])
def test_a_loss_of_the_margin_is_seldom_not_worse_by_randomisation(n):
    def simulate(rng):
        return not_worse(randomisation(*graded(rng, n, -0.05), draws=399, seed=any_seed(rng)), 0.05)

    assert share(simulate) <= 0.025 + error(0.025)


@pytest.mark.parametrize(
    ("n", "up", "down"), [(30, 0.05, 0.10), (80, 0.0, 0.05), (80, 0.05, 0.10), (200, 0.1, 0.2)]
)
def test_a_loss_of_the_margin_is_seldom_not_worse_by_mcnemar(n, up, down):
    margin = round(down - up, 9)
    found = share(lambda rng: not_worse(mcnemar(*right_or_wrong(rng, n, up, down)), margin))
    assert found <= 0.025 + error(0.025)


def rows_of(rng, right, absent, weights=None):
    """Rows of right and answered, of runs that answer all but these shares of the questions."""
    for run, share_absent in zip(right, absent, strict=True):
        given = rng.random(len(run)) >= share_absent
        rows = np.column_stack([run & given, given]).astype(np.int64)
        yield rows if weights is None else rows * weights[:, None]


def losses_only(rng, n, precision, margin):
    chance = rng.random(n)
    return chance < precision - margin, chance < precision


def losses_and_gains(rng, n, precision, margin):
    chance, other = rng.random((2, n))
    own = np.where(rng.random(n) < 0.5, chance, other)
    return own < precision - margin, chance < precision


def unequal(rng, n):
    """Weights of a sample with equally many of two strata, one five times the other."""
    return rng.permutation(np.where(np.arange(n) % 2, 5, 1))


def ruled_out(ci, margin):
    return ci is not None and ci[0] > -margin


BY_SWAPPING = [
    (n, precision, margin, absent)
    for n in (10, 20, 60, 200)
    for precision, margin in ((0.5, 0.3), (0.9, 0.1), (0.98, 0.3))
    for absent in ((0.0, 0.0), (0.2, 0.3), (0.6, 0.0))
]


@pytest.mark.parametrize("moved", [losses_only, losses_and_gains])
@pytest.mark.parametrize("weights", [None, unequal])
def test_a_loss_of_the_margin_is_seldom_not_worse_by_swapping(moved, weights):
    """3.5 % at most: the interval is no exact one, and it was a third of them by bootstrap."""

    def simulate(rng, n, precision, margin, absent):
        drawn = weights(rng, n) if weights else None
        rows = rows_of(rng, moved(rng, n, precision, margin), absent, drawn)
        return ruled_out(interval_of_rows(*rows, ratio)[0], margin)

    times = profiles.times(600)
    found = {
        case: share(lambda rng, case=case: simulate(rng, *case), times) for case in BY_SWAPPING
    }
    assert max(found.values()) <= 0.035 + error(0.035, times)
    assert sum(found.values()) / len(found) <= 0.025


def test_graded_losses_of_the_margin_are_seldom_not_worse_by_swapping():
    """A few questions lose all they had, and some are answered in one run only."""

    def simulate(rng, n):
        before = rng.beta(8, 2, n)
        after = np.where(rng.random(n) < 0.125, 0.0, before)
        rows = []
        for run in (after, before):
            given = rng.random(n) >= 0.2
            rows.append(np.column_stack([np.rint(run * 1024), np.full(n, 1024)]) * given[:, None])
        scaled = [run.astype(np.int64) for run in rows]
        return ruled_out(interval_of_rows(*scaled, ratio)[0], 0.1)

    for n in (20, 60, 200):
        found = share(lambda rng, n=n: simulate(rng, n), 1_500)
        assert found <= 0.035 + error(0.035, 1_500)


def test_no_loss_is_shown_to_be_none_about_as_often_as_by_mcnemar():
    """Refusals cost little more than the questions that were refused."""

    def simulate(rng):
        right = losses_and_gains(rng, 400, 0.9, 0.0)
        rows = rows_of(rng, right, (0.1, 0.1))
        return ruled_out(interval_of_rows(*rows, ratio)[0], 0.06)

    plain = share(
        lambda rng: not_worse(mcnemar(*losses_and_gains(rng, 360, 0.9, 0.0)), 0.06), 1_500
    )
    assert plain - 0.15 <= share(simulate, 1_500) <= plain + error(plain, 1_500)
