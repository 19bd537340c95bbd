"""α against the paper, against the textbook's coincidence matrix, and against another package."""

import math

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ragauge.stats import krippendorff as ours
from ragauge.stats.krippendorff import NOTHING_PAIRED, ONE_VALUE, alpha, alpha_interval

close = pytest.approx
LEVELS = ("nominal", "ordinal", "interval")


def raters(*rows):
    return np.array([[math.nan if one == "." else float(one) for one in row] for row in rows])


# Krippendorff, "Computing Krippendorff's Alpha-Reliability", 2011; three and four observers.
THREE = raters(".....34121133.3", "1.213343.......", "..21344.21133.4")
FOUR = raters("123321412...", "1233224125.3", ".3332342251.", "12332441251.")


@pytest.mark.parametrize(
    ("data", "level", "published"),
    [
        (THREE, "nominal", 0.691),
        (THREE, "interval", 0.811),
        (FOUR, "nominal", 0.743),
        (FOUR, "ordinal", 0.815),
        (FOUR, "interval", 0.849),
    ],
)
def test_alpha_is_the_published_one(data, level, published):
    assert round(alpha(data, level).value, 3) == published


def test_what_is_rated_once_is_not_counted():
    found = alpha(THREE)
    assert (found.units, found.ratings, found.reason) == (12, 26, None)


def coincidences(data, weights=None):
    """The values that can be paired, and how often each meets each within a unit."""
    units = [column[~np.isnan(column)] for column in data.T]
    values = sorted({value for unit in units if len(unit) > 1 for value in unit})
    met = np.zeros((len(values), len(values)))
    weights = np.ones(len(units)) if weights is None else weights
    for unit, weight in zip(units, weights, strict=True):
        for i, one in enumerate(unit):
            for j, other in enumerate(unit):
                if i != j:
                    place = values.index(one), values.index(other)
                    met[place] += weight / (len(unit) - 1)
    return values, met


def textbook(data, level, weights=None):
    """α word for word: by the coincidence matrix and the difference function of the level."""
    values, met = coincidences(data, weights)
    times = met.sum(axis=0)
    n = times.sum()

    def apart(c, k):
        low, high = sorted((c, k))
        match level:
            case "nominal":
                return float(c != k)
            case "ordinal":
                between = times[low : high + 1].sum() - (times[low] + times[high]) / 2
                return between**2
            case "interval":
                return (values[c] - values[k]) ** 2

    places = range(len(values))
    observed = sum(met[c, k] * apart(c, k) for c in places for k in places if c != k)
    expected = sum(times[c] * times[k] * apart(c, k) for c in places for k in places if c != k)
    return 1 - (n - 1) * observed / expected if expected else None


label = st.one_of(st.none(), st.integers(0, 4))
score = st.one_of(st.none(), st.sampled_from([-2.5, 0.0, 0.1, 0.3, 1.0, 7.25]))


def tables(rating):
    return st.integers(2, 4).flatmap(
        lambda people: st.lists(
            st.lists(rating, min_size=people, max_size=people), min_size=1, max_size=12
        ).map(lambda units: np.array(units, dtype=float).T)
    )


@given(st.one_of(tables(label), tables(score)), st.sampled_from(LEVELS))
def test_alpha_equals_the_textbook(data, level):
    assume(level == "interval" or not ((data % 1 > 0) | (data < 0)).any())
    expected, found = textbook(data, level), alpha(data, level)
    if expected is None:
        assert found.value is None
        assert found.reason in (NOTHING_PAIRED, ONE_VALUE)
        assert alpha_interval(data, level) is None
    else:
        assert found.value == close(expected, abs=1e-9)
        assert -1 <= found.value <= 1


@given(tables(label), st.sampled_from(LEVELS))
def test_alpha_equals_the_package(data, level):
    found = alpha(data, level)
    assume(found.value is not None)
    with np.errstate(all="ignore"):
        theirs = krippendorff.alpha(reliability_data=data, level_of_measurement=level)
    assert found.value == close(theirs, abs=1e-9)


@given(tables(label), st.sampled_from(LEVELS))
def test_units_put_together_give_what_units_apart_give(data, level):
    together = alpha(data, level), alpha_interval(data, level)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ours, "MOST_PATTERNS", 1)
        patched.setattr(ours, "BLOCK", 3)
        apart = alpha(data, level), alpha_interval(data, level)
    assert (together[0].units, together[0].ratings) == (apart[0].units, apart[0].ratings)
    assert together[0].reason == apart[0].reason
    assert together[0].value == close(apart[0].value, abs=1e-12)
    assert together[1] == close(apart[1], abs=1e-6)


@given(tables(label), st.sampled_from(LEVELS), st.randoms())
def test_neither_the_order_of_raters_nor_of_units_matters(data, level, random):
    turned = data[random.sample(range(len(data)), len(data))]
    turned = turned[:, random.sample(range(data.shape[1]), data.shape[1])]
    assert alpha(turned, level).value == close(alpha(data, level).value, abs=1e-12)


@given(tables(score), st.sampled_from([1e-300, 1e-3, 10.0, 1e300]))
def test_the_unit_of_the_numbers_does_not_matter(data, unit):
    assert alpha(data * unit, "interval").value == close(alpha(data, "interval").value, abs=1e-9)


def pulls(data, level, step=1e-5):
    """The jackknife by numbers: a unit weighs a little more, and a little less."""
    n = data.shape[1]
    for unit in range(n):
        ends = []
        for sign in (1, -1):
            weights = np.ones(n)
            weights[unit] += sign * step
            ends.append(math.log(1 - textbook(data, level, weights)))
        yield (ends[0] - ends[1]) / (2 * step)


@given(tables(label), st.sampled_from(LEVELS))
def test_the_interval_is_the_jackknifes(data, level):
    data = data[:, (~np.isnan(data)).sum(axis=0) > 1]
    value = alpha(data, level).value if data.size else None
    assume(value is not None and value < 1 and data.shape[1] > 1)
    moved = np.array(list(pulls(data, level)))
    error = math.sqrt(moved.var(ddof=1) * len(moved))
    assume(error > 1e-6)
    low, high = alpha_interval(data, level)
    reach = math.exp(1.959963984540054 * error)
    assert low == close(max(-1, 1 - (1 - value) * reach), rel=1e-5)
    assert high == close(1 - (1 - value) / reach, rel=1e-5)


@given(tables(label), st.sampled_from(LEVELS))
def test_the_interval_holds_alpha_and_is_no_point(data, level):
    found, ends = alpha(data, level), alpha_interval(data, level)
    if found.value is None or found.units < 2:
        assert ends is None
    else:
        assert -1 <= ends[0] <= found.value <= ends[1] <= 1
        assert ends[1] - ends[0] > 1e-3
        assert {type(found.value), *map(type, ends)} == {float}


@pytest.mark.parametrize("level", LEVELS)
def test_full_agreement_over_few_units_is_not_certain(level):
    few, many = (np.array([[0, 1, 2] * times] * 3, dtype=float) for times in (2, 200))
    assert alpha(few, level).value == alpha(many, level).value == 1
    assert alpha_interval(few, level)[0] < 0.6 < 0.98 < alpha_interval(many, level)[0]
    assert alpha_interval(few, level)[1] == 1


def test_agreement_on_numbers_that_no_computer_holds_is_full():
    assert alpha(np.array([[0.1, 0.7, 1e9 + 0.1]] * 3), "interval").value == 1


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("rows", "reason", "units"),
    [
        ([[], []], NOTHING_PAIRED, 0),
        ([[math.nan, math.nan], [math.nan, math.nan]], NOTHING_PAIRED, 0),
        ([[1, math.nan], [math.nan, 2]], NOTHING_PAIRED, 0),
        ([[1, 2]], NOTHING_PAIRED, 0),
        ([[3, 3, 1], [3, 3, math.nan]], ONE_VALUE, 2),
    ],
)
def test_what_has_no_alpha_says_why(rows, reason, units, level):
    found = alpha(np.array(rows), level)
    assert (found.value, found.reason, found.units) == (None, reason, units)
    assert alpha_interval(np.array(rows), level) is None


def test_one_unit_has_no_interval():
    assert alpha(raters("1", "2")).value == 0
    assert alpha_interval(raters("1", "2")) is None


@pytest.mark.parametrize(
    ("rows", "level"),
    [
        ([[0.5, 1], [1, 1]], "nominal"),
        ([[0.5, 1.5], [1.5, 1.5]], "nominal"),
        ([[-1, 1], [1, 1]], "ordinal"),
        ([[1e30, 1], [1, 1]], "nominal"),
        ([[math.inf, 1], [1, 1]], "interval"),
        ([1, 2, 3], "interval"),
    ],
)
def test_what_cannot_be_a_rating_is_refused(rows, level):
    with pytest.raises(ValueError, match=r"rating|label"):
        alpha(np.array(rows, dtype=float), level)


def sample(rng, units, keep):
    """Three raters who hit the truth so often, a tenth of their ratings missing."""
    truth = rng.choice(4, units, p=[0.5, 0.25, 0.15, 0.1])
    slips = np.clip(truth + rng.choice([-1, 1, 2], (3, units)), 0, 3)
    given = np.where(rng.random((3, units)) < keep, truth, slips).astype(float)
    given[rng.random(given.shape) < 0.1] = math.nan
    return given


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("units", "keep"), [(30, 0.9), (100, 0.6)])
def test_intervals_hold_the_truth_about_as_often_as_they_say(level, units, keep):
    rng = np.random.default_rng(20)
    truth = alpha(sample(rng, 300_000, keep), level).value

    def covers():
        low, high = alpha_interval(sample(rng, units, keep), level)
        return low <= truth <= high

    assert 0.90 <= sum(covers() for _ in range(500)) / 500 <= 0.99
