"""The report for a terminal: the verdict, both samples drawn, and the pairs that lie wrong."""

from __future__ import annotations

from rich.text import Text

from ragauge.contracts.calibration import CalibrationReport
from ragauge.reports import numbers, terminal
from ragauge.reports.calibration import story
from ragauge.reports.terminal import GAP, MARGIN, Page, head, note, styled, words

SHOWN = 10
_COLOURS = ("green", "red")


def render(report: CalibrationReport, *, color: bool = False, width: int = 100) -> str:
    """The whole report as lines no wider than the width (at least 40 columns)."""
    page = Page(color, width)
    word, told = story.verdict_words(report)
    indent = len(word) + GAP
    page.paragraph(words(told, "bold"), indent, styled(word).append(" " * GAP))
    page.paragraph(note(story.meaning(report)), indent)
    _picture(page, report)
    _thresholds(page, report)
    _samples(page, report)
    _nearer(page, report)
    terminal.findings(page, story.findings(report))
    terminal.coverage(page, story.coverage_words(report))
    return page.text()


def _picture(page: Page, report: CalibrationReport) -> None:
    told, lines = story.picture(report, page.width - MARGIN)
    if not lines:
        return
    page.section("ΔS of the question", note(told))
    for place, line in enumerate(lines):
        style = _COLOURS[place] if place < len(_COLOURS) else "dim"
        page.line(Text(" " * MARGIN) + Text(line, style))


def _thresholds(page: Page, report: CalibrationReport) -> None:
    rows = story.threshold_rows(report)
    if rows:
        page.section("Thresholds", note("the defaults only for comparison"))
        heads = head(*story.THRESHOLD_HEADS)
        page.table([heads, *([Text(cell) for cell in row] for row in rows)], right={1, 3, 4})


def _samples(page: Page, report: CalibrationReport) -> None:
    rows = story.sample_rows(report)
    if rows:
        page.section("Samples")
        heads = head(*story.SAMPLE_HEADS)
        page.table([heads, *([Text(cell) for cell in row] for row in rows)], right=range(1, 6))


def _nearer(page: Page, report: CalibrationReport) -> None:
    pairs = story.nearer(report)
    if not pairs:
        return
    told = pairs[:SHOWN]
    page.section("Decoy nearer than anchor", note(numbers.counted(len(pairs), "question")))
    rows = [[words(cell) for cell in story.pair_row(pair)] for pair in told]
    notes = [Text(), *(note(pair.question) for pair in told)]
    page.table([head(*story.PAIR_HEADS), *rows], right={1, 2, 3}, notes=notes)
    if len(pairs) > len(told):
        more = numbers.count(len(pairs) - len(told))
        page.paragraph(note(f"and {more} more; see --format json"))
