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
    columns = np.asarray(values, dtype=np.float64)
    right = np.asarray(labels, dtype=bool)
    scale = columns.std(axis=0)
    scale[scale == 0] = 1.0
    aim = np.zeros(columns.shape[1]) if prior is None else np.array(prior) * scale
    own = _groups(groups, len(right))
    centred = (columns - columns.mean(axis=0)) / scale
    slopes = _minimum(centred, right, own, aim, spread, _bounds(signs, aim, held)) / scale
    return Fit(tuple(map(float, slopes)), _balanced_intercept(columns @ slopes, right))


def _groups(groups: Sequence[str] | None, rows: int) -> Floats:
    if groups is None:
        return np.ones((rows, 1))
    names = sorted(set(groups))
    return np.array([[float(group == name) for name in names] for group in groups])


def _bounds(
    signs: Sequence[int], aim: Floats, held: Sequence[bool] | None
) -> list[tuple[float | None, float | None]]:
    free = [(0.0 if sign > 0 else None, 0.0 if sign < 0 else None) for sign in signs]
    stays = held or [False] * len(signs)
    return [
        (float(at), float(at)) if stay else bound
        for bound, at, stay in zip(free, aim, stays, strict=True)
    ]


def _minimum(
    columns: Floats,
    right: NDArray[np.bool_],
    own: Floats,
    aim: Floats,
    spread: float,
    bounds: list[tuple[float | None, float | None]],
) -> Floats:
    from scipy.optimize import minimize  # type: ignore[import-untyped,unused-ignore]

    design = np.hstack([columns, own])
    side = np.where(right, 1.0, -1.0)
    width = columns.shape[1]

    def loss(at: Floats) -> tuple[float, Floats]:
        margin = side * (design @ at)
        away = at[:width] - aim
        slope = -(side * np.exp(-np.logaddexp(0.0, margin))) @ design
        slope[:width] += away / spread**2
        return float(np.logaddexp(0.0, -margin).sum() + away @ away / (2 * spread**2)), slope

    start = np.concatenate([np.clip(aim, *_limits(bounds)), np.zeros(own.shape[1])])
    free: list[tuple[float | None, float | None]] = [(None, None)] * own.shape[1]
    found = minimize(
        loss,
        start,
        jac=True,
        bounds=[*bounds, *free],
        method="L-BFGS-B",
        options={"maxiter": MOST_STEPS},
    )
    slopes: Floats = found.x[:width]
    return slopes


def _limits(bounds: list[tuple[float | None, float | None]]) -> tuple[Floats, Floats]:
    low = np.array([-np.inf if least is None else least for least, _ in bounds])
    high = np.array([np.inf if most is None else most for _, most in bounds])
    return low, high


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
