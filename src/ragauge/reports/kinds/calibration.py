"""The reports of `ragauge calibrate`: of ΔS, and of groundedness or a judge against labels."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.answer_calibration import AUROC, AnswerCalibrationReport
from ragauge.contracts.calibration import AUC, AUC_NEEDED, THRESHOLD, CalibrationReport
from ragauge.reports import document as doc
from ragauge.reports.document import Block, Cell, Column, Document, Table, number
from ragauge.reports.phrasing import count, interval, n_of, percent, pluralize, value

PAIRS_SHOWN = 10
INTERVAL = "95 % interval"
CONTROLS = {
    "length": "shorter is better",
    "model": "knows only the model",
    "within one model": "the score, within one model",
}
DONE = {"refitted": "refitted", "threshold": "threshold moved", "kept": "kept as shipped"}
BIASES = {
    "length": "judge − people with length (ρ)",
    "position": "verdicts that flip with the position",
}


def document(report: CalibrationReport | AnswerCalibrationReport) -> Document:
    contents = _deltas(report) if isinstance(report, CalibrationReport) else _answers(report)
    *blocks, coverage = (one for one in contents if not isinstance(one, Table) or one.rows)
    return Document("calibration", [*blocks, doc.findings(report), coverage])


def _deltas(report: CalibrationReport) -> Iterator[Block]:
    """Whether ΔS separates anchors from decoys, and at which threshold."""
    auc, fitted = report.metrics[AUC], report.metrics[THRESHOLD]
    over = f"AUC {value(auc.value)} {interval(auc.ci)} over {pluralize(auc.n, 'pair')}"
    if report.passed:
        text = f"separates anchors from decoys at ΔS {value(fitted.value)}: {over}"
        meaning = "A gate on ΔS may use this threshold, with this embedder only. ΔS measures "
        meaning += "similarity, not whether an answer is supported."
        if auc.ci is not None and auc.ci[0] < AUC_NEEDED:
            meaning += f" The AUC may be below {AUC_NEEDED}: more pairs would decide."
    elif auc.value is None:
        text = f"is not calibrated: {auc.reason}"
        meaning = "Gates on ΔS are not evaluated: mark more anchors and decoys in the gold set."
    else:
        text = f"does not separate anchors from decoys: {over}"
        meaning = f"Gates on ΔS are not evaluated below an AUC of {AUC_NEEDED}: read the pairs "
        meaning += "whose decoy is nearer, fix those that are marked incorrectly, then try another "
        meaning += "embedder."
    word = "PASS" if report.passed else "FAIL"
    yield doc.Verdict(word, f"{report.embedder} {text}", meaning=[meaning])

    def of_pairs(times: int, pairs: int) -> Cell:
        return Cell(f"{n_of(times, pairs)}, {percent(times, pairs)}", times)

    yield doc.table(
        report.thresholds,
        {
            "threshold": lambda one: Cell(one.name),
            "ΔS": lambda one: number(one.threshold),
            "95 % of draws": lambda one: doc.interval(one.ci),
            "anchors at or below": lambda one: of_pairs(one.anchors, one.pairs),
            "decoys above": lambda one: of_pairs(one.decoys, one.pairs),
        },
        title="Thresholds",
        remark="the defaults only for comparison",
    )
    every = [end for one in report.samples.values() for end in (one.lowest, one.highest)]
    ends = (min(every, default=0), max(every, default=1))
    yield doc.table(
        report.samples.items(),
        {
            "sample": lambda pair: Cell(f"{pair[0]}s"),
            "lowest": lambda pair: number(pair[1].lowest),
            "q1": lambda pair: number(pair[1].q1),
            "median": lambda pair: number(pair[1].median),
            "q3": lambda pair: number(pair[1].q3),
            "highest": lambda pair: number(pair[1].highest),
            Column("", plot=True): lambda pair: doc.plot(
                doc.Range(pair[1].median, (pair[1].q1, pair[1].q3), fitted.value, ends)
            ),
        },
        title="Samples",
        remark="ΔS of the question, near to far",
    )
    nearer = [pair for pair in report.pairs if pair.gap <= 0]
    yield doc.table(
        nearer,
        {
            "question": lambda pair: doc.names(pair.qid),
            "anchor": lambda pair: number(pair.anchor),
            "decoy": lambda pair: number(pair.decoy),
            "gap": lambda pair: doc.signed(pair.gap),
        },
        note=lambda pair: pair.question,
        title="Decoy nearer than anchor",
        remark=pluralize(len(nearer), "question"),
        shown=PAIRS_SHOWN,
        folded=True,
    )
    covered = report.coverage
    text = doc.listed(
        f"{count(covered.pairs)} pairs of {pluralize(covered.gold, 'question')}",
        covered.without and f"{count(covered.without)} without anchor or decoy",
        covered.unresolved and f"{count(covered.unresolved)} not in the documents",
        covered.unread and f"{count(covered.unread)} with a text the embedder cannot read",
    )
    yield doc.coverage(text)


def _answers(report: AnswerCalibrationReport) -> Iterator[Block]:
    """Whether a score separates good answers from bad ones, as people labelled them."""
    auroc, covered = report.metrics[AUROC], report.coverage
    over = (
        f"AUROC {value(auroc.value)} {interval(auroc.ci)} over {pluralize(auroc.n, 'answer')} of "
    )
    over += pluralize(covered.sources, "source")
    if auroc.value is None:
        text = f"is not calibrated: {auroc.reason}"
        meaning = "Nothing is kept: label more answers, good ones and bad ones, from more sources."
    elif not report.passed:
        text = f"does not separate good answers from bad ones: {over}"
        meaning = "On these labels it may be no better than chance, so do not set a gate on it. "
        meaning += "Read the labels of the answers where it differs, and try another judge or "
        meaning += "metric."
    else:
        text = f"separates good answers from bad ones: {over}"
        # Controls over all answers that do as well, though they read no context.
        kinds = {one.kind for one in report.controls}
        beaten = " and ".join(
            CONTROLS[one.name]
            for one in report.controls
            if one.auroc is not None and one.auroc >= auroc.value
            if one.name != "within one model" and (one.kind is None or len(kinds) == 1)
        )
        meaning = "No answer is scored by a fit that saw its source."
        meaning += f" As good without reading a context: {beaten}." if beaten else ""
    name = report.judge
    if report.task != "groundedness":
        name = f"{report.metric.removeprefix('answers.')} by {name}"
    word = "PASS" if report.passed else "FAIL"
    yield doc.Verdict(word, f"{name} {text}", meaning=[meaning])
    yield doc.table(
        report.scores,
        {
            "answers": lambda one: Cell(one.kind or "all"),
            "scores": lambda one: Cell(
                f"{one.name}, used" if one.used and one.name != "judge" else one.name
            ),
            Column("n", True, spare=1): lambda one: doc.count(one.n),
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
            "done": lambda one: Cell(DONE[one.done]),
            "gain in AUROC": lambda one: doc.signed(one.gain),
            Column(INTERVAL, spare=1): lambda one: doc.signed_interval(one.gain_ci),
            Column("before", True, spare=3): lambda one: number(one.threshold_before),
            Column("threshold", True, spare=2): lambda one: number(one.threshold),
            Column("good", True, spare=4): lambda one: doc.n_of(one.good, one.n),
        },
        note=lambda one: one.reason,
        title="Kinds of answers",
    )
    yield doc.table(
        [one for one in report.controls if one.auroc is not None],
        {
            "answers": lambda one: Cell(one.kind or "all"),
            "control": lambda one: Cell(CONTROLS[one.name]),
            "AUROC": lambda one: number(one.auroc),
            Column(INTERVAL, spare=1): lambda one: doc.interval(one.ci),
            Column("n", True, spare=2): lambda one: doc.count(one.n),
        },
        title="Controls",
    )
    yield doc.table(
        report.biases,
        {
            "bias": lambda one: Cell(BIASES[one.name]),
            "value": lambda one: (
                doc.signed(one.value) if one.name == "length" else number(one.value)
            ),
            INTERVAL: lambda one: doc.interval(one.ci),
            "n": lambda one: doc.count(one.n),
        },
        note=lambda one: one.reason or "",
        title="Bias",
    )
    text = doc.listed(
        f"{count(covered.scored)} labelled and scored of {pluralize(covered.rows, 'row')}",
        covered.unlabelled and f"{count(covered.unlabelled)} without a label",
        covered.rejected and f"{count(covered.rejected)} rejected",
        *(f"{count(times)} not scored ({why})" for why, times in covered.unscored.items()),
    )
    yield doc.coverage(text)
