"""A calibration of groundedness as it looks, beside the examples of the other records."""

from __future__ import annotations

from ragauge.contracts.answer_calibration import (
    AUROC,
    BALANCED_ACCURACY,
    BASE_RATE,
    ECE,
    KAPPA,
    AnswerCalibrationReport,
    Control,
    KindFit,
    LabelCoverage,
    LabelledScores,
)
from ragauge.contracts.evaluation import HumanAgreement
from ragauge.contracts.score import Score
from ragauge.contracts.verdict import Verdict

_HASH = "4a460c6369f9c13aba6c84fc4d6e6e8293c213f95abac59125ecd3f7f2b51be4"
_CI = (0.823, 0.896)

ANSWER_CALIBRATION = AnswerCalibrationReport(
    passed=True,
    task="groundedness",
    metric="answers.groundedness",
    judge="groundedness/1+4a460c63",
    metrics={
        AUROC: Score(value=0.86, n=415, of=420, ci=_CI),
        BALANCED_ACCURACY: Score(value=0.741, n=415, of=420, ci=(0.7, 0.784)),
        KAPPA: Score(value=0.458, n=415, of=420, ci=(0.378, 0.538)),
        ECE: Score(value=0.024, n=415, of=420),
        BASE_RATE: Score(value=0.653, n=415, of=420),
    },
    gates=(
        Verdict(
            rule=f"{AUROC}>0.5@95",
            metric=AUROC,
            op=">",
            bound=0.5,
            value=0.86,
            n=415,
            ci=_CI,
            verdict="pass",
            reason=None,
        ),
    ),
    scores=(
        LabelledScores(
            name="refitted",
            used=True,
            kind="qa",
            n=415,
            sources=70,
            base_rate=0.653,
            auroc=0.86,
            auroc_ci=_CI,
            balanced_accuracy=0.741,
            balanced_accuracy_ci=(0.7, 0.784),
            kappa=0.458,
            kappa_ci=(0.378, 0.538),
            ece=0.024,
            threshold=0.688,
            reason=None,
        ),
    ),
    controls=(
        Control(name="length", kind="qa", auroc=0.705, ci=(0.637, 0.768), n=415, reason=None),
    ),
    biases=(),
    kinds=(
        KindFit(
            kind="qa",
            n=415,
            good=271,
            sources=70,
            done="refitted",
            reason="the refitted coefficients are better out of fold",
            gain=0.029,
            gain_ci=(0.008, 0.05),
            threshold_before=0.442,
            threshold=0.688,
        ),
    ),
    coefficients='version = "1+4a460c63"\n',
    agreement=(
        HumanAgreement(
            metric="answers.groundedness",
            judge="lexical",
            n=415,
            sources=70,
            base_rate=0.653,
            auroc=0.86,
            auroc_ci=_CI,
            balanced_accuracy=0.741,
            kappa=0.458,
            ece=0.024,
            threshold=0.688,
            labels=f"labels.jsonl sha256:{_HASH}",
        ),
    ),
    findings=(),
    finding_counts={},
    coverage=LabelCoverage(
        rows=420,
        labelled=417,
        scored=415,
        unlabelled=3,
        unscored={"there is no context to compare with": 2},
        rejected=0,
        sources=70,
    ),
    identity={"command": "calibrate groundedness", "labels_sha256": _HASH},
)
