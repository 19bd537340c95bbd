"""What a calibration report tells, in the order it is told; the forms only write it down."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.contracts.calibration import (
    AUC,
    AUC_NEEDED,
    THRESHOLD,
    CalibratedPair,
    CalibrationReport,
)
from ragauge.contracts.finding import Finding
from ragauge.reports import envelope, numbers
from ragauge.reports.calibration import plot
from ragauge.reports.numbers import count, counted, n_of, value

SAMPLE_HEADS = ("sample", "lowest", "q1", "median", "q3", "highest")
THRESHOLD_HEADS = ("threshold", "ΔS", "95 % of draws", "anchors at or below", "decoys above")
PAIR_HEADS = ("question", "anchor", "decoy", "gap")
_SAMPLES = {"anchor": "anchors", "decoy": "decoys"}


def verdict_words(report: CalibrationReport) -> tuple[str, str]:
    """PASS or FAIL, and whether the embedder can be gated on."""
    word, auc = ("PASS" if report.passed else "FAIL"), report.metrics[AUC]
    if auc.value is None:
        return word, f"{report.embedder} is not calibrated: {auc.reason}"
    over = f"AUC {value(auc.value)} {numbers.interval(auc.ci)} over {counted(auc.n, 'pair')}"
    if report.passed:
        at = value(report.metrics[THRESHOLD].value)
        return word, f"{report.embedder} tells anchors from decoys at ΔS {at}: {over}"
    return word, f"{report.embedder} does not tell anchors from decoys: {over}"


def meaning(report: CalibrationReport) -> str:
    """What follows for whoever wants a gate on ΔS."""
    auc = report.metrics[AUC]
    if report.passed:
        unsure = auc.ci is not None and auc.ci[0] < AUC_NEEDED
        return (
            "A gate on ΔS may use this threshold, with this embedder alone. ΔS says what looks "
            "alike, never that an answer is supported."
            + (f" The AUC may lie below {AUC_NEEDED}: more pairs would tell." if unsure else "")
        )
    if auc.value is None:
        return "Gates on ΔS are not evaluated: mark more anchors and decoys in the gold set."
    return (
        f"Gates on ΔS are not evaluated below an AUC of {AUC_NEEDED}: read the pairs whose decoy "
        "is nearer, mend those that are marked wrongly, then try another embedder."
    )


def samples(report: CalibrationReport) -> dict[str, Sequence[float]]:
    """Both samples by name; none where the report could not hold all pairs."""
    if not report.pairs or len(report.pairs) < report.coverage.pairs:
        return {}
    return {told: [getattr(pair, name) for pair in report.pairs] for name, told in _SAMPLES.items()}


def picture(report: CalibrationReport, width: int) -> tuple[str, list[str]]:
    """What is drawn, in words, and its lines; no lines where there is nothing to draw."""
    told = samples(report)
    if not told:
        return "", []
    fitted = report.metrics[THRESHOLD]
    mark = f", {plot.THRESHOLD} threshold" if fitted.value is not None else ""
    lines = plot.drawn(told, fitted.value, fitted.ci, width)
    return f"near to far, a column is {plot.width_of_a_column(told, width):g}{mark}", lines


def sample_rows(report: CalibrationReport) -> list[list[str]]:
    return [
        [_SAMPLES[name], *(value(getattr(five, head)) for head in SAMPLE_HEADS[1:])]
        for name, five in report.samples.items()
    ]


def threshold_rows(report: CalibrationReport) -> list[list[str]]:
    return [
        [
            one.name,
            value(one.threshold),
            numbers.interval(one.ci),
            f"{n_of(one.anchors, one.pairs)}, {numbers.share(one.anchors, one.pairs)}",
            f"{n_of(one.decoys, one.pairs)}, {numbers.share(one.decoys, one.pairs)}",
        ]
        for one in report.thresholds
    ]


def nearer(report: CalibrationReport) -> list[CalibratedPair]:
    """The pairs whose decoy is as near as the anchor, or nearer; the worst first."""
    return [pair for pair in report.pairs if pair.gap <= 0]


def pair_row(pair: CalibratedPair) -> list[str]:
    return [pair.qid, value(pair.anchor), value(pair.decoy), numbers.signed(pair.gap)]


def coverage_words(report: CalibrationReport) -> str:
    covered = report.coverage
    parts = [
        f"{count(covered.pairs)} pairs of {counted(covered.gold, 'question')}",
        covered.without and f"{count(covered.without)} without anchor or decoy",
        covered.unresolved and f"{count(covered.unresolved)} not in the documents",
        covered.unread and f"{count(covered.unread)} with a text the embedder cannot read",
    ]
    return ", ".join(part for part in parts if part)


def findings(report: CalibrationReport) -> list[tuple[str, int, Sequence[Finding]]]:
    return envelope.findings_by_code(report.findings, report.finding_counts)
