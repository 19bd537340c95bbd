"""The lines of a journal by question, whatever order they were written in, and little memory."""

from __future__ import annotations

import os
import tempfile
from array import array
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from ragauge.contracts.gold import Gold
from ragauge.contracts.report import Finding, Findings
from ragauge.contracts.trace import Trace
from ragauge.ingest.lines import Block, blocks
from ragauge.ingest.traces import BadLine, faults_of, trace_in
from ragauge.runners.blocks import Join, refuse_array, refuse_bad_lines, refuse_nothing
from ragauge.text.visible import one_line

MESSAGE_SHOWN = 400
_BOM_SIZE = 3


class RunLines:
    """Where the lines of each question stand; the lines themselves are read again when needed.

    A journal has its runs in the order they finished, and a run that failed may stand again much
    later. Sixteen bytes a line are kept, not the line.
    """

    def __init__(self, gold: Sequence[Gold], names: Sequence[str]) -> None:
        self.findings = Findings()
        self.filled = self.rejected = self.strays = 0
        self._join, self._names = Join(gold), names
        self._places, self._at, self._size = array("i"), array("q"), array("i")
        self._file, self._number = array("h"), array("q")
        self._open = ExitStack()
        self._files: list[BinaryIO] = []
        for name in names:
            self._read(name)
        places = np.array(self._places, dtype=np.int64)
        self._order = np.argsort(places, kind="stable")
        self._starts = np.searchsorted(places[self._order], np.arange(len(gold) + 1)).tolist()

    def __enter__(self) -> RunLines:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def traces(self, place: int) -> list[Trace]:
        """The traces of the question at a place of the gold set, in the order of the lines."""
        start, end = self._starts[place : place + 2]
        return [trace_in(self._line(number)) for number in self._order[start:end].tolist()]

    def lines(self, place: int) -> list[tuple[int, bytes]]:
        """The question's lines as they stand, each with its number in its file."""
        start, end = self._starts[place : place + 2]
        return [(self._number[one], self._line(one)) for one in self._order[start:end].tolist()]

    def placed(self, place: int) -> list[tuple[str, bytes]]:
        """The question's lines as they stand, each with its place as findings write it."""
        start, end = self._starts[place : place + 2]
        return [
            (f"{self._names[self._file[one]]}:{self._number[one]}", self._line(one))
            for one in self._order[start:end].tolist()
        ]

    def _line(self, number: int) -> bytes:
        file = self._files[self._file[number]]
        file.seek(self._at[number])
        return file.read(self._size[number])

    def _read(self, name: str) -> None:
        number = 0
        for block in blocks(name):
            content = block.read()
            if block.start == 0:
                refuse_array(block.name, content)
            at = self._kept(block, content)
            for line in content.split(b"\n"):
                number += 1
                if line and not line.isspace():
                    self._add(line, at, name, number)
                at += len(line) + 1
            number -= 1  # what follows the last line end is the next block's first line

    def _kept(self, block: Block, content: bytes) -> int:
        """Where the block's first byte can be read again: in its file, or in a copy of a stream."""
        streamed = block.content is not None
        if block.start == 0:
            # Closed by the stack, with all the others.
            opened = tempfile.TemporaryFile() if streamed else Path(block.name).open("rb")  # noqa: SIM115
            self._files.append(cast(BinaryIO, self._open.enter_context(opened)))
        if not streamed:
            return block.start + (block.size - len(content) == _BOM_SIZE) * _BOM_SIZE
        at = self._files[-1].seek(0, os.SEEK_END)
        self._files[-1].write(content)
        return at

    def _add(self, line: bytes, at: int, name: str, number: int) -> None:
        self.filled += 1
        where = f"{name}:{number}"
        try:
            trace = trace_in(line)
        except BadLine as fault:
            self.rejected += 1
            for message in faults_of(line, fault):
                self._note("bad_line", where, message)
            return
        place = self._join.place(trace)
        if place is None:
            self.strays += 1
            code, message = self._join.stray(trace)
            self.findings.add(Finding(code, where, message))
            return
        self._places.append(place)
        self._at.append(at)
        self._size.append(len(line))
        self._number.append(number)
        self._file.append(len(self._files) - 1)

    def _note(self, code: str, where: str, message: str) -> None:
        self.findings.add(Finding(code, where, one_line(message, MESSAGE_SHOWN)))

    def refuse_bad_input(self, allowed: Callable[[int], int | Fraction]) -> None:
        """Raise InputRejected where too many lines were bad, or no run belongs to the gold set."""
        refuse_bad_lines(self.findings, self.rejected, allowed(self.filled))
        if not self._places:
            refuse_nothing(self._names, self.findings, self.filled - self.rejected, "runs")
