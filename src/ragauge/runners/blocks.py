"""A block of trace lines scored: the part of a score that runs in many processes."""

from __future__ import annotations

from array import array
from typing import Any

from msgspec import Struct, field

from ragauge.contracts.facts import Facts, Pattern, pattern_facts, pattern_of
from ragauge.contracts.finding import PLACES_KEPT
from ragauge.contracts.gold import Gold
from ragauge.contracts.metric import Absent, Metric, Row
from ragauge.contracts.score import ROWS_KEPT
from ragauge.contracts.trace import Trace
from ragauge.ingest.fields import BadField
from ragauge.ingest.lines import MAX_LINE, Block
from ragauge.ingest.strict_json import BadJson, decode
from ragauge.ingest.traces import read_trace, trace_faults
from ragauge.metrics.facts import Reader, Reading, error_reason
from ragauge.metrics.quality import GOOD_LABELS, label
from ragauge.metrics.table import table
from ragauge.text.canonical import same_question

CLAIM_SHOWN = 300
CITED_SHOWN = 10


class Shown(Struct, frozen=True):
    """What a report shows of a question that went wrong."""

    claim: str | None
    cited: tuple[str, ...]
    reason: str | None


class Note(Struct, frozen=True):
    """A finding whose line number still counts from the block's beginning."""

    code: str
    line: int
    message: str


class Measured(Struct):
    """Rows of one metric that reads more than the pattern: a plug-in's, usually."""

    counts: array[int]
    reasons: list[str | None]
    """None where the trace was scored."""


class BlockScores(Struct):
    """All that is known of a block; small, whatever the length of its texts."""

    name: str
    size: int
    lines: int = 0
    filled: int = 0
    rejected: int = 0
    unplaced: int = 0
    question: array[int] = field(default_factory=lambda: array("i"))
    pattern: array[int] = field(default_factory=lambda: array("i"))
    line: array[int] = field(default_factory=lambda: array("q"))
    patterns: list[Pattern] = []
    measured: dict[str, Measured] = {}
    shown: dict[int, Shown] = {}
    notes: list[Note] = []
    note_counts: dict[str, int] = {}


class _Codes(dict[Pattern, int]):
    """A number for each pattern met, and whether its label is a good one."""

    def __init__(self) -> None:
        self.good: list[bool] = []

    def __missing__(self, pattern: Pattern) -> int:
        self[pattern] = code = len(self)
        self.good.append(label(pattern_facts(pattern)) in GOOD_LABELS)
        return code


class BlockScorer:
    """Scores blocks against one gold set, under one reading."""

    def __init__(self, gold: list[Gold], reading: Reading, metrics: tuple[str, ...]) -> None:
        self._reader = Reader(reading)
        self._keys = [self._reader.key(question) for question in gold]
        self._by_qid = {question.qid: place for place, question in enumerate(gold)}
        self._by_question: dict[str, int | None] = {}
        for place, question in enumerate(gold):
            text = same_question(question.question)
            self._by_question[text] = None if text in self._by_question else place
        self._beyond_pattern = [table()[id] for id in metrics if not table()[id].by_pattern]

    def __call__(self, block: Block) -> BlockScores:
        """The scores of every trace of the block, in order."""
        found = BlockScores(block.name, block.size)
        found.measured = {m.id: Measured(array("q"), []) for m in self._beyond_pattern}
        codes = _Codes()
        wrong: dict[int, Facts] = {}
        content = block.read()
        for number, line in enumerate(content.split(b"\n"), 1):
            if line and not line.isspace():
                self._score_line(line, number, found, codes, wrong)
        found.lines = content.count(b"\n")
        found.filled = len(found.question) + found.rejected + found.unplaced
        found.patterns = list(codes)
        found.shown = {place: _shown(facts) for place, facts in wrong.items()}
        return found

    def _score_line(
        self,
        line: bytes,
        number: int,
        found: BlockScores,
        codes: _Codes,
        wrong: dict[int, Facts],
    ) -> None:
        """Score one line; `wrong` keeps the last trace of each question if it went wrong."""
        try:
            trace = read_trace(decode(line) if len(line) <= MAX_LINE else _overlong())
        except (BadJson, BadField) as fault:
            self._reject(line, fault, number, found)
            return
        place = self._by_qid.get(trace.qid) if trace.qid is not None else None
        if place is None and (place := self._place(trace, number, found)) is None:
            found.unplaced += 1
            return
        facts = self._reader.facts(self._keys[place], trace)
        code = codes[pattern_of(facts)]
        found.question.append(place)
        found.pattern.append(code)
        found.line.append(number)
        if codes.good[code]:
            wrong.pop(place, None)
        elif place < ROWS_KEPT:
            wrong[place] = facts
        if facts.status == "error" or trace.ok is False or facts.refusal == "exact":
            self._note_answer(facts, trace, number, found)
        for metric in self._beyond_pattern:
            _measure(metric, facts, number, found)

    def _reject(self, line: bytes, fault: Exception, number: int, found: BlockScores) -> None:
        """Everything wrong with a line: one fault of its JSON, or each of its fields'."""
        found.rejected += 1
        faults = [str(fault)] if isinstance(fault, BadJson) else trace_faults(decode(line))
        for message in faults:
            _note(found, "bad_line", number, message)

    def _place(self, trace: Trace, number: int, found: BlockScores) -> int | None:
        """The gold question of a trace whose qid did not tell, by its words where it has none."""
        if trace.qid is not None:
            _note(found, "unknown_question", number, f'qid "{trace.qid}" is not in the gold set')
            return None
        question = same_question(trace.q or "")
        if question not in self._by_question:
            message = f'question "{question:.60}" is not in the gold set'
            _note(found, "unknown_question", number, message)
            return None
        place = self._by_question[question]
        if place is None:
            message = (
                f'question "{question:.60}" stands twice in the gold set; give the trace a qid'
            )
            _note(found, "ambiguous_question", number, message)
        return place

    def _note_answer(self, facts: Facts, trace: Trace, number: int, found: BlockScores) -> None:
        """Findings about an answer that was scored."""
        qid = facts.gold.qid if facts.gold else ""
        if facts.status == "error":
            _note(found, "error_record", number, f"{qid}: {error_reason(trace)}")
        elif facts.refusal == "exact" and facts.cited:
            cited = ", ".join(facts.cited[:3])
            _note(found, "refusal_cites", number, f"{qid}: refuses, yet cites {cited}")
        if trace.ok is False:
            message = f"{qid}: the trace says ok=false; its answer was scored all the same"
            _note(found, "not_ok", number, message)


def _overlong() -> Any:
    raise BadJson(f"the line is longer than {MAX_LINE >> 20} MiB")


def _note(found: BlockScores, code: str, number: int, message: str) -> None:
    times = found.note_counts.get(code, 0)
    found.note_counts[code] = times + 1
    if times < PLACES_KEPT:
        found.notes.append(Note(code, number, message))


def _shown(facts: Facts) -> Shown:
    failed = facts.trace if facts.status == "error" else None
    reason = error_reason(failed) if failed else None
    return Shown(facts.claim[:CLAIM_SHOWN] or None, facts.cited[:CITED_SHOWN], reason)


def _measure(metric: Metric, facts: Facts, number: int, found: BlockScores) -> None:
    """One row of a metric; an exception of a foreign metric becomes a finding, never a zero."""
    rows = found.measured[metric.id]
    try:
        row: Row | Absent = metric(facts)
    except Exception as error:  # a foreign metric can fail in any way
        row = Absent(f"{type(error).__name__} in the metric")
        _note(found, "metric_error", number, f"{metric.id}: {type(error).__name__}: {error}")
    if isinstance(row, Absent):
        rows.counts.extend([0] * len(metric.columns))
        rows.reasons.append(row.reason)
    else:
        rows.counts.extend(row.counts)
        rows.reasons.append(None)
