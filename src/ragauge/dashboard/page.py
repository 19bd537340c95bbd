"""A view of the history, ready to be mounted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from ragauge.dashboard.asked import BadAddress
from ragauge.dashboard.links import Links
from ragauge.reports import document as doc
from ragauge.reports.formats.html import written as as_html
from ragauge.reports.spreadsheet import written

if TYPE_CHECKING:
    from markupsafe import Markup

Here = Literal["runs", "history", "compare", "gold"]

FORMS = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


def download(block: doc.Table | doc.Data, form: str) -> bytes:
    """The data of a block as CSV, in which no cell is a formula, or as a JSON list of objects."""
    columns, rows = block.data()
    return Figures(columns, rows).form(form)


class Figures(Struct, frozen=True):
    """What a picture or a table is made of."""

    columns: Sequence[str]
    rows: Iterable[Sequence[object]]

    def form(self, name: str) -> bytes:
        """The figures as CSV, in which no cell is a formula, or as a JSON list of objects."""
        if name == "csv":
            return written(self.columns, self.rows).encode()
        import msgspec

        objects = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return msgspec.json.encode(objects) + b"\n"


class Page(Struct, frozen=True, kw_only=True):
    """A view: what it is called and the blocks that it shows."""

    title: str
    here: Here | None
    """The part of the dashboard it belongs to; None for a page that is not there."""
    blocks: Sequence[doc.Block] = ()
    links: Links | None = None
    """How the page's tables are sorted and downloaded."""
    to: doc.Links | None = None
    """Where questions, metrics and codes that blocks name have their pages."""
    crumbs: tuple[tuple[str, str | None], ...] = ()
    """The way here, each with its address; the last one is the page itself."""
    refresh_s: int | None = None
    """Ask again after so long: what is shown is still being computed."""
    files: Mapping[str, Callable[[], bytes]] = {}
    """What can be downloaded as it is, by name."""
    language: str = "en"
    """Of the words that blocks have in several languages."""
    name: str = ""
    """The kind of report that it shows, as the verdict says it."""
    drawn: Markup | None = None
    data: Mapping[str, Callable[[], Figures]] = {}

    @property
    def body(self) -> Markup:
        """What it shows, as a page of its own."""
        return self.html()

    @property
    def figures(self) -> dict[str, object]:
        """What can be downloaded, by name: what `?figures=NAME.csv` and `.json` give."""
        files = {name.rpartition(".")[0]: make for name, make in self.files.items()}
        return {**doc.downloads(self.blocks), **self.data, **files}

    def html(self, at: doc.Place = doc.Place()) -> Markup:  # noqa: B008 - frozen
        """What it shows, as a page of its own or as part of a file."""
        if self.drawn is not None:
            return self.drawn
        links = self.links
        if links is None:
            return as_html(self.blocks, name=self.name, links=self.to, at=at)
        names = {id(block): name for name, block in doc.downloads(self.blocks).items()}

        def exports(block: doc.Table | doc.Data) -> Iterable[tuple[str, str]]:
            return links.exports(names[id(block)], block) if id(block) in names else ()

        return as_html(
            self.blocks,
            name=self.name,
            links=self.to,
            sorting=links.sorting,
            language=self.language,
            at=at,
            exports=exports,
        )

    def wanted(self, name: str) -> tuple[bytes, str]:
        """The data that an address names, such as `values.csv`, and their content type."""
        stem, _, form = name.rpartition(".")
        if name in self.files:
            return self.files[name](), FORMS["json"]
        there = doc.downloads(self.blocks)
        if form in FORMS and stem in there:
            return download(there[stem], form), FORMS[form]
        if stem not in self.data or form not in FORMS:
            known = ", ".join(f"{one}.csv, {one}.json" for one in self.figures) or "none"
            raise BadAddress(f'figures: this page has no "{name[:80]}"; it has {known}')
        return self.data[stem]().form(form), FORMS[form]


def kept_rows(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> Figures:
    """Figures from records that may lack some of the columns."""
    return Figures(columns, [[row.get(name) for name in columns] for row in rows])
