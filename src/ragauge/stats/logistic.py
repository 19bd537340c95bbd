"""Logistic regression for few labels: held to the signs that make sense, and drawn to a prior."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MOST_STEPS = 1_000


class Fit(Struct, frozen=True):
    """What was fitted: `intercept + values @ coefficients` is the log-odds."""

    coefficients: tuple[float, ...]
    intercept: float


def log_odds(fit: Fit, values: Floats) -> Floats:
    """The log-odds of each row."""
    columns = np.asarray(values, dtype=np.float64)
    odds: Floats = fit.intercept + columns @ np.array(fit.coefficients)
    return odds


def chance(log_odds: Floats) -> Floats:
    """The chances that log-odds stand for; none overflows, however far out it lies.

    >>> chance(np.array([-1000.0, 0.0, 1000.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    chances: Floats = np.exp(-np.logaddexp(0.0, -log_odds))
    return chances


def fit_logistic(
    values: Floats,
    labels: Sequence[bool],
    *,
    signs: Sequence[int],
    spread: float,
    prior: Sequence[float] | None = None,
    groups: Sequence[str] | None = None,
    held: Sequence[bool] | None = None,
) -> Fit:
    """The most likely coefficients, each of the sign that is asked for: +1, −1, or 0 for any.

    `spread` is the standard deviation of a coefficient about its prior (0 without one) on columns
    of unit variance: a small one holds them close, and one that is `held` stays at its prior.
    Rows of each group have an intercept of their own while fitting, so that no column is used to
    tell groups apart; the one that comes back makes both labels equally likely overall.
    """
    from scipy.optimize import minimize  # type: ignore[import-untyped,unused-ignore]

    columns = np.asarray(values, dtype=np.float64)
    right = np.asarray(labels, dtype=bool)
    scale = columns.std(axis=0)
    scale[scale == 0] = 1.0
    width = columns.shape[1]
    aim = np.zeros(width) if prior is None else np.array(prior) * scale
    own = np.ones((len(right), 1))
    if groups is not None:
        names = sorted(set(groups))
        own = np.array([[float(group == name) for name in names] for group in groups])
    low = np.array([0.0 if sign > 0 else -np.inf for sign in signs])
    high = np.array([0.0 if sign < 0 else np.inf for sign in signs])
    if held:
        low, high = np.where(held, aim, low), np.where(held, aim, high)
    design = np.hstack([(columns - columns.mean(axis=0)) / scale, own])
    side = np.where(right, 1.0, -1.0)

    def loss(at: Floats) -> tuple[float, Floats]:
        margin = side * (design @ at)
        away = at[:width] - aim
        slope = -(side * np.exp(-np.logaddexp(0.0, margin))) @ design
        slope[:width] += away / spread**2
        return float(np.logaddexp(0.0, -margin).sum() + away @ away / (2 * spread**2)), slope

    start = np.concatenate([np.clip(aim, low, high), np.zeros(own.shape[1])])
    bounds = [*zip(low.tolist(), high.tolist(), strict=True), *[(None, None)] * own.shape[1]]
    options = {"maxiter": MOST_STEPS}
    found = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B", options=options)
    slopes = found.x[:width] / scale
    return Fit(tuple(map(float, slopes)), _balanced_intercept(columns @ slopes, right))


def _balanced_intercept(scores: Floats, right: NDArray[np.bool_]) -> float:
    """The intercept under which both labels weigh the same, by bisection: the sum only falls."""
    if right.all() or not right.any():
        return 0.0
    weights = np.where(right, 0.5 / right.sum(), 0.5 / (~right).sum())
    low, high = -scores.max() - 50.0, -scores.min() + 50.0
    for _ in range(200):
        middle = (low + high) / 2
        if (weights * (right - chance(scores + middle))).sum() > 0:
            low = middle
        else:
            high = middle
    return float((low + high) / 2)
