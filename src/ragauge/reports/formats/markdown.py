"""A document as a comment in GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from html import escape
from itertools import accumulate
from typing import Any

from msgspec import Struct

from ragauge.reports import comment
from ragauge.reports import document as blocks
from ragauge.reports.comment import LONGEST_ID, code, inline, prose, unlisted
from ragauge.reports.document import Block, Cell, Document, Table
from ragauge.reports.foreign import cut, shown
from ragauge.reports.numbers import ABSENT, count, share
from ragauge.reports.words import Wording, wording

WIDTH = 80
"""Of figures."""
SHOWN_MORE = 2.5
"""How many times the rows of a terminal a comment shows."""
OPEN_ROWS, MOST_ROWS = 50, 200
"""Rows before a reader has to open the others, and all rows."""
LONGEST, LONGEST_TABLES = 60_000, (20_000, 8_000, 3_000, 1_000, 1)
"""Characters of a comment, of which GitHub refuses more than 65,536; and of a table or list in it:
the first length with which the comment is short enough."""
ROOM_FOR_ITEMS = 1.5
"""How many times as long as a table a list of items may be: few reports have both."""
LONGEST_SENTENCE, LONGEST_PIECE = 1_000, 400
"""Characters of a sentence, and of a piece of a text."""


class Comment(Struct, frozen=True):
    """What a block is written for."""

    name: str
    say: Wording
    longest: int
    """Characters of a table or a list."""

    def sentence(self, text: str) -> str:
        return self.say.sentence(comment.begun(prose(cut(text, LONGEST_SENTENCE))))

    def fitting(self, sizes: Iterable[int], room: float = 1.0) -> int:
        """How many rows or items there is room for; at least one."""
        return max(1, sum(size <= room * self.longest for size in accumulate(sizes)))

    def more(self, number: int, where: str) -> str:
        text = self.say.and_more.format(n=count(number), where=where)
        return self.say.sentence(comment.begun(text))


def render(document: Document, *, page: bool = False) -> str:
    """The document, as short as a comment has to be; a page of its own may be of any length."""
    say = wording(document.language)
    for longest in (10**9,) if page else LONGEST_TABLES:
        made = "\n\n".join(_written(document.blocks, Comment(document.name, say, longest))) + "\n"
        if len(made) <= LONGEST:
            break
    return made


def _written(given: Iterable[Block], to: Comment) -> Iterator[str]:
    for block in blocks.in_form(given, "markdown"):
        yield from filter(None, WRITERS[type(block)](block, to))


def spelled(given: blocks.Words) -> str:
    """Words; what is somebody else's is a code span, what is marked is bold."""
    if isinstance(given, str):
        return prose(cut(given, LONGEST_PIECE))
    made = ""
    for span in given:
        if not span.text.strip():
            made += span.text
            continue
        text = code(span.text) if span.foreign else inline(cut(span.text, LONGEST_PIECE))
        # `inline` trims: spaces between our words and theirs are kept.
        lead = " " if span.text[:1].isspace() else ""
        trail = " " if span.text[-1:].isspace() and text else ""
        text = f"[{text}](#{span.to[1]})" if span.to and span.to[0] == "here" else text
        made += f"{lead}{f'**{text}**' if span.marked else text}{trail}"
    return unlisted(made.strip())


def _verdict(block: blocks.Verdict, to: Comment) -> Iterator[str]:
    title = f"## Ragauge {prose(to.name)}" if to.name else "## Ragauge"
    yield f"{title}{to.say.signs.colon}{block.word}" if block.word else title
    yield to.sentence(block.text)
    yield "\n".join(f"- {code(about)}" for about in block.notes)
    yield " ".join(map(to.sentence, block.meaning))


def _bars(block: blocks.Bars, to: Comment) -> Iterator[str]:
    if block.bars:
        yield from _head(to, block.title, block.remark)
        total = sum(times for *_, times, _ in block.bars)
        cells = [[code(one), count(n), share(n, total)] for _, one, n, _ in block.bars]
        yield comment.table((*block.heads, to.say.fraction), cells, right={1, 2})
        yield to.sentence(block.after) if block.after else ""


def _text(block: blocks.Text, to: Comment) -> Iterator[str]:
    if isinstance(block.text, str):
        yield code(block.text) if block.foreign else to.sentence(block.text)
    else:
        yield spelled(block.text)


def _head(
    to: Comment, title: str, remark: str = "", about: str = "", level: str = "###"
) -> Iterator[str]:
    if title:
        yield f"{level} {prose(title)} {code(about)}" if about else f"{level} {prose(title)}"
    if remark:
        yield to.sentence(remark)


def _section(block: blocks.Section, to: Comment, level: str = "###") -> Iterator[str]:
    if block.folded:
        summary = " ".join(filter(None, (block.title, block.about)))
        summary = f"{summary}: {block.remark}" if block.remark else summary
        yield from comment.details(escape(shown(summary)), *_written(block.blocks, to))
        return
    yield f'<a id="{block.anchor}"></a>' if block.anchor else ""
    yield from _head(to, block.title, block.remark, block.about, level)
    for inner in block.blocks:
        if isinstance(inner, blocks.Section):
            yield from filter(None, _section(inner, to, f"{level}#"))
        else:
            yield from _written([inner], to)


def _table(block: Table, to: Comment) -> Iterator[str]:
    most = MOST_ROWS if block.shown is None else int(block.shown * SHOWN_MORE)
    shown_rows = block.rows[:most]
    kept = [at for at, column in enumerate(block.columns) if not column.plot]
    columns = [block.columns[at] for at in kept]
    heads = [code(one.title) if one.foreign else prose(one.title) for one in columns]
    cells = [
        [*(_cell(row.cells[at]) for at in kept), code(blocks.plain(row.note)) if row.note else ""]
        for row in shown_rows
    ]
    fitting = to.fitting(sum(map(len, row)) for row in cells)
    cells, shown_rows = cells[:fitting], shown_rows[:fitting]
    right = [place for place, column in enumerate(columns) if column.right]
    heads.append(to.say.note)
    made = comment.without_empty(heads, cells, right)
    total = len(block.rows) if block.total is None else block.total
    if block.folded:
        part = to.say.shown.format(n=count(len(shown_rows))) if len(shown_rows) < total else ""
        title = f"{block.title}{to.say.signs.colon}{to.say.listed((count(total), part))}"
        yield from comment.details(title, made)
        return
    yield from _head(to, block.title, block.remark, block.about)
    yield comment.without_empty(heads, cells[:OPEN_ROWS], right)
    if len(cells) > OPEN_ROWS:
        rest = comment.without_empty(heads, cells[OPEN_ROWS:], right)
        yield from comment.details(to.say.rest.format(n=count(len(cells) - OPEN_ROWS)), rest)
    if len(shown_rows) < total:
        yield to.more(total - len(shown_rows), to.say.json_has_them)
    yield to.sentence(block.after) if block.after else ""


def _cell(cell: Cell) -> str:
    text = code(cell.text, LONGEST_ID) if cell.foreign and cell.text != ABSENT else cell.text
    return f"**{text}**" if cell.tone == "bad" and not cell.foreign and text else text


def _facts(block: blocks.Facts, to: Comment) -> Iterator[str]:
    yield "\n".join(
        f"- {spelled(label)}{to.say.signs.colon if label else ''}{spelled(text)}"
        for label, text in block.facts
        if blocks.plain(text)
    )


def _points(block: blocks.Points, to: Comment) -> Iterator[str]:
    lines = [f"- {spelled(point)}" for point in block.points]
    shown = to.fitting(map(len, lines))
    yield "\n".join(lines[:shown])
    if shown < len(lines):
        yield to.more(len(lines) - shown, to.say.json_has_them)


def _cards(block: blocks.Cards, to: Comment) -> Iterator[str]:
    for card in block.cards:
        yield spelled(card.title)
        yield from _facts(blocks.Facts(card.facts), to)


def _items(block: blocks.Items, to: Comment) -> Iterator[str]:
    if not block.items:
        return
    made = []
    for one in block.items[: int(block.shown * SHOWN_MORE)]:
        _, badge, _ = one.badge
        about = code(one.about) if one.about else ""
        parts = (code(one.name, LONGEST_ID), badge, about, prose(one.aside))
        made.append([f"#### {' '.join(filter(None, parts))}", *_written(one.blocks, to)])
    made = made[: to.fitting((sum(map(len, one)) for one in made), ROOM_FOR_ITEMS)]
    total = len(block.items) if block.total is None else block.total
    lines = [line for one in made for line in one]
    if len(made) < total:
        lines.append(to.more(total - len(made), block.everything or to.say.in_html))
    if block.folded:
        yield from comment.details(f"{block.title}{to.say.signs.colon}{count(total)}", *lines)
    else:
        yield from _head(to, block.title, block.remark)
        yield from lines


def _figure(block: blocks.Figure, to: Comment) -> Iterator[str]:
    lines = [blocks.plain(line).rstrip() for line in block.drawn(WIDTH)]
    if lines:
        yield from _head(to, block.title, block.remark)
        yield comment.block(lines)


def _steps(block: blocks.Steps, to: Comment) -> Iterator[str]:
    if block.steps:
        yield f"### {to.say.next}"
        # A sentence of ours is prose, a command is code.
        lines = (prose(step) if step.endswith(".") else code(step) for step in block.steps)
        yield "\n".join(f"- {line}" for line in lines)


def _coverage(block: blocks.Coverage, to: Comment) -> Iterator[str]:
    yield to.say.sentence(f"{to.say.coverage}{to.say.signs.colon}{prose(block.text)}")


WRITERS: dict[type, Callable[[Any, Comment], Iterator[str]]] = {
    blocks.Verdict: _verdict,
    blocks.Bars: _bars,
    blocks.Text: _text,
    blocks.Heading: lambda block, to: _head(to, block.title, block.remark),
    blocks.Section: _section,
    Table: _table,
    blocks.Facts: _facts,
    blocks.Points: _points,
    blocks.Cards: _cards,
    blocks.Items: _items,
    blocks.Figure: _figure,
    blocks.Findings: lambda block, to: comment.findings(block.by_code, to.say),
    blocks.Advices: lambda block, to: comment.advice(block.given, to.say),
    blocks.Steps: _steps,
    blocks.Coverage: _coverage,
}
