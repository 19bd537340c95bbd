"""Rows of answers, each under an id of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ragauge.contracts.answers import AnswerRow
from ragauge.contracts.finding import Finding, Findings
from ragauge.ingest.answered.records import file_of, placed_records
from ragauge.ingest.answered.shapes import ANSWERS, has_answer_field, own_id, row_of
from ragauge.ingest.fields import BadRecord, quoted

if TYPE_CHECKING:
    from ragauge.ingest.answered.records import Source

_PLACE_NUMBER = re.compile(r"(\d+)\]?$")


class Answered(Struct, frozen=True, kw_only=True):
    """The rows of a file in its order."""

    rows: list[AnswerRow]
    """Each under an id of its own; one that stands twice is told apart by a number."""
    given: list[str | int | None]
    """What each row calls itself, as it is written; None where it is called after its place."""
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
    placed = list(placed_records(source, problems, form, name))
    records = [record for _, record in placed]
    asked = [record for record in records if isinstance(record, Mapping)]
    if asked and not any(map(has_answer_field, asked)):
        there = ", ".join(map(quoted, sorted(set[str]().union(*asked))[:8]))
        fact = f"no row has an answer ({', '.join(ANSWERS)}); there is {there}"
        problems.append(f"{file_of(placed[0][0])}: {fact}")
        return Answered(rows=[], given=[], records=len(records), duplicates=0)
    return _Reading(placed, problems, findings, joined).answered()


class _Reading:
    """The rows of a file while they are read."""

    def __init__(
        self,
        placed: Sequence[tuple[str, Any]],
        problems: list[str],
        findings: Findings,
        joined: bool,
    ) -> None:
        self._problems, self._findings, self._joined = problems, findings, joined
        self._records = len(placed)
        self._places: dict[str, str] = {}
        self._rows: list[AnswerRow] = []
        self._given: list[str | int | None] = []
        self._duplicates = 0
        for place, record in placed:
            self._read(place, record)

    def answered(self) -> Answered:
        return Answered(
            rows=self._rows,
            given=self._given,
            records=self._records,
            duplicates=self._duplicates,
        )

    def _read(self, place: str, record: Any) -> None:
        given = own_id(record)
        try:
            row = row_of(record, self._id(given, place), place)
        except BadRecord as fault:
            self._problems += [f"{place}: {field}" for field in fault.fields]
            return
        self._places[row.id] = place
        self._rows.append(row)
        self._given.append(given)
        if not self._joined:
            self._note_id(row, given)
        if row.answer is None:
            fact = f"{quoted(row.id)} has no answer: an error record, in no number but coverage"
            self._findings.add(Finding("no_answer", row.where, fact))

    def _id(self, given: str | int | None, place: str) -> str:
        """The row's name among the others; that of an earlier row gets a number."""
        id = _number_of(place) if given is None else str(given)
        known, times = id, 1
        while id in self._places:
            times += 1
            id = f"{known}#{times}"
        return id

    def _note_id(self, row: AnswerRow, given: str | int | None) -> None:
        if given is None:
            fact = f"has no id; it is called {quoted(row.id)}, after its place"
            self._findings.add(Finding("made_id", row.where, fact))
        elif row.id != str(given):
            self._duplicates += 1
            earlier = self._places[str(given)]
            fact = f"{quoted(str(given))} stands at {earlier} already; this one counts as {row.id}"
            self._findings.add(Finding("duplicate_id", row.where, fact))


def _number_of(place: str) -> str:
    found = _PLACE_NUMBER.search(place)
    return found[1] if found else place
