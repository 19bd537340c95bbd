"""Rows of answers that people have labelled, each good or bad: what a calibration rests on."""

from __future__ import annotations

import hashlib
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct, structs

from ragauge.contracts.answers import AnswerRow
from ragauge.contracts.options import EvalOptions
from ragauge.contracts.report import Finding, Findings
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.answers import ANSWER, answer_of, answers_in, own_id
from ragauge.ingest.fields import BadField, BadRecord, kind, quoted, value_at
from ragauge.ingest.records import Records, Row, Source
from ragauge.runners.components.options import refuse_bad
from ragauge.text.words import words

FIELDS = {
    "label": True,
    "grounded": True,
    "attributable": True,
    "supported": True,
    "faithful": True,
    "hallucinated": False,
    "hallucination": False,
}
"""Fields that hold a label, in the order they are looked for, and whether `true` is good there."""
SHAPE = structs.replace(
    # The label is read by the user's rule: it may be a word, or of another scale.
    ANSWER,
    fields=tuple(field for field in ANSWER.fields if field.name != "label"),
    keeps=True,
)
HALF = 0.5
"""A label from 0 to 1 is good from here on."""
_WORDS = {"true": True, "yes": True, "false": False, "no": False}
_BOUND = re.compile(r"\s*(>=|<=|>|<|=)\s*(-?\d+(?:\.\d+)?)\s*$")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}


class Good(Struct, frozen=True):
    """Which labels are good: a bound on a number, or words."""

    written: str
    op: str | None = None
    bound: float = 0.0
    words: frozenset[str] = frozenset()

    @classmethod
    def of(cls, written: str) -> Good:
        """Raises UsageError where it says nothing.

        >>> Good.of(">=3.5").holds(4), Good.of("yes,partly").holds("Partly")
        (True, True)
        """
        bound = _BOUND.match(written)
        if bound:
            return cls(written, bound[1], float(bound[2]))
        words = frozenset(word.strip().casefold() for word in written.split(",")) - {""}
        if not words or any(written.lstrip().startswith(sign) for sign in "<>="):
            raise UsageError(
                f"--good {quoted(written)}: is neither a bound such as '>=3.5' nor words such as "
                "'yes,partly'"
            )
        return cls(written, words=words)

    def holds(self, value: Any) -> bool:
        """Raises ValueError where the value is no number, and a number is asked for."""
        if self.op is None:
            return str(value).strip().casefold() in self.words
        return _COMPARE[self.op](_number(value), self.bound)


class Labelling(Struct, frozen=True, kw_only=True):
    """Where the label of a row stands, and when it is good."""

    field: str
    """A name, or names joined by dots."""
    good: Good | None = None

    @property
    def told(self) -> str:
        """In words, for the report's identity."""
        if self.good is not None:
            return f"{self.field}: good is {self.good.written}"
        return f"{self.field}: good is {'true' if FIELDS.get(self.field, True) else 'false'}"

    def of(self, record: Mapping[str, Any]) -> bool | None:
        """Whether people called the answer good; None where nobody says. Raises BadField."""
        value = value_at(record, self.field)
        if value is None or value == "" or value == []:
            return None
        good = self.good
        if good is None:
            return self._plain(value) is FIELDS.get(self.field, True)
        try:
            return good.holds(_mean(value) if good.op is not None else value)
        except ValueError:
            fact = f"{_shown(value)} is no number, and good is {good.written}"
            raise BadField(self.field, f"{fact}; give --good the word that is good") from None

    def _plain(self, value: Any) -> bool:
        """Whether the label says true."""
        if isinstance(value, str) and value.strip().casefold() in _WORDS:
            return _WORDS[value.strip().casefold()]
        try:
            number = _mean(value)
        except ValueError:
            fact = f"{_shown(value)} is neither true or false nor a number from 0 to 1"
            raise BadField(self.field, f"{fact}; say with --good which word is good") from None
        if not 0 <= number <= 1:
            fact = f"{number:g} is not from 0 to 1"
            raise BadField(self.field, f"{fact}; say with --good from where on it is good: '>=3'")
        return number >= HALF


def _mean(value: Any) -> float:
    """A number, or the mean of those that several people gave."""
    if isinstance(value, list | tuple):
        return sum(map(_number, value)) / len(value)
    return _number(value)


def _number(value: Any) -> float:
    if isinstance(value, str):
        return float(value)
    if not isinstance(value, int | float):
        raise ValueError(value)
    return float(value)


def _shown(value: Any) -> str:
    return quoted(value) if isinstance(value, str) else kind(value)


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
    records = answers_in(source, problems, shape=SHAPE, form=input_format, name="labels")
    rows = list(records.rows())
    name, there = records.name, [row.record for row in rows]
    rule = None if good is None else Good.of(good)
    fields = list(FIELDS) if label is None else [label]
    field = next((f for f in fields if any(value_at(one, f) is not None for one in there)), None)
    if field is None:
        raise InputRejected(*problems, _no_label(name, there, label))
    labelling = Labelling(field=field, good=rule)
    if group is not None and not any(value_at(record, group) is not None for record in there):
        raise InputRejected(
            f"{name}: no row has {quoted(group)}; --group names the field that says which "
            "answers belong together"
        )
    reading = _Reading(records, labelling, group, findings)
    for row in rows:
        reading.read(row)
    refuse_bad(problems, len(rows), EvalOptions(max_bad=max_bad))
    return LabelledRows(
        rows=sorted(reading.rows, key=lambda one: one.row.id),
        labelling=labelling,
        records=len(rows),
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
        self, records: Records, labelling: Labelling, group: str | None, findings: Findings
    ) -> None:
        self._records, self._labelling, self._group = records, labelling, group
        self._findings = findings
        self._places: dict[str, str] = {}
        self.rows: list[Labelled] = []
        self.unlabelled = 0

    def read(self, read: Row) -> None:
        place, record, given = read.place, read.record, own_id(read["id"], "id")
        id = known = place if given is None else str(given)
        times = 1
        while id in self._places:
            times += 1
            id = f"{known}#{times}"
        faults: list[BadField] = []
        try:
            row = answer_of(self._records, read, id)
        except BadRecord as fault:
            faults += fault.fields
        good: bool | None = None
        try:
            good = self._labelling.of(record)
        except BadField as fault:
            faults.append(fault)
        if faults:
            self._records.problems += [f"{place}: {field}" for field in faults]
            return
        if given is not None and id != known and record.get(POSITION) is None:
            fact = f"{quoted(known)} stands at {self._places[known]} already"
            self._findings.add(Finding("duplicate_id", place, f"{fact}; this one counts as {id}"))
        self._places[id] = place
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

    def _source(self, row: AnswerRow, record: Mapping[str, Any]) -> str:
        """What the answer shares with others: its named source, else the very same contexts."""
        if self._group is not None:
            named = value_at(record, self._group)
        else:
            named = next((row.strata[name] for name in SOURCES if name in row.strata), None)
        if named is not None:
            return f"source {named}"
        if row.contexts:
            texts = sorted(context.text for context in row.contexts)
            return f"contexts {hashlib.sha256(msgspec.json.encode(texts)).hexdigest()}"
        return f"answer {row.id}"
