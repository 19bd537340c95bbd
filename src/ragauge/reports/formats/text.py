"""A document for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from typing import Any

from rich.text import Text

from ragauge.reports import document as blocks
from ragauge.reports import terminal
from ragauge.reports.document import Bar, Block, Column, Document, Range, Row, Table, Tone
from ragauge.reports.numbers import count, share
from ragauge.reports.terminal import (
    GAP,
    LONGEST,
    MARGIN,
    Page,
    bar,
    labelled,
    note,
    ranged,
    styled,
    widths,
    words,
)

STYLES: dict[Tone, str] = {
    "": "",
    "good": "green",
    "bad": "bold red",
    "warm": "yellow",
    "soft": "yellow",
    "dim": "dim",
    "strong": "bold",
    "plain": "cyan",
}
BARS: dict[Tone, str] = {"good": "green", "bad": "red", "warm": "yellow", "soft": "yellow"}
"""Of bars; the others are cyan."""
WIDEST_BAR, WIDEST_RANGE = 40, 24
NARROWEST = {Bar: 6, Range: 12}
"""With less room nothing is drawn."""
LONGEST_NAME = 28
"""Columns that the first cell of a row needs at least, where a table is cut into several."""
SIDE_BY_SIDE = 70
"""On a narrower page cards go below each other."""


def render(document: Document, *, color: bool = False, width: int = 100) -> str:
    """The document as lines no wider than the width (at least 40 columns)."""
    page = Page(color, width, document.language)
    write(page, document.blocks)
    return page.text()


def write(page: Page, given: Iterable[Block]) -> None:
    for block in blocks.in_form(given, "text"):
        WRITERS[type(block)](page, block)


def spelled(given: blocks.Words, style: str = "") -> Text:
    """Words with their tones; what is marked stands out."""
    if isinstance(given, str):
        return words(given, style)
    made = Text()
    for span in given:
        tone = f"bold {STYLES[span.tone]}" if span.marked else STYLES[span.tone] or style
        # Spans are cut by the page: a text of ours may end in a space that joins it to the next.
        piece = words(span.text, tone) if span.text.strip() else Text(span.text)
        lead = " " if span.text[:1].isspace() and span.text.strip() else ""
        trail = " " if span.text[-1:].isspace() and span.text.strip() else ""
        made.append(lead).append_text(piece).append(trail)
    if any(span.marked for span in given):  # pieces of one text
        made.truncate(LONGEST, overflow="ellipsis")
    return made


def _verdict(page: Page, block: blocks.Verdict) -> None:
    word = Text(block.word, STYLES[block.tone]) if block.tone else styled(block.word)
    first = word.append(" " * GAP) if block.word else Text()
    indent = first.cell_len or MARGIN
    if block.one_line:
        page.line(first + words(block.text, "bold"))
    else:
        page.paragraph(words(block.text, "bold"), first.cell_len, first)
    for about in (*block.notes, *block.meaning):
        page.paragraph(note(about), indent)


def _bars(page: Page, block: blocks.Bars) -> None:
    if not block.bars:
        return
    _head(page, block.title, block.remark)
    total, most = (of(times for *_, times, _ in block.bars) for of in (sum, max))
    taken = max(words(name).cell_len for _, name, *_ in block.bars) + len("10,000  100.0 %")
    room = min(WIDEST_BAR, max(8, page.width - page.indent - MARGIN - taken - 3 * GAP))
    page.table(
        [
            [
                words(name),
                Text(bar(times / most, room) if times else "", BARS.get(tone, "cyan")),
                Text(count(times)),
                Text(share(times, total), "dim"),
            ]
            for _, name, times, tone in block.bars
        ],
        right={2, 3},
    )
    if block.after:
        page.paragraph(note(block.after))


def _text(page: Page, block: blocks.Text) -> None:
    page.paragraph(spelled(block.text, STYLES[block.tone]))


def _head(page: Page, title: str, remark: str = "", about: str = "") -> None:
    heading = f"{title} {about}" if about else title
    fits = len(heading) + GAP + len(remark) <= page.width - page.indent
    if title:
        page.section(heading, note(remark) if remark and fits else None)
    if remark and not (title and fits):
        page.paragraph(note(remark))


def _section(page: Page, block: blocks.Section) -> None:
    _head(page, block.title, block.remark, block.about)
    for inner in block.blocks:
        deeper = MARGIN if isinstance(inner, blocks.Section) else 0
        page.indent += deeper
        write(page, [inner])
        page.indent -= deeper


def _table(page: Page, block: Table) -> None:
    _head(page, block.title, block.remark, block.about)
    shown = block.rows if block.shown is None else block.rows[: block.shown]
    if shown or not block.total:
        _rows(page, block, shown)
    more = (len(block.rows) if block.total is None else block.total) - len(shown)
    if more > 0:
        page.paragraph(note(_and_more(page, more, block.everything or page.say.in_json)))
    if block.after:
        page.paragraph(note(block.after))


def _and_more(page: Page, more: int, where: str) -> str:
    return page.say.and_more.format(n=count(more), where=where)


def _rows(page: Page, block: Table, shown: Sequence[Row]) -> None:
    heads = [Text() if column.plot else note(column.title) for column in block.columns]
    lines = [heads, *(_cells(row) for row in shown)]
    room = page.width - page.indent - MARGIN
    wide = widths(lines)
    kept = [at for at, column in enumerate(block.columns) if not column.plot]
    below: list[int] = []
    # Where the page is narrow, columns go below their rows, the least telling first.
    for at in sorted(kept, key=lambda place: -block.columns[place].spare):
        if _width(wide, kept) <= room or not block.columns[at].spare:
            break
        kept.remove(at)
        below.append(at)
    notes = [Text(), *(_note(page, block, row, below) for row in shown)]
    wide[0] = min(wide[0], LONGEST_NAME)
    pieces = _pieces(block.columns, wide, kept, room)
    for number, piece in enumerate(pieces):
        if number:
            page.line(Text())
        made = [[line[at].copy() for at in piece] for line in lines]
        places = list(piece)
        if number == len(pieces) - 1:
            _draw(block.columns, shown, made, places, room)
        right = [place for place, at in enumerate(places) if block.columns[at].right]
        page.table(made, right=right, notes=notes if number == len(pieces) - 1 else ())


def _cells(row: Row) -> list[Text]:
    made = [words(cell.text, STYLES[cell.tone]) for cell in row.cells]
    if row.strong:
        made[0].stylize("bold")
    return [Text.assemble(" " * MARGIN, made[0]), *made[1:]] if row.inner else made


def _width(wide: Sequence[int], kept: Sequence[int]) -> int:
    return sum(wide[at] + GAP for at in kept) - GAP


def _note(page: Page, block: Table, row: Row, below: Sequence[int]) -> Text:
    cells = [(block.columns[at].title, row.cells[at].text) for at in sorted(below)]
    spared = page.say.listed(f"{title} {text}".strip() for title, text in cells if text)
    parts = [note(spared if block.below else ""), spelled(row.note, "dim")]
    made = Text(page.say.signs.semicolon, "dim").join(part for part in parts if part)
    return Text("↳ ", "dim") + made if made and row.inner else made


def _pieces(
    columns: Sequence[Column], wide: Sequence[int], kept: list[int], room: int
) -> list[list[int]]:
    """The columns in as many tables as it takes, cut where groups begin; the first is in each."""
    if _width(wide, kept) <= room or not any(columns[at].begins for at in kept[1:]):
        return [kept]
    groups: list[list[int]] = []
    for at in kept[1:]:
        if not groups or columns[at].begins:
            groups.append([])
        groups[-1].append(at)
    pieces = [kept[:1]]
    for group in groups:
        if _width(wide, [*pieces[-1], *group]) > room and len(pieces[-1]) > 1:
            pieces.append(kept[:1])
        for at in group:
            if _width(wide, [*pieces[-1], at]) > room and len(pieces[-1]) > 1:
                pieces.append(kept[:1])
            pieces[-1] = [*pieces[-1], at]
    return pieces


def _draw(
    columns: Sequence[Column],
    shown: Sequence[Row],
    made: list[list[Text]],
    places: list[int],
    room: int,
) -> None:
    """Put bars and ranges where their column is, if there is room left."""
    plots = [at for at, column in enumerate(columns) if column.plot]
    free = room - sum(widths(made)) - GAP * (len(places) - 1)
    for at in plots:
        drawn = [row.cells[at].plot for row in shown]
        kind = next((type(one) for one in drawn if one is not None), None)
        left = min(WIDEST_RANGE if kind is Range else WIDEST_BAR, free // len(plots) - GAP)
        if kind is None or left < NARROWEST[kind]:
            continue
        place = sum(other < at for other in places)
        ends = next((one.ends for one in drawn if isinstance(one, Range)), None)
        low, high = (f"{end:.2g}" for end in ends) if ends else ("", "")
        scale = Text(low + high.rjust(left - len(low)) if ends else "", "dim")
        for line, one in zip_longest(made, [None, *drawn]):
            line.insert(place, _plotted(one, left) if line is not made[0] else scale)
        places.insert(place, at)


def _plotted(one: Bar | Range | None, room: int) -> Text:
    if one is None:
        return Text()
    if isinstance(one, Range):
        value = None if one.value is None else one.at(one.value)
        ci = (one.at(one.ci[0]), one.at(one.ci[1])) if one.ci else None
        return Text(ranged(value, ci, room, one.at(0.0) if one.ends[0] < 0 else None), "cyan")
    filled = min(1.0, one.fraction)
    drawn = Text(bar(filled, room) if filled > 0 else "", BARS.get(one.tone, "cyan"))
    if one.mark is None:
        return drawn
    place = min(room - 1, max(0, round(one.mark * room) - 1))
    drawn.pad_right(room - drawn.cell_len)
    return Text.assemble(drawn[:place], ("┃", "bold"), drawn[place + 1 :])


def _facts(page: Page, block: blocks.Facts) -> None:
    for label, text in block.facts:
        if blocks.plain(text):
            page.paragraph(_fact(page, label, text), 2 * MARGIN, Text(" " * MARGIN))


def _fact(page: Page, label: str, text: blocks.Words) -> Text:
    said = spelled(text)
    return labelled(label, said, page.say.signs.colon) if label else said


def _points(page: Page, block: blocks.Points) -> None:
    first = Text(" " * MARGIN + block.mark + " ")
    for point in block.points:
        page.paragraph(spelled(point), first.cell_len, first)


def _cards(page: Page, block: blocks.Cards) -> None:
    """Two cards side by side, fact next to fact; others, and on a narrow page, below each other."""
    if len(block.cards) != 2 or page.width < SIDE_BY_SIDE:
        for card in block.cards:
            page.paragraph(spelled(card.title))
            _facts(page, blocks.Facts(card.facts))
        return
    room = (page.width - page.indent - MARGIN - len(" │ ")) // 2
    labels = dict.fromkeys(label for card in block.cards for label, _ in card.facts)
    given = [
        {label: _fact(page, label, text) for label, text in card.facts if blocks.plain(text)}
        for card in block.cards
    ]
    titles = [spelled(card.title) for card in block.cards]
    for pair in (titles, *([side.get(label, Text()) for side in given] for label in labels)):
        if any(pair):
            sides = [page.wrapped(side, room) for side in pair]
            for left, right in zip_longest(*sides, fillvalue=Text()):
                cell = left.copy()
                cell.align("left", room)
                page.line(Text(" " * MARGIN) + cell + Text(" │ ", "dim") + right)


def _items(page: Page, block: blocks.Items) -> None:
    if not block.items:
        return
    _head(page, block.title, block.remark)
    for number, one in enumerate(block.items[: block.shown]):
        if number:
            page.line(Text())
        _, badge, tone = one.badge
        parts = [words(one.name, "bold"), Text(badge, STYLES[tone]), words(one.about)]
        parts.append(note(one.aside))
        page.paragraph(Text(" " * GAP).join(part for part in parts if part))
        page.indent += MARGIN
        write(page, one.blocks)
        page.indent -= MARGIN
    total = len(block.items) if block.total is None else block.total
    more = total - min(block.shown, len(block.items))
    if more > 0:
        page.paragraph(note(_and_more(page, more, block.everything or page.say.in_html)))


def _figure(page: Page, block: blocks.Figure) -> None:
    lines = block.drawn(page.width - MARGIN)
    if not lines:
        return
    _head(page, block.title, block.remark)
    for place, line in enumerate(lines):
        tone = block.tones[place] if place < len(block.tones) else ""
        page.line(Text(" " * MARGIN) + _line(line, STYLES[tone]))


def _line(line: blocks.Words, style: str) -> Text:
    """A line of a figure as it is: its spaces are part of the picture; what is marked is filled."""
    return Text.assemble(
        *(
            (span.text, f"{STYLES[span.tone] or style}{' reverse' * span.marked}".strip())
            for span in blocks.spans(line)
        )
    )


def _steps(page: Page, block: blocks.Steps) -> None:
    if block.steps:
        page.section(page.say.next)
        for step in block.steps:
            page.paragraph(words(step))


WRITERS: dict[type, Callable[[Page, Any], None]] = {
    blocks.Verdict: _verdict,
    blocks.Bars: _bars,
    blocks.Text: _text,
    blocks.Heading: lambda page, block: _head(page, block.title, block.remark),
    blocks.Section: _section,
    Table: _table,
    blocks.Facts: _facts,
    blocks.Points: _points,
    blocks.Cards: _cards,
    blocks.Items: _items,
    blocks.Figure: _figure,
    blocks.Findings: lambda page, block: terminal.findings(page, block.by_code, block.everything),
    blocks.Advices: lambda page, block: terminal.advice(page, block.given),
    blocks.Steps: _steps,
    blocks.Coverage: lambda page, block: terminal.coverage(page, block.text),
}
