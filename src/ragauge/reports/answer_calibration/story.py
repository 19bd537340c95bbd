"""What a calibration of answers tells, in the order it is told; the forms only write it down."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.contracts.answer_calibration import (
    AUROC,
    AnswerCalibrationReport,
    Bias,
    Control,
    KindFit,
    LabelledScores,
)
from ragauge.contracts.finding import Finding
from ragauge.reports import envelope, numbers
from ragauge.reports.numbers import count, counted, value

SCORE_HEADS = (
    *("answers", "scores", "n", "sources", "good", "AUROC", "95 % interval"),
    *("bal. acc.", "κ", "ECE", "threshold"),
)
SCORE_RIGHT = {2, 3, 4, 5, 7, 8, 9, 10}
SCORE_SPARE = (3, 9, 8, 10, 7, 4, 2)
"""Columns that a narrow page has below their rows, the first one first: AUROC and its interval
stay together."""
CONTROL_HEADS = ("answers", "control", "AUROC", "95 % interval", "n")
CONTROL_RIGHT = {2, 4}
CONTROL_SPARE = (4, 3)
KIND_HEADS = ("answers", "done", "gain in AUROC", "95 % interval", "threshold", "labels")
KIND_RIGHT = {2}
KIND_SPARE = (5, 4, 3)
BIAS_HEADS = ("bias", "value", "95 % interval", "n")
BIAS_RIGHT = {1, 3}
ALL_KINDS = "all"
USED = "used"
"""Behind the scores that are used from now on."""
_CONTROLS = {
    "length": "shorter is better",
    "model": "knows only the model",
    "within one model": "the score, within one model",
}
_DONE = {"refitted": "refitted", "threshold": "threshold moved", "kept": "kept as shipped"}
_BIASES = {
    "length": "judge − people with length (ρ)",
    "position": "verdicts that flip with the position",
}


def verdict_words(report: AnswerCalibrationReport) -> tuple[str, str]:
    """PASS or FAIL, and whether the score tells good answers from bad ones."""
    word, auroc = ("PASS" if report.passed else "FAIL"), report.metrics[AUROC]
    name = _named(report)
    if auroc.value is None:
        return word, f"{name} is not calibrated: {auroc.reason}"
    of = f"{counted(auroc.n, 'answer')} of {counted(report.coverage.sources, 'source')}"
    over = f"AUROC {value(auroc.value)} {numbers.interval(auroc.ci)} over {of}"
    tells = "tells" if report.passed else "does not tell"
    return word, f"{name} {tells} good answers from bad ones: {over}"


def _named(report: AnswerCalibrationReport) -> str:
    if report.task == "groundedness":
        return report.judge
    return f"{report.metric.removeprefix('answers.')} by {report.judge}"


def meaning(report: AnswerCalibrationReport) -> str:
    """What follows for whoever reads the metric."""
    if report.metrics[AUROC].value is None:
        return "Nothing is kept: label more answers, good ones and bad ones, of more sources."
    if not report.passed:
        return (
            "It may be no better than chance on these labels: no gate should rest on it. Read the "
            "labels of the answers it has wrong, and try another judge or metric."
        )
    told = "Nothing is held against labels that it was fitted to: sources are kept apart"
    beaten = [one for one in report.controls if _beats(report, one)]
    if beaten:
        names = " and ".join(_CONTROLS[one.name] for one in beaten)
        return f"{told}. As good without reading a context: {names}."
    return f"{told}."


def _beats(report: AnswerCalibrationReport, control: Control) -> bool:
    """Whether something that looks at no context does as well over all answers."""
    auroc = report.metrics[AUROC].value
    if auroc is None or control.auroc is None or control.name == "within one model":
        return False
    whole = control.kind is None or len({one.kind for one in report.controls}) == 1
    return whole and control.auroc >= auroc


def score_rows(report: AnswerCalibrationReport) -> list[list[str]]:
    return [_score_row(one) for one in report.scores]


def _score_row(one: LabelledScores) -> list[str]:
    return [
        one.kind or ALL_KINDS,
        f"{one.name}, {USED}" if one.used and one.name != "judge" else one.name,
        count(one.n),
        count(one.sources),
        value(one.base_rate),
        value(one.auroc),
        numbers.interval(one.auroc_ci),
        value(one.balanced_accuracy),
        value(one.kappa),
        value(one.ece),
        value(one.threshold),
    ]


def kind_rows(report: AnswerCalibrationReport) -> list[list[str]]:
    return [_kind_row(one) for one in report.kinds]


def _kind_row(one: KindFit) -> list[str]:
    moved = f"{value(one.threshold_before)} → {value(one.threshold)}"
    return [
        one.kind,
        _DONE[one.done],
        numbers.signed(one.gain),
        numbers.signed_interval(one.gain_ci),
        value(one.threshold) if one.done == "kept" else moved,
        f"{count(one.good)} good, {count(one.n - one.good)} bad",
    ]


def kind_reasons(report: AnswerCalibrationReport) -> list[str]:
    return [one.reason for one in report.kinds]


def control_rows(report: AnswerCalibrationReport) -> list[list[str]]:
    """The controls that could be made."""
    return [
        [
            one.kind or ALL_KINDS,
            _CONTROLS[one.name],
            value(one.auroc),
            numbers.interval(one.ci),
            count(one.n),
        ]
        for one in report.controls
        if one.auroc is not None
    ]


def bias_rows(report: AnswerCalibrationReport) -> list[list[str]]:
    return [
        [_BIASES[one.name], _bias(one), numbers.interval(one.ci), count(one.n)]
        for one in report.biases
    ]


def _bias(one: Bias) -> str:
    return numbers.signed(one.value) if one.name == "length" else value(one.value)


def bias_reasons(report: AnswerCalibrationReport) -> list[str]:
    return [one.reason or "" for one in report.biases]


def coverage_words(report: AnswerCalibrationReport) -> str:
    covered = report.coverage
    parts = [
        f"{count(covered.scored)} labelled and scored of {counted(covered.rows, 'row')}",
        covered.unlabelled and f"{count(covered.unlabelled)} without a label",
        covered.rejected and f"{count(covered.rejected)} rejected",
        *(f"{count(times)} not scored ({why})" for why, times in covered.unscored.items()),
    ]
    return ", ".join(part for part in parts if part)


def findings(report: AnswerCalibrationReport) -> list[tuple[str, int, Sequence[Finding]]]:
    return envelope.findings_by_code(report.findings, report.finding_counts)
