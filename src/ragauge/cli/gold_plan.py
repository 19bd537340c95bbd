"""`ragauge gold lint --plan`: a dataset held against the plan it was made for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ragauge.cli.gold_page import finding_lines, show, table

if TYPE_CHECKING:
    from ragauge.contracts.gold_parts import Demand, PlanReport


def lint_plan(path: str, sections: bool, strict: bool, format: str | None) -> bool:
    """Show how much of the plan a dataset meets; whether it meets all of it."""
    from ragauge.errors import UsageError
    from ragauge.runners.gold_plan import hold_against_plan

    if sections:
        raise UsageError("--sections is for questions, --plan for a dataset; drop one of them")
    report = hold_against_plan(Path(path), strict=strict)
    show(report, _lines(report), format)
    return report.passed


def _lines(report: PlanReport) -> Iterator[str]:
    rows = [["part", "what", "wanted", "found", ""]]
    rows += [
        [demand.part, demand.what, demand.wanted, demand.found, _verdict(demand)]
        for demand in report.demands
    ]
    yield from table(rows, left=len(rows[0]))
    yield from finding_lines(_beside_the_table(report))
    yield ""
    covered = report.coverage
    ready = "Meets the plan" if report.passed else "Does not meet the plan"
    yield f"{ready}: {covered['met']} of {covered['demands']} lines are as wanted."


def _beside_the_table(report: PlanReport) -> PlanReport:
    """The report without the findings that the lines of the plan have told already."""
    from msgspec.structs import replace

    told = ("missing_part", "short_of_plan")
    return replace(report, findings=tuple(one for one in report.findings if one.code not in told))


def _verdict(demand: Demand) -> str:
    if demand.ok:
        return "ok"
    return f"short by {demand.short:,}" if demand.short else "not met"
