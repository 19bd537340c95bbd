"""A table of an evaluation on a terminal page: folded where it is wide, with bars if they fit."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from ragauge.reports.evaluation.tables import Cell, Row, Table
from ragauge.reports.terminal import GAP, MARGIN, Page, bar, head, note, widths, words

WIDEST_BAR = 24
NARROWEST_BAR = 6
LONGEST_NAME = 28
STYLES = {"good": "green", "bad": "bold red", "soft": "dim"}
GOOD, FAIR = 0.8, 0.5
"""From where on a rate's bar is green, and yellow; below it is red."""


def told(page: Page, table: Table) -> None:
    """The table under its title, with what is not in it."""
    page.section(f"{table.title} {table.name}" if table.name else table.title)
    if table.about:
        page.paragraph(note(table.about))
    rows = [head(*table.heads), *(_cells(row) for row in table.rows)]
    notes = [Text(), *(note(row.note) for row in table.rows)]
    pieces = _folded(rows, page.width - MARGIN)
    for number, columns in enumerate(pieces):
        part = [[row[column].copy() for column in columns] for row in rows]
        if number:
            page.line(Text())
        if number == 0 and table.bar:
            _add_bars(page, table, part)
        last = number == len(pieces) - 1
        right = {place for place, column in enumerate(columns) if column in table.right}
        page.table(part, right=right, notes=notes if last else ())
    if table.more:
        page.paragraph(note(table.more))


def _cells(row: Row) -> list[Text]:
    return [_cell(cell, row.strong and not place) for place, cell in enumerate(row.cells)]


def _cell(cell: Cell, strong: bool) -> Text:
    made = words(cell.text, "bold" if strong else STYLES.get(cell.tone, ""))
    if cell.foreign:
        made.truncate(LONGEST_NAME, overflow="ellipsis")
    return made


def _folded(rows: Sequence[Sequence[Text]], room: int) -> list[list[int]]:
    """The columns in as many tables as it takes to show them whole; the first stands in each."""
    wide = widths(rows)
    pieces, taken = [[0]], wide[0]
    for column in range(1, len(wide)):
        if taken + GAP + wide[column] > room and len(pieces[-1]) > 1:
            pieces.append([0])
            taken = wide[0]
        pieces[-1].append(column)
        taken += GAP + wide[column]
    return pieces


def _add_bars(page: Page, table: Table, rows: list[list[Text]]) -> None:
    """A last column with a bar a row, where there is room for one."""
    wide = widths(rows)
    room = min(WIDEST_BAR, page.width - MARGIN - sum(wide) - GAP * len(wide))
    if room < NARROWEST_BAR:
        return
    rows[0].append(note("" if table.bar in table.heads else table.bar))
    for cells, row in zip(rows[1:], table.rows, strict=True):
        cells.append(_bar(row, room, table.whole))


def _bar(row: Row, room: int, whole: bool) -> Text:
    if row.share is None:
        return Text()
    drawn = Text(bar(min(1.0, row.share), room) if row.share > 0 else "", _tone(row.share, whole))
    if row.mark is None:
        return drawn
    place = min(room - 1, max(0, round(row.mark * room) - 1))
    drawn.pad_right(room - drawn.cell_len)
    return Text.assemble(drawn[:place], ("┃", "bold"), drawn[place + 1 :])


def _tone(share: float, whole: bool) -> str:
    if whole:
        return "cyan"
    return "green" if share >= GOOD else "yellow" if share >= FAIR else "red"
