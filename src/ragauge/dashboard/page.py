"""A view of the history, ready to be mounted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from ragauge.dashboard.asked import BadAddress
from ragauge.reports.spreadsheet import written

if TYPE_CHECKING:
    from markupsafe import Markup

Here = Literal["runs", "history", "compare", "gold"]

FORMS = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


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
    """A view: what it is called, what it shows, and the figures behind it."""

    title: str
    here: Here | None
    """The part of the dashboard it stands in; None for a page that is not there."""
    body: Markup
    crumbs: tuple[tuple[str, str | None], ...] = ()
    """The way here, each with its address; the last one is the page itself."""
    figures: Mapping[str, Callable[[], Figures]] = {}
    """By name: what `?figures=NAME.csv` and `.json` give."""
    refresh_s: int | None = None
    """Ask again after so long: what is shown is still being made."""

    def wanted(self, name: str) -> tuple[bytes, str]:
        """The figures an address asks for, and their content type."""
        stem, _, form = name.rpartition(".")
        if stem not in self.figures or form not in FORMS:
            there = ", ".join(f"{one}.csv, {one}.json" for one in self.figures) or "none"
            raise BadAddress(f'figures: this page has no "{name[:80]}"; it has {there}')
        return self.figures[stem]().form(form), FORMS[form]


def kept_rows(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> Figures:
    """Figures from records that may lack some of the columns."""
    return Figures(columns, [[row.get(name) for name in columns] for row in rows])
