"""Rows of answers, each under an id of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ragauge.contracts.answers import AnswerRow
from ragauge.contracts.finding import Finding, Findings
from ragauge.ingest.answered.records import placed_records
from ragauge.ingest.answered.shapes import (
    ANSWERS,
    has_answer_field,
    is_conversation,
    own_id,
    rival_answers,
    row_of,
)
from ragauge.ingest.fields import BadField, BadRecord, quoted
from ragauge.ingest.records import file_of

if TYPE_CHECKING:
    from ragauge.ingest.answered.records import Source

_OF_A_LINE = re.compile(r"(:\d+): (.+)", re.DOTALL)


class Rejected(Struct, frozen=True, kw_only=True):
    """A row of the input that could not be taken, under the name it would have had."""

    unit: str
    given: str | int | None
    facts: tuple[str, ...]
    """What is wrong with it, field by field."""


class Answered(Struct, frozen=True, kw_only=True):
    """The rows of a file in its order."""

    rows: list[AnswerRow]
    """Each under an id of its own; one that stands twice is told apart by a number."""
    given: list[str | int | None]
    """What each row calls itself, as it is written; None where it is called after its place."""
    rejected: dict[int, Rejected]
    """By their place among all rows of the input, counted from 0, those that are left out."""
    records: int
    """All that were there, good or bad."""
    duplicates: int


def read_answers(
    source: Source,
    problems: list[str],
    findings: Findings,
    form: str | None = None,
    name: str = "rows",
    *,
    joined: bool = False,
) -> Answered:
    """The rows of a source; what is wrong with them goes into the list.

    Rows that are joined to questions need no id, and one of a question may follow another: then
    neither is a finding.
    """
    lines = list(_lines(source, problems, form, name))
    asked = [line.record for line in lines if isinstance(line.record, Mapping)]
    if asked and not any(has_answer_field(one) or is_conversation(one) for one in asked):
        there = ", ".join(map(quoted, sorted(set[str]().union(*asked))[:8]))
        fact = f"no row has an answer ({', '.join(ANSWERS)}); there is {there}"
        problems.append(f"{file_of(lines[0].place)}: {fact}")
        return Answered(rows=[], given=[], rejected={}, records=len(asked), duplicates=0)
    return _Reading(lines, problems, findings, joined).answered()


class _Line(Struct, frozen=True):
    """A row of the input where it stands: its record, or why it could not be decoded."""

    place: str
    record: Any = None
    unread: BadField | None = None
    """Told among the problems already."""

    def row(self, unit: str) -> AnswerRow:
        if self.unread is not None:
            raise BadRecord([self.unread])
        return row_of(self.record, unit, self.place)


def _lines(source: Source, problems: list[str], form: str | None, name: str) -> Iterator[_Line]:
    """All rows in their order; what the decoder rejects is told before the next row comes."""
    known = len(problems)
    for place, record in placed_records(source, problems, form, name):
        yield from _unread(source, problems[known:])
        yield _Line(place, record)
        known = len(problems)
    yield from _unread(source, problems[known:])


def _unread(source: Source, problems: Sequence[str]) -> Iterator[_Line]:
    """The rows that these problems are about: those with a line of their own."""
    file = str(source) if isinstance(source, str | Path) else ""
    for problem in problems:
        found = _OF_A_LINE.match(problem.removeprefix(file))
        if found:
            yield _Line(f"{file}{found[1]}", unread=BadField("line", found[2]))


class _Reading:
    """The rows of a file while they are read."""

    def __init__(
        self,
        lines: Sequence[_Line],
        problems: list[str],
        findings: Findings,
        joined: bool,
    ) -> None:
        self._problems, self._findings, self._joined = problems, findings, joined
        self._records = sum(line.unread is None for line in lines)
        self._places: dict[str, str] = {}
        self._rows: list[AnswerRow] = []
        self._given: list[str | int | None] = []
        self._rejected: dict[int, Rejected] = {}
        self._duplicates = 0
        for number, line in enumerate(lines, 1):
            self._read(number, line)

    def answered(self) -> Answered:
        return Answered(
            rows=self._rows,
            given=self._given,
            rejected=self._rejected,
            records=self._records,
            duplicates=self._duplicates,
        )

    def _read(self, number: int, line: _Line) -> None:
        given = own_id(line.record)
        unit = self._unit(str(number) if given is None else str(given))
        self._places[unit] = line.place
        try:
            row = line.row(unit)
        except BadRecord as fault:
            facts = tuple(map(str, fault.fields))
            self._rejected[number - 1] = Rejected(unit=unit, given=given, facts=facts)
            if line.unread is None:
                self._problems += [f"{line.place}: {fact}" for fact in facts]
            return
        self._rows.append(row)
        self._given.append(given)
        if not self._joined:
            self._note_id(row, given)
        self._note_answer(row, line.record)

    def _unit(self, known: str) -> str:
        """The row's name among the others; that of an earlier row gets a number."""
        unit, times = known, 1
        while unit in self._places:
            times += 1
            unit = f"{known}#{times}"
        return unit

    def _note_answer(self, row: AnswerRow, record: Mapping[str, Any]) -> None:
        if row.answer is None:
            fact = f"{quoted(row.id)} has no answer: an error record, in no number that reads one"
            self._findings.add(Finding("no_answer", row.where, fact))
        rivals = rival_answers(record)
        if rivals:
            fact = f"{' and '.join(rivals)} of {quoted(row.id)} differ; {rivals[0]} is measured"
            self._findings.add(Finding("rival_answers", row.where, fact))

    def _note_id(self, row: AnswerRow, given: str | int | None) -> None:
        if given is None:
            fact = f"has no id; it is called {quoted(row.id)}, after its place among the rows"
            self._findings.add(Finding("made_id", row.where, fact))
        elif row.id != str(given):
            self._duplicates += 1
            earlier = self._places[str(given)]
            fact = f"{quoted(str(given))} stands at {earlier} already; this one counts as {row.id}"
            self._findings.add(Finding("duplicate_id", row.where, fact))
