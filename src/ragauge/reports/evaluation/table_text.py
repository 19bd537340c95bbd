"""A table of an evaluation on a terminal page: folded where it is wide, with bars if they fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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
    wide, room = widths(rows), page.width - MARGIN
    below = _below(table, wide, room)
    notes = [Text(), *(note(_note(table, row, below)) for row in table.rows)]
    pieces = _folded(wide, _groups(table, below), room)
    for number, columns in enumerate(pieces):
        part = [[row[column].copy() for column in columns] for row in rows]
        if number:
            page.line(Text())
        last = number == len(pieces) - 1
        if table.bar and _is_drawn(table, columns, last):
            _add_bars(page, table, part)
        right = {place for place, column in enumerate(columns) if column in table.right}
        page.table(part, right=right, notes=notes if last else ())
    if table.more:
        page.paragraph(note(table.more))


def _cells(row: Row) -> list[Text]:
    cells = [_cell(cell, row.strong and not place) for place, cell in enumerate(row.cells)]
    return [Text.assemble(" " * MARGIN, cells[0]), *cells[1:]] if row.inner else cells


def _cell(cell: Cell, strong: bool) -> Text:
    made = words(cell.text, "bold" if strong else STYLES.get(cell.tone, ""))
    if cell.foreign:
        made.truncate(LONGEST_NAME, overflow="ellipsis")
    return made


def _below(table: Table, wide: Sequence[int], room: int) -> list[int]:
    """The columns that go below their rows, so that the others fit beside each other."""
    taken, below = sum(wide) + GAP * (len(wide) - 1), []
    for column in table.spare:
        if taken <= room:
            break
        taken -= wide[column] + GAP
        below.append(column)
    return below


def _note(table: Table, row: Row, below: Iterable[int]) -> str:
    told = "; ".join(filter(None, (table.below(row, below), row.note)))
    return f"↳ {told}" if told and row.inner else told


def _groups(table: Table, below: Sequence[int]) -> list[list[int]]:
    """The columns behind the first that are not parted, if it can be helped."""
    groups: list[list[int]] = []
    for column in range(1, len(table.heads)):
        if column in below:
            continue
        if not groups or not table.breaks or column in table.breaks:
            groups.append([])
        groups[-1].append(column)
    return groups


def _folded(wide: Sequence[int], groups: Sequence[Sequence[int]], room: int) -> list[list[int]]:
    """The columns in as many tables as it takes to show them whole; the first stands in each."""
    pieces = [[0]]

    def fits(columns: Sequence[int]) -> bool:
        return sum(wide[column] + GAP for column in (*pieces[-1], *columns)) - GAP <= room

    for group in groups:
        if not fits(group) and len(pieces[-1]) > 1:
            pieces.append([0])
        for column in group:
            if not fits([column]) and len(pieces[-1]) > 1:
                pieces.append([0])
            pieces[-1].append(column)
    return pieces


def _is_drawn(table: Table, columns: Sequence[int], last: bool) -> bool:
    """Whether the bars stand in this piece of a table: beside the numbers they show."""
    drawn = [place for place, title in enumerate(table.heads) if title == table.bar]
    return any(place in columns for place in drawn) if drawn else last


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
    drawn = Text(bar(min(1.0, row.share), room) if row.share > 0 else "", _tone(row, whole))
    if row.mark is None:
        return drawn
    place = min(room - 1, max(0, round(row.mark * room) - 1))
    drawn.pad_right(room - drawn.cell_len)
    return Text.assemble(drawn[:place], ("┃", "bold"), drawn[place + 1 :])


def _tone(row: Row, whole: bool) -> str:
    if whole or row.tone == "plain":
        return "cyan"
    if row.tone:
        return "green" if row.tone == "good" else "red"
    share = row.share or 0.0
    return "green" if share >= GOOD else "yellow" if share >= FAIR else "red"
