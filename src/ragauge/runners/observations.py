"""Observations: each trace line decoded once and joined to its gold question."""

from __future__ import annotations

import codecs
import os
import tempfile
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Generic, Protocol, TypeVar, cast

import numpy as np
from msgspec import UNSET, Struct, UnsetType

from ragauge.contracts.audit import CitationFinding
from ragauge.contracts.gold import Gold, GoldSet
from ragauge.contracts.kept import KeptAnswer
from ragauge.contracts.report import PLACES_KEPT, Finding, Findings
from ragauge.contracts.trace import Trace
from ragauge.errors import InputRejected
from ragauge.ingest.lines import Block
from ragauge.ingest.records import Source, note_unread
from ragauge.ingest.traces import (
    TRACE,
    BadLine,
    Traces,
    blocks_of,
    faults_of,
    full_trace,
    trace_in,
    traces_of,
)
from ragauge.text.canonical import same_question
from ragauge.text.visible import one_line, visible

SHOWN = 200
"""Characters of a qid that a message shows."""
MESSAGE_SHOWN = 400
CITED_SHOWN = 10
CLAIM_SHOWN = 300
_BOM_SIZE = 3


class Joinable(Protocol):
    """What a trace is joined by."""

    @property
    def qid(self) -> str | None: ...
    @property
    def q(self) -> str | None: ...
    @property
    def extra(self) -> dict[str, Any]: ...


Decoded = TypeVar("Decoded", bound=Joinable)
"""What a line is decoded to: a trace, or one that can be audited."""


class Join:
    """Places of gold questions, by qid and by question; None where two questions read alike."""

    def __init__(self, gold: Sequence[Gold]) -> None:
        self.by_qid = {question.qid: place for place, question in enumerate(gold)}
        self.by_question: dict[str, int | None] = {}
        for place, question in enumerate(gold):
            text = same_question(question.question)
            self.by_question[text] = None if text in self.by_question else place

    def place(self, trace: Joinable) -> int | None:
        if trace.qid is not None:
            return self.by_qid.get(trace.qid)
        return self.by_question.get(same_question(trace.q or ""))

    def describe_unmatched(self, trace: Joinable) -> tuple[str, str]:
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


class Note(Struct, frozen=True):
    """A finding whose line number still counts from the block's beginning."""

    code: str
    line: int
    message: str
    qid: str | None = None
    finding: CitationFinding | None = None


class BlockLines(Struct):
    """What is known of the lines of a block, whose numbers count from its beginning."""

    name: str
    start: int = 0
    size: int = 0
    lines: int = 0
    filled: int = 0
    rejected: int = 0
    unmatched: int = 0
    extra: set[str] = set()
    """The fields of traces that are none of ours."""
    notes: list[Note] = []
    note_counts: dict[str, int] = {}

    def read(self, block: Block) -> Iterable[tuple[int, bytes]]:
        """The numbered lines of the block."""
        content = block.read()
        self.lines = content.count(b"\n")
        return enumerate(content.split(b"\n"), 1)

    def note(
        self,
        code: str,
        line: int,
        message: str,
        qid: str | None = None,
        finding: CitationFinding | None = None,
        *,
        safe: bool = False,
    ) -> None:
        times = self.note_counts.get(code, 0)
        self.note_counts[code] = times + 1
        if times < PLACES_KEPT:
            # A message holds foreign text, which may be long or play tricks on a terminal.
            shown = message if safe else one_line(message, MESSAGE_SHOWN)
            self.notes.append(Note(code, line, shown, qid, finding))


class Observing(Generic[Decoded]):
    """The one loop over trace lines: what each is decoded to, with the place of its question."""

    def __init__(
        self,
        gold: Sequence[Gold],
        decode: Callable[[bytes], Decoded],
        faults: Callable[[bytes, Exception], list[str]] = faults_of,
    ) -> None:
        self._join = Join(gold) if gold else None
        self._decode, self._faults = decode, faults

    def read(
        self, lines: Iterable[tuple[int, bytes]], found: BlockLines
    ) -> Iterator[tuple[int, Decoded, int | None]]:
        """The number of each line, what it is decoded to, the place of its gold question or None.

        Bad lines, and traces of no question of the gold set, are noted in `found`.
        """
        decode, join, filled = self._decode, self._join, 0
        by_qid, by_question = (join.by_qid, join.by_question) if join else ({}, {})
        # This runs for every trace of every command: what it touches is bound once.
        for number, line in lines:
            if not line or line.isspace():
                continue
            filled += 1
            try:
                trace = decode(line)
            except BadLine as fault:
                found.rejected += 1
                for message in self._faults(line, fault):
                    found.note("bad_line", number, message)
                continue
            if trace.extra:
                found.extra.update(trace.extra)
            qid = trace.qid
            place = by_question.get(trace.q or "") if qid is None else by_qid.get(qid)
            if place is None and join is not None:
                place = join.place(trace)  # the question may be written in another way
                if place is None:
                    found.unmatched += 1
                    code, message = join.describe_unmatched(trace)
                    found.note(code, number, message, safe=True)
            yield number, trace, place
        found.filled += filled

    def with_places(
        self, work: Iterable[Block], noted: Gathered | None = None
    ) -> Iterator[tuple[str, Decoded, int | None]]:
        """The same of blocks, with the place of each line as findings write it."""
        noted = noted or Gathered()
        for block in work:
            found = BlockLines(block.name, block.start)
            for number, trace, place in self.read(found.read(block), found):
                yield noted.where(found, number), trace, place
            noted.take(found)


class Gathered:
    """What was noted of blocks, which come in the order of the files."""

    def __init__(self) -> None:
        self.findings = Findings()
        self.filled = self.rejected = self.unmatched = 0
        self.extra: set[str] = set()
        self._before = 0
        """Lines of the file that came before the block."""

    def where(self, block: BlockLines, line: int) -> str:
        return f"{block.name}:{self.number(block, line)}"

    def number(self, block: BlockLines, line: int = 0) -> int:
        """The number in its file of a block's line."""
        return line if block.start == 0 else self._before + line

    def finding(self, note: Note, where: str) -> Finding:
        return Finding(note.code, where, note.message)

    def take(self, block: BlockLines) -> None:
        """Count the block's lines and add what was noted of them."""
        noted = Counter(note.code for note in block.notes)
        for note in block.notes:
            self.findings.add(self.finding(note, self.where(block, note.line)))
        for code, times in block.note_counts.items():
            self.findings.count(code, times - noted[code])
        self.filled += block.filled
        self.rejected += block.rejected
        self.unmatched += block.unmatched
        self.extra |= block.extra
        self._before = self.number(block, block.lines)

    def unread(self, traces: Source, gold: Sequence[Gold] = ()) -> tuple[str, ...] | UnsetType:
        """The columns of the gold set and of the traces that nothing reads.

        Those of the traces are a finding; those of the gold set are one already.
        """
        sources = traces_of(traces)
        columns = {field: path for one in sources for field, path in one.columns.items()}
        near = {key: TRACE.near(key) for key in TRACE.unread(sorted(self.extra), columns)}
        where = ", ".join(source.name for source in sources)
        note_unread(near, where, self.findings)
        return (*(gold.unread if isinstance(gold, GoldSet) else ()), *near) or UNSET

    def refuse_bad(self, allowed: Callable[[int], int | Fraction]) -> None:
        """Raise InputRejected with the bad lines, where they are more than allowed."""
        if self.rejected > allowed(self.filled):
            bad = [finding for finding in self.findings.kept() if finding.code == "bad_line"]
            problems = [f"{finding.where}: {finding.message}" for finding in bad]
            raise InputRejected(*problems, more=self.findings.counts["bad_line"] - len(bad))

    def refuse_nothing(self, traces: Source, what: str) -> None:
        """Raise InputRejected because no trace belongs to a gold question."""
        sources, seen = traces_of(traces), self.filled - self.rejected
        empty = sources[0].nothing() if len(sources) == 1 else None
        names = ", ".join(source.name for source in sources)
        fact = f"none of the {seen:,} {what} belongs to a gold question" if seen else f"no {what}"
        fact = f"{fact}; {empty}" if empty else fact
        first = [f"{finding.where}: {finding.message}" for finding in self.findings.kept()[:3]]
        raise InputRejected(f"{names}: nothing to score: {fact}", *first)


Answers = Callable[[], Iterable[tuple[str, KeptAnswer]]]
"""Gives each answer with the id of its unit, where somebody wants to keep them."""


def answers_to(gold: Sequence[Gold], traces: Source) -> Answers | None:
    """What gives the traces of the gold set's questions, those of one in the order they stand.

    None where a source cannot be read twice, such as standard input.
    """
    sources = traces_of(traces)
    return partial(_answers, gold, sources) if all(one.again for one in sources) else None


def _answers(gold: Sequence[Gold], sources: Sequence[Traces]) -> Iterator[tuple[str, KeptAnswer]]:
    for where, trace, place in Observing(gold, full_trace).with_places(blocks_of(sources)):
        if place is not None:
            yield gold[place].qid, KeptAnswer(trace=trace, where=where)


class Observations(Gathered):
    """The traces of each gold question; their lines are read again when needed.

    A journal has its runs in the order they finished, and a run that failed may stand again much
    later. Some bytes a line are kept, not the line.
    """

    def __init__(self, gold: Sequence[Gold], traces: Source, *, run_ids: bool = False) -> None:
        super().__init__()
        self._sources, self._observing = traces_of(traces), Observing(gold, trace_in)
        self._places, self._at, self._size = array("i"), array("q"), array("i")
        self._file, self._number = array("h"), array("q")
        self._run_ids: list[str | None] | None = [] if run_ids else None
        """Where runs are looked up by their ids, that of each line."""
        self._open = ExitStack()
        self._files: list[BinaryIO] = []
        for source in self._sources:
            for block in source.blocks():
                self._index(source.name, block)
        places = np.array(self._places, dtype=np.int64)
        self._order = np.argsort(places, kind="stable")
        self._starts = np.searchsorted(places[self._order], np.arange(len(gold) + 1)).tolist()

    def __enter__(self) -> Observations:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def last_of(self, place: int, run_ids: Iterable[str]) -> dict[str, tuple[int, bytes]]:
        """The last line of each of these runs of a question, with its number, in this order.

        A run that failed may be there again, answered.
        """
        known = self._run_ids or ()
        last = {known[one]: one for one in self._of(place)}
        there = ((run_id, last[run_id]) for run_id in run_ids if run_id in last)
        return {run_id: (self._number[one], self._line(one)) for run_id, one in there}

    def traces(self, place: int) -> list[Trace]:
        """The traces of the question, in the order of the lines."""
        return [trace_in(self._line(one)) for one in self._of(place)]

    def kept(self, place: int) -> list[tuple[str, Trace]]:
        """The question's traces with their chunks and citations, each with its file and line."""
        return [
            (
                f"{self._sources[self._file[one]].name}:{self._number[one]}",
                full_trace(self._line(one)),
            )
            for one in self._of(place)
        ]

    def refuse_bad_input(self, allowed: Callable[[int], int | Fraction]) -> None:
        """Raise InputRejected where too many lines were bad, or no run belongs to the gold set."""
        self.refuse_bad(allowed)
        if not self._places:
            self.refuse_nothing(self._sources, "runs")

    def _of(self, place: int) -> list[int]:
        start, end = self._starts[place : place + 2]
        return cast(list[int], self._order[start:end].tolist())

    def _place(self, one: int) -> str:
        return f"{self._sources[self._file[one]].name}:{self._number[one]}"

    def _line(self, one: int) -> bytes:
        file = self._files[self._file[one]]
        file.seek(self._at[one])
        return file.read(self._size[one])

    def _index(self, name: str, block: Block) -> None:
        found = BlockLines(name, block.start)
        at, size = self._kept_at(block), -1

        def placed() -> Iterator[tuple[int, bytes]]:
            # One line at a time: millions of empty ones are no list.
            nonlocal at, size
            for number, line in found.read(block):
                at, size = at + size + 1, len(line)
                yield number, line

        for number, trace, place in self._observing.read(placed(), found):
            if place is not None:
                if self._run_ids is not None:
                    self._run_ids.append(trace.run_id)
                self._places.append(place)
                self._at.append(at)
                self._size.append(size)
                self._number.append(self.number(found, number))
                self._file.append(len(self._files) - 1)
        self.take(found)

    def _kept_at(self, block: Block) -> int:
        """Where the block's first byte can be read again: in its file, or in a copy of a stream."""
        streamed = block.content is not None
        if block.start == 0:
            # Closed by the stack, with all the others.
            opened = tempfile.TemporaryFile() if streamed else Path(block.name).open("rb")  # noqa: SIM115
            self._files.append(cast(BinaryIO, self._open.enter_context(opened)))
        file = self._files[-1]
        if streamed:
            at = file.seek(0, os.SEEK_END)
            file.write(block.read())
            return at
        file.seek(block.start)
        marked = block.start == 0 and file.read(_BOM_SIZE) == codecs.BOM_UTF8
        return block.start + (_BOM_SIZE if marked else 0)
