"""What a drift report tells, in the order it is told; the forms only write it down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ragauge.citations.drift import FOLLOWS, NOT_ENOUGH_COMPARED, NOTHING_COMPARED, place_of
from ragauge.citations.payload import told
from ragauge.contracts.drift import ComparedManifest, Difference, DriftReport
from ragauge.reports.envelope import some_of_each
from ragauge.reports.numbers import ABSENT, counted

HEADS = ("what", "was", "is")


class Consequence(Struct, frozen=True):
    """What follows for citations from all the differences of one code."""

    code: str
    times: int
    follows: str
    tip: str


def verdict_words(report: DriftReport) -> tuple[str, str]:
    """PASS or FAIL, and how much differs."""
    if report.passed:
        compared = counted(len(report.coverage.compared), "field")
        return "PASS", f"the same index: {compared} compared, no difference"
    if NOTHING_COMPARED in report.finding_counts:
        return "FAIL", "nothing to compare: there is no field that both manifests tell"
    if NOT_ENOUGH_COMPARED in report.finding_counts:
        return "FAIL", (
            "no difference in what both tell, but too little to call it the same index: compare "
            "the hash, or text_preproc and doc_revs"
        )
    return "FAIL", f"another index: {counted(report.difference_count, 'difference')}"


def manifest_words(report: DriftReport) -> list[str]:
    """Which manifests were compared."""
    return [f"was {_manifest(report.was)}", f"is {_manifest(report.now)}"]


def rows(report: DriftReport, most: int) -> list[list[str]]:
    """The differences in their order, some of each code where there are too many."""
    codes = dict.fromkeys(one.code for one in report.differences)
    groups = [[one for one in report.differences if one.code == code] for code in codes]
    return [_row(one) for one in some_of_each(groups, most)]


def consequences(report: DriftReport) -> list[Consequence]:
    """What follows, code by code, in the order of the differences."""
    return [
        Consequence(code, report.finding_counts[code], *FOLLOWS[code])
        for code in FOLLOWS
        if code in report.finding_counts
    ]


def coverage_words(report: DriftReport) -> str:
    """What was compared, and what could not be."""
    covered = report.coverage
    parts = [f"{counted(len(covered.compared), 'field')} compared{_listed(covered.compared)}"]
    if covered.documents is not None:
        documents = counted(covered.documents, "document")
        parts.append(f"{documents}, {covered.same:,} of the same revision")
    if covered.untold:
        parts.append(f"told by one alone and not compared{_listed(covered.untold)}")
    return "; ".join(parts)


def _manifest(one: ComparedManifest) -> str:
    parts = [f"hash {one.hash}" if one.hash else "no hash"]
    if one.documents is not None:
        parts.append(counted(one.documents, "document"))
    return f"{one.name}: {', '.join(parts)}"


def _row(one: Difference) -> list[str]:
    return [place_of(one), _value(one.was), _value(one.now)]


def _value(value: Any) -> str:
    return ABSENT if value is None else str(told(value))


def _listed(names: Sequence[str]) -> str:
    return f": {', '.join(names)}" if names else ""
