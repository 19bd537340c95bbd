"""Chances that log-odds stand for, as every fit and threshold takes them."""

import numpy as np
import pytest
from scipy.special import expit

from ragauge.stats.discrimination import matching_shift
from ragauge.stats.logistic import chance


def test_it_is_the_fields_own_function():
    odds = np.linspace(-700, 700, 4001)
    np.testing.assert_allclose(chance(odds), expit(odds), rtol=1e-12)


def test_log_odds_that_lie_far_out_do_not_overflow():
    shift = matching_shift([-900.0, -2.0, 1.0, 900.0], [False, True, False, True])
    assert chance(np.array([-900.0, -2.0, 1.0, 900.0]) + shift).mean() == pytest.approx(0.5)
