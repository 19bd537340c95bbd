"""The report for a terminal: the verdict, how far annotators agree, and where they do not."""

from __future__ import annotations

from ragauge.contracts.annotation import AgreementReport
from ragauge.reports import terminal
from ragauge.reports.agreement import story
from ragauge.reports.terminal import GAP, MARGIN, Page, head, note, styled, words

SHOWN = 10
"""Pairs, labels and disagreements that are spelled out for a person; the JSON has more."""


def render(report: AgreementReport, *, color: bool = False, width: int = 100) -> str:
    """The whole report as lines no wider than the width (at least 40 columns)."""
    page = Page(color, width)
    word, told = story.verdict_words(report)
    indent = len(word) + GAP
    page.paragraph(words(told, "bold"), indent, styled(word).append(" " * GAP))
    for annotator in story.annotator_words(report):
        page.paragraph(note(annotator), indent)
    for section in story.sections(report, SHOWN):
        _section(page, section)
    terminal.findings(page, story.findings(report))
    terminal.coverage(page, story.coverage_words(report))
    return page.text()


def _section(page: Page, section: story.Section) -> None:
    page.section(section.title, note(section.beside))
    rows = [
        [
            words(cell) if place in section.verbatim else styled(cell)
            for place, cell in enumerate(row)
        ]
        for row in section.rows
    ]
    notes = [note(one) for one in ["", *section.notes]]
    page.table([head(*section.heads), *rows], right=section.right, notes=notes)
    if section.more:
        page.paragraph(note(f"and {section.more:,} more; see --format json"), MARGIN)
