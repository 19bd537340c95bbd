"""What pages are made from: the history, and what is costly to make and worth keeping a while."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from ragauge.contracts.documents import Documents, FrozenDocument
from ragauge.contracts.history import REPORT, History, Run
from ragauge.contracts.kept import ANSWERS, DOCUMENTS, SUMMARY, KeptAnswer, document_key
from ragauge.contracts.paging import PagedHistory
from ragauge.dashboard.jobs import Jobs
from ragauge.errors import UsageError

if TYPE_CHECKING:
    from ragauge.store.packed import Packed

_answer = msgspec.json.Decoder(KeptAnswer)
_document = msgspec.json.Decoder(FrozenDocument)


class Missing(UsageError):
    """What an address names is not in this history."""


class Material:
    """A history as pages read it. Several threads may read at once."""

    def __init__(self, history: History, place: str, documents: Documents | None = None) -> None:
        self.history, self.place = history, place
        self.jobs = Jobs()
        self._documents = documents

    @property
    def pages(self) -> PagedHistory:
        return self.history.pages

    def run(self, reference: str) -> Run:
        """The run of this id, or that a user names otherwise; raises Missing."""
        try:
            return self.history.find(reference)
        except UsageError as error:
            raise Missing(*error.problems) from error

    def report(self, run: Run) -> Any:
        """The run's report with its long lists cut; None where it was recorded without one."""
        from ragauge.reports.runs.stored import stored_report
        from ragauge.runners.summaries import summary

        if (content := self._file(run, SUMMARY)) is not None:
            return stored_report(content, run.shown)
        content = self._file(run, REPORT)
        return None if content is None else summary(stored_report(content, run.shown))

    def answers(self, run: Run, unit: str) -> list[KeptAnswer] | None:
        """The answers to a question of a run; None where it was recorded without texts."""
        packed = self.packed(run, ANSWERS)
        if packed is None:
            return None
        return [_answer.decode(line) for line in packed.lines(unit) or ()]

    def document(self, run: Run, doc_id: str, rev: str) -> FrozenDocument | None:
        """A document as the run kept it, or as it is found where the user says documents are."""
        packed = self.packed(run, DOCUMENTS)
        lines = packed.lines(document_key(doc_id, rev)) if packed else None
        if lines:
            return _document.decode(lines[0])
        return self._documents.find(doc_id, rev) if self._documents else None

    def packed(self, run: Run, name: str) -> Packed | None:
        """A file of the run that is packed by key; None where the run has none."""
        from ragauge.store.packed import Packed

        size = self.pages.size(run, name)
        return None if size is None else Packed(self._part(run, name), size)

    def _part(self, run: Run, name: str) -> Callable[[int, int], bytes]:
        return lambda start, stop: self.pages.part(run, name, start, stop)

    def _file(self, run: Run, name: str) -> bytes | None:
        size = self.pages.size(run, name)
        return None if size is None else self.pages.part(run, name, 0, size)
