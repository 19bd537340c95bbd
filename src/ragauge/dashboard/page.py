"""A view of the history: its blocks, as a page or in a file, their data, and where they lead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from ragauge.contracts.history import Run
from ragauge.dashboard.query import BadAddress
from ragauge.reports import document as doc
from ragauge.reports.document import Data, Table, Target
from ragauge.reports.formats.html import Sorting, write_blocks
from ragauge.store.rows import written

if TYPE_CHECKING:
    from markupsafe import Markup

Field = str | int | None
ORDER = "order"
"""The field of an address that says which table is sorted by which of its columns."""
Here = Literal["runs", "history", "compare", "gold"]
FORMS = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


class DocumentPlace(Struct, frozen=True):
    """A document, opened at a span; with a unit, next to what its answers cite there."""

    doc_id: str
    rev: str
    start: int | None = None
    end: int | None = None
    unit: str = ""


class Links:
    """The way to each view, as seen from a page of the dashboard.

    Other mounts override it: where one does not have a view its address is None, and text stays
    text. `sorting` is how the tables of the page are sorted, one object for all of them.
    """

    def __init__(self, path: str = "/", fields: Iterable[tuple[str, str]] = ()) -> None:
        self._path, self._fields = path, tuple(fields)
        chosen = next((value for key, value in self._fields if key == ORDER), "")
        self.sorting = Sorting(lambda order: self._changed(ORDER, order), chosen)

    def runs(self, **fields: Field) -> str | None:
        return address("/", fields.items())

    def run(self, run: str, tab: str = "", **fields: Field) -> str | None:
        return address(f"/runs/{_part(run)}" + (f"/{_part(tab)}" if tab else ""), fields.items())

    def question(self, run: str, unit: str, **fields: Field) -> str | None:
        return address(f"/runs/{_part(run)}/question", {"unit": unit, **fields}.items())

    def document(self, run: str, place: DocumentPlace) -> str | None:
        given = asdict(place)
        fields = {"doc": given.pop("doc_id"), **given}
        return address(f"/runs/{_part(run)}/document", fields.items()) + (
            "#cited" if place.end else ""
        )

    def compare(self, before: str = "", after: str = "") -> str | None:
        return address("/compare", {"before": before, "after": after}.items())

    def history(self, metric: str = "", **fields: Field) -> str | None:
        return address("/history", {"metric": metric, **fields}.items())

    def gold(self, sha256: str = "", **fields: Field) -> str | None:
        return address(f"/gold/{_part(sha256)}" if sha256 else "/gold", fields.items())

    def file(self, name: str) -> str | None:
        """A file that this page gives, or the data of one of its tables."""
        return self._changed("figures", name)

    def exports(self, name: str, block: Table | Data) -> Iterable[tuple[str, str]]:
        """The files that the data of a block of this name can be downloaded as, with addresses."""
        files = (f"{name}.csv", f"{name}.json")
        return [(file, self._changed("figures", file)) for file in files]

    def _changed(self, name: str, value: str) -> str:
        """This page with one field changed; the data of a page are no part of another."""
        kept = [(key, old) for key, old in self._fields if key not in (name, "figures")]
        return address(self._path, [*kept, (name, value)])


class PageTargets:
    """Addresses of what blocks are about, by a function for each kind of thing that has a page."""

    def __init__(self, **question_links: Callable[[str], str | None]) -> None:
        self._ways = question_links

    def to(self, target: Target) -> str | None:
        kind, id = target
        return self._ways[kind](id) if kind in self._ways else None


def address(path: str, fields: Iterable[tuple[str, Field]]) -> str:
    """A path with these fields for its query; those without a value are left out."""
    given = [(key, str(value)) for key, value in fields if value not in (None, "")]
    return f"{path}?{urlencode(given, errors='surrogatepass')}" if given else path


def _part(text: str) -> str:
    return quote(text, safe="", errors="surrogatepass")


def run_names(run: Run) -> str:
    """How a run is called where there is little room."""
    return f"{run.record.name} {run.shown}"


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

        return write_blocks(
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
