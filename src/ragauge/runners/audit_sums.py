"""Blocks of an audit put together again, in the order of the files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
from msgspec import structs

from ragauge.citations.codes import CODES, message_of, rank_of
from ragauge.contracts.audit import OK, AuditedAnswer, AuditFinding
from ragauge.contracts.metric import Metric, Row
from ragauge.contracts.report import ROWS_KEPT, Findings
from ragauge.metrics.quality import NO_ANSWER
from ragauge.metrics.sums import Sums
from ragauge.runners.audit_blocks import BlockAudit, Noted

UNANSWERED = "traceability.unanswered"


class AuditSums:
    """What an audit knows while it reads: grows with the questions, not with the traces."""

    def __init__(self, metrics: tuple[Metric, ...], questions: Iterable[str] = ()) -> None:
        self.findings = Findings()
        self.questions = {qid: place for place, qid in enumerate(questions)}
        """The place of each question, those of the gold set first."""
        self.traces = self.filled = self.rejected = self.unknown = self.citations = 0
        self.kinds: Counter[str] = Counter()
        self.code_answers: Counter[str] = Counter()
        self.problems: dict[str, None] = {}
        self.unproven: dict[str, None] = {}
        self._wrong: list[AuditedAnswer] = []
        self._right: list[AuditedAnswer] = []
        self._sums = {metric.id: Sums.zero(metric, len(self.questions)) for metric in metrics}
        self._traces_of: Counter[int] = Counter()
        self._codes: dict[int, str] = {}
        self._all_codes: dict[int, tuple[str, ...]] = {}
        self._cited: dict[int, tuple[str, ...]] = {}
        self.documents: set[tuple[str, str]] = set()
        """The frozen documents that are cited, by id and revision."""
        self._lines_before = 0

    def add(self, block: BlockAudit) -> None:
        """Take a block in; blocks come in the order of the files."""
        if block.start == 0:
            self._lines_before = 0
        places = [self.questions.setdefault(key, len(self.questions)) for key in block.keys]
        self._traces_of.update(places)
        for place, code in zip(places, block.codes, strict=True):
            self._codes[place] = min(self._codes.get(place, code), code, key=_rank)
        for place, codes in zip(places, block.found, strict=True):
            known = self._all_codes.get(place, ())
            if not set(codes) <= set(known):
                self._all_codes[place] = tuple(sorted({*known, *codes}, key=_rank))
        self._cited |= dict(zip(places, block.cited, strict=True))
        self.documents |= block.documents
        question = np.array(places, dtype=np.int64)
        for id, sums in self._sums.items():
            sums.add(block.measured[id].sums(sums.metric), question)
        self._count(block)
        self._keep(block)
        self._note(block)
        self._lines_before += block.lines

    def sums(self) -> dict[str, Sums]:
        """Each metric's sums by question; a question nobody answered has no value."""
        n = len(self.questions)
        untraced = np.array([at for at in range(n) if not self._traces_of[at]], dtype=np.int64)
        found = {}
        for id, sums in self._sums.items():
            # That nobody answered is all that this metric counts.
            row = Row((1, 1)) if id == UNANSWERED else NO_ANSWER
            missing = Sums.zero(sums.metric, n)
            missing.add(Sums.of(sums.metric, [row] * len(untraced)), untraced)
            found[id] = sums.first(n) + missing
        return found

    def answers(self) -> tuple[AuditedAnswer, ...]:
        """The answers that went wrong, then the others, as many as a report holds."""
        return tuple([*self._wrong, *self._right][:ROWS_KEPT])

    def labels(self) -> list[str | None]:
        """The worst code of each question; None where nobody answered it."""
        return [self._codes.get(place) for place in range(len(self.questions))]

    def details(self) -> dict[str, list[tuple[str, ...]]]:
        """By question: all codes of its answers, the worst first, and what the last one cites."""
        places = range(len(self.questions))
        return {
            "codes": [self._all_codes.get(place, ()) for place in places],
            "cited": [self._cited.get(place, ()) for place in places],
        }

    def traced(self, qid: str) -> bool:
        return self._traces_of[self.questions[qid]] > 0

    def _count(self, block: BlockAudit) -> None:
        self.traces += len(block.keys)
        self.filled += block.filled
        self.rejected += block.rejected
        self.unknown += block.unknown
        self.citations += block.citations
        self.kinds.update(block.kinds)
        self.code_answers.update(block.code_answers)
        self.problems |= dict.fromkeys(block.problems)
        self.unproven |= dict.fromkeys(block.unproven)

    def _keep(self, block: BlockAudit) -> None:
        for kept, rows in ((self._wrong, block.wrong), (self._right, block.right)):
            for line, row in rows[: ROWS_KEPT - len(kept)]:
                kept.append(structs.replace(row, where=self._where(block, line)))

    def _note(self, block: BlockAudit) -> None:
        noted = Counter(note.code for note in block.notes)
        for note in block.notes:
            self.findings.add(finding_of(note, self._where(block, note.line)))
        for code, times in block.note_counts.items():
            self.findings.count(code, times - noted[code])

    def _where(self, block: BlockAudit, line: int) -> str:
        return f"{block.name}:{self._lines_before + line}"


def _rank(code: str) -> tuple[int, int, str]:
    """Codes by how bad they are; a trace without an answer is worse, and one that holds best."""
    if code == "error_record":
        return -1, 0, ""
    return (len(CODES), 0, "") if code == OK else rank_of(code)


def finding_of(noted: Noted, where: str) -> AuditFinding:
    """The finding with its place in the traces."""
    found = noted.finding
    if found is None:
        return AuditFinding(noted.code, where, noted.message, qid=noted.qid)
    return AuditFinding(
        found.code,
        where,
        message_of(found),
        qid=noted.qid,
        field=found.field,
        item=found.item,
        segment=found.segment,
        got=found.got,
        expected=found.expected,
        tip=found.tip,
    )
