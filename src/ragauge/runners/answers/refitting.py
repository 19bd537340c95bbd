"""Groundedness fitted to a user's labels: drawn to the shipped coefficients, tested out of fold."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, structs

from ragauge.contracts.answer_calibration import (
    LABELS_TO_FIT,
    LABELS_TO_MOVE,
    OF_EACH_TO_FIT,
    OF_EACH_TO_MOVE,
    SOURCES_NEEDED,
    Done,
)
from ragauge.runners.answers.agreement import Scored
from ragauge.runners.answers.folds import ROUNDS, held_out
from ragauge.stats.discrimination import (
    auroc,
    difference,
    interval_over_groups,
    matching_shift,
    steady_threshold,
    value_of,
)
from ragauge.stats.logistic import Fit, chance, fit_logistic, log_odds
from ragauge.text.grounding.features import ANSWER_FEATURES
from ragauge.text.grounding.model import KindModel, Weights, sign_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

SPREAD = 0.4
"""How far a coefficient may lie from the shipped one, in standard deviations of its feature: some
4 / 0.4² = 25 labels weigh as much as the shipped ones do, so few labels move little. On labelled
sets that the coefficients had never seen, nothing did better from 30 labels to 200."""
SHIPPED, REFITTED, MOVED = "shipped", "refitted", "moved"
NOT_BETTER = "the refitted coefficients are not better out of fold: only the threshold is moved"


class Examples(Struct, frozen=True, kw_only=True):
    """Labelled answers of one kind, as numbers."""

    model: KindModel
    """The shipped one."""
    values: Floats
    """(answers, features)."""
    good: Flags
    sources: Sequence[str]

    @property
    def odds(self) -> Floats:
        """By the shipped coefficients."""
        return log_odds(
            Fit(self.model.answer.coefficients, self.model.answer.intercept), self.values
        )


class Refit(Struct, frozen=True, kw_only=True):
    """What became of one kind."""

    done: Done
    reason: str
    model: KindModel
    """What is used from now on."""
    scored: dict[str, Scored]
    """By name, what was tried."""
    used: str
    short: bool = False
    """There were too few labels to say anything."""
    gain: float | None = None
    gain_ci: tuple[float, float] | None = None


def refit(given: Examples) -> Refit:
    """The best that the labels allow: all refitted, the threshold moved, or nothing."""
    shipped = _as_shipped(given)
    short = _too_few(given, LABELS_TO_MOVE, OF_EACH_TO_MOVE)
    if short:
        why = f"as shipped: {short} to move its threshold"
        return structs.replace(_kept(given, shipped, why), short=True)
    moved = _out_of_fold(given, MOVED, lambda _: given.odds)
    short = _too_few(given, LABELS_TO_FIT, OF_EACH_TO_FIT)
    if short:
        return _moved(given, {SHIPPED: shipped, MOVED: moved}, f"{short} to refit it")
    fitted = _out_of_fold(given, REFITTED, lambda kept: log_odds(_fit(given, kept), given.values))
    gained = difference(auroc(fitted.order, given.good), auroc(shipped.order, given.good))
    gain = value_of(gained, len(given.good)) or 0.0
    spread = interval_over_groups(gained, given.sources, share=False)
    tried = {SHIPPED: shipped, MOVED: moved, REFITTED: fitted}
    if gain > 0 and fitted.threshold is not None:
        found = _refitted(given, tried, fitted.threshold)
    else:
        found = _moved(given, tried, NOT_BETTER)
    return structs.replace(found, gain=gain, gain_ci=spread.ci)


def _too_few(given: Examples, least: int, of_each: int) -> str | None:
    """Why there are too few labels; None where there are enough."""
    n, good, sources = len(given.good), int(given.good.sum()), len(set(given.sources))
    if n < least or min(good, n - good) < of_each:
        return f"{good} good and {n - good} bad, where {least} with {of_each} of each are needed"
    if sources < SOURCES_NEEDED:
        return f"labels of {sources} sources, where {SOURCES_NEEDED} are needed"
    return None


def _as_shipped(given: Examples) -> Scored:
    cut = _logit(given.model.threshold)
    return Scored(
        name=SHIPPED,
        order=given.odds,
        chances=chance(given.odds),
        said=given.odds >= cut,
        threshold=given.model.threshold,
    )


def _kept(given: Examples, shipped: Scored, reason: str) -> Refit:
    return Refit(
        done="kept", reason=reason, model=given.model, scored={SHIPPED: shipped}, used=SHIPPED
    )


def _moved(given: Examples, tried: dict[str, Scored], reason: str) -> Refit:
    """The shipped coefficients, with an intercept and a threshold of the user's own."""
    threshold = tried[MOVED].threshold
    if threshold is None:
        why = "as shipped: no threshold does better than chance"
        return structs.replace(_kept(given, tried[SHIPPED], why), scored=tried)
    model = _shifted(given, given.model.answer, tried[MOVED].order, threshold)
    return Refit(done="threshold", reason=reason, model=model, scored=tried, used=MOVED)


def _refitted(given: Examples, tried: dict[str, Scored], threshold: float) -> Refit:
    fit = _fit(given, np.ones(len(given.good), dtype=bool))
    weights = Weights(fit.intercept, fit.coefficients)
    model = _shifted(given, weights, tried[REFITTED].order, threshold)
    return Refit(
        done="refitted",
        reason="the refitted coefficients are better out of fold",
        model=model,
        scored=tried,
        used=REFITTED,
    )


def _shifted(given: Examples, weights: Weights, unseen: Floats, threshold: float) -> KindModel:
    """A model whose chances have the labels' share of good answers.

    That is seen in log-odds out of fold: those that were fitted to are too sure of themselves.
    """
    shift = matching_shift(unseen, given.good)
    moved = Weights(weights.intercept + shift, weights.coefficients)
    return structs.replace(given.model, answer=moved, threshold=threshold, bands=())


def _fit(given: Examples, kept: Flags) -> Fit:
    return fit_logistic(
        given.values[kept],
        given.good[kept].tolist(),
        signs=[sign_of(name) for name in ANSWER_FEATURES],
        spread=SPREAD,
        prior=given.model.answer.coefficients,
    )


def _out_of_fold(given: Examples, name: str, odds_of: Callable[[Flags], Floats]) -> Scored:
    """Scores and decisions of each answer, by what was learnt without its source.

    Where the rest has one label alone, nothing can be learnt, and it is scored as shipped.
    """
    n = len(given.good)
    order, chances, said = np.zeros(n), np.zeros(n), np.zeros(n)
    for out in held_out(given.sources):
        kept = ~out
        learnt = 0 < given.good[kept].sum() < kept.sum()
        odds = odds_of(kept) if learnt else given.odds
        shift = matching_shift(odds[kept], given.good[kept]) if learnt else 0.0
        cut = _threshold(given, odds, kept) if learnt else None
        order[out] += odds[out]
        chances[out] += chance(odds[out] + shift)
        said[out] += odds[out] >= (_logit(given.model.threshold) if cut is None else cut)
    order /= ROUNDS
    cut = _threshold(given, order, np.ones(n, dtype=bool))
    shift = matching_shift(order, given.good)
    return Scored(
        name=name,
        order=order,
        chances=chances / ROUNDS,
        said=said > ROUNDS / 2,
        threshold=None if cut is None else float(chance(np.array(cut + shift))),
    )


def _threshold(given: Examples, odds: Floats, rows: Flags) -> float | None:
    sources = [source for source, there in zip(given.sources, rows.tolist(), strict=True) if there]
    return steady_threshold(odds[rows], given.good[rows], sources)


def _logit(share: float) -> float:
    return log(share / (1 - share))
