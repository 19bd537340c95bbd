"""The verdict of a comparison: every corner of better, worse, not worse and cannot tell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.stats.decision import outlook

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
