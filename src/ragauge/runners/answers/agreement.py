"""How far scores agree with labels, and how far things agree that look at no context."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from ragauge.contracts.answer_calibration import Control, LabelledScores
from ragauge.contracts.answers import AnswerKind
from ragauge.runners.answers.folds import dealt
from ragauge.stats.discrimination import (
    auroc,
    balanced_accuracy,
    calibration_error,
    interval_over_groups,
    kappa,
    value_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragauge.runners.answers.labelled import Labelled
    from ragauge.stats.discrimination import Statistic

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Places = NDArray[np.int64]
    Measured = tuple[float | None, tuple[float, float] | None]

SEED = 0
DIGITS = 6
"""Decimals of what is reported: more would be noise."""
ONE_WRITER = "all answers are of one model, or no row names its model"
NO_PAIR = "no good and bad answer can be compared"


class Scored(Struct, frozen=True, kw_only=True):
    """Rows with their scores, out of fold where anything was fitted."""

    name: str
    order: Floats
    """What the AUROC is of."""
    chances: Floats | None
    """What the calibration error is of; None where scores are no chances."""
    said: Flags | None
    """Which rows are called good at the threshold; None where there is no threshold."""
    threshold: float | None

    def of(self, rows: Flags) -> Scored:
        """Some of the rows."""
        return Scored(
            name=self.name,
            order=self.order[rows],
            chances=None if self.chances is None else self.chances[rows],
            said=None if self.said is None else self.said[rows],
            threshold=self.threshold,
        )


def labelled_scores(
    scored: Scored, rows: Sequence[Labelled], kind: AnswerKind | None, *, used: bool
) -> LabelledScores:
    """The agreement of scores with the labels of the rows."""
    good, sources = [one.good for one in rows], [one.source for one in rows]
    reasons = [one_label(good)]
    ranked = _measured(auroc(scored.order, good), sources, reasons)
    parted, same = _at_threshold(scored, good, sources, reasons)
    ece = None if scored.chances is None else calibration_error(scored.chances, good)
    if scored.chances is None and len(rows):
        reasons.append("no calibration error: the scores are not chances from 0 to 1")
    return LabelledScores(
        name=scored.name,
        used=used,
        kind=kind,
        n=len(rows),
        sources=len(set(sources)),
        base_rate=_rounded(sum(good) / len(good)) if good else None,
        auroc=ranked[0],
        auroc_ci=ranked[1],
        balanced_accuracy=parted[0],
        balanced_accuracy_ci=parted[1],
        kappa=same[0],
        kappa_ci=same[1],
        ece=_rounded(ece),
        threshold=_rounded(scored.threshold),
        reason="; ".join(dict.fromkeys(filter(None, reasons))) or None,
    )


def _at_threshold(
    scored: Scored, good: Sequence[bool], sources: Sequence[str], told: list[str | None]
) -> tuple[Measured, Measured]:
    """Balanced accuracy and κ of what the threshold says."""
    if scored.said is None or one_label(good):
        told.append(None if one_label(good) else "no threshold does better than chance")
        return (None, None), (None, None)
    return (
        _measured(balanced_accuracy(scored.said, good), sources, told),
        _measured(kappa(scored.said, good), sources, told, share=False),
    )


def one_label(good: Sequence[bool]) -> str | None:
    """Why labels tell nothing: there are none, or they are all the same."""
    if not good:
        return "no row has both a label and a score"
    if all(good) or not any(good):
        word = "good" if good[0] else "bad"
        return f"people called all {len(good):,} answers {word}: nothing can be told apart"
    return None


def controls(order: Floats, rows: Sequence[Labelled], kind: AnswerKind | None) -> Iterator[Control]:
    """What an AUROC is to be held against: the length alone, and the writer alone.

    The last is the score's own among answers of one model, where knowing the model is no help.
    """
    good, writers = [one.good for one in rows], [one.writer or "" for one in rows]
    lengths = np.array([-float(one.words) for one in rows])
    yield _control("length", kind, auroc(lengths, good), rows, one_label(good))
    several = len({name for name in writers if name}) > 1
    why = one_label(good) or (None if several else ONE_WRITER)
    alone = by_writer(writers, good, [one.source for one in rows])
    yield _control("model", kind, alone, rows, why)
    yield _control("within one model", kind, auroc(order, good, writers), rows, why)


def _control(
    name: str,
    kind: AnswerKind | None,
    statistic: Statistic,
    rows: Sequence[Labelled],
    why: str | None,
) -> Control:
    if why is not None:
        return Control(name=name, kind=kind, auroc=None, ci=None, n=0, reason=why)
    told: list[str | None] = []
    value, ci = _measured(statistic, [one.source for one in rows], told)
    if value is None:
        told.append(NO_PAIR)
    reason = "; ".join(filter(None, told)) or None
    return Control(name=name, kind=kind, auroc=value, ci=ci, n=len(rows), reason=reason)


def by_writer(
    writers: Sequence[str | None], good: Sequence[bool], sources: Sequence[str]
) -> Statistic:
    """The AUROC of a score that knows only who wrote an answer: the writer's share of good ones.

    The share is that of the other folds, and answers are compared within their fold alone. From
    fold to fold one writer's share moves against the labels that were left out, so that a
    comparison across folds falls below chance where writers are all alike.
    """
    rounds = [
        auroc(_shares(writers, good, fold), good, [str(place) for place in fold.tolist()])
        for fold in dealt(sources)
    ]
    return lambda weights: np.mean([one(weights) for one in rounds], axis=0)


def _shares(writers: Sequence[str | None], good: Sequence[bool], fold: Places) -> Floats:
    """For each answer, the share of good ones among its writer's in the other folds.

    A writer who has none there has the share of all writers.
    """
    names, writer = np.unique([name or "" for name in writers], return_inverse=True)
    of, right = np.zeros((2, len(names), int(fold.max(initial=0)) + 1))
    np.add.at(of, (writer, fold), 1.0)
    np.add.at(right, (writer, fold), np.asarray(good, dtype=np.float64))
    of, right = (there.sum(axis=1, keepdims=True) - there for there in (of, right))
    overall = right.sum(axis=0) / np.maximum(of.sum(axis=0), 1)
    shares: Floats = np.where(of > 0, right / np.maximum(of, 1), overall)[writer, fold]
    return shares


def _measured(
    statistic: Statistic, sources: Sequence[str], told: list[str | None], *, share: bool = True
) -> Measured:
    """A value with its interval over sources; what is to be said of it goes into the list."""
    value = value_of(statistic, len(sources))
    if value is None:
        return None, None
    spread = interval_over_groups(statistic, sources, share=share, seed=SEED)
    told.append(spread.reason)
    ci = None if spread.ci is None else (round(spread.ci[0], DIGITS), round(spread.ci[1], DIGITS))
    return round(value, DIGITS), ci


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(float(value), DIGITS)
