"""A document for a terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.text import Text

from ragauge.reports import document as blocks
from ragauge.reports import terminal
from ragauge.reports.document import Document, Table, Tone
from ragauge.reports.numbers import count
from ragauge.reports.terminal import GAP, MARGIN, Page, note, styled, widths, words

STYLES: dict[Tone, str] = {
    "": "",
    "good": "green",
    "bad": "bold red",
    "soft": "yellow",
    "dim": "dim",
    "strong": "bold",
}


def render(document: Document, *, color: bool = False, width: int = 100) -> str:
    """The document as lines no wider than the width (at least 40 columns)."""
    page = Page(color, width)
    for block in document.blocks:
        WRITERS[type(block)](page, block)
    return page.text()


def _verdict(page: Page, block: blocks.Verdict) -> None:
    indent = len(block.word) + GAP if block.word else MARGIN
    first = styled(block.word).append(" " * GAP) if block.word else Text()
    page.paragraph(words(block.text, "bold"), indent if block.word else 0, first)
    for about in (*block.notes, *block.meaning):
        page.paragraph(note(about), indent)


def _text(page: Page, block: blocks.Text) -> None:
    page.paragraph(words(block.text, STYLES[block.tone]))


def _heading(page: Page, block: blocks.Heading) -> None:
    page.section(block.title, note(block.remark) if block.remark else None)


def _table(page: Page, block: Table) -> None:
    if block.title:
        _heading(page, blocks.Heading(block.title, block.remark))
    shown = block.rows if block.shown is None else block.rows[: block.shown]
    lines = [
        [note(column.title) for column in block.columns],
        *([words(cell.text, STYLES[cell.tone]) for cell in row.cells] for row in shown),
    ]
    places, below = list(range(len(block.columns))), []
    # Where the page is narrow, columns go below their rows, the least telling first.
    for place in sorted(places, key=lambda at: -block.columns[at].spare):
        if sum(widths(lines)) + GAP * len(lines[0]) <= page.width or not block.columns[place].spare:
            break
        at = places.index(place)
        places.remove(place)
        below.append(place)
        lines = [[*line[:at], *line[at + 1 :]] for line in lines]
    notes = [Text()]
    for row in shown:
        cells = [(block.columns[at].title, row.cells[at].text) for at in sorted(below)]
        cells = cells if block.below else []
        spared = ", ".join(f"{title} {text}".strip() for title, text in cells if text)
        notes.append(note("; ".join(filter(None, (spared, row.note)))))
    right = [at for at, place in enumerate(places) if block.columns[place].right]
    page.table(lines, right=right, notes=notes)
    more = (len(block.rows) if block.total is None else block.total) - len(shown)
    if more > 0:
        page.paragraph(note(f"and {count(more)} more; {block.everything}"))


def _figure(page: Page, block: blocks.Figure) -> None:
    lines = block.drawn(page.width - MARGIN)
    if not lines:
        return
    if block.title:
        _heading(page, blocks.Heading(block.title, block.remark))
    for place, line in enumerate(lines):
        tone = block.tones[place] if place < len(block.tones) else ""
        page.line(Text(" " * MARGIN) + Text(line, STYLES[tone]))


def _steps(page: Page, block: blocks.Steps) -> None:
    if block.steps:
        page.section("Next")
        for step in block.steps:
            page.line(Text(" " * MARGIN) + words(step))


WRITERS: dict[type, Callable[[Page, Any], None]] = {
    blocks.Verdict: _verdict,
    blocks.Text: _text,
    blocks.Heading: _heading,
    Table: _table,
    blocks.Figure: _figure,
    blocks.Findings: lambda page, block: terminal.findings(page, block.by_code),
    blocks.Advices: lambda page, block: terminal.advice(page, block.given),
    blocks.Steps: _steps,
    blocks.Coverage: lambda page, block: terminal.coverage(page, block.text),
}
