"""What the one-file report is made from, and the parts it is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ragauge.contracts.documents import Documents
from ragauge.contracts.history import History, Run
from ragauge.dashboard.file_links import place
from ragauge.dashboard.jobs import AtOnce
from ragauge.dashboard.material import Material

if TYPE_CHECKING:
    from markupsafe import Markup


class FileMaterial(Material):
    """A history that is read for one file: a report that many views ask for is decoded once."""

    def __init__(self, history: History, documents: Documents | None = None) -> None:
        super().__init__(history, "", documents)
        self.jobs = AtOnce()
        self._reports: dict[str, Any] = {}

    def report(self, run: Run) -> Any:
        if run.id not in self._reports:
            self._reports[run.id] = super().report(run)
        return self._reports[run.id]


class Part(Struct, frozen=True):
    """A part of the file, which its bar leads to."""

    name: str
    title: str
    body: Markup
    count: int | None = None

    @property
    def id(self) -> str:
        return place(self.name)


class View(Struct, frozen=True):
    """A question or a document, closed until somebody opens it."""

    id: str | None
    """None where a place inside it has the name that links use."""
    name: str
    words: str
    label: str
    body: Markup
