"""A page taken apart as a browser would: its tables, links, fields, drawings and tags."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path

import msgspec

from ragauge.dashboard.material import Material
from ragauge.store.history import open_history


@contextmanager
def material_at(folder: Path) -> Iterator[Material]:
    """An empty history in a folder, as pages read it."""
    history = open_history(str(folder / "store"))
    material = Material(history, "here")
    yield material
    material.jobs.close()
    history.close()


class Parts(HTMLParser):
    """What a page is made of; texts have their blanks made one."""

    def __init__(self, page: object) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        """Rows of cells; the first row has the heads."""
        self.links: list[str] = []
        self.labels: list[str] = []
        """What drawings say to who cannot see them."""
        self.chosen: list[tuple[str, str]] = []
        """Checked radio buttons: name and value."""
        self.options: list[str] = []
        self.shape: list[tuple[str, tuple[str, ...]]] = []
        """Tags with the names of their attributes, and none of the text."""
        self.chart: dict[str, object] | None = None
        self._text: list[str] = []
        self._cell: list[str] | None = None
        self._in: list[str] = []
        self._in_characters = False
        self.feed(str(page))
        self.close()

    @property
    def text(self) -> str:
        return " ".join("".join(self._text).split())

    def rows(self, table: int = 0) -> list[list[str]]:
        """The body of a table, without the notes below its rows."""
        heads, *rows = self.tables[table]
        return [row for row in rows if len(row) == len(heads)]

    def column(self, head: str, table: int | None = None) -> list[str]:
        """The cells below a head, of the first table that has it."""
        if table is None:
            table = next(at for at, rows in enumerate(self.tables) if head in rows[0])
        place = self.tables[table][0].index(head)
        return [row[place] for row in self.rows(table)]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.shape.append((tag, tuple(name for name, _ in attrs)))
        self._in.append(tag)
        match tag:
            case "table":
                self.tables.append([])
            case "tr":
                self.tables[-1].append([])
            case "td" | "th":
                self._cell = []
            case "a" if "href" in given:
                self.links.append(given["href"])
            case "svg" | "span" | "div" if "aria-label" in given:
                self.labels.append(given["aria-label"])
                self._in_characters = tag == "span"
            case "input" if given.get("type") == "radio" and "checked" in given:
                self.chosen.append((given["name"], given["value"]))

    def handle_endtag(self, tag: str) -> None:
        self.shape.append((f"/{tag}", ()))
        self._in_characters = False
        while self._in and self._in.pop() != tag:
            pass
        if tag in ("td", "th") and self._cell is not None:
            self.tables[-1][-1].append(" ".join("".join(self._cell).split()))
            self._cell = None

    def handle_data(self, data: str) -> None:
        here = self._in[-1] if self._in else ""
        if here == "script":
            self.chart = msgspec.json.decode(data)
            return
        if here == "option":
            self.options.append(" ".join(data.split()))
        if here == "title" or self._in_characters:  # of a shape, or what draws one
            return
        self._text.append(data)
        if self._cell is not None:
            self._cell.append(data)

    def handle_comment(self, data: str) -> None:
        self.shape.append(("comment", ()))

    def unknown_decl(self, data: str) -> None:
        self.shape.append(("declaration", ()))
