"""Rows of answers that people have labelled: what a calibration rests on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from ragauge.contracts.answers import AnswerRow
from ragauge.contracts.finding import Finding, Findings
from ragauge.errors import InputRejected
from ragauge.ingest.answered.records import placed_records
from ragauge.ingest.answered.shapes import own_id, row_of
from ragauge.ingest.fields import BadField, BadRecord, quoted
from ragauge.runners.answers.labelling import FIELDS, Labelling, field_of, labelling_for
from ragauge.runners.components.options import EvalOptions, refuse_bad
from ragauge.text.words import words

if TYPE_CHECKING:
    from ragauge.ingest.answered.records import Source

SOURCES = ("group", "source", "source_id")
"""Strata whose answers belong together, the first that is there."""
WRITERS = ("model", "writer")
"""Strata that name who wrote an answer."""
POSITION = "position"
"""Where an answer stood when it was judged beside another: one answer may have two rows then."""


class Labelled(Struct, frozen=True, kw_only=True):
    """An answer, and what people said of it."""

    row: AnswerRow
    given: str
    """What the row calls itself; the same for an answer that stands there twice."""
    good: bool
    source: str
    """Answers of one source are never split between fitting and testing."""
    writer: str | None
    words: int
    """Of the answer."""
    record: Mapping[str, Any]
    """As it was written, for fields that no answer has."""


class LabelledRows(Struct, frozen=True, kw_only=True):
    """The labelled rows of a file, by id, and what became of the others."""

    rows: list[Labelled]
    labelling: Labelling
    records: int
    unlabelled: int
    problems: list[str]
    findings: Findings
    name: str

    @property
    def sha256(self) -> str:
        """A hash of answers and labels, whatever the file looks like."""
        said = [
            (one.row.id, one.good, one.source, one.row.question, one.row.answer, one.row.contexts)
            for one in self.rows
        ]
        return hashlib.sha256(msgspec.json.encode(said)).hexdigest()


def read_labelled(
    source: Source,
    *,
    label: str | None = None,
    good: str | None = None,
    group: str | None = None,
    input_format: str | None = None,
    max_bad: str = "0",
) -> LabelledRows:
    """The rows that have a label, sorted by id; raises InputRejected with all that is wrong."""
    problems: list[str] = []
    findings = Findings()
    placed = list(placed_records(source, problems, input_format, "labels"))
    name = str(source) if not isinstance(source, list | tuple) else "labels"
    there = [record for _, record in placed if isinstance(record, Mapping)]
    labelling = labelling_for(there, label, good)
    if labelling is None:
        raise InputRejected(*problems, _no_label(name, there, label))
    if group is not None and not any(field_of(record, group) is not None for record in there):
        raise InputRejected(
            f"{name}: no row has {quoted(group)}; --group names the field that says which "
            "answers belong together"
        )
    reading = _Reading(labelling, group, problems, findings)
    for place, record in placed:
        reading.read(place, record)
    refuse_bad(problems, len(placed), EvalOptions(max_bad=max_bad))
    return LabelledRows(
        rows=sorted(reading.rows, key=lambda one: one.row.id),
        labelling=labelling,
        records=len(placed),
        unlabelled=reading.unlabelled,
        problems=problems,
        findings=findings,
        name=name,
    )


def _no_label(name: str, records: Sequence[Mapping[str, Any]], label: str | None) -> str:
    if not records:
        return f"{name}: holds no row"
    there = ", ".join(map(quoted, sorted(set[str]().union(*records))[:12]))
    if label is not None:
        return f"{name}: no row has {quoted(label)}, where the label is to be; there is {there}"
    known = ", ".join(FIELDS)
    return f"{name}: no row has a label ({known}); there is {there}; name its field with --label"


class _Reading:
    """Labelled rows while they are read."""

    def __init__(
        self, labelling: Labelling, group: str | None, problems: list[str], findings: Findings
    ) -> None:
        self._labelling, self._group = labelling, group
        self._problems, self._findings = problems, findings
        self._places: dict[str, str] = {}
        self.rows: list[Labelled] = []
        self.unlabelled = 0

    def read(self, place: str, record: Any) -> None:
        given = own_id(record)
        id = self._id(given, place)
        # The label is read here, by the user's rule: it may be a word, or of another scale.
        bare = (
            {key: value for key, value in record.items() if key != "label"}
            if isinstance(record, Mapping)
            else record
        )
        faults: list[BadField] = []
        try:
            row = row_of(bare, id, place)
        except BadRecord as fault:
            faults += fault.fields
        good = self._good(record, faults)
        if faults:
            self._problems += [f"{place}: {field}" for field in faults]
            return
        self._note_id(given, id, place, record)
        if good is None:
            self.unlabelled += 1
            fact = f"{quoted(id)} has no {self._labelling.field}: it is not used"
            self._findings.add(Finding("unlabelled", place, fact))
            return
        self.rows.append(
            Labelled(
                row=row,
                given=id if given is None else str(given),
                good=good,
                source=self._source(row, record),
                writer=next((row.strata[name] for name in WRITERS if name in row.strata), None),
                words=len(words(row.answer or "")),
                record=record,
            )
        )

    def _good(self, record: Any, faults: list[BadField]) -> bool | None:
        try:
            return self._labelling.of(record) if isinstance(record, Mapping) else None
        except BadField as fault:
            faults.append(fault)
            return None

    def _id(self, given: str | int | None, place: str) -> str:
        id = known = place if given is None else str(given)
        times = 1
        while id in self._places:
            times += 1
            id = f"{known}#{times}"
        return id

    def _note_id(self, given: str | int | None, id: str, place: str, record: Any) -> None:
        if given is not None and id != str(given) and record.get(POSITION) is None:
            earlier = self._places[str(given)]
            fact = f"{quoted(str(given))} stands at {earlier} already; this one counts as {id}"
            self._findings.add(Finding("duplicate_id", place, fact))
        self._places[id] = place

    def _source(self, row: AnswerRow, record: Mapping[str, Any]) -> str:
        """What the answer shares with others: its named source, else the very same contexts."""
        if self._group is not None:
            named = field_of(record, self._group)
        else:
            named = next((row.strata[name] for name in SOURCES if name in row.strata), None)
        if named is not None:
            return f"source {named}"
        if row.contexts:
            texts = sorted(context.text for context in row.contexts)
            return f"contexts {hashlib.sha256(msgspec.json.encode(texts)).hexdigest()}"
        return f"answer {row.id}"
