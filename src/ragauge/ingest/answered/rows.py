"""Rows of answers, each under an id of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ragauge.contracts.answers import AnswerRow
from ragauge.contracts.report import Finding, Findings
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
from ragauge.ingest.placed_records import file_of

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
    places: dict[str, str] = {}
    rows: list[AnswerRow] = []
    names: list[str | int | None] = []
    rejected: dict[int, Rejected] = {}
    duplicates = 0
    for number, line in enumerate(lines, 1):
        given = own_id(line.record)
        known = str(number) if given is None else str(given)
        unit, times = known, 1
        while unit in places:  # the name of an earlier row gets a number
            times += 1
            unit = f"{known}#{times}"
        places[unit] = line.place
        try:
            if line.unread is not None:
                raise BadRecord([line.unread])
            row = row_of(line.record, unit, line.place)
        except BadRecord as fault:
            facts = tuple(map(str, fault.fields))
            rejected[number - 1] = Rejected(unit=unit, given=given, facts=facts)
            if line.unread is None:
                problems += [f"{line.place}: {fact}" for fact in facts]
            continue
        rows.append(row)
        names.append(given)
        if given is None and not joined:
            fact = f"has no id; it is called {quoted(row.id)}, after its place among the rows"
            findings.add(Finding("made_id", row.where, fact))
        elif row.id != str(given) and not joined:
            duplicates += 1
            told = f"{quoted(str(given))} stands at {places[str(given)]} already"
            fact = f"{told}; this one counts as {row.id}"
            findings.add(Finding("duplicate_id", row.where, fact))
        if row.answer is None:
            fact = f"{quoted(row.id)} has no answer: an error record, in no number that reads one"
            findings.add(Finding("no_answer", row.where, fact))
        if rivals := rival_answers(line.record):
            fact = f"{' and '.join(rivals)} of {quoted(row.id)} differ; {rivals[0]} is measured"
            findings.add(Finding("rival_answers", row.where, fact))
    return Answered(
        rows=rows,
        given=names,
        rejected=rejected,
        records=sum(line.unread is None for line in lines),
        duplicates=duplicates,
    )


class _Line(Struct, frozen=True):
    """A row of the input where it stands: its record, or why it could not be decoded."""

    place: str
    record: Any = None
    unread: BadField | None = None
    """Told among the problems already."""


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
