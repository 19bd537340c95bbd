"""Blocks put together again: units, places and findings, in the order of the files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from msgspec import Struct

from ragauge.contracts.facts import Pattern
from ragauge.contracts.finding import Finding, Findings
from ragauge.contracts.gold import Gold
from ragauge.contracts.metric import Absent, Metric, NotApplicable
from ragauge.contracts.score import ROWS_KEPT
from ragauge.metrics.quality import NO_ANSWER
from ragauge.metrics.sums import Groups, QuestionSums, sums_of
from ragauge.runners.blocks import BlockScores, Measured, Shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

Each = Literal["question", "trace"]

_NONE = -1


class Record(Struct, frozen=True):
    """Scored traces of one block, ready to be written as rows."""

    file: str
    line: Ints
    question: Ints
    pattern: Ints
    measured: dict[str, Measured]


class Gathering:
    """What a score knows while it reads; grows with the gold set, not with the traces."""

    def __init__(self, gold: list[Gold], metrics: tuple[Metric, ...], each: Each) -> None:
        n = len(gold)
        self.gold, self.each = gold, each
        self.findings = Findings()
        self.traces = self.rejected = self.filled = 0
        self.traces_of = np.zeros(n, dtype=np.int64)
        self.patterns: dict[Pattern, int] = {}
        self.files: list[str] = []
        self.last_pattern = np.full(n, _NONE, dtype=np.int64)
        self.last_file = np.zeros(n, dtype=np.int32)
        self.last_line = np.zeros(n, dtype=np.int64)
        self.shown: dict[int, Shown] = {}
        self.answers: dict[int, Shown] = {}
        """Each question's last answer, where answers are kept."""
        self.kept: list[tuple[int, int, int, int]] = []
        """The first traces as (question, pattern, file, line), for `each="trace"`."""
        self._groups = _Counted()
        self._beyond = {m.id: RowSums(m, n) for m in metrics if not m.by_pattern}
        self._lines_before = 0

    def add(self, block: BlockScores) -> Record:
        """Take a block in; blocks come in the order of the files."""
        if block.start == 0:
            self.files.append(block.name)
            self._lines_before = 0
        file = len(self.files) - 1
        line = np.frombuffer(block.line, dtype=np.int64) + self._lines_before
        question = np.frombuffer(block.question, dtype=np.int32).astype(np.int64)
        codes = [self.patterns.setdefault(p, len(self.patterns)) for p in block.patterns]
        local = np.frombuffer(block.pattern, dtype=np.int32)
        pattern = np.array(codes, dtype=np.int64)[local] if codes else local.astype(np.int64)
        self._note(block)
        self.traces += len(question)
        self.filled += block.filled
        self.rejected += block.rejected
        np.add.at(self.traces_of, question, 1)
        self._take_last(question, pattern, file, line, block.shown)
        self.answers |= block.answers
        if self.each == "trace":
            self._groups.add(question, pattern)
            self._keep(question, pattern, file, line)
        for id, sums in self._beyond.items():
            sums.add(question, block.measured[id], replace=self.each == "question")
        self._lines_before += block.lines
        return Record(block.name, line, question, pattern, block.measured)

    def groups(self, missing: Callable[[Gold], Pattern]) -> Groups:
        """The units: the last trace of each question, or each trace; and the untraced questions."""
        untraced = np.flatnonzero(self.traces_of == 0)
        for place in untraced:
            empty = missing(self.gold[place])
            self.last_pattern[place] = self.patterns.setdefault(empty, len(self.patterns))
        if self.each == "question":
            question = np.arange(len(self.gold), dtype=np.int64)
            pattern, count = self.last_pattern, np.ones_like(question)
        else:
            question, pattern, count = self._groups.counted(untraced, self.last_pattern[untraced])
        return Groups(len(self.gold), question, pattern, count, tuple(self.patterns))

    def sums(self, metric: Metric, groups: Groups) -> QuestionSums:
        if metric.by_pattern:
            return sums_of(metric, groups)
        return self._beyond[metric.id].finished(self.traces_of, self.each)

    def _note(self, block: BlockScores) -> None:
        before = self._lines_before
        noted = Counter(note.code for note in block.notes)
        for note in block.notes:
            self.findings.add(
                Finding(note.code, f"{block.name}:{before + note.line}", note.message)
            )
        for code, times in block.note_counts.items():
            self.findings.count(code, times - noted[code])

    def _take_last(
        self, question: Ints, pattern: Ints, file: int, line: Ints, shown: dict[int, Shown]
    ) -> None:
        # Where a question stands several times in the block, numpy keeps the last assignment.
        self.last_pattern[question] = pattern
        self.last_line[question] = line
        self.last_file[question] = file
        for place in np.unique(question[question < ROWS_KEPT]).tolist():
            self.shown.pop(place, None)
        self.shown |= shown

    def _keep(self, question: Ints, pattern: Ints, file: int, line: Ints) -> None:
        room = ROWS_KEPT - len(self.kept)
        if room > 0:
            rows = np.stack([question[:room], pattern[:room], line[:room]], axis=1).tolist()
            self.kept += [(place, code, file, at) for place, code, at in rows]


class _Counted:
    """Units counted by (question, pattern), compacted now and then so that memory stays flat."""

    WIDTH = 1 << 24
    """Patterns a run may have; questions stand above them in one integer key."""

    def __init__(self) -> None:
        self._keys: list[Ints] = []
        self._counts: list[Ints] = []
        self._held = self._compact_at = 0

    def add(self, question: Ints, pattern: Ints) -> None:
        keys, counts = np.unique(question * self.WIDTH + pattern, return_counts=True)
        self._keys.append(keys)
        self._counts.append(counts)
        self._held += len(keys)
        if self._held > self._compact_at:
            self._compact()

    def counted(self, question: Ints, pattern: Ints) -> tuple[Ints, Ints, Ints]:
        if len(question):
            self.add(question, pattern)
        self._compact()
        keys, counts = self._keys[0], self._counts[0]
        return keys // self.WIDTH, keys % self.WIDTH, counts

    def _compact(self) -> None:
        keys, inverse = np.unique(np.concatenate(self._keys), return_inverse=True)
        counts = np.zeros(len(keys), dtype=np.int64)
        np.add.at(counts, inverse, np.concatenate(self._counts))
        self._keys, self._counts, self._held = [keys], [counts], len(keys)
        self._compact_at = 2 * len(keys) + 100_000


class RowSums:
    """Rows of a metric that reads more than patterns, by question."""

    def __init__(self, metric: Metric, questions: int) -> None:
        self.metric = metric
        self._sums: Any = np.zeros((questions, len(metric.columns)), dtype=np.int64)
        self._scored = np.zeros(questions, dtype=np.int64)
        self._outside = np.zeros(questions, dtype=np.int64)
        self._reach = 0
        self._last: dict[int, Absent | None] = {}
        self._absent: Counter[Absent] = Counter()

    def grow(self, questions: int) -> None:
        """Make room for as many questions."""
        more = questions - len(self._scored)
        if more > 0:
            # Twice the room at once: questions come one by one.
            room = max(more, len(self._scored))
            self._sums = np.pad(self._sums, ((0, room), (0, 0)))
            self._scored = np.pad(self._scored, (0, room))
            self._outside = np.pad(self._outside, (0, room))

    def add(self, question: Ints, rows: Measured, *, replace: bool) -> None:
        counts = np.frombuffer(rows.counts, dtype=np.int64).reshape(
            len(question), len(self.metric.columns)
        )
        counts = self._exact(counts)
        scored = np.array([why is None for why in rows.absent], dtype=np.int64)
        outside = np.array([isinstance(why, NotApplicable) for why in rows.absent], dtype=np.int64)
        if replace:
            self._sums[question], self._scored[question] = counts, scored
            self._outside[question] = outside
            self._last |= zip(question.tolist(), rows.absent, strict=True)
        else:
            np.add.at(self._sums, question, counts)
            np.add.at(self._scored, question, scored)
            np.add.at(self._outside, question, outside)
            self._absent.update(why for why in rows.absent if why)

    def _exact(self, counts: Any) -> Any:
        """The counts, as Python's own integers once a sum of them could leave 64 bits."""
        if counts.size:
            self._reach += int(np.abs(counts.astype(np.float64)).max()) * len(counts)
        if self._reach >= 1 << 62:
            self._sums = self._sums.astype(object)
            return counts.astype(object)
        return counts

    def finished(self, traces_of: Ints, each: Each) -> QuestionSums:
        units = np.maximum(traces_of, 1) if each == "trace" else np.ones_like(traces_of)
        absent = self._absent + Counter(why for why in self._last.values() if why)
        untraced = int((traces_of == 0).sum())
        if untraced:
            absent[NO_ANSWER] += untraced
        n = len(traces_of)
        due = units - self._outside[:n]
        return QuestionSums(self.metric, self._sums[:n], self._scored[:n], due, absent)
