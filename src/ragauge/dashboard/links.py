"""Where views lead: addresses of the dashboard, or places inside the one file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from urllib.parse import quote, urlencode

from msgspec import Struct
from msgspec.structs import asdict

from ragauge.contracts.history import Run
from ragauge.reports.document import Data, Table, Target
from ragauge.reports.formats.html import Sorting

Field = str | int | None
ORDER = "order"
"""The field of an address that says which table is sorted by which of its columns."""


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


class To:
    """Addresses of what blocks are about, by a function for each kind of thing that has a page."""

    def __init__(self, **ways: Callable[[str], str | None]) -> None:
        self._ways = ways

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
