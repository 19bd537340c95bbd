"""Calibrate a judge: how far its scores agree with people, and what else moves them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from ragauge.contracts.answer_calibration import (
    CHANCE,
    LABELS_TO_MOVE,
    OF_EACH_TO_MOVE,
    SOURCES_NEEDED,
    AnswerCalibrationReport,
)
from ragauge.contracts.finding import Finding
from ragauge.contracts.score import Outcome
from ragauge.errors import UsageError
from ragauge.ingest.fields import quoted
from ragauge.metrics.table import reading
from ragauge.runners.answers.agreement import Scored, controls, labelled_scores, one_label
from ragauge.runners.answers.calibration_report import Calibrating
from ragauge.runners.answers.folds import ROUNDS, held_out
from ragauge.runners.answers.gathering import Asking
from ragauge.runners.answers.judge_bias import length_bias, position_flips
from ragauge.runners.answers.judged_rows import (
    FAMILY,
    JudgedRows,
    Said,
    asked_scores,
    joined_scores,
    own_scores,
)
from ragauge.runners.answers.labelled import Labelled, LabelledRows, read_labelled
from ragauge.stats.discrimination import steady_threshold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragauge.ingest.answered.records import Source

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

NAME = "judge"
REASONS_KEPT = 10
OTHERS = "other reasons"
HALF = 0.5


class Judged(Struct, frozen=True, kw_only=True):
    """Labelled answers that have a score."""

    rows: list[Labelled]
    values: Floats
    """As the judge gave them."""
    lower: bool
    """Lower scores are better."""
    bounds: tuple[float, float]
    """What the worst and the best score could be."""

    @property
    def order(self) -> Floats:
        """Higher is better."""
        return -self.values if self.lower else self.values

    @property
    def shares(self) -> Floats:
        """From 0 to 1, higher is better."""
        low, high = self.bounds
        share = (self.values - low) / (high - low) if high > low else self.values * 0
        return 1 - share if self.lower else share

    @property
    def chances(self) -> Floats | None:
        """The scores as chances; None where they are none."""
        inside = len(self.values) == 0 or (self.values.min() >= 0 and self.values.max() <= 1)
        return (1 - self.values if self.lower else self.values) if inside else None


def calibrate_judge(
    labels: Source,
    *,
    scores: Source | None = None,
    score: str | None = None,
    metric: str | None = None,
    judge_model: str | None = None,
    lower_is_better: bool = False,
    threshold: float | None = None,
    label: str | None = None,
    good: str | None = None,
    group: str | None = None,
    input_format: str | None = None,
    max_bad: str = "0",
    asking: Asking | None = None,
    **judging: Any,
) -> Outcome[AnswerCalibrationReport]:
    """How far a judge agrees with labels: its scores are in the rows, in a file, or asked for.

    `judging` are options of `eval answers` for a judge that is asked: `judge`, `budget` and so
    on. Raises UsageError or InputRejected with everything that is wrong.
    """
    _one_way(scores, score, judging)
    labelled = read_labelled(
        labels, label=label, good=good, group=group, input_format=input_format, max_bad=max_bad
    )
    if judging.get("judge") is not None:
        given = {**judging, "judge_model": judge_model}
        found = asked_scores(labelled, metric, asking or Asking(), given)
    elif scores is not None:
        found = joined_scores(labelled, scores, metric, judge_model)
    else:
        found = own_scores(labelled, score, metric, judge_model)
    unscored: Counter[str] = Counter()
    judged = _judged(labelled, found, lower_is_better, unscored)
    return _outcome(labelled, found, judged, _few(unscored), threshold)


def _one_way(scores: Source | None, score: str | None, judging: dict[str, Any]) -> None:
    """Raise UsageError where scores are to come from two places, or options have no judge."""
    ways = {"--judge": judging.get("judge"), "--scores": scores, "--score": score}
    asked = [name for name, value in ways.items() if value is not None]
    if len(asked) > 1:
        raise UsageError(f"{' and '.join(asked)}: scores come from one of them; leave out the rest")
    if judging.get("judge") is None:
        idle = [name for name, value in judging.items() if value is not None and name != "workers"]
        if idle:
            flags = ", ".join(f"--{name.replace('_', '-')}" for name in sorted(idle))
            raise UsageError(f"{flags}: belongs to --judge; give that too")


def _judged(
    labelled: LabelledRows, found: JudgedRows, lower: bool, unscored: Counter[str]
) -> Judged:
    rows, values = [], []
    for one, said in zip(labelled.rows, found.said, strict=True):
        if said.value is None:
            unscored[_why(said)] += 1
            fact = f"{quoted(one.row.id)}: {_why(said)}"
            labelled.findings.add(Finding("unscored", one.row.where, fact))
        else:
            rows.append(one)
            values.append(said.value)
    known = reading("answers").get(f"{FAMILY}{found.metric}")
    numbers = np.array(values, dtype=np.float64)
    if known is None or known.bounds[1] is None:
        bounds = (float(numbers.min()), float(numbers.max())) if values else (0.0, 1.0)
    else:
        bounds = (float(known.bounds[0]), float(known.bounds[1]))
    turned = lower or (known is not None and known.better == "lower")
    return Judged(rows=rows, values=numbers, lower=turned, bounds=bounds)


def _why(said: Said) -> str:
    return said.reason or "no score"


def _few(unscored: Counter[str]) -> dict[str, int]:
    """The commonest reasons; what fails in a hundred ways is told in ten."""
    ranked = sorted(unscored.items(), key=lambda pair: (-pair[1], pair[0]))
    rest = sum(times for _, times in ranked[REASONS_KEPT:])
    return dict(ranked[:REASONS_KEPT]) | ({OTHERS: rest} if rest else {})


def _outcome(
    labelled: LabelledRows,
    found: JudgedRows,
    judged: Judged,
    unscored: dict[str, int],
    threshold: float | None,
) -> Outcome[AnswerCalibrationReport]:
    too_few = _too_few(judged.rows)
    scored = _scored(judged, threshold, told=too_few is None)
    used = labelled_scores(scored, judged.rows, None, used=True)
    if too_few is None and used.auroc is not None and used.auroc < CHANCE:
        fact = f"AUROC {used.auroc:.3f}: bad answers score higher; if lower is better, say so"
        labelled.findings.add(Finding("upside_down", labelled.name, fact))
    calibrating = Calibrating(
        task="judge",
        metric=f"{FAMILY}{found.metric}",
        judge=found.judge,
        labelled=labelled,
        scored=len(judged.rows),
        unscored=unscored,
    )
    return calibrating.outcome(
        used,
        scores=() if too_few else (used,),
        controls=() if too_few else list(controls(judged.order, judged.rows, None)),
        biases=(length_bias(judged.shares, judged.rows), position_flips(scored.said, judged.rows)),
        too_few=too_few,
        agreement=(f"{FAMILY}{found.metric}",),
        by=found.judge,
        identity={"threshold": "best out of fold" if threshold is None else threshold},
    )


def _too_few(rows: Sequence[Labelled]) -> str | None:
    good = [one.good for one in rows]
    sources = len({one.source for one in rows})
    n, least = len(good), min(sum(good), len(good) - sum(good))
    if (why := one_label(good)) is not None:
        return why
    if n < LABELS_TO_MOVE or least < OF_EACH_TO_MOVE:
        return (
            f"{sum(good)} good and {n - sum(good)} bad answers; {LABELS_TO_MOVE} with "
            f"{OF_EACH_TO_MOVE} of each are the least that tell"
        )
    if sources < SOURCES_NEEDED:
        return f"labels of {sources} sources; {SOURCES_NEEDED} are the least that tell"
    return None


def _scored(judged: Judged, threshold: float | None, *, told: bool) -> Scored:
    """The scores with what a threshold says: the user's, or the best one of other sources.

    Where labels are too few to be told of, there is no threshold.
    """
    order, good = judged.order, np.array([one.good for one in judged.rows], dtype=bool)
    sources = [one.source for one in judged.rows]
    sign = -1.0 if judged.lower else 1.0
    cut: float | None = None
    said: Flags | None = None
    if told and threshold is not None:
        cut, said = threshold, order >= sign * threshold
    elif told and (best := steady_threshold(order, good, sources)) is not None:
        cut, said = sign * best, _out_of_fold(judged, good)
    return Scored(name=NAME, order=order, chances=judged.chances, said=said, threshold=cut)


def _out_of_fold(judged: Judged, good: Flags) -> Flags:
    """What thresholds say of answers whose sources they never saw, by most of the rounds.

    Where the other sources have no threshold that beats chance, every answer is called as most
    of them are: then nothing is told apart.
    """
    order, votes = judged.order, np.zeros(len(good))
    sources = np.array([one.source for one in judged.rows])
    for out in held_out(sources.tolist()):
        cut = steady_threshold(order[~out], good[~out], sources[~out].tolist())
        votes[out] += (good[~out].mean() >= HALF) if cut is None else order[out] >= cut
    return np.asarray(votes > ROUNDS / 2)
