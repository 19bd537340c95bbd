"""The report of `ragauge audit --drift`: two manifests of an index compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragauge.citations.drift import FOLLOWS, NOT_ENOUGH_COMPARED, NOTHING_COMPARED, place_of
from ragauge.citations.payload import told
from ragauge.contracts.drift import ComparedManifest, DriftReport
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
    names,
    rows,
)
from ragauge.reports.envelope import some_of_each
from ragauge.reports.numbers import ABSENT, counted

SHOWN = 20


def document(report: DriftReport) -> Document:
    return Document("drift", list(_blocks(report)))


def _blocks(report: DriftReport) -> Iterator[Block]:
    yield Verdict(
        "PASS" if report.passed else "FAIL",
        _verdict(report),
        [f"was {_manifest(report.was)}", f"is {_manifest(report.now)}"],
    )
    codes = dict.fromkeys(one.code for one in report.differences)
    groups = [[one for one in report.differences if one.code == code] for code in codes]
    if groups:
        yield Table(
            title="Differences",
            columns=columns("what", "was", "is"),
            rows=rows(
                [names(place_of(one)), *(_value(value) for value in (one.was, one.now))]
                for one in some_of_each(groups, SHOWN)
            ),
            total=report.difference_count,
        )
        yield Table(
            title="What this means for citations of the earlier index",
            columns=columns("difference", "times", right=("times",)),
            rows=[
                Row((names(code, "strong"), count(report.finding_counts[code])), " ".join(means))
                for code, means in FOLLOWS.items()
                if code in report.finding_counts
            ],
        )
    covered = report.coverage
    parts = [f"{counted(len(covered.compared), 'field')} compared{_listed(covered.compared)}"]
    if covered.documents is not None:
        documents = counted(covered.documents, "document")
        parts.append(f"{documents}, {covered.same:,} of the same revision")
    if covered.untold:
        parts.append(f"in one manifest only and not compared{_listed(covered.untold)}")
    yield Coverage("; ".join(parts))


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
    parts = [f"hash {one.hash}" if one.hash else "no hash"]
    if one.documents is not None:
        parts.append(counted(one.documents, "document"))
    return f"{one.name}: {', '.join(parts)}"


def _value(value: object) -> Cell:
    return Cell(ABSENT) if value is None else names(str(told(value)))


def _listed(given: Sequence[str]) -> str:
    return f": {', '.join(given)}" if given else ""
