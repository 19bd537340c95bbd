"""What `ragauge gold lint --plan` says."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.gold_parts import Demand, PlanReport
from ragauge.reports.gold.page import finding_lines, table

IN_THE_TABLE = ("missing_part", "short_of_plan")


def lines(report: PlanReport) -> Iterator[str]:
    rows = [["part", "what", "wanted", "found", ""]]
    rows += [
        [demand.part, demand.what, demand.wanted, demand.found, _verdict(demand)]
        for demand in report.demands
    ]
    yield from table(rows, left=len(rows[0]))
    yield from finding_lines(report, untold=IN_THE_TABLE)
    yield ""
    covered = report.coverage
    ready = "Meets the plan" if report.passed else "Does not meet the plan"
    yield f"{ready}: {covered['met']} of {covered['demands']} lines are as wanted."


def _verdict(demand: Demand) -> str:
    if demand.ok:
        return "ok"
    return f"short by {demand.short:,}" if demand.short else "not met"
