"""The verdict of a comparison: every corner of better, worse, not worse and cannot tell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from ragauge.stats.decision import (
    adjusted,
    benjamini_hochberg,
    holm,
    level_of,
    outlook,
    that_could_find,
)

CASES = [
    # change, ci, p, margin -> verdict, for a metric that should go up
    (0.10, (0.05, 0.15), 0.001, None, "better"),
    (0.10, (0.05, 0.15), 0.001, 0.02, "better"),
    (-0.10, (-0.15, -0.05), 0.001, None, "worse"),
    (-0.10, (-0.15, -0.05), 0.001, 0.02, "worse"),
    (-0.10, (-0.15, -0.05), 0.001, 0.20, "not_worse"),
    (-0.10, (-0.15, -0.05), 0.001, 0.12, "cannot_tell"),
    (-0.10, (-0.15, -0.05), 0.001, 0.10, "cannot_tell"),
    (-0.10, (-0.15, -0.05), 0.001, 0.09, "worse"),
    (-0.10, (-0.15, -0.05), 0.001, 0.0, "worse"),
    (0.10, (-0.02, 0.22), 0.10, None, "cannot_tell"),
    (0.10, (-0.02, 0.22), 0.10, 0.02, "cannot_tell"),
    (0.10, (-0.02, 0.22), 0.10, 0.03, "not_worse"),
    (0.00, (-0.01, 0.01), 1.0, None, "cannot_tell"),
    (0.00, (-0.01, 0.01), 1.0, 0.02, "not_worse"),
    (0.10, None, None, None, "cannot_tell"),
    (-0.10, None, None, 0.02, "cannot_tell"),
    (-0.10, None, 0.001, 0.02, "worse"),
    (0.10, (0.0, 0.2), 0.05, None, "cannot_tell"),
    (None, None, None, None, "not_comparable"),
    (None, None, None, 0.02, "not_comparable"),
]


@pytest.mark.parametrize(("change", "ci", "p", "margin", "verdict"), CASES)
def test_a_metric_that_should_go_up(change, ci, p, margin, verdict):
    assert outlook(change, ci, p, "higher", margin) == verdict


@pytest.mark.parametrize(("change", "ci", "p", "margin", "verdict"), CASES)
def test_a_metric_that_should_go_down_is_the_mirror_image(change, ci, p, margin, verdict):
    mirrored = None if ci is None else (-ci[1], -ci[0])
    assert outlook(change and -change, mirrored, p, "lower", margin) == verdict


@pytest.mark.parametrize(("alpha", "verdict"), [(0.05, "better"), (0.01, "cannot_tell")])
def test_alpha_is_the_users(alpha, verdict):
    assert outlook(0.1, (0.01, 0.2), 0.03, "higher", alpha=alpha) == verdict


def test_where_the_change_is_0_the_test_says_which_way():
    """Most pairs of a median may not differ, while all that do fell."""
    assert outlook(0.0, (0.0, 0.0), 0.001, "higher", leans=-1) == "worse"
    assert outlook(0.0, (0.0, 0.0), 0.001, "lower", leans=-1) == "better"
    assert outlook(0.0, (0.0, 0.0), 0.001, "higher") == "cannot_tell"
    assert outlook(0.01, (0.01, 0.01), 0.001, "higher", leans=0) == "better"


shares = st.floats(-1, 1)


@given(shares, shares, shares, st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_a_wider_margin_only_ever_forgives(change, a, b, p, margin, wider):
    ci = (min(a, b), max(a, b))
    margin, wider = sorted((margin, wider))
    was, now = (outlook(change, ci, p, "higher", m) for m in (margin, wider))
    order = ("worse", "cannot_tell", "not_worse")
    assert was == now or order.index(was) < order.index(now)


close = pytest.approx
families = st.lists(st.floats(0, 1, allow_subnormal=False), max_size=12)
with_gaps = st.lists(st.none() | st.floats(0, 1, allow_subnormal=False), max_size=12)
LEVELS = (0.001, 0.01, 0.05, 0.1, 0.5)


def rejected_step_by_step(ps, alpha):
    """Holm as he tells it: the smallest against alpha / m, the next against alpha / (m - 1), ...
    until one fails; it and all after it stand."""
    rejected, left = set(), len(ps)
    for place in sorted(range(len(ps)), key=lambda place: ps[place]):
        if ps[place] * left > alpha:
            break
        rejected.add(place)
        left -= 1
    return rejected


@given(families, st.sampled_from(LEVELS))
def test_holm_rejects_what_his_steps_reject(ps, alpha):
    ours = {place for place, p in enumerate(holm(ps)) if p <= alpha}
    assert ours == rejected_step_by_step(ps, alpha)


@given(families.filter(bool))
def test_benjamini_hochberg_equals_scipy(ps):
    assert benjamini_hochberg(ps) == close(false_discovery_control(ps, method="bh").tolist())


def test_the_example_of_a_textbook():
    """Benjamini and Hochberg 1995, the fifteen probabilities of their section 3.2: four are
    rejected at .05 where Bonferroni rejects three."""
    ps = [
        *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344),
        *(0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0),
    ]
    assert sum(p <= 0.05 for p in benjamini_hochberg(ps)) == 4
    assert sum(p <= 0.05 for p in holm(ps)) == 3


@given(with_gaps, st.sampled_from([holm, benjamini_hochberg]))
def test_a_test_that_was_not_made_is_not_counted(ps, correct):
    made = [p for p in ps if p is not None]
    result = correct(ps)
    assert [p for p in result if p is not None] == correct(made)
    assert [p is None for p in result] == [p is None for p in ps]


@given(families, st.sampled_from([holm, benjamini_hochberg]))
def test_a_correction_never_favours_and_keeps_the_order(ps, correct):
    result = correct(ps)
    assert all(p <= corrected <= 1 for p, corrected in zip(ps, result, strict=True))
    by_p = [corrected for _, corrected in sorted(zip(ps, result, strict=True))]
    assert by_p == sorted(by_p)


def test_the_correction_goes_by_its_name():
    ps = [0.01, None, 0.04, 0.03]
    assert adjusted(ps, "holm") == holm(ps)
    assert adjusted(ps, "bh") == benjamini_hochberg(ps)
    assert adjusted(ps, "none") == ps


@given(st.lists(st.tuples(st.floats(0, 1), st.none() | st.floats(0, 1)), max_size=12))
def test_only_tests_that_could_find_nothing_leave_the_family(pairs):
    ps = [max(p, least or 0.0) for p, least in pairs]
    kept = that_could_find(ps, [least for _, least in pairs], 0.05)
    for p, (_, least), found in zip(ps, pairs, kept, strict=True):
        assert found == (None if least is not None and least >= 0.05 else p)
        assert found is not None or p >= 0.05


@pytest.mark.parametrize("p", [float("nan"), -0.1, 1.1])
def test_what_is_no_probability_is_refused(p):
    with pytest.raises(ValueError, match="from 0 to 1"):
        holm([0.5, p])


@pytest.mark.parametrize("correction", ["holm", "bh", "none"])
@given(st.lists(st.floats(0, 1, allow_subnormal=False), min_size=1, max_size=12))
def test_what_reaches_the_level_of_a_single_test_is_found_whatever_the_others_are(correction, ps):
    level = level_of(0.05, correction, len(ps))
    assert adjusted([level, *ps[1:]], correction)[0] <= 0.05 + 1e-12
