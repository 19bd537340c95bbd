"""The line for a terminal: where it stands, the plot, where the level changed, and the runs."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from ragauge.contracts.comparison import HistoryReport
from ragauge.reports import numbers, terminal
from ragauge.reports.audit import sections
from ragauge.reports.history import plot, story
from ragauge.reports.terminal import GAP, MARGIN, Page, head, note, widths, words

RUNS_SHOWN = 15
SPARKS = 60
_STYLES = {"good": "green", "bad": "bold red", "": ""}
NUMBERS = ("value", "95 % interval", "n", "change", "before", "after", "p")
EXTRA = ("labels", "n", "commit")
"""Columns that give way where the page is narrow, the first of them first."""


def render(report: HistoryReport, *, color: bool = False, width: int = 100) -> str:
    """The whole report as lines no wider than the width (at least 40 columns)."""
    page = Page(color, width)
    if report.gates:
        sections.verdict(page, story.verdict(report))
    else:
        page.paragraph(words(story.title(report), "bold"), indent=0)
    page.paragraph(words(story.now_words(report)))
    page.paragraph(note("; ".join(story.movement_words(report))))
    _sparkline(page, report)
    sections.gates(page, report.gates, {}, story.gate_names(report))
    _plot(page, report)
    _changes(page, report)
    _runs(page, report)
    terminal.findings(page, story.findings(report))
    terminal.coverage(page, story.coverage_words(report))
    return page.text()


def _sparkline(page: Page, report: HistoryReport) -> None:
    room = min(SPARKS, page.width - MARGIN)
    values = [point.value for point in report.points[-room:]]
    if sum(value is not None for value in values) > 1:
        page.line(Text(" " * MARGIN) + Text(plot.sparkline(values), "cyan"))


def _plot(page: Page, report: HistoryReport) -> None:
    points = report.points
    told = plot.fitting(points, page.width - MARGIN)
    skipped = len(points) - told
    lines = plot.drawn(
        points[skipped:],
        {at - skipped for at in story.cuts(report) if at >= skipped},
        {one.at - skipped for one in report.change_points if one.at >= skipped},
        page.width - MARGIN,
    )
    if not lines or len(points) < 2:
        return
    marks = f"{plot.VALUE} value, {plot.INTERVAL} interval"
    marks += f", {plot.CHANGE} change point" if report.change_points else ""
    marks += f", {plot.CUT} something else is measured" if story.cuts(report) else ""
    page.section("Line", note(marks))
    for line in lines:
        page.line(Text(" " * MARGIN + line))
    if skipped:
        page.paragraph(note(f"{numbers.counted(skipped, 'older run')} not drawn"))


def _changes(page: Page, report: HistoryReport) -> None:
    told = story.changes(report)
    if not told:
        return
    page.section("Change points", note("runs from which on the level is another"))
    toned = [story.CHANGE_HEADS.index(name) for name in ("change", "")]
    rows = [
        [words(cell, _STYLES[tone] if place in toned else "") for place, cell in enumerate(cells)]
        for cells, tone in told
    ]
    _table(page, story.CHANGE_HEADS, rows)


def _runs(page: Page, report: HistoryReport) -> None:
    told = story.rows(report)
    page.section("Runs", note(story.runs_words(report)))
    rows = [[words(cell) for cell in cells] for cells in told[:RUNS_SHOWN]]
    newest = report.points[::-1][:RUNS_SHOWN]
    _table(page, story.HEADS, rows, [note(point.reason) for point in newest])
    if len(told) > RUNS_SHOWN:
        older = numbers.counted(len(told) - RUNS_SHOWN, "older run")
        page.paragraph(note(f"and {older}; --format csv has them all"))


def _table(
    page: Page, titles: Sequence[str], cells: Sequence[list[Text]], notes: Sequence[Text] = ()
) -> None:
    """A table whose least telling columns give way where it is too wide."""
    heads = list(titles)
    rows = [head(*heads), *cells]
    for name in EXTRA:
        if sum(widths(rows)) + GAP * len(heads) <= page.width:
            break
        if name in heads:
            place = heads.index(name)
            heads.pop(place)
            rows = [row[:place] + row[place + 1 :] for row in rows]
    right = [place for place, name in enumerate(heads) if name in NUMBERS]
    page.table(rows, right=right, notes=[Text(), *notes] if notes else ())
