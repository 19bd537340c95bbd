"""A document as HTML: a file that asks nobody for anything, or blocks for a page around them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import count as counting
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ragauge.reports import document as blocks
from ragauge.reports import envelope, templating
from ragauge.reports.document import (
    Block,
    Cell,
    Column,
    Data,
    Document,
    Links,
    NoLinks,
    Place,
    Row,
    Table,
    Target,
    Words,
)
from ragauge.reports.foreign import readable
from ragauge.reports.words import Wording, wording
from ragauge.text.natural import natural

if TYPE_CHECKING:
    from markupsafe import Markup

OPEN_ROWS = 50
"""Rows of a table before a reader has to open the others."""


class Sorting:
    """How the tables of a page are sorted without a script: links in the heads, one in order.

    A page that is written in several parts gives the same object to each of them, so that no two
    tables have the same number. Without an address there are no links, only values for a script.
    """

    def __init__(self, address: Callable[[str], str] | None = None, chosen: str = "") -> None:
        """`address` gives the same page in another order; `chosen` is an order such as `2.3-`.

        That is the second table by its third column, descending.
        """
        self.address = address
        self.tables = counting(1)
        found = re.fullmatch(r"([1-9]\d{0,3})\.([1-9]\d{0,2})(-?)", chosen)
        self._order = (int(found[1]), int(found[2]) - 1, found[3] == "-") if found else None

    def chosen(self, table: int) -> tuple[int | None, bool]:
        """The column that a table is sorted by, and whether downwards; None for none."""
        if self._order is None or self._order[0] != table:
            return None, False
        return self._order[1:]


@runtime_checkable
class Sorts(Protocol):
    """Links of a page whose tables can be sorted."""

    @property
    def sorting(self) -> Sorting: ...


def render(document: Document) -> str:
    """The document as a file that works from disk, with nothing around it."""
    from markupsafe import Markup

    style = (templating.TEMPLATES / "style.css").read_text("utf-8")
    made = (
        templating.own()
        .get_template("frame.html")
        .render(
            title=document.title or _title(document),
            language=wording(document.language).html_lang,
            body=Markup("<main>\n{}</main>").format(
                written(document.blocks, name=document.name, language=document.language)
            ),
            style=Markup(style),  # ours
            policy=templating.policy(style),
        )
    )
    return str(made).rstrip("\n") + "\n"


def _title(document: Document) -> str:
    word = next((one.word for one in document.blocks if isinstance(one, blocks.Verdict)), "")
    return f"Ragauge {document.name}: {word}" if word else f"Ragauge {document.name}"


def written(
    given: Iterable[Block],
    *,
    name: str = "",
    links: Links | None = None,
    sorting: Sorting | None = None,
    language: str = "en",
    at: Place = Place(),  # noqa: B008 - frozen
    exports: Callable[[Table | Data], Iterable[tuple[str, str]]] = lambda block: (),
) -> Markup:
    """The blocks, with links to what they are about and in the order that was chosen.

    Links that know how their page is sorted say it for `sorting`. `exports` gives the files that
    the data of a block can be downloaded as, each with its address.
    """
    from markupsafe import Markup

    if sorting is None and isinstance(links, Sorts):
        sorting = links.sorting
    writer = _Writer(_InPage(links or NoLinks(), at), sorting, wording(language), at)
    template = templating.own().get_template("blocks.html")
    module: Any = template.make_module(
        {**writer.helpers(), "name": name, "at": at, "exports": exports}
    )
    return Markup(module.write(list(given)))  # escaped as made


def spelled(words: Words) -> Markup:
    """A text with its tones, marks and links that are addresses already."""
    from markupsafe import Markup

    writer = _Writer(_InPage(NoLinks(), Place()), None, wording("en"), Place())
    module: Any = templating.own().get_template("blocks.html").make_module(writer.helpers())
    return Markup(module.spelled(words))  # escaped as made


class _InPage:
    """The links of the pages around, and those to anchors of the page itself."""

    def __init__(self, around: Links, at: Place) -> None:
        self._around, self._at = around, at

    def to(self, target: Target) -> str | None:
        kind, id = target
        return f"#{self._at.id(id)}" if kind == "here" else self._around.to(target)


class _Writer:
    """What the macros ask for while a page is written."""

    def __init__(self, links: Links, sorting: Sorting | None, say: Wording, at: Place) -> None:
        self._links, self._sorting, self._say, self._at = links, sorting, say, at

    def helpers(self) -> dict[str, Any]:
        return {
            "OPEN_ROWS": OPEN_ROWS,
            "links": self._links,
            "say": self._say,
            "numbered": self._numbered,
            "in_form": lambda given: list(blocks.in_form(given, "html")),
            "spans": blocks.spans,
            "plain": blocks.plain,
            "spared": self._spared,
            "identity": lambda block: envelope.identity_words(block.identity),
            "in_order": self._in_order,
            "order": self._order,
            "sort_link": self._sort_link,
            "sorted_by": self._sorted_by,
        }

    def _spared(self, table: Table, row: Row) -> str:
        """The cells of columns that a narrow page has no room for, as a line."""
        if not table.below:
            return ""
        cells = [
            (column.title, cell.text)
            for column, cell in zip(table.columns, row.cells, strict=True)
            if column.spare
        ]
        return self._say.listed(f"{title} {text}".strip() for title, text in cells if text)

    def _numbered(self, table: Table) -> int:
        """The number of a table that can be sorted here; 0 for others."""
        if self._sorting is None or self._sorting.address is None or table.paged:
            return 0
        return next(self._sorting.tables)

    def _chosen(self, number: int) -> tuple[int | None, bool]:
        return self._sorting.chosen(number) if self._sorting and number else (None, False)

    def _in_order(self, table: Table, number: int) -> Sequence[Row]:
        at, descending = self._chosen(number)
        sortable = at is not None and at < len(table.columns) and _is_sortable(table, at)
        return ordered(table.rows, at or 0, descending) if sortable else table.rows

    def _order(self, number: int, at: int, column: Column) -> Markup | str:
        from markupsafe import Markup

        chosen, descending = self._chosen(number)
        order: str = column.order
        if chosen == at:
            order = "descending" if descending else "ascending"
        return Markup(' aria-sort="{}"').format(order) if order else ""

    def _sort_link(self, table: Table, number: int, at: int) -> Markup | str:
        from markupsafe import Markup

        column = table.columns[at]
        href = column.href if self._at.served else ""
        title: Markup | str = readable(column.title)
        if column.foreign:
            title = Markup("<bdi>{}</bdi>").format(title)
        if self._sorting and self._sorting.address and number and _is_sortable(table, at):
            chosen, descending = self._chosen(number)
            falling = "-" if chosen == at and not descending else ""
            href = f"{self._sorting.address(f'{number}.{at + 1}{falling}')}#table-{number}"
        return Markup('<a class="sort" href="{}">{}</a>').format(href, title) if href else title

    def _sorted_by(self, cell: Cell) -> Markup | str:
        """What a script sorts by, where the text alone would not do."""
        from markupsafe import Markup

        value = _value(cell)
        if cell.foreign and isinstance(value, str):  # a name that may be cut where it is shown
            return ""
        known = str(int(value) if isinstance(value, bool) else value)
        if self._sorting is None or cell.value is None or value is None or known == cell.text:
            return ""
        return Markup(' data-sort="{}"').format(readable(known))


def _is_sortable(table: Table, at: int) -> bool:
    """Rows that belong below the name of their group keep their order."""
    grouped = any(row.inner for row in table.rows)
    return bool(table.columns[at].title) and len(table.rows) > 1 and not grouped


def ordered(rows: Sequence[Row], at: int, descending: bool) -> list[Row]:
    """The rows by the values of a column; ties and rows without a value keep their order.

    Rows that belong to the one above them move with it.
    """
    groups: list[list[Row]] = []
    for row in rows:
        if row.inner and groups:
            groups[-1].append(row)
        else:
            groups.append([row])
    if not groups or at >= len(groups[0][0].cells):
        return list(rows)
    known = [group for group in groups if _value(group[0].cells[at]) is not None]
    absent = [group for group in groups if _value(group[0].cells[at]) is None]
    values = [_value(group[0].cells[at]) for group in known]
    numeric = all(isinstance(value, int | float) for value in values)

    def key(group: list[Row]) -> Any:
        value = _value(group[0].cells[at])
        return value if numeric else natural(str(value))

    known.sort(key=key, reverse=descending)
    return [row for group in (*known, *absent) for row in group]


def _value(cell: Cell) -> Any:
    """What a cell is sorted by; None where there is nothing in it."""
    value = cell.text if cell.value is None else cell.value
    if isinstance(value, tuple):
        return value[0] if value else None
    return value.strip(" –") or None if isinstance(value, str) else value
