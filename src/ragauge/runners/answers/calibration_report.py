"""The report of a calibration, and the file that later evaluations read of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
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
from ragauge.contracts.answers import ANSWER_KINDS
from ragauge.contracts.evaluation import HumanAgreement
from ragauge.contracts.report import Outcome, Rule, Score
from ragauge.errors import UsageError
from ragauge.ingest.calibration import AnswerCalibration
from ragauge.runners.answers.agreement import FOLDS, ROUNDS, SEED
from ragauge.runners.answers.labelled import LabelledRows
from ragauge.runners.evaluation import Evaluation
from ragauge.stats.discrimination import BINS, DRAWS
from ragauge.store.files import write_whole
from ragauge.text.grounding.features import ANSWER_FEATURES, SENTENCE_FEATURES
from ragauge.text.grounding.model import Model, bands_text

ENDING = ".json"
_HEAD = """\
# Lexical groundedness, fitted to labels: log-odds = intercept + the sum of coefficient x feature.
# A feature that is not named weighs nothing.
version = "{version}"
"""
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
            {
                "command": f"calibrate {self.task}",
                "ragauge": __version__,
                "labels": self.labelled.labelling.told,
                "labels_sha256": self.labelled.sha256,
                "gate": str(GATE),
                **(identity or {}),
            },
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
            coverage=LabelCoverage(
                rows=self.labelled.records,
                labelled=len(self.labelled.rows),
                scored=self.scored,
                unlabelled=self.labelled.unlabelled,
                unscored=dict(sorted(self.unscored.items())),
                rejected=len(self.labelled.problems),
                sources=used.sources,
            ),
        )
        return evaluation.outcome(report)

    def _metrics(
        self, used: LabelledScores, biases: Sequence[Bias], too_few: str | None
    ) -> dict[str, Score]:
        known = {
            AUROC: (used.auroc, used.auroc_ci),
            BALANCED_ACCURACY: (used.balanced_accuracy, used.balanced_accuracy_ci),
            KAPPA: (used.kappa, used.kappa_ci),
            ECE: (used.ece, None),
            BASE_RATE: (used.base_rate, None),
        }
        rows = [
            (
                *(id, None if too_few else value, used.n, None if too_few else ci),
                too_few or (used.reason if value is None or ci is None else None),
            )
            for id, (value, ci) in known.items()
        ]
        rows += [(BIASES[one.name], one.value, one.n, one.ci, one.reason) for one in biases]
        metrics = {}
        for id, value, n, ci, reason in rows:
            how = f"|{_HOW[id]}" if id in _HOW else ""
            metrics[id] = Score(
                value=value,
                n=n,
                of=self.labelled.records,
                ci=None if value is None else ci,
                reason=reason,
                signature=f"{id}|v1|{self.metric}|{self.judge}{how}|n:{n}",
            )
        return metrics

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


def check_calibration_file(name: str) -> None:
    """Raise UsageError, before anything is measured, for a file that could not be read again."""
    if Path(name).suffix.lower() != ENDING:
        raise UsageError(f"--out {name}: a calibration is JSON; name a file that ends in {ENDING}")


def keep_calibration(report: AnswerCalibrationReport, name: str) -> None:
    """Write what `ragauge eval answers --calibration` needs, completely or not at all."""
    calibration = AnswerCalibration(
        coefficients=report.coefficients,
        thresholds={one.kind: one.threshold for one in report.kinds if one.done != "kept"},
        agreement=report.agreement,
    )
    content = msgspec.json.encode(calibration, order="sorted")
    write_whole(Path(name), msgspec.json.format(content) + b"\n")


def coefficients_text(model: Model) -> str:
    """A file of coefficients, as `text.grounding.model.model_from` reads it."""
    parts = [_HEAD.format(version=model.version)]
    for kind in ANSWER_KINDS:
        one = model.kinds[kind]
        parts.append(f"\n[{kind}.threshold]\nvalue = {one.threshold!r}\n")
        parts.append(bands_text(kind, one.bands))
        for name, weights, features in (
            ("answer", one.answer, ANSWER_FEATURES),
            ("sentence", one.sentence, SENTENCE_FEATURES),
        ):
            parts.append(f"\n[{kind}.{name}]\nintercept = {weights.intercept!r}\n")
            named = zip(features, weights.coefficients, strict=True)
            parts += [f"{feature} = {weight!r}\n" for feature, weight in named if weight]
    return "".join(parts)
