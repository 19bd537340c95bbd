"""The report for a terminal: the verdict, each rate, what to choose, and what to roll back."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from ragauge.contracts.latency import Cell, Front, LatencyReport, shown_ms
from ragauge.reports import numbers, terminal
from ragauge.reports.latency import scatter, story
from ragauge.reports.terminal import GAP, MARGIN, Page, head, note, styled, widths, words


def render(report: LatencyReport, *, color: bool = False, width: int = 100) -> str:
    """The whole report as lines no wider than the width (at least 40 columns)."""
    page = Page(color, width)
    _verdict(page, report)
    _guard(page, report)
    for rate, cells, front in story.by_rate(report):
        _rate(page, rate, cells, front)
    _front(page, report)
    terminal.findings(page, story.findings(report))
    terminal.coverage(page, story.coverage_words(report.coverage))
    return page.text()


def _verdict(page: Page, report: LatencyReport) -> None:
    word, told = story.verdict_words(report)
    page.paragraph(words(told, "bold"), len(word) + GAP, styled(word) + Text(" " * GAP))


def _guard(page: Page, report: LatencyReport) -> None:
    told = story.guarded(report)
    if not told:
        return
    page.section("Rollback guard", note(story.guard_words(report)))
    rows = [head(*story.GUARD_HEADS)]
    for one in told:
        name = words(one.config, "" if one.holds else "bold")
        changes = [Text(text, "" if good else "red") for text, good in story.guard_texts(one)]
        rows.append([name, Text(f"{one.rate}/s"), *changes, styled(one.word)])
    page.table(rows, right=range(1, 5), notes=[Text(), *(note(one.note) for one in told)])


def _rate(page: Page, rate: float, cells: Sequence[Cell], front: Front | None) -> None:
    page.section(f"At {rate:g} a second", note("latencies in ms, from when a call was to arrive"))
    rows = _cell_rows(cells, front, story.HEADS)
    if sum(widths(rows)) + GAP * len(rows[0]) > page.width:
        rows = _cell_rows(cells, front, story.ESSENTIAL)
    notes = [Text(), *(note(story.cell_note(cell)) for cell in cells)]
    page.table(rows, right=range(2, len(rows[0])), notes=notes)
    unsure = story.unsure_words(cells)
    if unsure:
        page.paragraph(note(unsure))


def _cell_rows(
    cells: Sequence[Cell], front: Front | None, heads: Sequence[str]
) -> list[list[Text]]:
    rows = [head("", *heads)]
    for cell in cells:
        chosen = front is not None and cell.config in front.configs
        mark = Text(story.ON_FRONT if chosen else "", "green")
        texts = dict(zip(story.HEADS, story.cell_texts(cell), strict=True))
        rows.append([mark, *(words(texts[name]) for name in heads)])
    return rows


def _front(page: Page, report: LatencyReport) -> None:
    """The plot, with a legend; the mark in the tables is explained here."""
    if not report.fronts:
        return
    plot = story.plotted(report)
    page.section("Pareto front", note(f"{story.ON_FRONT} no other is faster and more precise"))
    if plot is None:
        page.paragraph(note("fewer than two configurations have both a P95 and a precision"))
        return
    front, cells = plot
    title = (
        f"precision over P95 (logarithmic) at {front.rate:g} a second; capitals are on the front"
    )
    page.paragraph(note(title))
    for line in scatter.drawn(cells, front.configs, page.width - MARGIN):
        page.line(Text(" " * MARGIN + line))
    marks = scatter.marks(cells, front.configs)
    page.table([_legend(marks[cell.config], cell) for cell in cells], right={2, 3})
    page.paragraph(words(story.choice_words(front)))
    if front.left_out:
        page.paragraph(note(story.left_out_words(front)))


def _legend(mark: str, cell: Cell) -> list[Text]:
    return [
        Text(mark, "bold green" if mark.isupper() else ""),
        words(cell.config),
        Text(shown_ms(cell.p95_ms or 0.0)),
        Text(numbers.value(cell.precision.value)),
        note(numbers.interval(cell.precision.ci)),
    ]
