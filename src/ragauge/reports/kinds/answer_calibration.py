"""The report of `ragauge calibrate groundedness` and `ragauge calibrate judge`."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.answer_calibration import AUROC, AnswerCalibrationReport, Control
from ragauge.reports import document as doc
from ragauge.reports import numbers
from ragauge.reports.document import Cell, Column, Document, Table, number
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
    covered, word = report.coverage, "PASS" if report.passed else "FAIL"
    coverage = doc.listed(
        f"{numbers.count(covered.scored)} labelled and scored of {counted(covered.rows, 'row')}",
        covered.unlabelled and f"{numbers.count(covered.unlabelled)} without a label",
        covered.rejected and f"{numbers.count(covered.rejected)} rejected",
        *(f"{numbers.count(times)} not scored ({why})" for why, times in covered.unscored.items()),
    )
    blocks: list[doc.Block] = [
        doc.Verdict(word, _verdict(report), meaning=[_meaning(report)]),
        *(table for table in _tables(report) if table.rows),
        doc.findings(report),
        doc.Coverage(coverage),
    ]
    return Document("calibration", blocks)


def _tables(report: AnswerCalibrationReport) -> Iterator[Table]:
    yield doc.table(
        report.scores,
        {
            "answers": lambda one: Cell(one.kind or ALL_KINDS),
            "scores": lambda one: Cell(
                f"{one.name}, used" if one.used and one.name != "judge" else one.name
            ),
            Column("n", True, spare=1): lambda one: doc.count(one.n),
            Column("sources", True, spare=7): lambda one: doc.count(one.sources),
            Column("good", True, spare=2): lambda one: number(one.base_rate),
            # AUROC and its interval stay together.
            "AUROC": lambda one: number(one.auroc),
            INTERVAL: lambda one: doc.interval(one.auroc_ci),
            Column("bal. acc.", True, spare=3): lambda one: number(one.balanced_accuracy),
            Column("κ", True, spare=5): lambda one: number(one.kappa),
            Column("ECE", True, spare=6): lambda one: number(one.ece),
            Column("threshold", True, spare=4): lambda one: number(one.threshold),
        },
        title="Agreement with people",
    )
    yield doc.table(
        report.kinds,
        {
            "answers": lambda one: Cell(one.kind),
            "done": lambda one: Cell(_DONE[one.done]),
            "gain in AUROC": lambda one: number(one.gain, numbers.signed(one.gain)),
            Column(INTERVAL, spare=1): lambda one: Cell(
                numbers.signed_interval(one.gain_ci), one.gain_ci
            ),
            Column("threshold", spare=2): lambda one: Cell(
                value(one.threshold)
                if one.done == "kept"
                else f"{value(one.threshold_before)} → {value(one.threshold)}",
                one.threshold,
            ),
            Column("labels", spare=3): lambda one: Cell(
                f"{one.good:,} good, {one.n - one.good:,} bad", one.n
            ),
        },
        note=lambda one: one.reason,
        title="Kinds of answers",
    )
    yield doc.table(
        [one for one in report.controls if one.auroc is not None],
        {
            "answers": lambda one: Cell(one.kind or ALL_KINDS),
            "control": lambda one: Cell(_CONTROLS[one.name]),
            "AUROC": lambda one: number(one.auroc),
            Column(INTERVAL, spare=1): lambda one: doc.interval(one.ci),
            Column("n", True, spare=2): lambda one: doc.count(one.n),
        },
        title="Controls",
    )
    yield doc.table(
        report.biases,
        {
            "bias": lambda one: Cell(_BIASES[one.name]),
            "value": lambda one: number(
                one.value, numbers.signed(one.value) if one.name == "length" else None
            ),
            INTERVAL: lambda one: doc.interval(one.ci),
            "n": lambda one: doc.count(one.n),
        },
        note=lambda one: one.reason or "",
        title="Bias",
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
