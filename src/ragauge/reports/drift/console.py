"""The report for a terminal: the verdict, what differs, and what follows for citations."""

from __future__ import annotations

from rich.text import Text

from ragauge.contracts.drift import DriftReport
from ragauge.reports import terminal
from ragauge.reports.drift import story
from ragauge.reports.numbers import count
from ragauge.reports.terminal import GAP, MARGIN, Page, head, labelled, note, styled, words

SHOWN = 20
"""Differences that are spelled out for a person; the JSON has more."""


def render(report: DriftReport, *, color: bool = False, width: int = 100) -> str:
    """The whole report as lines no wider than the width (at least 40 columns)."""
    page = Page(color, width)
    word, told = story.verdict_words(report)
    indent = len(word) + GAP
    page.paragraph(words(told, "bold"), indent, styled(word).append(" " * GAP))
    for manifest in story.manifest_words(report):
        page.paragraph(note(manifest), indent)
    if report.difference_count:
        _differences(page, report)
        _consequences(page, report)
    terminal.coverage(page, story.coverage_words(report))
    return page.text()


def _differences(page: Page, report: DriftReport) -> None:
    page.section("Differences")
    rows = story.rows(report, SHOWN)
    page.table([head(*story.HEADS), *([words(cell) for cell in row] for row in rows)])
    more = report.difference_count - len(rows)
    if more:
        page.paragraph(note(f"and {more:,} more; see --format json"), MARGIN)


def _consequences(page: Page, report: DriftReport) -> None:
    page.section("For citations of the index that was")
    for one in story.consequences(report):
        page.line(Text.assemble(" " * MARGIN, (one.code, "bold"), f"  {count(one.times)}"))
        page.paragraph(words(one.follows), 2 * MARGIN)
        page.paragraph(labelled("Next", one.tip), 2 * MARGIN)
