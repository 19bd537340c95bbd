"""The report of a calibration, put together: numbers, gate, coverage, and what is kept of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

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
from ragauge.contracts.evaluation import HumanAgreement
from ragauge.contracts.score import Outcome, Score
from ragauge.contracts.verdict import Rule
from ragauge.runners.answers.agreement import SEED
from ragauge.runners.answers.folds import FOLDS, ROUNDS
from ragauge.runners.answers.labelled import LabelledRows
from ragauge.runners.evaluation import Evaluation
from ragauge.stats.discrimination import BINS, DRAWS

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


class Calibrating(Struct, frozen=True, kw_only=True):
    """What was calibrated, on its way to a report."""

    task: Calibrated
    metric: str
    judge: str
    labelled: LabelledRows
    scored: int
    unscored: Mapping[str, int]

    def outcome(
        self,
        used: LabelledScores,
        *,
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
        evaluation = Evaluation(given=self._metrics(used, biases, too_few), rules=(GATE,))
        known = () if evaluation.scores[AUROC].value is None else agreement
        report = evaluation.report(
            AnswerCalibrationReport,
            self.labelled.findings,
            self._identity(identity or {}),
            passed=evaluation.all_hold,
            task=self.task,
            metric=self.metric,
            judge=self.judge,
            scores=tuple(scores),
            controls=tuple(controls),
            biases=tuple(biases),
            kinds=tuple(kinds),
            coefficients=coefficients,
            agreement=tuple(self._agreement(used, metric, by) for metric in known),
            coverage=self._coverage(used),
        )
        return evaluation.outcome(report)

    def _identity(self, more: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "command": f"calibrate {self.task}",
            "ragauge": __version__,
            "labels": self.labelled.labelling.told,
            "labels_sha256": self.labelled.sha256,
            "gate": str(GATE),
            **more,
        }

    def _metrics(
        self, used: LabelledScores, biases: Sequence[Bias], too_few: str | None
    ) -> dict[str, Score]:
        told = {
            AUROC: (used.auroc, used.auroc_ci),
            BALANCED_ACCURACY: (used.balanced_accuracy, used.balanced_accuracy_ci),
            KAPPA: (used.kappa, used.kappa_ci),
            ECE: (used.ece, None),
            BASE_RATE: (used.base_rate, None),
        }
        metrics = {
            id: self._score(id, value if too_few is None else None, used.n, ci, used, too_few)
            for id, (value, ci) in told.items()
        }
        for one in biases:
            id = BIASES[one.name]
            metrics[id] = Score(
                value=one.value,
                n=one.n,
                of=self.labelled.records,
                ci=one.ci,
                reason=one.reason,
                signature=self._signature(id, one.n),
            )
        return metrics

    def _score(
        self,
        id: str,
        value: float | None,
        n: int,
        ci: tuple[float, float] | None,
        used: LabelledScores,
        too_few: str | None,
    ) -> Score:
        return Score(
            value=value,
            n=n,
            of=self.labelled.records,
            ci=None if value is None else ci,
            reason=too_few or (used.reason if value is None or ci is None else None),
            signature=self._signature(id, n),
        )

    def _signature(self, id: str, n: int) -> str:
        how = f"|{_HOW[id]}" if id in _HOW else ""
        return f"{id}|v1|{self.metric}|{self.judge}{how}|n:{n}"

    def _agreement(self, used: LabelledScores, metric: str, by: str) -> HumanAgreement:
        """A decision has no order and no chances: of it only what the threshold says counts."""
        decides = metric != self.metric
        return HumanAgreement(
            metric=metric,
            judge=by,
            n=used.n,
            sources=used.sources,
            base_rate=used.base_rate or 0.0,
            auroc=None if decides else used.auroc,
            auroc_ci=None if decides else used.auroc_ci,
            balanced_accuracy=used.balanced_accuracy,
            kappa=used.kappa,
            ece=None if decides else used.ece,
            threshold=used.threshold,
            labels=f"{Path(self.labelled.name).name} sha256:{self.labelled.sha256}",
        )

    def _coverage(self, used: LabelledScores) -> LabelCoverage:
        labelled = self.labelled
        return LabelCoverage(
            rows=labelled.records,
            labelled=len(labelled.rows),
            scored=self.scored,
            unlabelled=labelled.unlabelled,
            unscored=dict(sorted(self.unscored.items())),
            rejected=len(labelled.problems),
            sources=used.sources,
        )
