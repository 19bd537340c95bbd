"""Blocks of trace lines scored, the part of a score that runs in many processes, and gathered."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, field

from ragauge.contracts.gold import Gold
from ragauge.contracts.kept import KeptAnswer
from ragauge.contracts.metric import Absent, Facts, Metric, Pattern, Row, pattern_facts
from ragauge.contracts.options import Each
from ragauge.contracts.report import PLACES_KEPT, ROWS_KEPT, Finding, Findings
from ragauge.contracts.trace import Trace
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.lines import Block, nothing_in
from ragauge.ingest.traces import (
    BadLine,
    can_be_read_again,
    decoded,
    faults_of,
    numbered_lines,
    read_plain,
    read_trace,
    whole_trace,
)
from ragauge.metrics.facts import NOT_OK, Read, Reader, Reading, error_reason
from ragauge.metrics.quality import GOOD_LABELS, NO_ANSWER, label
from ragauge.metrics.sums import Groups, Rows, Sums, sums_of
from ragauge.metrics.table import table
from ragauge.text.canonical import same_question
from ragauge.text.visible import one_line, visible

SHOWN = 200
"""Characters of a qid that a message shows."""


class Join:
    """Places of gold questions, by qid and by question; None where two questions read alike."""

    def __init__(self, gold: Sequence[Gold]) -> None:
        self.by_qid = {question.qid: place for place, question in enumerate(gold)}
        self.by_question: dict[str, int | None] = {}
        for place, question in enumerate(gold):
            text = same_question(question.question)
            self.by_question[text] = None if text in self.by_question else place

    def place(self, trace: Trace) -> int | None:
        if trace.qid is not None:
            return self.by_qid.get(trace.qid)
        return self.by_question.get(same_question(trace.q or ""))

    def stray(self, trace: Trace) -> tuple[str, str]:
        """Why a trace has no place: the finding's code and message, which is safe to show."""
        if trace.qid is not None:
            return "unknown_question", f'qid "{one_line(trace.qid, SHOWN)}" is not in the gold set'
        # As the trace has it, runs of spaces included: that is what a reader searches the file for.
        written = visible(f"{trace.q or '':.60}".replace("\n", "\\n"))
        if same_question(trace.q or "") not in self.by_question:
            return "unknown_question", f'question "{written}" is not in the gold set'
        return (
            "ambiguous_question",
            f'question "{written}" appears twice in the gold set; give the trace a qid',
        )


Answers = Callable[[], Iterable[tuple[str, KeptAnswer]]]
"""Gives each answer with the id of its unit, where somebody wants to keep them."""


def answers_to(gold: Sequence[Gold], names: Sequence[str]) -> Answers | None:
    """What gives the traces of the gold set's questions, those of one in the order they stand.

    None where a file cannot be read twice, such as standard input.
    """
    return partial(_answers, gold, names) if can_be_read_again(names) else None


def _answers(gold: Sequence[Gold], names: Sequence[str]) -> Iterator[tuple[str, KeptAnswer]]:
    join = Join(gold)
    for name in names:
        for where, line in numbered_lines(name):
            try:
                trace = whole_trace(line)
            except BadLine:
                continue  # a finding of the run already
            place = join.place(trace)
            if place is not None:
                yield gold[place].qid, KeptAnswer(trace=trace, where=where)


def allowed_bad(text: str) -> Callable[[int], int | Fraction]:
    """How many bad lines a number of lines may hold: `N`, or `P%` of them."""
    written = re.fullmatch(r"(\d+)|(\d+(?:\.\d+)?)%", text, re.ASCII)
    if not written or float(written[2] or 0) > 100:
        raise UsageError(f'--max-bad "{text}" is neither a count nor a percentage such as 1%')
    if written[1]:
        return lambda lines: int(written[1])
    return lambda lines: Fraction(written[2]) / 100 * lines


def refuse_bad_lines(findings: Findings, rejected: int, allowed: int | Fraction) -> None:
    """Raise InputRejected with the bad lines, where they are more than allowed."""
    if rejected > allowed:
        bad = [finding for finding in findings.kept() if finding.code == "bad_line"]
        problems = [f"{finding.where}: {finding.message}" for finding in bad]
        raise InputRejected(*problems, more=findings.counts["bad_line"] - len(bad))


def refuse_nothing(names: Sequence[str], findings: Findings, seen: int, what: str) -> None:
    """Raise InputRejected because none of the lines seen can be scored."""
    empty = nothing_in(names[0]) if len(names) == 1 else None
    fact = f"none of the {seen:,} {what} belongs to a gold question" if seen else f"no {what}"
    fact = f"{fact}; {empty}" if empty else fact
    first = [f"{finding.where}: {finding.message}" for finding in findings.kept()[:3]]
    raise InputRejected(f"{', '.join(names)}: nothing to score: {fact}", *first)


CLAIM_SHOWN = 300
CLAIM_KEPT = 2_000
"""Of an answer that history keeps: enough to read, whatever a system wrote."""
MESSAGE_SHOWN = 400
CITED_SHOWN = 10


Shown = tuple[str | None, tuple[str, ...], str | None]
"""What a report shows of an answer: its claim, what it cites, why it failed.
A plain tuple, because thousands of them cross from one process to another with every block."""


class Note(Struct, frozen=True):
    """A finding whose line number still counts from the block's beginning."""

    code: str
    line: int
    message: str


class BlockScores(Struct):
    """All that is known of a block; small, whatever the length of its texts."""

    name: str
    start: int
    size: int
    lines: int = 0
    filled: int = 0
    rejected: int = 0
    unplaced: int = 0
    question: array[int] = field(default_factory=lambda: array("i"))
    pattern: array[int] = field(default_factory=lambda: array("i"))
    line: array[int] = field(default_factory=lambda: array("q"))
    patterns: list[Pattern] = []
    measured: dict[str, Rows] = {}
    shown: dict[int, Shown] = {}
    """By question, the last answer where it went wrong."""
    answers: dict[int, Shown] = {}
    """By question, the last answer, where they are kept."""
    notes: list[Note] = []
    note_counts: dict[str, int] = {}


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
        reading: Reading,
        metrics: tuple[str, ...],
        keep_answers: bool = False,
    ) -> None:
        self._reader, self._keep_answers = Reader(reading), keep_answers
        self._read = self._reader.read
        self._keys = [self._reader.key(question) for question in gold]
        self._join = Join(gold)
        self._beyond_pattern = [table()[id] for id in metrics if not table()[id].by_pattern]
        # A metric from elsewhere may ask for any field of the trace: then all are read.
        self._read_plain = (lambda line: None) if self._beyond_pattern else read_plain

    def __call__(self, block: Block) -> BlockScores:
        """The scores of every trace of the block, in order."""
        content = block.read()
        if block.start == 0:
            refuse_array(block.name, content)
        found = BlockScores(block.name, block.start, block.size, lines=content.count(b"\n"))
        found.measured = {m.id: Rows(len(m.columns)) for m in self._beyond_pattern}
        codes = _Codes()
        wrong: dict[int, tuple[Read, Trace]] = {}
        right: dict[int, tuple[Read, Trace]] = {}
        # What the loop touches is bound once: it runs for every trace.
        by_qid, by_question = self._join.by_qid, self._join.by_question
        keys, read = self._keys, self._read
        read_plain, good, noted = self._read_plain, codes.good, codes.noted
        add_question, add_pattern = found.question.append, found.pattern.append
        add_line, keep = found.line.append, self._keep_answers
        for number, line in enumerate(content.split(b"\n"), 1):
            if not line or line.isspace():
                continue
            try:
                trace = read_plain(line) or read_trace(decoded(line))
            except BadLine as fault:
                _reject(line, fault, number, found)
                continue
            qid = trace.qid
            place = by_question.get(trace.q or "") if qid is None else by_qid.get(qid)
            if place is None and (place := self._place(trace, number, found)) is None:
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
            for metric in self._beyond_pattern:
                _measure(metric, self._reader.facts(keys[place], trace), number, found)
        found.filled = len(found.question) + found.rejected + found.unplaced
        found.patterns = list(codes)
        found.shown = {p: _shown(*last) for p, last in wrong.items() if p < ROWS_KEPT}
        if keep:
            last_of_each = right | wrong  # a right answer followed by a wrong one is in both
            found.answers = {p: _shown(*last, CLAIM_KEPT) for p, last in last_of_each.items()}
        return found

    def _place(self, trace: Trace, number: int, found: BlockScores) -> int | None:
        """The gold question of a trace whose qid did not tell, by its words where it has none."""
        place = self._join.place(trace)
        if place is None:
            found.unplaced += 1
            code, message = self._join.stray(trace)
            _note(found, code, number, message, safe=True)
        return place


def refuse_array(name: str, content: bytes) -> None:
    """One clear word in place of an error for each line of a pretty-printed array."""
    if re.match(rb"\s*\[\s*\{", content):
        raise InputRejected(
            f"{name}: is a JSON array; traces are JSON Lines, one object a line: "
            "`jq -c '.[]'` makes them of it"
        )


def _reject(line: bytes, fault: Exception, number: int, found: BlockScores) -> None:
    found.rejected += 1
    for message in faults_of(line, fault):
        _note(found, "bad_line", number, message)


def _note_answer(qid: str, facts: Read, trace: Trace, number: int, found: BlockScores) -> None:
    """Findings about an answer that was scored."""
    pattern, claim, cited = facts
    read = pattern_facts(pattern)
    if read.status == "error":
        _note(found, "error_record", number, f"{qid}: {error_reason(trace)}")
    if read.answered is False and cited:
        ids = ", ".join(cited[:3])
        _note(found, "refusal_cites", number, f"{qid}: refuses, yet cites {ids}")
    if read.refusal == "free":
        counted = "an answer; --refusal auto counts it as a refusal" if read.answered else "one"
        message = f"{qid}: refuses in free words, counted as {counted}: {claim}"
        _note(found, "free_refusal", number, message)
    elif read.refusal == "undetermined":
        message = f"{qid}: may refuse in free words, counted as an answer: {claim}"
        _note(found, "undetermined_refusal", number, message)
    if trace.ok is False and read.status != "error":
        message = f"{qid}: {NOT_OK}; its answer is a refusal and counts as one"
        _note(found, "not_ok", number, message)


def _note(found: BlockScores, code: str, number: int, message: str, *, safe: bool = False) -> None:
    times = found.note_counts.get(code, 0)
    found.note_counts[code] = times + 1
    if times < PLACES_KEPT:
        # A message holds foreign text, which may be long or play tricks on a terminal.
        shown = message if safe else one_line(message, MESSAGE_SHOWN)
        found.notes.append(Note(code, number, shown))


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
        _note(found, "metric_error", number, f"{metric.id}: {type(error).__name__}: {error}")
    found.measured[metric.id].append(row)


if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


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
