"""How far scores agree with labels, and how far things agree that look at no context.

Any score is calibrated so, of groundedness or of a judge, and reported as an outcome.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from ragauge import __version__
from ragauge.contracts.answer_calibration import (
    AUROC,
    BALANCED_ACCURACY,
    BASE_RATE,
    CHANCE,
    ECE,
    KAPPA,
    LENGTH_BIAS,
    POSITION_FLIPS,
    AnswerCalibrationReport,
    Bias,
    Calibrated,
    Control,
    KindFit,
    LabelCoverage,
    LabelledScores,
)
from ragauge.contracts.answers import AnswerKind
from ragauge.contracts.evaluation import HumanAgreement
from ragauge.contracts.report import Outcome, Rule
from ragauge.runners.evaluation import Evaluation, given_score
from ragauge.stats.discrimination import (
    BINS,
    DRAWS,
    auroc,
    balanced_accuracy,
    calibration_error,
    interval_over_groups,
    kappa,
    value_of,
)
from ragauge.stats.draws import below

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragauge.runners.answers.labelled import Labelled, LabelledRows
    from ragauge.stats.discrimination import Statistic

    Flags = NDArray[np.bool_]
    Places = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Measured = tuple[float | None, tuple[float, float] | None, str | None]


FOLDS = 10
ROUNDS = 3
"""Times the sources are dealt anew: what a row comes to is the mean over them."""
SEED = 0
DIGITS = 6
"""Decimals of what is reported: more would be noise."""
ONE_WRITER = "all answers are of one model, or no row names its model"
NO_PAIR = "no good and bad answer can be compared"
GATE = Rule(metric=AUROC, op=">", bound=CHANCE, confidence=95)
BIASES = {"length": LENGTH_BIAS, "position": POSITION_FLIPS}
_DRAWN = f"ci:percentile-sources|draws:{DRAWS}|seed:{SEED}"
_FOLDED = f"folds:{FOLDS}x{ROUNDS}"
_HOW = {
    AUROC: _DRAWN,
    BALANCED_ACCURACY: f"{_FOLDED}|{_DRAWN}",
    KAPPA: f"{_FOLDED}|{_DRAWN}",
    ECE: f"bins:{BINS}-equal-width",
    LENGTH_BIAS: f"spearman|{_DRAWN}",
    POSITION_FLIPS: "ci:wilson-clustered",
}


def held_out(sources: Sequence[str]) -> Iterator[Flags]:
    """Which rows are held out, fold after fold; every row is, once a round."""
    for fold in dealt(sources):
        for place in range(int(fold.max(initial=-1)) + 1):
            yield fold == place


def dealt(sources: Sequence[str]) -> Iterator[Places]:
    """The fold of each row, round after round; rows of one source are in one fold."""
    names = sorted(set(sources))
    folds = min(FOLDS, len(names))
    for turn in range(ROUNDS):
        marks = below(turn, 1 << 32, (len(names),)).tolist()
        order = sorted(range(len(names)), key=lambda place: (marks[place], place))
        fold = {names[place]: rank % folds for rank, place in enumerate(order)}
        yield np.array([fold[source] for source in sources], dtype=np.int64)


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


def labelled_scores(
    scored: Scored, rows: Sequence[Labelled], kind: AnswerKind | None, *, used: bool
) -> LabelledScores:
    """The agreement of scores with the labels of the rows."""
    good = [one.good for one in rows]
    auc, auc_ci, why = measured(auroc(scored.order, good), rows)
    reasons = [one_label(good), why]
    balanced, balanced_ci, kappas, kappas_ci = None, None, None, None
    if scored.said is not None and not one_label(good):
        balanced, balanced_ci, why = measured(balanced_accuracy(scored.said, good), rows)
        kappas, kappas_ci, also = measured(kappa(scored.said, good), rows, share=False)
        reasons += [why, also]
    elif not one_label(good):
        reasons.append("no threshold does better than chance")
    ece = None if scored.chances is None else calibration_error(scored.chances, good)
    if scored.chances is None and len(rows):
        reasons.append("no calibration error: the scores are not chances from 0 to 1")
    return LabelledScores(
        name=scored.name,
        used=used,
        kind=kind,
        n=len(rows),
        sources=len({one.source for one in rows}),
        base_rate=rounded(sum(good) / len(good)) if good else None,
        auroc=auc,
        auroc_ci=auc_ci,
        balanced_accuracy=balanced,
        balanced_accuracy_ci=balanced_ci,
        kappa=kappas,
        kappa_ci=kappas_ci,
        ece=rounded(ece),
        threshold=rounded(scored.threshold),
        reason="; ".join(dict.fromkeys(filter(None, reasons))) or None,
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
    value, ci, why = measured(statistic, rows)
    reason = NO_PAIR if value is None else why
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


def measured(statistic: Statistic, rows: Sequence[Labelled], *, share: bool = True) -> Measured:
    """A value with its interval over sources, and what is to be said of that."""
    value = value_of(statistic, len(rows))
    if value is None:
        return None, None, None
    sources = [one.source for one in rows]
    spread = interval_over_groups(statistic, sources, share=share, seed=SEED)
    return round(value, DIGITS), rounded_ends(spread.ci), spread.reason


def rounded(value: float | None) -> float | None:
    """A value with the decimals that are reported."""
    return None if value is None else round(float(value), DIGITS)


def rounded_ends(ci: tuple[float, float] | None) -> tuple[float, float] | None:
    return None if ci is None else (round(ci[0], DIGITS), round(ci[1], DIGITS))


def calibration_outcome(
    labelled: LabelledRows,
    used: LabelledScores,
    *,
    task: Calibrated,
    metric: str,
    judge: str,
    scored: int,
    unscored: Mapping[str, int],
    scores: Sequence[LabelledScores],
    controls: Sequence[Control],
    too_few: str | None,
    agreement: Sequence[str],
    by: str,
    biases: Sequence[Bias] = (),
    kinds: Sequence[KindFit] = (),
    coefficients: str | None = None,
    identity: Mapping[str, Any] | None = None,
) -> Outcome[AnswerCalibrationReport]:
    """The outcome of what is used from now on; where labels are too few, it has no number.

    `agreement` are the metrics next to which later reports show it, as judged `by`.
    """
    known: dict[str, tuple[float | None, tuple[float, float] | None]] = {
        AUROC: (used.auroc, used.auroc_ci),
        BALANCED_ACCURACY: (used.balanced_accuracy, used.balanced_accuracy_ci),
        KAPPA: (used.kappa, used.kappa_ci),
        ECE: (used.ece, None),
        BASE_RATE: (used.base_rate, None),
    }
    numbers = [
        (
            *(id, None if too_few else value, used.n, None if too_few else ci),
            too_few or (used.reason if value is None or ci is None else None),
        )
        for id, (value, ci) in known.items()
    ]
    numbers += [(BIASES[one.name], one.value, one.n, one.ci, one.reason) for one in biases]
    metrics = {
        id: replace(
            given_score(id, value, metric, judge, _HOW.get(id), n=n, of=labelled.records, ci=ci),
            reason=reason,
        )
        for id, value, n, ci, reason in numbers
    }
    evaluation = Evaluation(given=metrics, rules=(GATE,))
    # A decision has no order and no chances: of it only what the threshold says counts.
    shown = [
        HumanAgreement(
            metric=one,
            judge=by,
            n=used.n,
            sources=used.sources,
            base_rate=used.base_rate or 0.0,
            auroc=used.auroc if one == metric else None,
            auroc_ci=used.auroc_ci if one == metric else None,
            balanced_accuracy=used.balanced_accuracy,
            kappa=used.kappa,
            ece=used.ece if one == metric else None,
            threshold=used.threshold,
            labels=f"{Path(labelled.name).name} sha256:{labelled.sha256}",
        )
        for one in (agreement if metrics[AUROC].value is not None else ())
    ]
    report = evaluation.report(
        AnswerCalibrationReport,
        labelled.findings,
        {
            "command": f"calibrate {task}",
            "ragauge": __version__,
            "labels": labelled.meaning,
            "labels_sha256": labelled.sha256,
            "gate": str(GATE),
            **(identity or {}),
        },
        passed=evaluation.all_hold,
        task=task,
        metric=metric,
        judge=judge,
        scores=tuple(scores),
        controls=tuple(controls),
        biases=tuple(biases),
        kinds=tuple(kinds),
        coefficients=coefficients,
        agreement=tuple(shown),
        coverage=LabelCoverage(
            rows=labelled.records,
            labelled=len(labelled.rows),
            scored=scored,
            unlabelled=labelled.unlabelled,
            unscored=dict(sorted(unscored.items())),
            rejected=len(labelled.problems),
            sources=used.sources,
        ),
    )
    return evaluation.outcome(report)
