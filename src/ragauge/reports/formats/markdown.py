"""A document as a comment in GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import Any

from ragauge.reports import comment
from ragauge.reports import document as blocks
from ragauge.reports.comment import LONGEST_ID, code, prose, sentence
from ragauge.reports.document import Block, Cell, Document, Table
from ragauge.reports.numbers import ABSENT, count, share

WIDTH = 80
"""Of figures."""
SHOWN_MORE = 2.5
"""How many times the rows of a terminal a comment shows."""
OPEN_ROWS, MOST_ROWS, LONGEST_TABLE = 50, 200, 20_000
"""Rows before a reader has to open the others, all rows, and their characters: GitHub refuses a
comment of more than 65,536."""


def render(document: Document) -> str:
    return "\n\n".join(_written(document.blocks, document.name)) + "\n"


def _written(given: Iterable[Block], name: str) -> Iterator[str]:
    for block in blocks.in_form(given, "markdown"):
        yield from filter(None, WRITERS[type(block)](block, name))


def spelled(given: blocks.Words) -> str:
    """Words; what is somebody else's is a code span, what is marked is bold."""
    if isinstance(given, str):
        return prose(given)
    made = ""
    for span in given:
        text = code(span.text) if span.foreign else prose(span.text)
        # `prose` trims: spaces between our words and theirs are kept.
        lead = " " if span.text[:1].isspace() else ""
        trail = " " if span.text[-1:].isspace() else ""
        made += f"{lead}{f'**{text}**' if span.marked else text}{trail}"
    return made.strip()


def _verdict(block: blocks.Verdict, name: str) -> Iterator[str]:
    title = f"## Ragauge {prose(name)}" if name else "## Ragauge"
    yield f"{title}: {block.word}" if block.word else title
    yield sentence(prose(block.text))
    yield "\n".join(f"- {code(about)}" for about in block.notes)
    yield " ".join(sentence(prose(one)) for one in block.meaning)


def _bars(block: blocks.Bars, name: str) -> Iterator[str]:
    if block.bars:
        yield from _head(block.title, block.remark)
        total = sum(times for *_, times, _ in block.bars)
        cells = [[code(one), count(n), share(n, total)] for _, one, n, _ in block.bars]
        yield comment.table((*block.heads, "fraction"), cells, right={1, 2})
        yield sentence(prose(block.after)) if block.after else ""


def _text(block: blocks.Text, name: str) -> Iterator[str]:
    if isinstance(block.text, str):
        yield code(block.text) if block.foreign else sentence(prose(block.text))
    else:
        yield spelled(block.text)


def _head(title: str, remark: str = "", about: str = "") -> Iterator[str]:
    if title:
        yield f"### {prose(title)} {code(about)}" if about else f"### {prose(title)}"
    if remark:
        yield sentence(prose(remark))


def _section(block: blocks.Section, name: str) -> Iterator[str]:
    yield from _head(block.title, block.remark, block.about)
    yield from _written(block.blocks, name)


def _table(block: Table, name: str) -> Iterator[str]:
    most = MOST_ROWS if block.shown is None else int(block.shown * SHOWN_MORE)
    shown_rows = block.rows[:most]
    kept = [at for at, column in enumerate(block.columns) if not column.plot]
    columns = [block.columns[at] for at in kept]
    heads = [code(one.title) if one.foreign else prose(one.title) for one in columns]
    cells = [
        [*(_cell(row.cells[at]) for at in kept), code(blocks.plain(row.note)) if row.note else ""]
        for row in shown_rows
    ]
    fitting = sum(size <= LONGEST_TABLE for size in accumulate(sum(map(len, row)) for row in cells))
    cells, shown_rows = cells[:fitting], shown_rows[:fitting]
    right = [place for place, column in enumerate(columns) if column.right]
    made = comment.without_empty([*heads, "note"], cells, right)
    total = len(block.rows) if block.total is None else block.total
    if block.folded:
        title = f"{block.title}: {count(total)}"
        title += f", {count(len(shown_rows))} shown" if len(shown_rows) < total else ""
        yield from comment.details(title, made)
        return
    yield from _head(block.title, block.remark, block.about)
    yield comment.without_empty([*heads, "note"], cells[:OPEN_ROWS], right)
    if len(cells) > OPEN_ROWS:
        rest = comment.without_empty([*heads, "note"], cells[OPEN_ROWS:], right)
        yield from comment.details(f"{count(len(cells) - OPEN_ROWS)} more", rest)
    if len(shown_rows) < total:
        yield f"And {count(total - len(shown_rows))} more; the JSON report has them."
    yield sentence(prose(block.after)) if block.after else ""


def _cell(cell: Cell) -> str:
    text = code(cell.text, LONGEST_ID) if cell.foreign and cell.text != ABSENT else cell.text
    return f"**{text}**" if cell.tone == "bad" and not cell.foreign and text else text


def _facts(block: blocks.Facts, name: str) -> Iterator[str]:
    yield "\n".join(
        f"- {f'{prose(label)}: ' if label else ''}{spelled(text)}"
        for label, text in block.facts
        if blocks.plain(text)
    )


def _cards(block: blocks.Cards, name: str) -> Iterator[str]:
    for card in block.cards:
        yield spelled(card.title)
        yield from _facts(blocks.Facts(card.facts), name)


def _items(block: blocks.Items, name: str) -> Iterator[str]:
    if not block.items:
        return
    yield from _head(block.title, block.remark)
    shown_items = block.items[: int(block.shown * SHOWN_MORE)]
    for one in shown_items:
        _, badge, _ = one.badge
        parts = (code(one.name, LONGEST_ID), badge, code(one.about) if one.about else "", one.aside)
        summary = " ".join(part for part in parts if part)
        inner = "\n\n".join(_written(one.blocks, name))
        yield f"#### {summary}"
        yield inner
    more = (len(block.items) if block.total is None else block.total) - len(shown_items)
    if more > 0:
        yield f"And {count(more)} more; {block.everything}."


def _figure(block: blocks.Figure, name: str) -> Iterator[str]:
    lines = [blocks.plain(line).rstrip() for line in block.drawn(WIDTH)]
    if lines:
        yield from _head(block.title, block.remark)
        yield comment.block(lines)


def _steps(block: blocks.Steps, name: str) -> Iterator[str]:
    if block.steps:
        yield "### Next"
        yield "\n".join(f"- {code(step)}" for step in block.steps)


WRITERS: dict[type, Callable[[Any, str], Iterator[str]]] = {
    blocks.Verdict: _verdict,
    blocks.Bars: _bars,
    blocks.Text: _text,
    blocks.Heading: lambda block, name: _head(block.title, block.remark),
    blocks.Section: _section,
    Table: _table,
    blocks.Facts: _facts,
    blocks.Cards: _cards,
    blocks.Items: _items,
    blocks.Figure: _figure,
    blocks.Findings: lambda block, name: comment.findings(block.by_code),
    blocks.Advices: lambda block, name: comment.advice(block.given),
    blocks.Steps: _steps,
    blocks.Coverage: lambda block, name: iter((sentence(f"Coverage: {prose(block.text)}"),)),
}
