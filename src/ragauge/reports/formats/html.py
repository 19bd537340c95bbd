"""A document as HTML: a self-contained file, or blocks for a page around them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count as counting
from typing import TYPE_CHECKING, Any

from ragauge.reports import document as blocks
from ragauge.reports import templating
from ragauge.reports.document import (
    Block,
    Cell,
    Column,
    Data,
    Document,
    Inline,
    Links,
    Place,
    Row,
    Table,
    Target,
)
from ragauge.reports.phrasing import wording
from ragauge.text.natural import natural

if TYPE_CHECKING:
    from markupsafe import Markup

OPEN_ROWS = 50  # rows of a table before a reader has to open the others


class Sorting:
    """How the tables of a page are sorted without a script: by links in the column heads.

    A page that is written in several parts passes the same object to each of them, so that no two
    tables have the same number. Without an address there are no links, only values for a script.
    """

    def __init__(self, address: Callable[[str], str] | None = None, chosen: str = "") -> None:
        """`address` gives the same page in another order; `chosen` is an order such as `2.3-`.

        That is the second table by its third column, descending.
        """
        self.address = address
        self._tables = counting(1)
        found = re.fullmatch(r"([1-9]\d{0,3})\.([1-9]\d{0,2})(-?)", chosen)
        self._order = (int(found[1]), int(found[2]) - 1, found[3] == "-") if found else None

    def numbered(self, table: Table) -> int:
        """The number of a table that can be sorted here; 0 for other tables."""
        return next(self._tables) if self.address and not table.paged else 0

    def chosen(self, table: int) -> tuple[int | None, bool]:
        """The column that a table is sorted by, or None, and whether in descending order."""
        if self._order is None or self._order[0] != table:
            return None, False
        return self._order[1:]


def render(document: Document) -> str:
    """The document as a self-contained file."""
    from markupsafe import Markup

    word = next((one.word for one in document.blocks if isinstance(one, blocks.Verdict)), "")
    title = f"Ragauge {document.name}"
    colon = wording(document.language).signs.colon
    body = write_blocks(document.blocks, name=document.name, language=document.language)
    style = (templating.TEMPLATES / "style.css").read_text("utf-8")
    frame = templating.report_templates().get_template("frame.html")
    page = frame.render(
        title=f"{title}{colon}{word}" if word else title,
        language=wording(document.language).html_lang,
        body=Markup("<main>\n{}</main>").format(body),
        style=Markup(style),  # ours
        policy=templating.policy(style),
    )
    return f"{page.rstrip()}\n"


def write_blocks(
    given: Iterable[Block],
    *,
    name: str = "",
    links: Links | None = None,
    sorting: Sorting | None = None,
    language: str = "en",
    at: Place = Place(),  # noqa: B008 - frozen
    exports: Callable[[Table | Data], Iterable[tuple[str, str]]] = lambda block: (),
) -> Markup:
    """The blocks as HTML, with links to what they are about, in the chosen order.

    Without `sorting`, that of the links is used. `exports` lists the files that the data of a
    block can be downloaded as, each with its address.
    """
    sorting = sorting or getattr(links, "sorting", None)
    around = {"name": name, "at": at, "exports": exports, "say": wording(language)}
    return _macros(_Writer(links, sorting, at), around)("write", list(given))


def inline_html(text: Inline) -> Markup:
    """A text with its tones, marks, and the links that are already addresses."""
    return _macros(_Writer(None, None, Place()), {"at": Place()})("inline", text)


def _macros(writer: _Writer, around: Mapping[str, Any]) -> Callable[..., Markup]:
    from markupsafe import Markup

    known = {"writer": writer, "spans": blocks.spans, "plain": blocks.plain, **around}
    known |= {"verdict_tone": blocks.verdict_tone, "number_of": blocks.number_of}
    known |= {
        "in_format": lambda given: list(blocks.in_format(given, "html")),
        "OPEN_ROWS": OPEN_ROWS,
    }
    module: Any = templating.report_templates().get_template("blocks.html").make_module(known)
    return lambda name, given: Markup(getattr(module, name)(given))  # escaped as made


class _Writer:
    """What the macros call while a page is written."""

    def __init__(self, links: Links | None, sorting: Sorting | None, at: Place) -> None:
        self._links, self._at, self._keyed = links, at, sorting is not None
        self._sorting = sorting or Sorting()
        self.numbered = self._sorting.numbered

    def to(self, target: Target | None) -> str | None:
        """The address of a page around this one, or of an anchor of the page itself."""
        if target and target[0] == "here":
            return f"#{self._at.id(target[1])}"
        return self._links.to(target) if target and self._links else None

    def rows(self, table: Table, number: int) -> Sequence[Row]:
        at, descending = self._sorting.chosen(number)
        sortable = at is not None and at < len(table.columns) and _is_sortable(table, at)
        return ordered(table.rows, at or 0, descending) if sortable else table.rows

    def heads(self, table: Table, number: int) -> Iterator[tuple[Column, str, str]]:
        """Each column with the order of its rows, and the address of another order."""
        chosen, descending = self._sorting.chosen(number)
        for at, column in enumerate(table.columns):
            order: str = column.order
            if at == chosen:
                order = "descending" if descending else "ascending"
            href = column.href if self._at.served else ""
            if number and self._sorting.address and _is_sortable(table, at):
                falling = "-" if at == chosen and not descending else ""
                href = f"{self._sorting.address(f'{number}.{at + 1}{falling}')}#table-{number}"
            yield column, order, href

    def sort_key(self, cell: Cell) -> str | None:
        """What a script sorts by, where the text alone is not enough."""
        value = _value(cell)
        if not self._keyed or cell.value is None or value is None:
            return None
        if cell.foreign and isinstance(value, str):  # a name that may be cut where it is shown
            return None
        known = str(int(value) if isinstance(value, bool) else value)
        return None if known == cell.text else known


def _is_sortable(table: Table, at: int) -> bool:
    """Whether a table can be sorted by a column: not where rows belong below their group's name."""
    grouped = any(row.inner for row in table.rows)
    return bool(table.columns[at].title) and len(table.rows) > 1 and not grouped


def ordered(rows: Sequence[Row], at: int, descending: bool) -> list[Row]:
    """The rows sorted by a column; ties and rows without a value keep their order.

    Rows that belong to the one above them move with it.
    """
    groups: list[list[Row]] = []
    for row in rows:
        if row.inner and groups:
            groups[-1].append(row)
        else:
            groups.append([row])
    values = [_value(group[0].cells[at]) if at < len(group[0].cells) else None for group in groups]
    numeric = all(isinstance(value, int | float) for value in values if value is not None)
    known = [
        (value if numeric else natural(str(value)), group)
        for value, group in zip(values, groups, strict=True)
        if value is not None
    ]
    known.sort(key=lambda pair: pair[0], reverse=descending)
    absent = [group for value, group in zip(values, groups, strict=True) if value is None]
    return [row for group in (*(group for _, group in known), *absent) for row in group]


def _value(cell: Cell) -> Any:
    """What a cell is sorted by; None if it is empty."""
    value = cell.text if cell.value is None else cell.value
    if isinstance(value, tuple):
        return value[0] if value else None
    return value.strip(" –") or None if isinstance(value, str) else value
