"""Calibrations of ΔS: whether an embedder tells anchors from decoys, and where it parts them."""

from __future__ import annotations

from msgspec import Struct, field

from ragauge.contracts.report import RunReport

CALIBRATION_SCHEMA = "ragauge.calibration/1"

AUC, THRESHOLD = "calibration.auc", "calibration.threshold"
SENSITIVITY, SPECIFICITY = "calibration.sensitivity", "calibration.specificity"

AUC_NEEDED = 0.8
"""Below this an embedder mistakes decoys for anchors too often for a gate to mean anything."""
PAIRS_NEEDED = 10
DEFAULT_WARN, DEFAULT_FAIL = 0.45, 0.60
"""What is often set without looking; the brief's. Shown for comparison, used for nothing."""


class Threshold(Struct, frozen=True, kw_only=True):
    """A threshold, and what it does to the pairs it is held against."""

    name: str
    threshold: float
    ci: tuple[float, float] | None
    """Of a fitted one: where it lies when the questions are drawn again."""
    anchors: int
    """At or below the threshold, as they should be."""
    decoys: int
    """Above it, as they should be."""
    pairs: int


class Quartiles(Struct, frozen=True, kw_only=True):
    """A sample in five numbers."""

    lowest: float
    q1: float
    median: float
    q3: float
    highest: float


class CalibratedPair(Struct, frozen=True, kw_only=True):
    """A question's ΔS to its anchor and to its decoy."""

    qid: str
    question: str
    anchor: float
    decoy: float
    gap: float
    """decoy − anchor: below zero the decoy is nearer."""


class CalibrationCoverage(Struct, frozen=True, kw_only=True):
    """What became of the gold questions."""

    gold: int
    pairs: int
    without: int
    """Questions that have no anchor, no decoy, or neither."""
    unresolved: int
    """Questions whose anchor or decoy is not in the documents."""
    unread: int
    """Questions of which the embedder can read nothing in a text."""


class CalibrationReport(RunReport, frozen=True, kw_only=True):
    """What `ragauge calibrate deltas` says, versioned; kept in a file, it is the calibration."""

    schema: str = CALIBRATION_SCHEMA
    passed: bool = field(name="pass")
    """Whether a gate on ΔS means something with this embedder."""
    embedder: str
    thresholds: tuple[Threshold, ...]
    """The fitted one, where there is one, and the defaults."""
    samples: dict[str, Quartiles]
    """`anchor` and `decoy`."""
    pairs: tuple[CalibratedPair, ...]
    """Those whose decoy is nearest to the anchor, or nearer, first."""
    coverage: CalibrationCoverage

    @property
    def measured(self) -> bool:
        return bool(self.coverage.pairs)


class Calibration(Struct, frozen=True, kw_only=True):
    """What a gate on ΔS needs to know of a calibration."""

    embedder: str
    gold_sha256: str
    pairs: int
    auc: float | None
    auc_ci: tuple[float, float] | None
    threshold: float | None
    threshold_ci: tuple[float, float] | None
    refusal: str | None
    """Why no gate can rest on it; None where one can."""

    @property
    def usable(self) -> bool:
        return self.refusal is None


def calibration_of(report: CalibrationReport) -> Calibration:
    """The report with only what a gate needs."""
    auc, threshold = report.metrics[AUC], report.metrics[THRESHOLD]
    return Calibration(
        embedder=report.embedder,
        gold_sha256=str(report.identity["gold_sha256"]),
        pairs=report.coverage.pairs,
        auc=auc.value,
        auc_ci=auc.ci,
        threshold=threshold.value,
        threshold_ci=threshold.ci,
        refusal=_refusal(report),
    )


def no_gate(calibration: Calibration | None) -> str | None:
    """Why a gate on ΔS cannot be evaluated; None where it can."""
    if calibration is None:
        return "ΔS was not calibrated: its thresholds mean nothing until they are fitted"
    return calibration.refusal


def _refusal(report: CalibrationReport) -> str | None:
    if report.passed:
        return None
    auc = report.metrics[AUC]
    if auc.value is None:
        return f"the calibration of {report.embedder} is not usable: {auc.reason}"
    return (
        f"the calibration of {report.embedder} is not usable: AUC {auc.value:.3f} is below "
        f"{AUC_NEEDED}, so ΔS does not tell anchors from decoys"
    )
