"""Audited answers and the documents they point into, as a recorded run keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct, structs

from ragauge.contracts.citation import Unit
from ragauge.contracts.documents import FrozenDocument
from ragauge.contracts.gold import Gold, Span
from ragauge.contracts.kept import KeptAnswer
from ragauge.contracts.manifest import Manifest
from ragauge.engines.local import ordered
from ragauge.ingest.lines import blocks
from ragauge.ingest.traces import audited_trace, can_be_read_again
from ragauge.runners.audit_blocks import AuditSetup, BlockAudit, BlockAuditor
from ragauge.runners.audit_unit import Piece, in_one_unit
from ragauge.runners.blocks import Answers
from ragauge.store.documents import FolderDocuments
from ragauge.text.canonical import composed


class KeptLine(Struct, frozen=True):
    """An answer with its unit and the line it stands in."""

    unit: str
    line: int
    answer: KeptAnswer


class _KeptBlock(Struct, frozen=True):
    """The answers of a block, whose line numbers still count from its beginning."""

    name: str
    start: int
    lines: int
    answers: list[KeptLine]


class KeepingAuditor:
    """Audits lines once more, to keep them beside what is found; nothing is measured."""

    def __init__(self, setup: AuditSetup) -> None:
        bare = structs.replace(setup, metrics=(), embedder=None, ranks=None, logged_at=None)
        self._auditor = BlockAuditor(bare)

    def __call__(self, piece: Piece) -> _KeptBlock:
        block, content = piece.block, piece.block.read()
        numbered = enumerate(content.split(b"\n"), 1)
        answers = list(self.kept(block.name, numbered, piece.unit))
        return _KeptBlock(block.name, block.start, content.count(b"\n"), answers)

    def kept(
        self, name: str, lines: Iterable[tuple[int, bytes]], unit: Unit | None
    ) -> Iterator[KeptLine]:
        """The answer of each line that holds a trace, one at a time."""
        for number, line in lines:
            found = BlockAudit(name, 0, 0)
            for one in self._auditor.audit_lines([(number, line)], found, unit):
                trace = audited_trace(line, one.made)
                [key], [code] = found.keys, found.codes
                answer = KeptAnswer(trace=trace, code=code, findings=one.findings)
                yield KeptLine(key, number, answer)


def audited_answers(setup: AuditSetup, names: Sequence[str], workers: int) -> Answers | None:
    """What gives every audited answer; None where a file cannot be read twice."""
    return partial(_answers, setup, names, workers) if can_be_read_again(names) else None


def _answers(
    setup: AuditSetup, names: Sequence[str], workers: int
) -> Iterator[tuple[str, KeptAnswer]]:
    work = in_one_unit(block for name in names for block in blocks(name))
    before = 0
    for block in ordered(KeepingAuditor, (setup,), work, workers):
        before = 0 if block.start == 0 else before
        for one in block.answers:
            where = f"{block.name}:{before + one.line}"
            yield one.unit, structs.replace(one.answer, where=where)
        before += block.lines


def cited_documents(
    docs: str, manifest: Manifest | None, cited: Iterable[tuple[str, str]], gold: Sequence[Gold]
) -> Iterator[FrozenDocument]:
    """The documents of a folder that answers cite or the gold set points into, ordered by id."""
    revs = {composed(id): rev for id, rev in (manifest.doc_revs if manifest else {}).items()}
    marked = {
        (span.doc_id, span.rev or revs.get(composed(span.doc_id), ""))
        for question in gold
        for span in _spans(question)
    }
    documents = FolderDocuments(Path(docs), manifest)
    for doc_id, rev in sorted({*cited, *marked}):
        found = documents.find(doc_id, rev)
        if found is not None:
            yield found


def _spans(question: Gold) -> Iterator[Span]:
    for span in (question.anchor, question.target_section, question.decoy):
        if span is not None:
            yield span
