"""Ways inside the one file: to a place in it where what is meant is there, to nothing otherwise."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from ragauge.dashboard.links import Field
from ragauge.reports.document import Data, Table
from ragauge.reports.formats.html import Sorting

AT = "at."
"""What the names of places begin with; no view has an id like that."""
FIGURES = "figures:"
"""Stands for the data of a view until the view is there; see `file_views`."""
LARGEST_FIGURES = 200_000
"""Bytes of figures that the file takes along; larger ones are had from the dashboard."""
WHOLE = "report"
"""The figures that are a run's whole report: the file is one already."""
SUMMARY = "overview"


class DocumentPlace(Struct, frozen=True):
    """A document as a view opens it."""

    doc_id: str
    rev: str
    start: int | None
    end: int | None
    unit: str


class FileLinks:
    """The way to each view of one run. Documents are noted as they are asked for."""

    def __init__(
        self, run: str, units: Iterable[str], opens: Callable[[DocumentPlace], bool]
    ) -> None:
        """`opens` says whether a document can be had, and has room in the file."""
        self._run, self._opens = run, opens
        self.sorting = Sorting()
        self._questions = {unit: place("question", at) for at, unit in enumerate(units, 1)}
        self._documents: dict[DocumentPlace, str] = {}
        self.parts: frozenset[str] = frozenset()
        """The names of the parts that the file has."""
        self.lines: tuple[str, ...] = ()
        """The metrics whose history is in the file."""
        self.gates: dict[str, str] = {}
        """The metrics of which a gate does not hold, each with the place of its questions."""
        self.takes_documents = True
        """Whether a document that was not asked for before still comes into the file."""
        self.downloads = True
        """Whether views get the data of their tables and pictures to keep."""

    @property
    def questions(self) -> dict[str, str]:
        """The questions that have a view, each with its place in the file."""
        return dict(self._questions)

    @property
    def documents(self) -> dict[DocumentPlace, str]:
        """The documents that views led to, each with its place in the file."""
        return dict(self._documents)

    def runs(self, **fields: Field) -> str | None:
        return None

    def run(self, run: str, tab: str = "", **fields: Field) -> str | None:
        if run != self._run:
            return None
        gate = self.gates.get(str(fields.get("columns")))
        return f"#{gate}" if gate else self._part(tab or SUMMARY)

    def question(self, run: str, unit: str, **fields: Field) -> str | None:
        at = self._questions.get(unit) if run == self._run else None
        return f"#{at}" if at else None

    def document(
        self,
        run: str,
        doc_id: str,
        rev: str,
        start: int | None = None,
        end: int | None = None,
        unit: str = "",
    ) -> str | None:
        if run != self._run:
            return None
        wanted = DocumentPlace(doc_id, rev, start, end, unit)
        if wanted not in self._documents:
            if not (self.takes_documents and self._opens(wanted)):
                return None
            self._documents[wanted] = place("document", len(self._documents) + 1)
        return f"#{self._documents[wanted]}"

    def compare(self, before: str = "", after: str = "") -> str | None:
        return self._part("compare") if before and after == self._run else None

    def history(self, metric: str = "", **fields: Field) -> str | None:
        if not metric:
            return self._part("history")
        drawn = metric in self.lines
        return f"#{place('history', self.lines.index(metric) + 1)}" if drawn else None

    def gold(self, sha256: str = "", **fields: Field) -> str | None:
        return self._part("gold") if sha256 else None

    def figures(self, name: str, form: str) -> str | None:
        if name == WHOLE or not self.downloads:
            return None
        return f"{FIGURES}{name}.{form}"

    def exports(self, name: str, block: Table | Data) -> Iterator[tuple[str, str]]:
        """Addresses that hold the data; nothing where they would be too long."""
        from ragauge.dashboard.page import FORMS, download

        for form, kind in FORMS.items() if self.downloads else ():
            content = download(block, form)
            if len(content) <= LARGEST_FIGURES:
                encoded = base64.b64encode(content).decode()
                yield f"{name}.{form}", f"data:{kind.replace(' ', '')};base64,{encoded}"

    def _part(self, name: str) -> str | None:
        return f"#{place(name)}" if name in self.parts else None


def place(kind: str, number: int | None = None) -> str:
    """The id of a place in the file.

    >>> place("quality"), place("question", 3)
    ('at.quality', 'at.question.3')
    """
    return f"{AT}{kind}" if number is None else f"{AT}{kind}.{number}"
