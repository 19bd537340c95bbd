"""Blocks of trace lines scored, the part of a score that runs in many processes, and gathered."""

from __future__ import annotations

import gc
from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, field

from ragauge.contracts.gold import Gold
from ragauge.contracts.metric import Absent, Facts, Metric, Pattern, Row, pattern_facts
from ragauge.contracts.options import Each
from ragauge.contracts.report import ROWS_KEPT
from ragauge.contracts.trace import Trace
from ragauge.ingest.lines import Block
from ragauge.ingest.traces import decoded, read_trace, trace_in
from ragauge.metrics.facts import NOT_OK, Read, Reader, Reading, error_reason
from ragauge.metrics.quality import GOOD_LABELS, NO_ANSWER, label
from ragauge.metrics.sums import Groups, Rows, Sums, sums_of
from ragauge.metrics.table import table
from ragauge.runners.observations import (
    CITED_SHOWN,
    CLAIM_SHOWN,
    BlockLines,
    Gathered,
    Observing,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

CLAIM_KEPT = 2_000
"""Of an answer that history keeps: enough to read, whatever a system wrote."""

Shown = tuple[str | None, tuple[str, ...], str | None]
"""What a report shows of an answer: its claim, what it cites, why it failed.
A plain tuple, because thousands of them cross from one process to another with every block."""


class BlockScores(BlockLines):
    """All that is known of a block; small, whatever the length of its texts."""

    question: array[int] = field(default_factory=lambda: array("i"))
    pattern: array[int] = field(default_factory=lambda: array("i"))
    line: array[int] = field(default_factory=lambda: array("q"))
    patterns: list[Pattern] = field(default_factory=list)
    measured: dict[str, Rows] = field(default_factory=dict)
    shown: dict[int, Shown] = field(default_factory=dict)
    """By question, the last answer where it went wrong."""
    answers: dict[int, Shown] = field(default_factory=dict)
    """By question, the last answer, where they are kept."""


class _Codes(dict[Pattern, int]):
    """A number for each pattern met; whether its label is good, and whether it is a finding."""

    def __init__(self) -> None:
        self.good: list[bool] = []
        self.noted: list[bool] = []

    def __missing__(self, pattern: Pattern) -> int:
        self[pattern] = code = len(self)
        facts = pattern_facts(pattern)
        self.good.append(label(facts) in GOOD_LABELS)
        cites = facts.answered is False and facts.cited_count > 0
        own_words = facts.refusal in ("free", "undetermined")
        self.noted.append(facts.status == "error" or cites or own_words)
        return code


class BlockScorer:
    """Scores blocks against one gold set, under one reading."""

    def __init__(
        self,
        gold: list[Gold],
        reading: Reading | Reader,
        metrics: tuple[str, ...],
        keep_answers: bool = False,
    ) -> None:
        self._reader = reading if isinstance(reading, Reader) else Reader(reading)
        self._keep_answers = keep_answers
        self._keys = [self._reader.key(question) for question in gold]
        self._beyond_pattern = [table()[id] for id in metrics if not table()[id].by_pattern]
        # A metric from elsewhere may ask for any field of the trace: then all are read.
        every_field = (lambda line: read_trace(decoded(line))) if self._beyond_pattern else None
        self._observing = Observing(gold, every_field or trace_in)

    def __call__(self, block: Block) -> BlockScores:
        """The scores of every trace of the block, in order."""
        found = BlockScores(block.name, block.start, block.size)
        lines = found.read(block)
        # Next to nothing of a block is in cycles, and to look for them takes time with every
        # thousand traces.
        collecting = gc.isenabled()
        gc.disable()
        try:
            self.add(self._observing.read(lines, found), found)
        finally:
            if collecting:
                gc.enable()
        return found

    def add(self, observed: Iterable[tuple[int, Trace, int | None]], found: BlockScores) -> None:
        """Score what was observed; traces of no gold question are passed over."""
        found.measured = {m.id: Rows(len(m.columns)) for m in self._beyond_pattern}
        codes = _Codes()
        wrong: dict[int, tuple[Read, Trace]] = {}
        right: dict[int, tuple[Read, Trace]] = {}
        # What the loop touches is bound once: it runs for every trace.
        keys, read, beyond = self._keys, self._reader.read, self._beyond_pattern
        good, noted, keep = codes.good, codes.noted, self._keep_answers
        add_question, add_pattern = found.question.append, found.pattern.append
        add_line = found.line.append
        for number, trace, place in observed:
            if place is None:
                continue
            facts = read(keys[place], trace)
            code = codes[facts[0]]
            add_question(place)
            add_pattern(code)
            add_line(number)
            if good[code]:
                wrong.pop(place, None)
                if keep:
                    right[place] = facts, trace
            else:
                wrong[place] = facts, trace
            if noted[code] or trace.ok is False:
                _note_answer(keys[place].gold.qid, facts, trace, number, found)
            for metric in beyond:
                _measure(metric, self._reader.facts(keys[place], trace), number, found)
        found.patterns = list(codes)
        found.shown = {p: _shown(*last) for p, last in wrong.items() if p < ROWS_KEPT}
        if keep:
            last_of_each = right | wrong  # a right answer followed by a wrong one is in both
            found.answers = {p: _shown(*last, CLAIM_KEPT) for p, last in last_of_each.items()}


def _note_answer(qid: str, facts: Read, trace: Trace, number: int, found: BlockScores) -> None:
    """Findings about an answer that was scored."""
    pattern, claim, cited = facts
    read = pattern_facts(pattern)
    if read.status == "error":
        found.note("error_record", number, f"{qid}: {error_reason(trace)}")
    if read.answered is False and cited:
        ids = ", ".join(cited[:3])
        found.note("refusal_cites", number, f"{qid}: refuses, yet cites {ids}")
    if read.refusal == "free":
        counted = "an answer; --refusal auto counts it as a refusal" if read.answered else "one"
        message = f"{qid}: refuses in free words, counted as {counted}: {claim}"
        found.note("free_refusal", number, message)
    elif read.refusal == "undetermined":
        message = f"{qid}: may refuse in free words, counted as an answer: {claim}"
        found.note("undetermined_refusal", number, message)
    if trace.ok is False and read.status != "error":
        message = f"{qid}: {NOT_OK}; its answer is a refusal and counts as one"
        found.note("not_ok", number, message)


def _shown(facts: Read, trace: Trace, length: int = CLAIM_SHOWN) -> Shown:
    pattern, claim, cited = facts
    failed = pattern_facts(pattern).status == "error"
    reason = error_reason(trace) if failed else None
    return claim[:length] or None, cited[:CITED_SHOWN], reason


def _measure(metric: Metric, facts: Facts, number: int, found: BlockScores) -> None:
    """One row of a metric; an exception of a foreign metric becomes a finding, never a zero."""
    try:
        row: Row | Absent = metric(facts)
    except Exception as error:  # a foreign metric can fail in any way
        row = Absent(f"{type(error).__name__} in the metric")
        found.note("metric_error", number, f"{metric.id}: {type(error).__name__}: {error}")
    found.measured[metric.id].append(row)


_NONE = -1


class Record(Struct, frozen=True):
    """Scored traces of one block, ready to be written as rows."""

    file: str
    line: Ints
    question: Ints
    pattern: Ints
    measured: dict[str, Rows]


class Gathering(Gathered):
    """What a score knows while it reads; grows with the gold set, not with the traces."""

    def __init__(self, gold: list[Gold], metrics: tuple[Metric, ...], each: Each) -> None:
        super().__init__()
        n = len(gold)
        self.gold, self.each = gold, each
        self.traces = 0
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

    def add(self, block: BlockScores) -> Record:
        """Take a block in; blocks come in the order of the files."""
        if block.start == 0:
            self.files.append(block.name)
        file = len(self.files) - 1
        line = np.frombuffer(block.line, dtype=np.int64) + self.number(block)
        question = np.frombuffer(block.question, dtype=np.int32).astype(np.int64)
        codes = [self.patterns.setdefault(p, len(self.patterns)) for p in block.patterns]
        local = np.frombuffer(block.pattern, dtype=np.int32)
        pattern = np.array(codes, dtype=np.int64)[local] if codes else local.astype(np.int64)
        self.take(block)
        self.traces += len(question)
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

    def rows(self) -> Iterator[tuple[int, int, str | None, Shown | None]]:
        """Questions, or traces where each counts, as far as a report holds them.

        Each is a question's place, its pattern, the line it stands in, and what is shown of it.
        """
        for place, pattern, file, line in self.kept if self.each == "trace" else ():
            last = line == self.last_line[place] and file == self.last_file[place]
            yield (
                place,
                pattern,
                f"{self.files[file]}:{line}",
                self.shown.get(place) if last else None,
            )
        for place in range(min(len(self.gold), ROWS_KEPT)):
            pattern, shown = int(self.last_pattern[place]), self.shown.get(place)
            if not self.traces_of[place]:
                yield place, pattern, None, shown
            elif self.each == "question":
                where = f"{self.files[self.last_file[place]]}:{self.last_line[place]}"
                yield place, pattern, where, shown

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
