"""A document for a terminal.

Foreign text reaches the screen only as a `Text` of what `shown` returns: never as markup, never
with an escape sequence of its own.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile, zip_longest
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from ragauge.reports import document as blocks
from ragauge.reports import phrasing
from ragauge.reports.document import Bar, Block, Document, Range, Row, Table, Tone
from ragauge.reports.phrasing import wording
from ragauge.text.visible import shown

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
NARROWEST = 40
SIDE_BY_SIDE = 70  # on a narrower page cards go below each other
MARGIN = GAP = 2
LONGEST, LONGEST_FINDING = 400, 4_000
"""Characters of a foreign text; a finding may list metrics."""
WIDEST = {Bar: 40, Range: 24}
LEAST = {Bar: 6, Range: 12}  # with less room nothing is drawn
LONGEST_NAME = 28
"""Columns that the first cell of a row needs at least, where a table is cut into several."""
_NEVER_FIRST = frozenset("，。；：！？、）》」』】”’…％,.;:!?)]}%")
_NEVER_LAST = frozenset("（《「『【“‘([{")


class Page:
    """Lines of at most a width (at least 40 columns), in sections."""

    def __init__(self, color: bool, width: int, language: str = "en") -> None:
        self.say = wording(language)
        self.width = max(width, NARROWEST)
        self.indent = 0
        """Of every line, in columns, inside an item of a list."""
        self._out = io.StringIO()
        self._console = Console(
            file=self._out,
            width=self.width,
            color_system="standard" if color else None,
            force_terminal=color,
            legacy_windows=False,
            markup=False,
            emoji=False,
            highlight=False,
            _environ={},  # the caller decides on width and color, not the environment
        )

    @property
    def room(self) -> int:
        return self.width - self.indent - MARGIN

    def section(self, title: str, remark: str = "", about: str = "") -> None:
        """A heading, with its remark next to it or below it."""
        heading = f"{title} {about}" if about else title
        fits = bool(title) and len(heading) + len(remark) <= self.room
        if title:
            remarks = [note(remark)] if remark and fits else []
            self.line(Text())
            self.line(Text(" " * GAP).join([foreign_text(heading, "bold"), *remarks]))
        if remark and not fits:
            self.paragraph(note(remark))

    def line(self, text: Text) -> None:
        """One line, cut where the page ends."""
        text = Text.assemble(" " * self.indent, text) if self.indent else text
        text.rstrip()
        text.truncate(self.width, overflow="ellipsis")
        self._console.print(text, no_wrap=True, overflow="ignore", crop=False)

    def paragraph(self, text: Text, indent: int = MARGIN, first: Text | None = None) -> None:
        """Wrapped lines, all indented; `first` is in the indent of the first one."""
        if not text:
            return
        start = Text(" " * indent) if first is None else first
        for line in wrap(text, self.width - self.indent - indent):
            self.line(Text.assemble(start, line))
            start = Text(" " * indent)

    def labelled(self, label: str, text: Text) -> Text:
        lead = f"{shown(label, LONGEST)}{self.say.signs.colon}" if label else ""
        return Text.assemble((lead, "dim"), text)

    def more(self, number: int, where: str) -> None:
        """How many are left out, if any are."""
        if number > 0:
            self.paragraph(note(self.say.and_more.format(n=phrasing.count(number), where=where)))

    def text(self) -> str:
        return self._out.getvalue()


def render(document: Document, *, color: bool = False, width: int = 100) -> str:
    """The document as lines no wider than the width (at least 40 columns)."""
    page = Page(color, width, document.language)
    write(page, document.blocks)
    return page.text()


def write(page: Page, given: Iterable[Block], deeper: int = 0) -> None:
    page.indent += deeper
    for block in blocks.in_format(given, "text"):
        WRITERS[type(block)](page, block)
    page.indent -= deeper


def foreign_text(text: str, style: str = "") -> Text:
    """Foreign text on one line, cut to a maximum length."""
    return Text(shown(text, LONGEST), style)


def note(text: str) -> Text:
    return foreign_text(text, "dim")


def styled(word: str, tone: Tone = "") -> Text:
    """A verdict in its colour."""
    return Text(word, f"bold {STYLES[tone or blocks.verdict_tone(word)]}")


def inline_text(given: blocks.Inline, style: str = "") -> Text:
    """A text with its tones; marked spans are bold."""
    if isinstance(given, str):
        return foreign_text(given, style)
    joined = Text()
    for span in given:
        tone = f"bold {STYLES[span.tone]}" if span.marked else STYLES[span.tone] or style
        if not span.text.strip():
            joined.append(span.text)
            continue
        # `shown` trims: our own text may end in a space that joins it to the next.
        joined.append(" " * span.text[0].isspace()).append_text(foreign_text(span.text, tone))
        joined.append(" " * span.text[-1].isspace())
    if any(span.marked for span in given):  # pieces of one text
        joined.truncate(LONGEST, overflow="ellipsis")
    return joined


def line_breaks(text: str, width: int) -> Iterator[int]:
    """Where new lines begin, for lines of at most a width in columns.

    Between two wide characters a line may end anywhere, but it never begins with a comma nor ends
    with an opening bracket.

    >>> list(line_breaks("one two three", 8)), list(line_breaks("检索未命中，因此", 10))
    ([8], [4])
    """
    start, cells, chance = 0, 0, 0
    for place, char in enumerate(text):
        if place > start and _may_break(text[place - 1], char):
            chance = place
        wide = cell_len(char)
        while cells + wide > width and place > start and char != " ":
            start = chance if chance > start else place
            yield start
            cells = cell_len(text[start:place])
        cells += wide


def _may_break(before: str, after: str) -> bool:
    if before == " " or after == " ":
        return after != " "
    if after in _NEVER_FIRST or before in _NEVER_LAST:
        return False
    return cell_len(before) == 2 or cell_len(after) == 2


def wrap(text: Text, width: int) -> list[Text]:
    """The text on lines of at most a width."""
    lines = list(text.divide(line_breaks(text.plain, width)))
    for line in lines:
        line.rstrip()
    return lines


def _width(wide: Sequence[int] | dict[int, int], kept: Iterable[int]) -> int:
    return sum(wide[at] + GAP for at in kept) - GAP


def bar(part: float, width: int) -> str:
    """A bar of blocks, in eighths of a column; any value above zero is visible.

    >>> bar(1, 4), bar(0.53, 4), bar(0.0001, 4), bar(0, 4)
    ('████', '██▏', '▏', '')
    """
    whole, eighths = divmod(max(1, round(part * width * 8)), 8)
    return ("█" * whole + " ▏▎▍▌▋▊▉"[eighths]).rstrip() if part > 0 else ""


def draw_plot(one: Bar | Range | None, room: int) -> Text:
    """A bar, or a value as a dot with its interval as a line.

    >>> str(draw_plot(Range(0.5, (0.25, 0.75)), 13))
    '   ├──●──┤   '
    >>> str(draw_plot(Range(-0.5, None, ends=(-1, 1)), 9))
    '  ● ┊    '
    """
    if isinstance(one, Bar):
        drawn = Text(bar(min(1.0, one.fraction), room), STYLES[one.tone] or STYLES["plain"])
        if one.mark is None:
            return drawn
        place = min(room - 1, max(0, round(one.mark * room) - 1))
        drawn.pad_right(room - drawn.cell_len)
        return Text.assemble(drawn[:place], ("┃", "bold"), drawn[place + 1 :])
    if one is None or one.value is None:
        return Text()
    line = [" "] * room
    places = [
        min(room - 1, max(0, round(one.at(number) * (room - 1))))
        for number in (0.0, one.value, *(one.ci or ()))
    ]
    if one.ends[0] < 0:
        line[places[0]] = "┊"
    if one.ci:
        low, high = places[2:]
        line[low : high + 1] = "─" * (high + 1 - low)
        line[low], line[high] = "├", "┤"
    line[places[1]] = "●"
    return Text("".join(line), "cyan")


def _verdict(page: Page, block: blocks.Verdict) -> None:
    first = styled(block.word, block.tone).append(" " * GAP) if block.word else Text()
    if block.one_line:
        page.line(first + foreign_text(block.text, "bold"))
    else:
        page.paragraph(foreign_text(block.text, "bold"), first.cell_len, first)
    for about in (*block.notes, *block.meaning):
        page.paragraph(note(about), first.cell_len or MARGIN)


def _text(page: Page, block: blocks.Text) -> None:
    page.paragraph(inline_text(block.text, STYLES[block.tone]))


def _section(page: Page, block: blocks.Section) -> None:
    page.section(block.title, block.remark, block.about)
    for inner in block.blocks:
        write(page, [inner], MARGIN if isinstance(inner, blocks.Section) else 0)


def _table(page: Page, block: Table) -> None:
    page.section(block.title, block.remark, block.about)
    rows = block.rows[: block.shown]
    number = blocks.number_of(block)
    if rows or not number:
        _rows(page, block, rows)
    page.more(number - len(rows), block.everything or page.say.in_json)
    page.paragraph(note(block.after))


def _rows(page: Page, block: Table, rows: Sequence[Row]) -> None:
    columns, room = block.columns, page.room
    # On a narrow page names are shortened; if that is not enough, columns go below their rows, the
    # least important first. Remarks, which are columns without a title, go there at once.
    for short in (False, True):
        heads = [note("" if one.plot else one.title) for one in columns]
        lines = [heads, *(_cells(row, short) for row in rows)]
        wide = [max(cell.cell_len for cell in column) for column in zip(*lines, strict=True)]
        below: list[int] = []
        kept = [at for at, column in enumerate(columns) if not column.plot]
        for at in sorted(kept, key=lambda place: -columns[place].spare):
            fits = _width(wide, kept) <= room or (columns[at].title and not short)
            if fits or not columns[at].spare:
                break
            kept.remove(at)
            below.append(at)
        if _width(wide, kept) <= room:
            break
    # If that is not enough, groups of columns go into tables of their own, all with the first.
    pieces, first = [kept], kept[:1]
    narrow = [min(wide[0], LONGEST_NAME), *wide[1:]]
    if _width(narrow, kept) > room and any(columns[at].begins for at in kept[1:]):
        pieces = [first]
        for place, at in enumerate(kept[1:], 2):
            group = takewhile(lambda other: not columns[other].begins, kept[place:])
            ahead = [at, *group] if columns[at].begins else [at]
            if pieces[-1] != first and _width(narrow, [*pieces[-1], *ahead]) > room:
                pieces.append(first)
            pieces[-1] = [*pieces[-1], at]
    # Bars and ranges are drawn where there is room left, next to their numbers.
    near = range(len(columns)) if len(pieces) == 1 else [at + 1 for at in pieces[-1]]
    plots = [at for at in near if at < len(columns) and columns[at].plot]
    free = room - _width(wide, pieces[-1])
    for at in plots:
        drawn = [row.cells[at].plot for row in rows]
        kind = next((one for one in drawn if one), None)
        left = min(WIDEST[type(kind)], free // len(plots) - GAP) if kind else 0
        if kind and left >= LEAST[type(kind)]:
            pieces[-1] = sorted([*pieces[-1], at])
            for line, one in zip(lines[1:], drawn, strict=True):
                line[at] = draw_plot(one, left)
            if isinstance(kind, Range):
                low, high = (f"{end:.2g}" for end in kind.ends)
                heads[at] = Text(low + high.rjust(left - len(low)), "dim")
            wide[at] = max(line[at].cell_len for line in lines)
    notes = [Text(), *(_note(page, block, row, below, short) for row in rows)]
    for piece in pieces:
        # The widest column gives way where even that is not enough.
        fitted = {at: wide[at] for at in piece}
        while _width(fitted, piece) > room and max(fitted.values()) > 1:
            fitted[max(piece, key=lambda at: fitted[at])] -= 1
        if piece is not pieces[0]:
            page.line(Text())
        for line, remark in zip(lines, notes, strict=True):
            padded = Text(" " * MARGIN)
            for at, width in fitted.items():
                cell = line[at].copy()
                cell.truncate(width, overflow="ellipsis")
                cell.align("right" if columns[at].right else "left", width)
                padded.append_text(cell).append(" " * GAP)
            page.line(padded)
            if remark and piece is pieces[-1]:
                page.paragraph(remark, indent=2 * MARGIN)


def _cells(row: Row, short: bool) -> list[Text]:
    cells = [
        foreign_text((short and cell.short) or cell.text, STYLES[cell.tone]) for cell in row.cells
    ]
    if row.strong:
        cells[0].stylize("bold")
    return [Text.assemble(" " * MARGIN, cells[0]), *cells[1:]] if row.inner else cells


def _note(page: Page, block: Table, row: Row, below: Sequence[int], short: bool) -> Text:
    """What a row has no room for: long names, cells of columns that went below it, its note."""
    long = (cell for cell in row.cells if short and cell.short not in ("", cell.text))
    names = [cell.text.removesuffix(f" ({cell.short})") for cell in long]
    spared = block.cells_below(row, below) if below else []
    parts = [note(page.say.listed(texts)) for texts in (names, spared)]
    parts.append(inline_text(row.note, "dim"))
    joined = Text(page.say.signs.semicolon, "dim").join(part for part in parts if part)
    return Text("↳ ", "dim") + joined if joined and row.inner else joined


def _facts(page: Page, block: blocks.Facts | blocks.Card) -> None:
    for label, text in block.facts:
        if blocks.plain(text):
            page.paragraph(page.labelled(label, inline_text(text)), 2 * MARGIN, Text(" " * MARGIN))


def _cards(page: Page, block: blocks.Cards) -> None:
    """Two cards side by side, fact next to fact; others, and on a narrow page, below each other."""
    if len(block.cards) != 2 or page.width < SIDE_BY_SIDE:
        for card in block.cards:
            page.paragraph(inline_text(card.title))
            _facts(page, card)
        return
    room = (page.room - len(" │ ")) // 2
    sides = [dict([("", card.title), *card.facts]) for card in block.cards]
    for label in dict.fromkeys(label for side in sides for label in side):
        texts = [inline_text(side.get(label, "")) for side in sides]
        lines = [wrap(text and page.labelled(label, text), room) for text in texts]
        for left, right in zip_longest(*lines, fillvalue=Text()) if any(texts) else ():
            cell = left.copy()
            cell.align("left", room)
            page.line(Text.assemble(" " * MARGIN, cell, (" │ ", "dim"), right))


def _items(page: Page, block: blocks.Items) -> None:
    given = block.items[: block.shown]
    if not given:
        return
    page.section(block.title, block.remark)
    for number, one in enumerate(given):
        if number:
            page.line(Text())
        _, badge, tone = one.badge
        parts = [foreign_text(one.name, "bold"), Text(badge, STYLES[tone]), foreign_text(one.about)]
        parts.append(note(one.aside))
        page.paragraph(Text(" " * GAP).join(part for part in parts if part))
        write(page, one.blocks, MARGIN)
    page.more(blocks.number_of(block) - len(given), block.everything or page.say.in_html)


def _figure(page: Page, block: blocks.Figure) -> None:
    lines = block.drawn(page.width - MARGIN)
    if lines:
        page.section(block.title, block.remark)
    for line in lines:
        # Not trimmed: spaces are part of the picture. Marked spans are filled.
        drawn = Text(" " * MARGIN)
        for span in blocks.spans(line):
            reverse = " reverse" if span.marked else ""
            drawn.append(span.text, f"{STYLES[span.tone]}{reverse}".strip())
        page.line(drawn)


def _findings(page: Page, block: blocks.Findings) -> None:
    if block.by_code:
        page.section(page.say.findings)
    for code, times, places in block.by_code:
        page.line(
            Text.assemble(" " * MARGIN, foreign_text(code, "bold"), f"  {phrasing.count(times)}")
        )
        for place in places:
            text = shown(phrasing.finding_text(place), LONGEST_FINDING)
            page.paragraph(Text(text, "dim"), 2 * MARGIN)
        if times > len(places) > 0:
            more = page.say.more.format(n=phrasing.count(times - len(places)))
            more = blocks.listed(more, block.everything, sep="; ")
            page.line(Text(" " * 2 * MARGIN) + note(more))


WRITERS: dict[type, Callable[[Page, Any], None]] = {
    blocks.Verdict: _verdict,
    blocks.Text: _text,
    blocks.Section: _section,
    Table: _table,
    blocks.Facts: _facts,
    blocks.Cards: _cards,
    blocks.Items: _items,
    blocks.Figure: _figure,
    blocks.Findings: _findings,
}
