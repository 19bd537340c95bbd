"""A calibration as it looks, beside the examples of the other records."""

from __future__ import annotations

from ragauge.contracts.calibration import (
    AUC,
    THRESHOLD,
    CalibratedPair,
    CalibrationCoverage,
    CalibrationReport,
    Quartiles,
    Threshold,
)
from ragauge.contracts.score import Score
from ragauge.contracts.verdict import Verdict

_HASH = "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab"
_CI = (0.8389, 1.0)

CALIBRATION = CalibrationReport(
    passed=True,
    embedder="ngram:v1:1024",
    metrics={
        AUC: Score(value=1.0, n=10, of=12, ci=_CI),
        THRESHOLD: Score(value=0.71, n=10, of=12, ci=(0.68, 0.74)),
    },
    gates=(
        Verdict(
            rule=f"{AUC}>=0.8",
            metric=AUC,
            op=">=",
            bound=0.8,
            value=1.0,
            n=10,
            ci=_CI,
            verdict="pass",
            reason=None,
        ),
    ),
    thresholds=(
        Threshold(name="fitted", threshold=0.71, ci=(0.68, 0.74), anchors=10, decoys=10, pairs=10),
        Threshold(name="default warn", threshold=0.45, ci=None, anchors=3, decoys=10, pairs=10),
    ),
    samples={
        "anchor": Quartiles(lowest=0.38, q1=0.47, median=0.55, q3=0.61, highest=0.68),
        "decoy": Quartiles(lowest=0.74, q1=0.79, median=0.84, q3=0.88, highest=0.93),
    },
    pairs=(
        CalibratedPair(
            qid="q1",
            question="When was the museum founded?",
            anchor=0.68,
            decoy=0.74,
            gap=0.06,
        ),
    ),
    findings=(),
    finding_counts={},
    coverage=CalibrationCoverage(gold=12, pairs=10, without=2, unresolved=0, unread=0),
    identity={"command": "calibrate deltas", "embedder": "ngram:v1:1024", "gold_sha256": _HASH},
)
