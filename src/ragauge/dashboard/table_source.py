"""Tables in the source of a page: where their heads and rows begin and end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

from msgspec import Struct

_TABLES = re.compile(
    r"<!--.*?-->"
    r"|<(script|style|textarea|title|template)\b.*?</\1\s*>"
    r"|(?P<table><table\b.*?</table\s*>)",
    re.DOTALL | re.IGNORECASE,
)
"""What is text for a browser is passed over, whatever it looks like."""
_LEFT_ALONE = {"data-paged", "data-plain"}
_ACTIVE = {"a", "button", "input", "select"}


class Cell(Struct, frozen=True):
    """A cell, or the head of a column: its text, and its places in the source."""

    text: str
    tag_end: int
    """Where the `>` of its opening tag stands; what it holds begins after it."""
    end: int
    """Where its closing tag begins."""
    names_column: bool = False


class Row(Struct, frozen=True):
    """A row with the notes below it: they go where it goes."""

    start: int
    end: int
    cells: tuple[Cell, ...]


class Table(Struct, frozen=True):
    """A table that can be sorted; its places are those of the source it was read from."""

    tag_end: int
    id: str | None
    heads: tuple[Cell, ...]
    rows: tuple[Row, ...]


def slices(page: str) -> Iterator[tuple[int, int]]:
    """Where each table of the page begins and ends."""
    for found in _TABLES.finditer(page):
        if found["table"]:
            yield found.span("table")


def read(source: str) -> Table | None:
    """The table, or None where it is not one of plain columns and at least two rows."""
    reader = _Reader(source)
    reader.feed(source)
    reader.close()
    return reader.table()


class _Reader(HTMLParser):
    """Follows the tags of one table; whatever is out of the ordinary makes it unfit."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self._source = source
        self._lines = [0, *(found.end() for found in re.finditer("\n", source))]
        self._is_fit = True
        self._tag_end: int | None = None
        self._id: str | None = None
        self._part = ""
        self._head_rows: list[tuple[Cell, ...]] = []
        self._bodies = 0
        self._rows: list[Row] = []
        self._row: tuple[int, bool] | None = None
        self._cells: list[Cell] = []
        self._cell: tuple[int, bool] | None = None
        self._text: list[str] = []
        self._sorted_as: str | None = None

    def table(self) -> Table | None:
        if not self._is_fit or self._tag_end is None or len(self._head_rows) != 1:
            return None
        heads = self._head_rows[0]
        are_even = all(len(row.cells) == len(heads) for row in self._rows)
        if self._bodies != 1 or len(self._rows) < 2 or not are_even:
            return None
        return Table(self._tag_end, self._id, heads, tuple(self._rows))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag == "table":
            self._open_table(named)
        elif tag in ("thead", "tbody", "tfoot"):
            self._part = tag
            self._bodies += tag == "tbody"
        elif tag == "tr":
            self._open_row(named)
        elif tag in ("td", "th"):
            self._open_cell(named)
        elif tag in _ACTIVE and self._part == "thead":
            self._is_fit = False

    def handle_endtag(self, tag: str) -> None:
        if tag == "tr":
            self._close_row()
        elif tag in ("td", "th"):
            self._close_cell()
        elif tag in ("thead", "tbody", "tfoot"):
            self._is_fit &= self._row is None
            self._part = ""

    def handle_data(self, data: str) -> None:
        if self._cell:
            self._text.append(data)

    def _open_table(self, named: dict[str, str | None]) -> None:
        self._is_fit &= self._tag_end is None and not (_LEFT_ALONE & set(named))
        self._tag_end, self._id = self._here_end(), named.get("id")

    def _open_row(self, named: dict[str, str | None]) -> None:
        self._is_fit &= self._row is None and self._part != ""
        is_note = bool({"note", "below"} & set((named.get("class") or "").split()))
        self._row, self._cells = (self._here(), is_note), []

    def _close_row(self) -> None:
        if self._row is None or self._cell is not None:
            self._is_fit = False
            return
        (start, is_note), self._row = self._row, None
        end = self._source.index(">", self._here()) + 1
        if self._part == "thead":
            self._head_rows.append(tuple(self._cells))
        elif self._part == "tbody" and not is_note:
            self._rows.append(Row(start, end, tuple(self._cells)))
        elif self._part == "tbody" and self._rows:
            above = self._rows[-1]
            self._rows[-1] = Row(above.start, end, above.cells)
        elif self._part == "tbody":
            self._is_fit = False

    def _open_cell(self, named: dict[str, str | None]) -> None:
        is_note = self._row is not None and self._row[1]
        is_spread = bool({"colspan", "rowspan"} & set(named)) and not is_note
        self._is_fit &= self._row is not None and self._cell is None and not is_spread
        self._is_fit &= "aria-sort" not in named
        self._cell = self._here_end(), named.get("scope") == "col"
        self._text = []
        self._sorted_as = named.get("data-sort")

    def _close_cell(self) -> None:
        if self._cell is None:
            self._is_fit = False
            return
        (tag_end, names_column), self._cell = self._cell, None
        text = "".join(self._text) if self._sorted_as is None else self._sorted_as
        self._cells.append(Cell(text.strip(), tag_end, self._here(), names_column))

    def _here(self) -> int:
        line, column = self.getpos()
        return self._lines[line - 1] + column

    def _here_end(self) -> int:
        return self._here() + len(self.get_starttag_text() or "") - 1
