"""The report of `ragauge calibrate deltas`: whether ΔS separates anchors from decoys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragauge.contracts.calibration import AUC, AUC_NEEDED, THRESHOLD, CalibrationReport
from ragauge.reports import numbers
from ragauge.reports.document import (
    Block,
    Cell,
    Coverage,
    Document,
    Figure,
    Row,
    Table,
    Verdict,
    columns,
    findings,
    names,
    number,
    rows,
)
from ragauge.reports.figures import samples as figure
from ragauge.reports.numbers import counted, n_of, value

FIVE = ("lowest", "q1", "median", "q3", "highest")
_SAMPLES = {"anchor": "anchors", "decoy": "decoys"}
SHOWN = 10


def document(report: CalibrationReport) -> Document:
    return Document("calibration", list(_blocks(report)))


def _blocks(report: CalibrationReport) -> Iterator[Block]:
    yield Verdict("PASS" if report.passed else "FAIL", _verdict(report), meaning=[_meaning(report)])
    yield from _picture(report)
    if report.thresholds:
        heads = ("threshold", "ΔS", "95 % of draws", "anchors at or below", "decoys above")
        yield Table(
            title="Thresholds",
            remark="the defaults only for comparison",
            columns=columns(*heads, right=("ΔS", *heads[3:])),
            rows=rows(
                [
                    Cell(one.name),
                    number(one.threshold),
                    Cell(numbers.interval(one.ci), one.ci),
                    *(
                        Cell(f"{n_of(times, one.pairs)}, {numbers.share(times, one.pairs)}", times)
                        for times in (one.anchors, one.decoys)
                    ),
                ]
                for one in report.thresholds
            ),
        )
    if report.samples:
        yield Table(
            title="Samples",
            columns=columns("sample", *FIVE, right=FIVE),
            rows=rows(
                [Cell(_SAMPLES[name]), *(number(getattr(five, head)) for head in FIVE)]
                for name, five in report.samples.items()
            ),
        )
    nearer = [pair for pair in report.pairs if pair.gap <= 0]
    if nearer:
        yield Table(
            title="Decoy nearer than anchor",
            remark=counted(len(nearer), "question"),
            columns=columns(
                *("question", "anchor", "decoy", "gap"), right=("anchor", "decoy", "gap")
            ),
            rows=[
                Row(
                    (
                        names(pair.qid),
                        number(pair.anchor),
                        number(pair.decoy),
                        number(pair.gap, numbers.signed(pair.gap)),
                    ),
                    pair.question,
                )
                for pair in nearer
            ],
            shown=SHOWN,
            folded=True,
        )
    yield findings(report)
    covered = report.coverage
    parts = [
        f"{numbers.count(covered.pairs)} pairs of {counted(covered.gold, 'question')}",
        covered.without and f"{numbers.count(covered.without)} without anchor or decoy",
        covered.unresolved and f"{numbers.count(covered.unresolved)} not in the documents",
        covered.unread and f"{numbers.count(covered.unread)} with a text the embedder cannot read",
    ]
    yield Coverage(", ".join(part for part in parts if part))


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
