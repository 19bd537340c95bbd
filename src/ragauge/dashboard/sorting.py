"""Sorting of any table of a page without scripts: links in its heads, and its rows in order.

The page is already made and escaped: nothing in it is read and written anew. Links are put in at
places of the source, and rows change places as they stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape
from itertools import pairwise
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from ragauge.dashboard.links import address
from ragauge.dashboard.table_source import Cell, Row, Table, read, slices

LONGEST_PAGE = 3_000_000
"""Longer pages are left as they are: they would keep a reader waiting."""
ORDER = "order"
"""The parameter of an address that says which table is sorted by which of its columns."""

Key = tuple[Any, ...]
Pairs = Sequence[tuple[str, str]]

_ABSENT = frozenset({"", "–", "—", "-", "n/a"})
_NUMBER = re.compile(
    r"[\[(<>=≤≥~]*\s*(?P<sign>[+\-−]?)"
    r"(?P<size>(?:(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+)(?:e[+-]?[0-9]+)?)"
    r"(?=\Z|[\s%\])/,;])",
    re.IGNORECASE,
)
_CHOSEN = re.compile(r"([1-9][0-9]{0,3})\.([1-9][0-9]{0,2})(-?)")


class Order(Struct, frozen=True):
    """A table of the page, one of its columns, and which way."""

    table: int
    column: int
    descending: bool = False

    def __str__(self) -> str:
        return f"{self.table}.{self.column}{'-' if self.descending else ''}"


def order_of(chosen: str | None) -> Order | None:
    """
    >>> str(order_of("2.3-")), order_of("2.x"), order_of(None)
    ('2.3-', None, None)
    """
    found = _CHOSEN.fullmatch(chosen or "")
    return Order(int(found[1]), int(found[2]), found[3] == "-") if found else None


def sort_links(page: str, path: str, query: Pairs, chosen: str | None) -> str:
    """The page with links in the heads of its tables, and the rows of one of them in order.

    Left alone are tables marked `data-paged` or `data-plain`, whose cells span several, or whose
    heads have links. Notes stay with their row, ties and rows without a value keep their order.
    """
    if len(page) > LONGEST_PAGE:
        return page
    order = order_of(chosen)
    parts, done = [], 0
    for number, (start, end) in enumerate(slices(page), 1):
        source = page[start:end]
        table = read(source)
        if table is not None:
            chosen_here = order if order and order.table == number else None
            way = _Way(path, query, number, table.id or f"table-{number}")
            parts += [page[done:start], _sorted(source, table, way, chosen_here)]
            done = end
    return "".join([*parts, page[done:]])


class _Way(Struct, frozen=True):
    """Where the links of a table lead: the same page, in another order."""

    path: str
    query: Pairs
    table: int
    id: str

    def of(self, column: int, chosen: Order | None) -> str:
        is_rising = chosen is not None and chosen.column == column and not chosen.descending
        order = Order(self.table, column, is_rising)
        kept = [(name, value) for name, value in self.query if name != ORDER]
        asked = address(self.path, [*kept, (ORDER, str(order))])
        return escape(f"{asked}#{quote(self.id)}")


def _sorted(source: str, table: Table, way: _Way, chosen: Order | None) -> str:
    if chosen and not _is_linked(table, chosen.column):
        chosen = None
    edits = [] if table.id else [(table.tag_end, f' id="{way.id}"')]
    for column, head in enumerate(table.heads, 1):
        if _is_linked(table, column):
            edits += _link(head, way.of(column, chosen), _direction(column, chosen))
    begin, end = table.rows[0].start, table.rows[-1].end
    rows = _body(source, table.rows, chosen)
    return _edited(source, edits, 0, begin) + rows + _edited(source, edits, end, len(source))


def _is_linked(table: Table, column: int) -> bool:
    heads = table.heads[column - 1 : column]
    return any(head.names_column and head.text for head in heads)


def _direction(column: int, chosen: Order | None) -> str:
    if chosen is None or chosen.column != column:
        return ""
    return "descending" if chosen.descending else "ascending"


def _link(head: Cell, href: str, direction: str) -> list[tuple[int, str]]:
    sorted_so = [(head.tag_end, f' aria-sort="{direction}"')] if direction else []
    return [*sorted_so, (head.tag_end + 1, f'<a class="sort" href="{href}">'), (head.end, "</a>")]


def _edited(source: str, edits: list[tuple[int, str]], start: int, end: int) -> str:
    """The source between two places, with what is put in there."""
    parts, done = [], start
    for place, text in sorted(edits, key=lambda edit: edit[0]):
        if start <= place < end:
            parts += [source[done:place], text]
            done = place
    return "".join([*parts, source[done:end]])


def _body(source: str, rows: tuple[Row, ...], chosen: Order | None) -> str:
    """The rows in the order chosen; what stands between them stays where it is."""
    places = _ranked(rows, chosen) if chosen else range(len(rows))
    moved = [source[rows[place].start : rows[place].end] for place in places]
    between = [source[row.end : after.start] for row, after in pairwise(rows)]
    return "".join(part for pair in zip(moved, [*between, ""], strict=True) for part in pair)


def _ranked(rows: tuple[Row, ...], chosen: Order) -> list[int]:
    texts = [row.cells[chosen.column - 1].text for row in rows]
    told = [place for place, text in enumerate(texts) if text not in _ABSENT]
    absent = [place for place, text in enumerate(texts) if text in _ABSENT]
    key = _key([texts[place] for place in told])
    return sorted(told, key=lambda place: key(texts[place]), reverse=chosen.descending) + absent


def _key(texts: list[str]) -> Callable[[str], Key]:
    """What the texts of a column are sorted by: numbers where all of them begin with one."""
    if all(_number(text) is not None for text in texts):
        return lambda text: (_number(text),)
    return _natural


def _number(text: str) -> float | None:
    """The number that a cell begins with.

    >>> [_number(text) for text in ("1,234", "12 %", "−3 of 4", "[0.1, 0.2]", "2026-11-16")]
    [1234.0, 12.0, -3.0, 0.1, None]
    """
    found = _NUMBER.match(text)
    if found is None:
        return None
    size = float(found["size"].replace(",", ""))
    return -size if found["sign"] in ("-", "−") else size


def _natural(text: str) -> Key:
    """A key that puts h2 before h10, and takes no heed of case."""
    pieces = re.split(r"([0-9]+)", text.casefold())
    digits = [(len(run.lstrip("0")), run.lstrip("0")) for run in pieces[1::2]]
    return (pieces[0], *(part for pair in zip(digits, pieces[2::2], strict=True) for part in pair))
