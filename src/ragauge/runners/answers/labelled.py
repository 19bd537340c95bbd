"""Rows of answers that people have labelled, each good or bad: what a calibration rests on."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from ragauge.contracts.answers import AnswerRow
from ragauge.contracts.opt import takes
from ragauge.contracts.options import LabelOptions
from ragauge.contracts.report import Finding, Findings
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.answers import ANSWER, answer_of, answers_in, own_id
from ragauge.ingest.fields import (
    BadField,
    BadRecord,
    Columns,
    allowed_bad,
    kind,
    quoted,
    refuse,
    unlike,
    value_at,
)
from ragauge.ingest.records import Source
from ragauge.runners.evaluation import sha256_of
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


Rule = Callable[[Any], bool]
"""Whether a label is good; raises ValueError where a number is needed and it is none."""


def good_rule(written: str) -> Rule:
    """Which labels are good: a bound on a number, or words; UsageError where it is neither.

    >>> good_rule(">=3.5")([3, 4]), good_rule("yes,partly")("Partly")
    (True, True)
    """
    bound = _BOUND.match(written)
    if bound:
        compare, value = _COMPARE[bound[1]], float(bound[2])
        return lambda label: compare(_mean(label), value)
    words = frozenset(word.strip().casefold() for word in written.split(",")) - {""}
    if not words or any(written.lstrip().startswith(sign) for sign in "<>="):
        raise UsageError(
            f"--good {quoted(written)}: is neither a bound such as '>=3.5' nor words such as "
            "'yes,partly'"
        )
    return lambda label: str(label).strip().casefold() in words


def label_in(
    record: Mapping[str, Any], field: str, good: str | None, rule: Rule | None
) -> bool | None:
    """Whether people called the answer good; None where nobody says. Raises BadField."""
    value = value_at(record, field)
    if value is None or value == "" or value == []:
        return None
    shown = quoted(value) if isinstance(value, str) else kind(value)
    if rule is not None:
        try:
            return rule(value)
        except ValueError:
            fact = f"{shown} is no number, and good is {good}"
            raise BadField(field, f"{fact}; give --good the word that is good") from None
    word = value.strip().casefold() if isinstance(value, str) else None
    if word in _WORDS:
        return _WORDS[word] is FIELDS.get(field, True)
    try:
        number = _mean(value)
    except ValueError:
        fact = f"{shown} is neither true or false nor a number from 0 to 1"
        raise BadField(field, f"{fact}; say with --good which word is good") from None
    if not 0 <= number <= 1:
        fact = f"{number:g} is not from 0 to 1"
        raise BadField(field, f"{fact}; say with --good from where on it is good: '>=3'")
    return (number >= HALF) is FIELDS.get(field, True)


def _mean(value: Any) -> float:
    """A number, or the mean of those that several people gave."""
    each = value if isinstance(value, list | tuple) else [value]
    if not each or not all(isinstance(one, int | float | str) for one in each):
        raise ValueError(value)
    return sum(map(float, each)) / len(each)


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
    meaning: str
    """Which labels are good, in words, for the report's identity."""
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
        return sha256_of(said)


@takes(LabelOptions, "labels")
def read_labelled(
    source: Source, *, columns: Columns | None = None, options: LabelOptions
) -> LabelledRows:
    """The rows that have a label, sorted by id; raises InputRejected with all that is wrong."""
    problems: list[str] = []
    findings = Findings()
    records = answers_in(
        source, problems, shape=SHAPE, form=options.input_format, name="labels", columns=columns
    )
    read = list(records.rows())
    name, there = records.name, [row.record for row in read]
    if not read:
        refuse(problems)
    good, group = options.good, options.group
    rule = None if good is None else good_rule(good)
    fields = list(FIELDS) if options.label is None else [options.label]
    field = next((f for f in fields if any(value_at(one, f) is not None for one in there)), None)
    if field is None:
        raise InputRejected(*problems, _no_label(name, there, options.label))
    if group is not None and not any(value_at(record, group) is not None for record in there):
        raise InputRejected(
            f"{name}: no row has {quoted(group)}; --group names the field that says which "
            "answers belong together"
        )
    rows: list[Labelled] = []
    places: dict[str, str] = {}
    unlabelled = 0
    for one in read:
        own = own_id(one["id"], "id")
        known = one.place if own is None else str(own)
        id, faults, is_good = unlike(known, places), list[BadField](), None
        try:
            row = answer_of(records, one, id)
        except BadRecord as fault:
            faults += fault.fields
        try:
            is_good = label_in(one.record, field, good, rule)
        except BadField as fault:
            faults.append(fault)
        if faults:
            problems += [f"{one.place}: {fault}" for fault in faults]
            continue
        if own is not None and id != known and one.record.get(POSITION) is None:
            fact = f"{quoted(known)} stands at {places[known]} already; this one counts as {id}"
            findings.add(Finding("duplicate_id", one.place, fact))
        places[id] = one.place
        if is_good is None:
            unlabelled += 1
            fact = f"{quoted(id)} has no {field}: it is not used"
            findings.add(Finding("unlabelled", one.place, fact))
            continue
        # What the answer shares with others: its named source, else the very same contexts.
        named = next((row.strata[name] for name in SOURCES if name in row.strata), None)
        if group is not None:
            named = value_at(one.record, group)
        source_of = f"answer {id}"
        if named is not None:
            source_of = f"source {named}"
        elif row.contexts:
            texts = sorted(context.text for context in row.contexts)
            source_of = f"contexts {sha256_of(texts)}"
        rows.append(
            Labelled(
                row=row,
                given=id if own is None else known,
                good=is_good,
                source=source_of,
                writer=next((row.strata[name] for name in WRITERS if name in row.strata), None),
                words=len(words(row.answer or "")),
                record=one.record,
            )
        )
    if len(problems) > allowed_bad(options.max_bad)(len(read) + len(problems)):
        refuse(problems)
    said = ("true" if FIELDS.get(field, True) else "false") if good is None else good
    return LabelledRows(
        rows=sorted(rows, key=lambda one: one.row.id),
        meaning=f"{field}: good is {said}",
        records=len(read),
        unlabelled=unlabelled,
        problems=problems,
        findings=findings,
        name=name,
    )


def _no_label(name: str, records: Sequence[Mapping[str, Any]], label: str | None) -> str:
    there = ", ".join(map(quoted, sorted(set[str]().union(*records))[:12]))
    if label is not None:
        return f"{name}: no row has {quoted(label)}, where the label is to be; there is {there}"
    known = ", ".join(FIELDS)
    return f"{name}: no row has a label ({known}); there is {there}; name its field with --label"
