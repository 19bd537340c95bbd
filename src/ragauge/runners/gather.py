"""Blocks put together again: units, places and findings, in the order of the files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import numpy as np
from msgspec import Struct

from ragauge.contracts.gold import Gold
from ragauge.contracts.metric import Absent, Metric, Pattern, Row
from ragauge.contracts.report import ROWS_KEPT, Finding, Findings
from ragauge.metrics.quality import NO_ANSWER
from ragauge.metrics.sums import Groups, Rows, Sums, sums_of
from ragauge.runners.blocks import BlockScores, Shown

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
    measured: dict[str, Rows]


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
        beyond = [metric for metric in metrics if not metric.by_pattern]
        self._sums = {metric.id: Sums.zero(metric, n) for metric in beyond}
        """What the metrics that read more than patterns found in every trace."""
        self._last: dict[str, dict[int, Row | Absent]] = {metric.id: {} for metric in beyond}
        """What they found in each question's last trace."""
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
        for id, sums in self._sums.items():
            rows = block.measured[id]
            if self.each == "trace":
                sums.add(rows.sums(sums.metric), question)
            else:
                self._last[id] |= zip(question.tolist(), rows.each(), strict=True)
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

    def sums(self, metric: Metric, groups: Groups) -> Sums:
        if metric.by_pattern:
            return sums_of(metric, groups)
        if self.each == "question":
            last = self._last[metric.id]
            return Sums.of(metric, (last.get(at, NO_ANSWER) for at in range(len(self.gold))))
        untraced = np.flatnonzero(self.traces_of == 0)
        missing = Sums.zero(metric, len(self.gold))
        missing.add(Sums.of(metric, [NO_ANSWER] * len(untraced)), untraced)
        return self._sums[metric.id] + missing

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
