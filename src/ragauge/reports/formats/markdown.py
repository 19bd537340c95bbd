"""A document as a comment in GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ragauge.reports import comment
from ragauge.reports import document as blocks
from ragauge.reports.comment import LONGEST_ID, code, prose, sentence
from ragauge.reports.document import Cell, Document, Table
from ragauge.reports.numbers import ABSENT, count

WIDTH = 80
"""Of figures."""
SHOWN_MORE = 2.5
"""How many times the rows of a terminal a comment shows."""


def render(document: Document) -> str:
    parts = [
        part
        for block in document.blocks
        for part in WRITERS[type(block)](block, document.name)
        if part
    ]
    return "\n\n".join(parts) + "\n"


def _verdict(block: blocks.Verdict, name: str) -> Iterator[str]:
    yield f"## Ragauge {prose(name)}: {block.word}" if block.word else f"## Ragauge {prose(name)}"
    yield sentence(prose(block.text))
    yield "\n".join(f"- {code(about)}" for about in block.notes)
    yield " ".join(sentence(prose(one)) for one in block.meaning)


def _text(block: blocks.Text, name: str) -> Iterator[str]:
    yield code(block.text) if block.foreign else sentence(prose(block.text))


def _heading(block: blocks.Heading, name: str) -> Iterator[str]:
    yield f"### {prose(block.title)}"
    if block.remark:
        yield sentence(prose(block.remark))


def _table(block: Table, name: str) -> Iterator[str]:
    most = len(block.rows) if block.shown is None else int(block.shown * SHOWN_MORE)
    shown = block.rows[:most]
    heads = [*(prose(column.title) for column in block.columns), "note"]
    cells = [[*map(_cell, row.cells), code(row.note) if row.note else ""] for row in shown]
    right = [place for place, column in enumerate(block.columns) if column.right]
    made = comment.without_empty(heads, cells, right)
    total = len(block.rows) if block.total is None else block.total
    if block.folded:
        title = f"{block.title}: {count(total)}"
        title += f", {count(len(shown))} shown" if len(shown) < total else ""
        yield from comment.details(title, made)
        return
    if block.title:
        yield from _heading(blocks.Heading(block.title, block.remark), name)
    yield made
    if len(shown) < total:
        yield f"And {count(total - len(shown))} more; the JSON report has them."


def _cell(cell: Cell) -> str:
    text = code(cell.text, LONGEST_ID) if cell.foreign and cell.text != ABSENT else cell.text
    return f"**{text}**" if cell.tone == "bad" and not cell.foreign and text else text


def _figure(block: blocks.Figure, name: str) -> Iterator[str]:
    lines = block.drawn(WIDTH)
    if lines:
        if block.title:
            yield from _heading(blocks.Heading(block.title, block.remark), name)
        yield comment.block(lines)


def _steps(block: blocks.Steps, name: str) -> Iterator[str]:
    if block.steps:
        yield "### Next"
        yield "\n".join(f"- {code(step)}" for step in block.steps)


WRITERS: dict[type, Callable[[Any, str], Iterator[str]]] = {
    blocks.Verdict: _verdict,
    blocks.Text: _text,
    blocks.Heading: _heading,
    Table: _table,
    blocks.Figure: _figure,
    blocks.Findings: lambda block, name: comment.findings(block.by_code),
    blocks.Advices: lambda block, name: comment.advice(block.given),
    blocks.Steps: _steps,
    blocks.Coverage: lambda block, name: iter((sentence(f"Coverage: {prose(block.text)}"),)),
}
