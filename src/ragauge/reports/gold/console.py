"""A report about a gold set for a terminal: a few lines and tables, as wide as they must be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ragauge.contracts.gold_parts import ConvertReport, PlanReport, SampleReport, SplitReport
from ragauge.contracts.gold_report import DiffReport, GoldReport, LintReport
from ragauge.reports.gold import convert, diff, lint, plan, sample, split

LINES: dict[type[GoldReport], Callable[[Any], Iterator[str]]] = {
    LintReport: lint.lines,
    DiffReport: diff.lines,
    SplitReport: split.lines,
    SampleReport: sample.lines,
    ConvertReport: convert.lines,
    PlanReport: plan.lines,
}


def render(report: GoldReport, *, color: bool = False, width: int = 100) -> str:
    """The whole report; in no colour, and whole paths and messages whatever the width."""
    return "".join(f"{line}\n" for line in LINES[type(report)](report))
