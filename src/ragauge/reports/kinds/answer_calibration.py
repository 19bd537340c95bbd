"""The report of `ragauge calibrate groundedness` and `ragauge calibrate judge`."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.answer_calibration import AUROC, AnswerCalibrationReport, Control
from ragauge.reports import numbers
from ragauge.reports.document import (
    Block,
    Cell,
    Coverage,
    Document,
    Row,
    Table,
    Verdict,
    columns,
    count,
    findings,
    number,
    rows,
)
from ragauge.reports.numbers import counted, value

ALL_KINDS = "all"
INTERVAL = "95 % interval"
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


def document(report: AnswerCalibrationReport) -> Document:
    blocks: list[Block] = [
        Verdict("PASS" if report.passed else "FAIL", _verdict(report), meaning=[_meaning(report)]),
        *(table for table in _tables(report) if table.rows),
        findings(report),
        Coverage(_coverage(report)),
    ]
    return Document("calibration", blocks)


def _tables(report: AnswerCalibrationReport) -> Iterator[Table]:
    right = ("n", "sources", "good", "AUROC", "bal. acc.", "κ", "ECE", "threshold")
    yield Table(
        title="Agreement with people",
        columns=columns(
            *("answers", "scores", "n", "sources", "good", "AUROC", INTERVAL),
            *("bal. acc.", "κ", "ECE", "threshold"),
            right=right,
            # AUROC and its interval stay together.
            spare=("sources", "ECE", "κ", "threshold", "bal. acc.", "good", "n"),
        ),
        rows=rows(
            [
                Cell(one.kind or ALL_KINDS),
                Cell(f"{one.name}, used" if one.used and one.name != "judge" else one.name),
                count(one.n),
                count(one.sources),
                number(one.base_rate),
                number(one.auroc),
                Cell(numbers.interval(one.auroc_ci), one.auroc_ci),
                *map(number, (one.balanced_accuracy, one.kappa, one.ece, one.threshold)),
            ]
            for one in report.scores
        ),
    )
    yield Table(
        title="Kinds of answers",
        columns=columns(
            *("answers", "done", "gain in AUROC", INTERVAL, "threshold", "labels"),
            right=("gain in AUROC",),
            spare=("labels", "threshold", INTERVAL),
        ),
        rows=[
            Row(
                (
                    Cell(one.kind),
                    Cell(_DONE[one.done]),
                    number(one.gain, numbers.signed(one.gain)),
                    Cell(numbers.signed_interval(one.gain_ci), one.gain_ci),
                    Cell(
                        value(one.threshold)
                        if one.done == "kept"
                        else f"{value(one.threshold_before)} → {value(one.threshold)}",
                        one.threshold,
                    ),
                    Cell(f"{one.good:,} good, {one.n - one.good:,} bad", one.n),
                ),
                one.reason,
            )
            for one in report.kinds
        ],
    )
    yield Table(
        title="Controls",
        columns=columns(
            *("answers", "control", "AUROC", INTERVAL, "n"),
            right=("AUROC", "n"),
            spare=("n", INTERVAL),
        ),
        rows=rows(
            [
                Cell(one.kind or ALL_KINDS),
                Cell(_CONTROLS[one.name]),
                number(one.auroc),
                Cell(numbers.interval(one.ci), one.ci),
                count(one.n),
            ]
            for one in report.controls
            if one.auroc is not None
        ),
    )
    yield Table(
        title="Bias",
        columns=columns("bias", "value", INTERVAL, "n", right=("value", "n")),
        rows=[
            Row(
                (
                    Cell(_BIASES[one.name]),
                    number(one.value, numbers.signed(one.value) if one.name == "length" else None),
                    Cell(numbers.interval(one.ci), one.ci),
                    count(one.n),
                ),
                one.reason or "",
            )
            for one in report.biases
        ],
    )


def _verdict(report: AnswerCalibrationReport) -> str:
    """Whether the score separates good answers from bad ones."""
    auroc, name = report.metrics[AUROC], report.judge
    if report.task != "groundedness":
        name = f"{report.metric.removeprefix('answers.')} by {report.judge}"
    if auroc.value is None:
        return f"{name} is not calibrated: {auroc.reason}"
    of = f"{counted(auroc.n, 'answer')} of {counted(report.coverage.sources, 'source')}"
    over = f"AUROC {value(auroc.value)} {numbers.interval(auroc.ci)} over {of}"
    separates = "separates" if report.passed else "does not separate"
    return f"{name} {separates} good answers from bad ones: {over}"


def _meaning(report: AnswerCalibrationReport) -> str:
    """What follows for whoever reads the metric."""
    auroc = report.metrics[AUROC].value
    if auroc is None:
        return "Nothing is kept: label more answers, good ones and bad ones, from more sources."
    if not report.passed:
        return (
            "On these labels it may be no better than chance, so do not set a gate on it. Read the "
            "labels of the answers it gets wrong, and try another judge or metric."
        )
    kinds = {one.kind for one in report.controls}

    def beats(control: Control) -> bool:
        """Whether something that looks at no context does as well over all answers."""
        if control.auroc is None or control.name == "within one model":
            return False
        return (control.kind is None or len(kinds) == 1) and control.auroc >= auroc

    meant = "No answer is scored by a fit that saw its source"
    beaten = " and ".join(_CONTROLS[one.name] for one in report.controls if beats(one))
    return f"{meant}. As good without reading a context: {beaten}." if beaten else f"{meant}."


def _coverage(report: AnswerCalibrationReport) -> str:
    covered = report.coverage
    parts = [
        f"{numbers.count(covered.scored)} labelled and scored of {counted(covered.rows, 'row')}",
        covered.unlabelled and f"{numbers.count(covered.unlabelled)} without a label",
        covered.rejected and f"{numbers.count(covered.rejected)} rejected",
        *(f"{numbers.count(times)} not scored ({why})" for why, times in covered.unscored.items()),
    ]
    return ", ".join(part for part in parts if part)
