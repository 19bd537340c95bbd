"""The audit for a terminal: the verdict, the gates, then the codes with their next steps."""

from __future__ import annotations

from rich.text import Text

from ragauge.contracts.audit import AuditReport, DepthCount
from ragauge.reports import numbers, terminal
from ragauge.reports.audit import sections, story
from ragauge.reports.terminal import Page, bar, note

WIDEST_BAR = 40
NARROWEST_BAR = 8
BESIDE_A_BAR = 44


def render(report: AuditReport, *, color: bool = False, width: int = 100) -> str:
    """The whole report as lines no wider than the width (at least 40 columns)."""
    page = Page(color, width)
    names = story.metric_names(report.metrics, report.gates)
    others = story.other_metrics(report.metrics, report.gates)
    sections.verdict(page, story.verdict_words(report))
    sections.gates(page, report.gates, report.metrics, names)
    sections.codes(page, story.told_codes(report.codes, report.findings))
    _depths(page, report)
    sections.metrics(page, others, names, "Other metrics" if report.gates else "Metrics")
    terminal.advice(page, report.advice)
    found = story.other_findings(report.codes, report.findings, report.finding_counts)
    terminal.findings(page, found)
    terminal.coverage(page, story.coverage_words(report.coverage))
    return page.text()


def _depths(page: Page, report: AuditReport) -> None:
    page.section("Depths", note("how many answers hold in each"))
    room = min(WIDEST_BAR, max(NARROWEST_BAR, page.width - BESIDE_A_BAR))
    told = story.depths_told(report)
    rows = [_depth(depth, one, room) for depth, one in told]
    notes = [note(story.depth_words(depth, one)) for depth, one in told]
    page.table(rows, right={1, 2}, notes=notes)


def _depth(depth: str, one: DepthCount | None, room: int) -> list[Text]:
    if one is None or not one.checked:
        return [Text(depth), note(numbers.ABSENT), Text(), Text()]
    drawn = bar(one.ok / one.checked, room) if one.ok else ""
    return [
        Text(depth),
        Text(story.held_of(one)),
        note(numbers.share(one.ok, one.checked)),
        Text(drawn, "green" if one.ok == one.checked else "yellow"),
    ]
