"""The report of `ragauge consistency`: two judges over the same questions."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator

from ragauge.contracts.consistency import ConsistencyReport, Disagreement
from ragauge.metrics.names import short_name
from ragauge.reports import numbers
from ragauge.reports.document import (
    Block,
    Cell,
    Column,
    Coverage,
    Document,
    Row,
    Table,
    Verdict,
    columns,
    count,
    findings,
    gates,
    names,
    number,
    rows,
)
from ragauge.reports.foreign import flat
from ragauge.reports.numbers import counted
from ragauge.reports.spreadsheet import cell

COLUMNS = ("qid", "label_a", "label_b", "final", "why", "reason_a", "reason_b")
"""What a disagreement is written down as, in every format of rows."""
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


def _cells(one: Disagreement) -> list[str | None]:
    return [getattr(one, column) for column in COLUMNS]


def _blocks(report: ConsistencyReport) -> Iterator[Block]:
    covered = report.coverage
    agreed = numbers.count(covered.both - report.disagreement_count)
    kappa = numbers.value(report.metrics["consistency.kappa"].value)
    yield Verdict(
        "PASS" if report.passed else "FAIL",
        f"the judges agree on {agreed} of {counted(covered.both, 'question')}, κ {kappa}"
        if covered.both
        else "no question was judged by both",
        [
            f"{name.upper()} is {judge.file}: {counted(judge.judged, 'label')}, "
            f"{numbers.share(judge.labels['ABSTAIN'], judge.judged)} of them ABSTAIN"
            for name, judge in report.judges.items()
        ],
    )
    yield from gates(report.gates, report.metrics, {id: short_name(id) for id in report.metrics})
    labels = {label: one for label, one in report.labels.items() if one.a or one.b}
    if labels:
        heads = ("A", "B", "both", "agreement", "final")
        yield Table(
            title="Labels",
            remark="agreement on a label: twice both, over A and B",
            columns=columns("label", *heads, right=heads),
            rows=rows(
                [
                    Cell(label, foreign=True),
                    *map(count, (one.a, one.b, one.both)),
                    number(one.agreement),
                    count(report.final[label]),
                ]
                for label, one in labels.items()
            ),
        )
    if report.disagreement_count:
        yield Table(
            title="Confusion",
            remark="the label of A down, of B across",
            columns=[Column(""), *(Column(label, right=True) for label in labels)],
            rows=rows(
                [
                    names(label, "dim"),
                    *(_confused(report.confusion[label][to], label == to) for to in labels),
                ]
                for label in labels
            ),
        )
        yield Table(
            title="Disagreements",
            remark="the stricter label is final; an abstention never is",
            columns=columns("question", "A", "B", "final", "why"),
            rows=[
                Row(
                    (
                        names(one.qid, "strong"),
                        *map(Cell, (one.label_a, one.label_b, one.final)),
                        Cell(one.why, tone="dim"),
                    ),
                    "; ".join(
                        f"{judge}: {reason}"
                        for judge, reason in (("A", one.reason_a), ("B", one.reason_b))
                        if reason
                    ),
                )
                for one in report.disagreements
            ],
            shown=SHOWN,
            total=report.disagreement_count,
            everything="--disagreements FILE.tsv writes them all",
            folded=True,
        )
    yield findings(report)
    parts = [
        f"{numbers.count(covered.both)} of {counted(covered.questions, 'question')} judged by both",
        covered.only_a and f"{numbers.count(covered.only_a)} by A alone",
        covered.only_b and f"{numbers.count(covered.only_b)} by B alone",
    ]
    yield Coverage(", ".join(part for part in parts if part))


def _confused(times: int, agreed: bool) -> Cell:
    return count(times, "good" if agreed else "bad" if times else "dim")
