"""What pages consist of besides the blocks of reports: headers, forms, pagers, empty states.

Each function gives a block. Its macro is in `parts.html`, and is given the place it is written at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from msgspec import Struct, structs

from ragauge.citations.offsets import Place as Stretch
from ragauge.contracts.paging import Paged
from ragauge.dashboard.page import address
from ragauge.dashboard.query import Query
from ragauge.reports.document import Block, Column, Html, Inline, Row, Section, Span, Table
from ragauge.reports.formats.html import inline_html
from ragauge.reports.kinds.runs import when
from ragauge.reports.phrasing import pluralize
from ragauge.reports.templating import TEMPLATES, environment

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

Address = Callable[..., str]
OWN = Path(__file__).parent / "templates"


def render(template: str, **context: Any) -> Markup:
    """A template with this context; all foreign text in it is escaped."""
    from markupsafe import Markup

    return Markup(_environment().get_template(template).render(**context))  # escaped as made


def draw_macro(macro: str, *given: Any, template: str = "cells.html") -> Markup:
    """A macro with what it is given; those of `cells.html` are what cells of tables show."""
    from markupsafe import Markup

    module: Any = _environment().get_template(template).module
    return Markup(getattr(module, macro)(*given))  # escaped as made


@cache
def _environment() -> Environment:
    made = environment(OWN, TEMPLATES)
    made.filters["when"] = when
    return made


def addresses(query: Query, path: str, anchor: str = "") -> Address:
    """A function from changed fields to the address of the same table with them."""

    def to(**changed: str | int | None) -> str:
        made = address(path, query.but(**changed, figures=None, order=None).fields)
        return f"{made}#{anchor}" if anchor else made

    return to


class Listed(Struct, frozen=True):
    """A page of a table."""

    rows: Sequence[Any]
    total: int
    start: int
    size: int
    """Rows of a whole page."""
    order: str
    """As the address writes it: `name`, or `-name` downwards."""
    address: Address
    """From changed fields to the address of the same table with them."""


def listed(paged: Paged[Any], query: Query, default: str, path: str, anchor: str = "") -> Listed:
    """A page of rows with the requested order."""
    sort, down = query.order(default)
    order, address = f"-{sort}" if down else sort, addresses(query, path, anchor)
    return Listed(paged.rows, paged.total, paged.start, query.limit, order, address)


def sorts(title: str, name: str, page: Listed, *, right: bool = False, spare: int = 0) -> Column:
    """A column whose head sorts all pages of the table by the field of this name."""
    is_up = page.order == name
    return Column(
        title,
        right,
        spare,
        foreign=True,
        key=name,
        href=page.address(sort=f"-{name}" if is_up else name, start=None),
        order="ascending" if is_up else "descending" if page.order == f"-{name}" else "",
    )


def carded(table: Table) -> Table:
    """The table with the title of its column on each number: on a phone its rows are cards."""

    def row(given: Row) -> Row:
        pairs = zip(given.cells, table.columns, strict=True)
        cells = (
            structs.replace(cell, hint=one.title) if one.right else cell for cell, one in pairs
        )
        return structs.replace(given, cells=tuple(cells))

    return structs.replace(table, rows=[row(one) for one in table.rows])


Options = Iterable[tuple[str, str]]
"""Values with the texts to show."""


class Field(Struct, frozen=True):
    """A field of a form; one without a title is not shown."""

    name: str
    value: str = ""
    title: str = ""
    hint: str = ""
    kind: Literal["text", "search", "number", "select", "boxes"] = "text"
    options: Options = ()
    """Of a select, or offered where a text is written."""
    groups: Mapping[str, Options] = {}
    """Of a select: further options under their headings."""
    values: Sequence[str] = ()
    """Of boxes: those that are checked."""


def select(name: str, value: str, title: str, options: Options, **about: Any) -> Field:
    return Field(name, value, title, kind="select", options=tuple(options), **about)


def macro(name: str, *given: Any, template: str = "parts.html") -> Html:
    """A macro of a template as a block; the place it is written at is its first argument."""
    return Html(lambda at: draw_macro(name, at, *given, template=template))


def served(name: str, *given: Any) -> Html:
    """The same where a server answers: a form, a pager, tabs; a file is without it."""
    from markupsafe import Markup

    return Html(
        lambda at: draw_macro(name, *given, template="parts.html") if at.served else Markup("")
    )


def header(title: Inline, *about: Inline, eyebrow: Inline = "") -> Html:
    """The title of a page, with paragraphs below and a line above it."""
    return macro(
        "header",
        inline_html(title),
        inline_html(eyebrow),
        [inline_html(one) for one in about if one],
    )


def form(
    action: str | None,
    *fields: Field,
    replaces: str = "",
    clear: str | None = None,
    button: str = "Apply",
    id: str = "",
) -> Html:
    """A form that changes the address; with `replaces`, a script replaces only what has this id.

    Fields elsewhere belong to it by its own `id`.
    """
    return served("form", action, fields, replaces, clear, button, id)


def tags(*given: tuple[str, str, str | None]) -> Html:
    """Labels with their values, and the addresses of those that have one."""
    return Html(lambda at: draw_macro("tags", given))


def tabs(given: Sequence[tuple[str, int | None, str, bool]]) -> Html:
    """Titles with counts and addresses, and which one is open."""
    return served("tabs", given)


def pager(page: Listed) -> Html:
    return served("pager", page)


def results(
    anchor: str, page: Listed, one: str, every: str | None, *shown: Block, code: str = ""
) -> Section:
    """What shows a page of a list, with the ways to its other pages; without rows, why not."""
    inside: list[Block] = [*shown, pager(page)]
    if not page.rows and page.total:
        first = Span("Show the first of them", href=page.address(start=None))
        about = Span(f"{pluralize(page.total, one)} match. ")
        inside = [empty("There is no such page", [about, first, Span(".")])]
    elif not page.rows:
        every_one = [Span("Show all of them", href=every), Span(".")] if every else ""
        inside = [empty(f"No {one} matches", every_one, code)]
    return Section(title="", blocks=inside, anchor=anchor, part="" if anchor else "tight")


def empty(title: str, about: Inline = "", code: str = "") -> Html:
    """What a page says where it has nothing to show, with a command that would change that."""
    return macro("empty", title, inline_html(about), code)


def computing(what: str, fraction: float | None = None) -> Html:
    """That something is being computed: `Analysing 80 samples… 40 %`, and the page comes again."""
    return macro("computing", what, fraction)


def section(title: str, *blocks: Any, anchor: str = "", remark: str = "") -> Section:
    return Section(title=title, blocks=[one for one in blocks if one], anchor=anchor, remark=remark)


class Mark(NamedTuple):
    """A stretch of a text with its class, the id that it links to, and its own id."""

    place: Stretch
    kind: str = ""
    to: str = ""
    id: str = ""


def marked(text: str, marks: Sequence[Mark]) -> list[tuple[str, str, str, str]]:
    """The text in pieces, each with what the first mark says that says it there.

    >>> marked("In 1885 [1]", [Mark(Stretch(3, 7), "good", "", "a"), Mark(Stretch(8, 11), to="c1")])
    [('In ', '', '', ''), ('1885', 'good', '', 'a'), (' ', '', '', ''), ('[1]', '', 'c1', '')]
    """
    ends = {at for mark in marks for at in mark.place if 0 < at < len(text)}
    found: list[tuple[str, str, str, str]] = []
    for start, end in pairwise([0, *sorted(ends), len(text)]):
        here = [one for one in marks if one.place.start <= start and end <= one.place.end]
        kind = next((one.kind for one in here if one.kind), "")
        to = next((one.to for one in here if one.to), "")
        id = next((one.id for one in here if one.id and one.place.start == start), "")
        if found and not id and found[-1][1:3] == (kind, to):
            found[-1] = (found[-1][0] + text[start:end], *found[-1][1:])
        elif start < end:
            found.append((text[start:end], kind, to, id))
    return found


def text(given: Any, marks: Sequence[Mark] = ()) -> Html:
    """Somebody else's text, with what is marked and linked in it."""
    return macro("text", marked(given, marks))
