"""The report of `ragauge audit --drift`: two manifests of an index compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragauge.citations.drift import FOLLOWS, NOT_ENOUGH_COMPARED, NOTHING_COMPARED, place_of
from ragauge.citations.payload import told
from ragauge.contracts.drift import ComparedManifest, DriftReport
from ragauge.reports import document as doc
from ragauge.reports.document import Block, Cell, Document, names
from ragauge.reports.envelope import some_of_each
from ragauge.reports.numbers import ABSENT, counted

SHOWN = 20


def document(report: DriftReport) -> Document:
    return Document("drift", list(_blocks(report)))


def _blocks(report: DriftReport) -> Iterator[Block]:
    yield doc.Verdict(
        "PASS" if report.passed else "FAIL",
        _verdict(report),
        [f"was {_manifest(report.was)}", f"is {_manifest(report.now)}"],
    )
    codes = dict.fromkeys(one.code for one in report.differences)
    groups = [[one for one in report.differences if one.code == code] for code in codes]
    if groups:
        yield doc.table(
            some_of_each(groups, SHOWN),
            {
                "what": lambda one: names(place_of(one)),
                "was": lambda one: _value(one.was),
                "is": lambda one: _value(one.now),
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
    covered = report.coverage
    fields = f"{counted(len(covered.compared), 'field')} compared{_listed(covered.compared)}"
    documents = untold = ""
    if covered.documents is not None:
        same = f"{covered.same:,} of the same revision"
        documents = f"{counted(covered.documents, 'document')}, {same}"
    if covered.untold:
        untold = f"in one manifest only and not compared{_listed(covered.untold)}"
    yield doc.Coverage(doc.listed(fields, documents, untold, sep="; "))


def _verdict(report: DriftReport) -> str:
    if report.passed:
        compared = counted(len(report.coverage.compared), "field")
        return f"the same index: {compared} compared, no difference"
    if NOTHING_COMPARED in report.finding_counts:
        return "nothing to compare: the manifests have no field in common"
    if NOT_ENOUGH_COMPARED in report.finding_counts:
        return (
            "no difference in the fields both have, but too few to call it the same index: compare "
            "the hash, or text_preproc and doc_revs"
        )
    return f"another index: {counted(report.difference_count, 'difference')}"


def _manifest(one: ComparedManifest) -> str:
    documents = "" if one.documents is None else counted(one.documents, "document")
    return f"{one.name}: {doc.listed(f'hash {one.hash}' if one.hash else 'no hash', documents)}"


def _value(value: object) -> Cell:
    return Cell(ABSENT) if value is None else names(str(told(value)))


def _listed(given: Sequence[str]) -> str:
    return f": {', '.join(given)}" if given else ""
