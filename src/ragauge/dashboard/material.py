"""What pages are made from: the history, and what is costly to make and worth keeping a while."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import Struct

from ragauge.contracts.documents import Documents, FrozenDocument
from ragauge.contracts.history import ID_SHOWN, REPORT, History, Run
from ragauge.contracts.kept import ANSWERS, DOCUMENTS, SUMMARY, KeptAnswer, document_key
from ragauge.contracts.paging import PagedHistory
from ragauge.dashboard.jobs import Jobs
from ragauge.errors import UsageError
from ragauge.text.sized_lru import SizedLRU

if TYPE_CHECKING:
    from ragauge.store.packed import Packed

Kept = TypeVar("Kept", KeptAnswer, FrozenDocument)
_ID = re.compile(rf"[0-9a-f]{{{ID_SHOWN},64}}")
REMOVED = "a run of this id may have been here and been removed since: `ragauge runs rm` does that"

_answer = msgspec.json.Decoder(KeptAnswer)
_document = msgspec.json.Decoder(FrozenDocument)


KEPT_CHARS = 1 << 24
"""Characters of short reports that are kept, of runs that were recorded without one."""


class Missing(UsageError):
    """What an address names is not in this history."""


class Answered(Struct, frozen=True):
    """The answers to a question that a run keeps."""

    answers: list[KeptAnswer]
    left_out: int
    """Answers before these, for which there was no room."""


class Material:
    """A history as pages read it. Several threads may read at once."""

    def __init__(self, history: History, place: str, documents: Documents | None = None) -> None:
        self.history, self.place = history, place
        self.jobs = Jobs()
        self._documents = documents
        self._summaries: SizedLRU[str, Any] = SizedLRU(KEPT_CHARS)

    @property
    def pages(self) -> PagedHistory:
        return self.history.pages

    def run(self, reference: str) -> Run:
        """The run of this id, or that a user names otherwise; raises Missing."""
        try:
            return self.history.find(reference)
        except UsageError as error:
            removed = [REMOVED] if _ID.fullmatch(reference) else []
            raise Missing(*error.problems, *removed) from error

    def report(self, run: Run) -> Any:
        """The run's report with its long lists cut; None where it was recorded without one."""
        from ragauge.runners.summaries import SUMMARY_BYTES, summary
        from ragauge.store.recorded import stored_report

        if (content := self.file(run, SUMMARY)) is not None:
            return stored_report(content, run.shown)
        # A run of an earlier version has only the whole report, which may be long to read.
        if (made := self._summaries.get(run.id)) is None:
            if (content := self.file(run, REPORT)) is None:
                return None
            made = summary(stored_report(content, run.shown))
            self._summaries.keep(run.id, made, chars=min(len(content), SUMMARY_BYTES))
        return made

    def answers(self, run: Run, unit: str) -> list[KeptAnswer] | None:
        """The answers to a question of a run; None where it was recorded without texts."""
        answered = self.answered(run, unit)
        return None if answered is None else answered.answers

    def answered(self, run: Run, unit: str) -> Answered | None:
        """The answers to a question of a run, with how many earlier ones it could not keep."""
        packed = self.packed(run, ANSWERS)
        if packed is None:
            return None
        if (group := packed.group(unit)) is None:
            return Answered([], 0)
        decoded = [_decoded(_answer, line, run, ANSWERS) for line in group.lines]
        return Answered(decoded, group.left_out)

    def document(self, run: Run, doc_id: str, rev: str) -> FrozenDocument | None:
        """A document as the run kept it, or as it is found where the user says documents are."""
        packed = self.packed(run, DOCUMENTS)
        if packed and (group := packed.group(document_key(doc_id, rev))) and group.lines:
            return _decoded(_document, group.lines[0], run, DOCUMENTS)
        return self._documents.find(doc_id, rev) if self._documents else None

    def packed(self, run: Run, name: str) -> Packed | None:
        """A file of the run that is packed by key; None where the run has none."""
        from ragauge.store.packed import Packed

        size = self.pages.size(run, name)
        if size is None:
            return None
        return Packed(partial(self.pages.part, run, name), size, _named(run, name))

    def file(self, run: Run, name: str) -> bytes | None:
        """A file of the run; None where it has none of this name."""
        size = self.pages.size(run, name)
        return None if size is None else self.pages.part(run, name, 0, size)


def _named(run: Run, file: str) -> str:
    return f"run {run.shown}: {file}"


def _decoded(decoder: msgspec.json.Decoder[Kept], line: bytes, run: Run, file: str) -> Kept:
    """A line of a packed file; raises UsageError where it is not what it should be."""
    try:
        return decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        fact = f"{_named(run, file)}: is damaged: {error}"
        raise UsageError(f"{fact}; `ragauge runs verify` looks through all runs") from None
