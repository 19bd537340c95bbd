"""The report of `ragauge consistency`: two raters of the same questions."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter

from ragauge.contracts.consistency import ConsistencyReport, Disagreement
from ragauge.reports import document as doc
from ragauge.reports import phrasing
from ragauge.reports.document import Block, Cell, Column, Document, count, names, number
from ragauge.reports.phrasing import pluralize
from ragauge.store.rows import cell
from ragauge.text.visible import flat

COLUMNS = ("qid", "label_a", "label_b", "final", "why", "reason_a", "reason_b")
"""The columns of a disagreement, in every format of rows."""
_cells = attrgetter(*COLUMNS)
SHOWN = 10


def document(report: ConsistencyReport) -> Document:
    return Document("consistency", list(_blocks(report)))


def table(report: ConsistencyReport) -> tuple[tuple[str, ...], Iterable[Iterable[object]]]:
    """One row for each disagreement."""
    return COLUMNS, map(_cells, report.disagreements)


def tsv(disagreements: Iterable[Disagreement]) -> str:
    """The disagreements with a header line; a cell is one line without a tab, and no formula.

    A quotation mark is written as in CSV: what reads tables would take a lone one for the
    beginning of a cell that never ends.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter="\t", lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([cell(flat(text or "")) for text in _cells(one)] for one in disagreements)
    return out.getvalue()


def _blocks(report: ConsistencyReport) -> Iterator[Block]:
    covered = report.coverage
    agreed = phrasing.n_of(covered.both - report.disagreement_count, covered.both)
    yield doc.Verdict(
        "PASS" if report.passed else "FAIL",
        f"the judges agree on {agreed} questions"
        if covered.both
        else "no question was judged by both",
        [
            f"{name.upper()} is {judge.file}: {pluralize(judge.judged, 'label')}"
            for name, judge in report.judges.items()
        ],
    )
    shown_names = phrasing.metric_names(report)
    yield from doc.gates(report.gates, report.metrics, shown_names)
    labels = [label for label, one in report.labels.items() if one.a or one.b]

    def as_b(other: str) -> Callable[[str], Cell]:
        def cell(label: str) -> Cell:
            times = report.confusion[label][other]
            return count(times, "good" if label == other else "bad" if times else "dim")

        return cell

    if labels:
        yield doc.table(
            labels,
            {
                "A": lambda label: names(label, "strong"),
                **{f"B {other}": as_b(other) for other in labels},
                Column("agreement", right=True, spare=1): lambda label: number(
                    report.labels[label].agreement
                ),
                Column("final", right=True, spare=2): lambda label: count(report.final[label]),
            },
            title="Labels",
            remark="how often B gave each label to the questions that A gave one",
            after="agreement on a label: 2 × both / (A + B)",
        )
    if report.disagreement_count:
        yield doc.table(
            report.disagreements,
            {
                "question": lambda one: names(one.qid, "strong"),
                "A": lambda one: Cell(one.label_a),
                "B": lambda one: Cell(one.label_b),
                "final": lambda one: Cell(one.final),
                "why": lambda one: Cell(one.why, tone="dim"),
            },
            note=lambda one: doc.listed(
                one.reason_a and f"A: {one.reason_a}",
                one.reason_b and f"B: {one.reason_b}",
                sep="; ",
            ),
            title="Disagreements",
            remark="the stricter label is final; an abstention never is",
            shown=SHOWN,
            total=report.disagreement_count,
            everything="--disagreements FILE.tsv writes them all",
            folded=True,
        )
    yield doc.findings(report)
    both = phrasing.count(covered.both)
    coverage = doc.listed(
        f"{both} of {pluralize(covered.questions, 'question')} judged by both",
        covered.only_a and f"{phrasing.count(covered.only_a)} by A alone",
        covered.only_b and f"{phrasing.count(covered.only_b)} by B alone",
    )
    yield doc.coverage(coverage)
