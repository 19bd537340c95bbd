"""The report of `ragauge audit --drift`: two manifests of an index compared."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.citations.drift import FOLLOWS, place_of
from ragauge.citations.payload import display_value
from ragauge.contracts.drift import DriftReport
from ragauge.metrics.worst_first import some_of_each
from ragauge.reports import document as doc
from ragauge.reports.document import Block, Cell, Document, names
from ragauge.reports.phrasing import ABSENT, pluralize

SHOWN = 20


def document(report: DriftReport) -> Document:
    return Document("drift", list(_blocks(report)))


def _blocks(report: DriftReport) -> Iterator[Block]:
    covered = report.coverage
    fields = pluralize(len(covered.compared), "field")
    if report.passed:
        text = f"the same index: {fields} compared, no difference"
    elif report.difference_count:
        text = f"another index: {pluralize(report.difference_count, 'difference')}"
    else:
        text = "no difference, but too few fields in both to call it the same index: compare the "
        text += "hash, or text_preproc and doc_revs"
    manifests = []
    for when, one in (("earlier", report.was), ("now", report.now)):
        documents = one.documents is not None and pluralize(one.documents, "document")
        hashed = f"hash {one.hash}" if one.hash else "no hash"
        manifests.append(f"{when}: {one.name}, {doc.listed(hashed, documents)}")
    yield doc.Verdict("PASS" if report.passed else "FAIL", text, manifests)

    def value(given: object) -> Cell:
        return Cell(ABSENT) if given is None else names(str(display_value(given)))

    if report.differences:
        codes = dict.fromkeys(one.code for one in report.differences)
        alike = [[one for one in report.differences if one.code == code] for code in codes]
        yield doc.table(
            some_of_each(alike, SHOWN),
            {
                "what": lambda one: names(place_of(one)),
                "earlier": lambda one: value(one.was),
                "now": lambda one: value(one.now),
            },
            title="Differences",
            total=report.difference_count,
        )
        yield doc.table(
            [code for code in FOLLOWS if code in report.finding_counts],
            {
                "difference": lambda code: names(code, "strong"),
                "times": lambda code: doc.count(report.finding_counts[code]),
            },
            note=lambda code: " ".join(FOLLOWS[code]),
            title="What this means for citations of the earlier index",
        )
    coverage = doc.listed(
        f"compared {', '.join(covered.compared) or 'nothing'}",
        covered.documents is not None
        and f"{pluralize(covered.documents, 'document')}, {covered.same:,} of the same revision",
        f"in one manifest only: {', '.join(covered.untold)}" if covered.untold else "",
        sep="; ",
    )
    yield doc.coverage(coverage)
