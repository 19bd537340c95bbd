"""The report of `ragauge calibrate deltas`: whether ΔS separates anchors from decoys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragauge.contracts.calibration import AUC, AUC_NEEDED, THRESHOLD, CalibrationReport
from ragauge.reports import document as doc
from ragauge.reports import numbers
from ragauge.reports.document import Block, Cell, Document, Figure, number
from ragauge.reports.figures import samples as figure
from ragauge.reports.numbers import counted, n_of, share, value

_SAMPLES = {"anchor": "anchors", "decoy": "decoys"}
SHOWN = 10


def document(report: CalibrationReport) -> Document:
    return Document("calibration", list(_blocks(report)))


def _blocks(report: CalibrationReport) -> Iterator[Block]:
    word = "PASS" if report.passed else "FAIL"
    yield doc.Verdict(word, _verdict(report), meaning=[_meaning(report)])
    yield from _picture(report)

    def of_pairs(times: int, pairs: int) -> Cell:
        return Cell(f"{n_of(times, pairs)}, {share(times, pairs)}", times)

    if report.thresholds:
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
    if report.samples:
        yield doc.table(
            report.samples.items(),
            {
                "sample": lambda pair: Cell(_SAMPLES[pair[0]]),
                "lowest": lambda pair: number(pair[1].lowest),
                "q1": lambda pair: number(pair[1].q1),
                "median": lambda pair: number(pair[1].median),
                "q3": lambda pair: number(pair[1].q3),
                "highest": lambda pair: number(pair[1].highest),
            },
            title="Samples",
        )
    nearer = [pair for pair in report.pairs if pair.gap <= 0]
    if nearer:
        yield doc.table(
            nearer,
            {
                "question": lambda pair: doc.names(pair.qid),
                "anchor": lambda pair: number(pair.anchor),
                "decoy": lambda pair: number(pair.decoy),
                "gap": lambda pair: number(pair.gap, numbers.signed(pair.gap)),
            },
            note=lambda pair: pair.question,
            title="Decoy nearer than anchor",
            remark=counted(len(nearer), "question"),
            shown=SHOWN,
            folded=True,
        )
    yield doc.findings(report)
    covered, count = report.coverage, numbers.count
    coverage = doc.listed(
        f"{count(covered.pairs)} pairs of {counted(covered.gold, 'question')}",
        covered.without and f"{count(covered.without)} without anchor or decoy",
        covered.unresolved and f"{count(covered.unresolved)} not in the documents",
        covered.unread and f"{count(covered.unread)} with a text the embedder cannot read",
    )
    yield doc.Coverage(coverage)


def _verdict(report: CalibrationReport) -> str:
    auc = report.metrics[AUC]
    if auc.value is None:
        return f"{report.embedder} is not calibrated: {auc.reason}"
    over = f"AUC {value(auc.value)} {numbers.interval(auc.ci)} over {counted(auc.n, 'pair')}"
    if report.passed:
        at = value(report.metrics[THRESHOLD].value)
        return f"{report.embedder} separates anchors from decoys at ΔS {at}: {over}"
    return f"{report.embedder} does not separate anchors from decoys: {over}"


def _meaning(report: CalibrationReport) -> str:
    """What follows for whoever wants a gate on ΔS."""
    auc = report.metrics[AUC]
    if report.passed:
        unsure = auc.ci is not None and auc.ci[0] < AUC_NEEDED
        return (
            "A gate on ΔS may use this threshold, with this embedder only. ΔS measures similarity, "
            "not whether an answer is supported."
            + (f" The AUC may be below {AUC_NEEDED}: more pairs would decide." if unsure else "")
        )
    if auc.value is None:
        return "Gates on ΔS are not evaluated: mark more anchors and decoys in the gold set."
    return (
        f"Gates on ΔS are not evaluated below an AUC of {AUC_NEEDED}: read the pairs whose decoy "
        "is nearer, fix those that are marked incorrectly, then try another embedder."
    )


def _picture(report: CalibrationReport) -> Iterator[Figure]:
    """Both samples; nothing where the report could not hold all pairs."""
    if not report.pairs or len(report.pairs) < report.coverage.pairs:
        return
    drawn: dict[str, Sequence[float]] = {
        shown: [getattr(pair, name) for pair in report.pairs] for name, shown in _SAMPLES.items()
    }
    fitted = report.metrics[THRESHOLD]
    mark = f", {figure.THRESHOLD} threshold" if fitted.value is not None else ""
    yield Figure(
        lambda width: figure.drawn(drawn, fitted.value, fitted.ci, width),
        title="ΔS of the question",
        remark=f"near to far{mark}",
        tones=("good", "bad", "dim", "dim", "dim"),
    )
