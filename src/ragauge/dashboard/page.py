"""A view of the history: the blocks that it shows, as a page or in a file, and their data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import Struct

from ragauge.dashboard.asked import BadAddress
from ragauge.dashboard.links import Links
from ragauge.reports import document as doc
from ragauge.reports.formats.html import written as as_html
from ragauge.store.rows import written

if TYPE_CHECKING:
    from markupsafe import Markup

Here = Literal["runs", "history", "compare", "gold"]
FORMS = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


def download(block: doc.Table | doc.Data, form: str) -> bytes:
    """The data of a block as CSV, in which no cell is a formula, or as a JSON list of objects."""
    columns, rows = block.data()
    if form == "csv":
        return written(columns, rows).encode()
    return msgspec.json.encode([dict(zip(columns, row, strict=True)) for row in rows]) + b"\n"


class Page(Struct, frozen=True, kw_only=True):
    """A view: what it is called and the blocks that it shows."""

    title: str
    here: Here | None
    """The part of the dashboard it belongs to; None for a page that is not there."""
    blocks: Sequence[doc.Block]
    links: Links
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

    @property
    def body(self) -> Markup:
        """What it shows, as a page of its own."""
        return self.html()

    @property
    def figures(self) -> dict[str, object]:
        """What can be downloaded, by name: what `?figures=NAME.csv` and `.json` give."""
        files = {name.rpartition(".")[0]: make for name, make in self.files.items()}
        return {**doc.downloads(self.blocks), **files}

    def html(self, at: doc.Place = doc.Place()) -> Markup:  # noqa: B008 - frozen
        """What it shows, as a page of its own or as part of a file."""
        names = {id(block): name for name, block in doc.downloads(self.blocks).items()}

        def exports(block: doc.Table | doc.Data) -> Iterable[tuple[str, str]]:
            return self.links.exports(names[id(block)], block) if id(block) in names else ()

        return as_html(
            self.blocks,
            name=self.name,
            links=self.to,
            sorting=self.links.sorting,
            language=self.language,
            at=at,
            exports=exports,
        )

    def wanted(self, name: str) -> tuple[bytes, str]:
        """The data that an address names, such as `values.csv`, and their content type."""
        if name in self.files:
            return self.files[name](), FORMS["json"]
        stem, _, form = name.rpartition(".")
        block = doc.downloads(self.blocks).get(stem)
        if block is None or form not in FORMS:
            known = ", ".join(f"{one}.csv, {one}.json" for one in self.figures) or "none"
            raise BadAddress(f'figures: this page has no "{name[:80]}"; it has {known}')
        return download(block, form), FORMS[form]
