"""Thresholds: strict, with room for rounding, and the same in any order of the values."""

import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.diagnosis import Threshold
from ragauge.diagnosis.limits import (
    SEVEN,
    beyond,
    in_range,
    limits_of,
    mean,
    plain_name,
    severity,
    threshold_hit,
    usual_limits,
)
from ragauge.metrics.table import table

STATED = {
    "faithfulness": ("higher", 0.7, 0.5),
    "answer_relevancy": ("higher", 0.7, 0.5),
    "context_recall": ("higher", 0.7, 0.5),
    "semantic_similarity": ("higher", 0.7, 0.5),
    "context_precision": ("higher", 0.6, 0.4),
    "factual_correctness": ("higher", 0.6, 0.4),
    "noise_sensitivity": ("lower", 0.3, 0.5),
}
"""The table that was promised: better, warning, critical."""
TOLERANCE = Fraction(1, 10**9)
ROUNDED = Fraction(1, 10**15)
"""Nearer to a bound than this, floats decide and not the rule."""

every_judged = pytest.mark.parametrize("metric", STATED)
numbers = st.floats(allow_nan=False, allow_infinity=False)
bounds = st.builds(
    lambda better, pair: Threshold(
        better=better,
        warning=pair[better == "higher"],
        critical=pair[better == "lower"],
    ),
    st.sampled_from(("higher", "lower")),
    st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted),
)


def plain_severity(value, limits):
    """The twin: how far a value is on the wrong side, in exact numbers."""
    away = 1 if limits.better == "lower" else -1

    def is_past(bound):
        return away * (Fraction(value) - Fraction(bound)) > TOLERANCE

    if limits.critical is not None and is_past(limits.critical):
        return "critical"
    return "warning" if is_past(limits.warning) else "none"


# The seven.


def test_the_thresholds_are_those_that_were_promised():
    assert {name: (one.better, one.warning, one.critical) for name, one in SEVEN.items()} == STATED


@every_judged
def test_a_threshold_itself_is_fine_and_what_lies_beyond_it_is_not(metric):
    limits = SEVEN[metric]
    worse = -0.001 if limits.better == "higher" else 0.001
    assert severity(limits.warning, limits) == "none"
    assert severity(limits.warning + worse, limits) == "warning"
    assert severity(limits.critical, limits) == "warning"
    assert severity(limits.critical + worse, limits) == "critical"


@pytest.mark.parametrize(
    ("metric", "value", "told", "hit"),
    [
        ("faithfulness", 0.5, "warning", 0.7),
        ("faithfulness", 0.499, "critical", 0.5),
        ("faithfulness", 0.7, "none", None),
        ("noise_sensitivity", 0.3, "none", None),
        ("noise_sensitivity", 0.31, "warning", 0.3),
        ("noise_sensitivity", 0.5, "warning", 0.3),
        ("noise_sensitivity", 0.51, "critical", 0.5),
    ],
)
def test_the_severity_and_the_threshold_that_was_hit(metric, value, told, hit):
    assert severity(value, SEVEN[metric]) == told
    assert threshold_hit(value, SEVEN[metric]) == hit


@every_judged
@pytest.mark.parametrize("off", [0.0, 9e-10, -9e-10])
def test_what_differs_by_rounding_alone_is_at_the_threshold(metric, off):
    limits = SEVEN[metric]
    for bound in (limits.warning, limits.critical):
        assert not beyond(bound + off, bound, limits.better)


@every_judged
def test_what_differs_by_more_than_rounding_is_beyond(metric):
    limits = SEVEN[metric]
    worse = -1.1e-9 if limits.better == "higher" else 1.1e-9
    for bound in (limits.warning, limits.critical):
        assert beyond(bound + worse, bound, limits.better)


def test_the_edge_of_what_is_rounding_is_still_at_the_threshold():
    assert not beyond(-1e-9, 0.0, "higher")
    assert not beyond(1e-9, 0.0, "lower")


COSINES = ("answer_relevancy", "semantic_similarity")


@every_judged
def test_a_judged_metric_has_values_from_0_to_1_and_a_cosine_from_minus_1(metric):
    lowest = -1.0 if metric in COSINES else 0.0
    for name in (metric, f"answers.lexical_{metric}"):
        for value in (lowest, lowest - 1e-9, 0.5, 1.0, 1.0 + 1e-9):
            assert in_range(name, value)
        for value in (lowest - 1e-8, 1.0 + 1e-8, 85.0, -85.0):
            assert not in_range(name, value)


def test_of_other_metrics_nothing_is_known():
    assert in_range("tone", 85.0) and in_range("quality.coverage", -3.0)


def test_a_bound_without_a_critical_threshold_is_a_warning_at_most():
    limits = Threshold(better="higher", warning=0.7, critical=None)
    assert severity(-1e9, limits) == "warning"


def near(bound):
    """Numbers about a bound, on both sides of what is tolerated."""
    return st.floats(-4e-9, 4e-9).map(lambda off: bound + off)


def tells_them_apart(value, limits):
    given = (limits.warning, limits.critical)
    gaps = [abs(Fraction(value) - Fraction(bound)) for bound in given if bound is not None]
    return all(abs(gap - TOLERANCE) > ROUNDED for gap in gaps)


@given(st.data(), bounds)
def test_severity_agrees_with_its_twin(data, limits):
    value = data.draw(numbers | near(limits.warning) | near(limits.critical))
    if tells_them_apart(value, limits):
        assert severity(value, limits) == plain_severity(value, limits)


@given(numbers, bounds)
def test_the_threshold_that_was_hit_is_the_one_of_the_severity(value, limits):
    named = {"critical": limits.critical, "warning": limits.warning, "none": None}
    assert threshold_hit(value, limits) == named[severity(value, limits)]


# Names.


@every_judged
@pytest.mark.parametrize("before", ["", "answers.", "lexical_", "answers.lexical_", "any.judge."])
def test_a_judged_metric_has_its_thresholds_under_any_judge(metric, before):
    assert plain_name(f"{before}{metric}") == metric
    assert limits_of(f"{before}{metric}") == SEVEN[metric]


@pytest.mark.parametrize("metric", ["tone", "", "faithfulness_2", "quality.no_such_metric"])
def test_an_unknown_metric_has_no_rule(metric):
    assert limits_of(metric) is None


def test_our_own_metrics_have_the_bounds_that_presets_gate_them_by():
    usual = usual_limits()
    assert usual["quality.over_refusal"] == Threshold(better="lower", warning=0.1, critical=None)
    assert usual["stability.acr"].warning == 0.95
    assert usual["traceability.valid"].better == "higher"
    for name, limits in usual.items():
        assert limits.better == table()[name].better
        assert limits.critical is None


# The mean.


def test_the_mean_does_not_add_up_rounding():
    assert mean([0.1] * 10) == 0.1 != sum([0.1] * 10) / 10
    assert mean([1e16, 1.0, -1e16]) == 1 / 3


@given(st.lists(numbers, min_size=1, max_size=20), st.integers(0, 9))
def test_the_mean_is_the_same_in_any_order(values, seed):
    shuffled = random.Random(seed).sample(values, len(values))
    assert mean(shuffled) == mean(values)


@given(st.lists(numbers, min_size=1, max_size=20))
def test_the_mean_is_the_exact_one(values):
    exact = sum(map(Fraction, values)) / len(values)
    assert mean(values) == pytest.approx(float(exact), rel=1e-15, abs=5e-324)


def test_a_mean_of_thresholds_is_at_the_threshold():
    assert mean([0.7] * 3) < 0.7, "floats do not have it exactly"
    assert severity(mean([0.7] * 3), SEVEN["faithfulness"]) == "none"


def test_numbers_whose_sum_is_none_have_a_mean():
    assert mean([1.7e308] * 3) == 1.7e308
    assert mean([1.7e308, 1.7e308, -1.7e308, -1.7e308]) == 0.0
