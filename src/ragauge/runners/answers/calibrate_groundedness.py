"""Calibrate groundedness: refitted to a user's labels, and tested out of fold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
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
    AnswerCalibrationReport,
    Control,
    Done,
    KindFit,
    LabelledScores,
)
from ragauge.contracts.answers import ANSWER_KINDS, AnswerKind
from ragauge.contracts.metric import Absent
from ragauge.contracts.opt import takes
from ragauge.contracts.options import GroundednessOptions
from ragauge.contracts.report import Finding, Outcome
from ragauge.grounding.features import (
    ANSWER_FEATURES,
    answer_features,
    read_answer,
)
from ragauge.grounding.groundedness import NO_CLAIM, NO_CONTEXT, kind_of
from ragauge.grounding.model import (
    KindModel,
    Model,
    Weights,
    model_text,
    shipped,
    sign_of,
)
from ragauge.grounding.passages import Passages
from ragauge.ingest.fields import Columns, quoted
from ragauge.metrics.answers import AnswerFacts, contexts_to_check
from ragauge.refusals.predicate import refusal_in, refusal_tokens
from ragauge.runners.answers.agreement import (
    DIGITS,
    ROUNDS,
    Scored,
    calibration_outcome,
    controls,
    held_out,
    labelled_scores,
    rounded,
    rounded_ends,
)
from ragauge.runners.answers.labelled import Labelled, LabelledRows, read_labelled
from ragauge.stats.discrimination import (
    auroc,
    difference,
    interval_over_groups,
    matching_shift,
    steady_threshold,
    value_of,
)
from ragauge.stats.logistic import Fit, chance, fit_logistic, log_odds

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ragauge.ingest.records import Source

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]


METRIC = "answers.groundedness"
DECISION = "answers.grounded"
LEXICAL = "lexical"
SHIPPED, REFITTED, MOVED, CALIBRATED = "shipped", "refitted", "moved", "calibrated"
NOT_BETTER = "the refitted coefficients are not better out of fold: only the threshold is moved"
_HEAD = """\
# Lexical groundedness, fitted to labels: log-odds = intercept + the sum of coefficient x feature.
# A feature that is not named weighs nothing.
"""
HASH_SHOWN = 8
PASSAGES_KEPT = 512
SPREAD = 0.4
"""How far a coefficient may lie from the shipped one, in standard deviations of its feature: some
4 / 0.4² = 25 labels weigh as much as the shipped ones do, so few labels move little. On labelled
sets that the coefficients had never seen, nothing did better from 30 labels to 200."""
Progress = Callable[[int, int], None]


@takes(GroundednessOptions, "calibrate groundedness")
def calibrate_groundedness(
    rows: Source,
    *,
    progress: Progress | None = None,
    columns: Columns | None = None,
    options: GroundednessOptions,
) -> Outcome[AnswerCalibrationReport]:
    """Groundedness before and after it is fitted to labels, and the coefficients that came of it.

    Raises UsageError or InputRejected with everything that is wrong.
    """
    labelled = read_labelled(rows, columns=columns, options=options)
    unscored: Counter[str] = Counter()
    read = _read(labelled, options.kind, unscored, progress)
    model = shipped()
    of_kind = {
        kind: own for kind in ANSWER_KINDS if (own := [one for one in read if one.kind == kind])
    }
    refits: dict[AnswerKind, Refit] = {
        kind: refit(
            Examples(
                model=model.kinds[kind],
                values=np.array([one.values for one in own]),
                good=np.array([one.labelled.good for one in own]),
                sources=[one.labelled.source for one in own],
            )
        )
        for kind, own in of_kind.items()
    }
    fitted = model
    calibrated = any(one.done != "kept" for one in refits.values())
    if calibrated:  # what was fitted takes the place of what is shipped
        fitted = Model(
            version=f"{model.version}+{labelled.sha256[:HASH_SHOWN]}",
            kinds={
                kind: refits[kind].model if kind in refits else one
                for kind, one in model.kinds.items()
            },
        )
    scores, references = _compared(read, of_kind, refits)
    # The kind that represents all answers: the only one, or None for several.
    total = next(iter(refits)) if len(refits) == 1 else None
    used = next((one for one in scores if one.used and one.kind is total), None)
    if used is None:
        none = np.zeros(0)
        nothing = Scored(name=SHIPPED, order=none, chances=none, said=none > 0, threshold=None)
        used = labelled_scores(nothing, [], None, used=True)
    too_few = None
    if all(one.short for one in refits.values()):
        too_few = "; ".join(f"{kind}: {one.reason}" for kind, one in refits.items()) or None
    return calibration_outcome(
        labelled,
        used,
        task="groundedness",
        metric=METRIC,
        judge=fitted.id,
        scored=len(read),
        unscored=unscored,
        scores=scores,
        controls=references,
        too_few=too_few,
        agreement=(METRIC, DECISION),
        by=LEXICAL,
        kinds=[
            KindFit(
                kind=kind,
                n=len(own),
                good=sum(one.labelled.good for one in own),
                sources=len({one.labelled.source for one in own}),
                done=refits[kind].done,
                reason=refits[kind].reason,
                gain=rounded(refits[kind].gain),
                gain_ci=rounded_ends(refits[kind].gain_ci),
                threshold_before=model.kinds[kind].threshold,
                threshold=round(refits[kind].model.threshold, DIGITS),
            )
            for kind, own in of_kind.items()
        ],
        coefficients=model_text(fitted, _HEAD) if calibrated else None,
    )


def _compared(
    read: Sequence[Read],
    of_kind: Mapping[AnswerKind, Sequence[Read]],
    refits: Mapping[AnswerKind, Refit],
) -> tuple[list[LabelledScores], list[Control]]:
    """Scores and controls of every kind, and of all kinds together where there are several."""
    scores: list[LabelledScores] = []
    found: list[Control] = []
    if len(refits) > 1:
        every = [one.labelled for one in read]
        kinds = np.array([one.kind for one in read])
        for name in (SHIPPED, CALIBRATED):
            chances, said = np.zeros(len(read)), np.zeros(len(read), dtype=bool)
            for kind, one in refits.items():
                part = one.scored[SHIPPED if name == SHIPPED else one.used]
                chances[kinds == kind], said[kinds == kind] = part.chances, part.said
            both = Scored(name=name, order=chances, chances=chances, said=said, threshold=None)
            scores.append(labelled_scores(both, every, None, used=name == CALIBRATED))
        found += controls(both.order, every, None)
    for kind, one in refits.items():
        rows = [answer.labelled for answer in of_kind[kind]]
        scores += [
            labelled_scores(scored, rows, kind, used=name == one.used)
            for name, scored in one.scored.items()
        ]
        found += controls(one.scored[one.used].order, rows, kind)
    return scores, found


class Read(Struct, frozen=True, kw_only=True):
    """A labelled answer as the coefficients see it."""

    labelled: Labelled
    kind: AnswerKind
    values: tuple[float, ...]


def _read(
    labelled: LabelledRows,
    kind: AnswerKind | None,
    unscored: Counter[str],
    progress: Progress | None,
) -> list[Read]:
    """The answers that can be measured; what cannot is counted, by why."""
    passages_of: Callable[..., Passages] = lru_cache(PASSAGES_KEPT)(Passages)
    found = []
    for done, one in enumerate(labelled.rows, 1):
        row, answer, why = one.row, one.row.answer or "", None
        refused = refusal_in(answer, refusal_tokens()) != "none"
        grounds = contexts_to_check(AnswerFacts(row=row, refused=refused))
        if isinstance(grounds, Absent):
            why = grounds.reason
        else:
            passages = passages_of(grounds, row.question)
            sentences = read_answer(answer, passages).sentences if passages.lines else []
            if sentences:
                told = kind or row.kind or kind_of(answer, passages)
                odds = shipped().kinds[told].sentence_odds(sentences)
                values = tuple(answer_features(sentences, odds))
                found.append(Read(labelled=one, kind=told, values=values))
            else:
                why = NO_CLAIM if passages.lines else NO_CONTEXT
        if why is not None:
            unscored[why] += 1
            fact = f"{quoted(row.id)}: {why}"
            labelled.findings.add(Finding("unscored", row.where, fact))
        if progress is not None:
            progress(done, len(labelled.rows))
    return found


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
    shipped = Scored(
        name=SHIPPED,
        order=given.odds,
        chances=chance(given.odds),
        said=given.odds >= _logit(given.model.threshold),
        threshold=given.model.threshold,
    )
    kept = Refit(done="kept", reason="", model=given.model, scored={SHIPPED: shipped}, used=SHIPPED)
    short = _short_of(given, LABELS_TO_MOVE, OF_EACH_TO_MOVE)
    if short:
        why = f"as shipped: {short} to move its threshold"
        return structs.replace(kept, reason=why, short=True)
    moved = _out_of_fold(given, MOVED, lambda _: given.odds)
    tried = {SHIPPED: shipped, MOVED: moved}
    short = _short_of(given, LABELS_TO_FIT, OF_EACH_TO_FIT)
    if moved.threshold is None:
        why = "as shipped: no threshold does better than chance"
        found = structs.replace(kept, reason=why, scored=tried)
    else:  # the shipped coefficients, with an intercept and a threshold of the user's own
        why = f"{short} to refit it" if short else NOT_BETTER
        model = _shifted(given, given.model.answer, moved.order, moved.threshold)
        found = Refit(done="threshold", reason=why, model=model, scored=tried, used=MOVED)
    if short:
        return found
    fitted = _out_of_fold(given, REFITTED, lambda kept: log_odds(_fit(given, kept), given.values))
    gained = difference(auroc(fitted.order, given.good), auroc(shipped.order, given.good))
    gain = value_of(gained, len(given.good)) or 0.0
    spread = interval_over_groups(gained, given.sources, share=False)
    tried[REFITTED] = fitted
    if gain > 0 and fitted.threshold is not None:
        fit = _fit(given, np.ones(len(given.good), dtype=bool))
        weights = Weights(fit.intercept, fit.coefficients)
        model = _shifted(given, weights, fitted.order, fitted.threshold)
        why = "the refitted coefficients are better out of fold"
        found = Refit(done="refitted", reason=why, model=model, scored=tried, used=REFITTED)
    return structs.replace(found, gain=gain, gain_ci=spread.ci)


def _short_of(given: Examples, least: int, of_each: int) -> str | None:
    """Why there are too few labels; None where there are enough."""
    n, good, sources = len(given.good), int(given.good.sum()), len(set(given.sources))
    if n < least or min(good, n - good) < of_each:
        return f"{good} good and {n - good} bad, where {least} with {of_each} of each are needed"
    if sources < SOURCES_NEEDED:
        return f"labels of {sources} sources, where {SOURCES_NEEDED} are needed"
    return None


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
