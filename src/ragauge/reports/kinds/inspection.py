"""The report of `ragauge inspect`: what a file holds, as Ragauge reads it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from ragauge.contracts.inspection import InspectionReport
from ragauge.metrics.names import short_name
from ragauge.reports import document as doc
from ragauge.reports.document import Block, Cell, Document, names
from ragauge.reports.phrasing import pluralize


def document(report: InspectionReport) -> Document:
    return Document("inspect", list(_blocks(report)))


def _blocks(report: InspectionReport) -> Iterator[Block]:
    covered = report.coverage
    text = f"{report.form}, {pluralize(covered.rows, 'row')}"
    others = report.others and f"Can also be read as {', '.join(report.others)}: --as KIND."
    meaning = [others] if others else []
    word = report.kind or "Not recognised"
    yield doc.Verdict(word, text, [report.file], meaning, tone="soft")
    yield doc.table(
        report.columns,
        {
            "column": lambda one: names(one.name),
            "feeds": lambda one: names(one.feeds, "strong") if one.feeds else Cell("not read"),
            "filled": lambda one: doc.n_of(one.filled, covered.rows),
            "meant for": lambda one: names(one.meant) if one.meant else Cell(""),
        },
        title="Columns",
        remark="" if report.kind else "Say what they are: --map FIELD=COLUMN, --as KIND.",
    )

    def value(at: int) -> Callable[[str], Cell]:
        return lambda field: names(report.samples[at].get(field, "–"))

    yield doc.table(
        list(dict.fromkeys(field for sample in report.samples for field in sample)),
        {
            "field": lambda field: names(field, "strong"),
            **{f"row {at + 1}": value(at) for at in range(len(report.samples))},
        },
        title="First rows",
    )
    if report.computable:
        listed = ", ".join(map(short_name, report.computable))
        yield doc.Section(title="Can be computed", blocks=[doc.Text(listed)], part="metrics")
    needs: defaultdict[str, list[str]] = defaultdict(list)
    for one in report.lacking:
        needs[one.needs].append(short_name(one.metric))
    if needs:
        facts = [(need, ", ".join(metrics)) for need, metrics in needs.items()]
        yield doc.Section(
            title="Cannot be computed, and what is missing",
            blocks=[doc.Facts(facts)],
            part="lacking",
        )
    yield doc.findings(report)
    bad = pluralize(covered.unreadable, "record that cannot be read", "records that cannot be read")
    yield doc.coverage(doc.listed(pluralize(covered.rows, "row"), covered.unreadable and bad))
