"""Structured records among the contexts: what their fields deny, and what an answer makes of it.

Prose is compared by its words. In a record the words of a field stand there whether the field
says True, False or None, so its value has to be read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from ragauge.text.quantities import Quantity, Supply, quantities, supply

State = Literal["yes", "no", "unknown"]
Fault = Literal["denied", "untold", "untold_denied", "affirmed", "times", "days"]
FAULTS: tuple[Fault, ...] = ("denied", "untold", "untold_denied", "affirmed", "times", "days")
"""The answer says yes where the record says no; says yes, or no, where it tells nothing; says no
where it says yes; names a time that is none of its; claims every day where a day is missing."""

LEAST_FIELDS = 6
LEAST_SHARE = 0.6
LONG = 8
"""A value of more words is prose, not a field's value."""
_FIELD = re.compile(
    r"^[ \t]*[\"']?([A-Za-z_][\w ./&'\"-]{0,60}?)[\"']?[ \t]*[:=][ \t]*(.*)$", re.MULTILINE
)
_NO = frozenset({"false", "no", "0"})
_UNKNOWN = frozenset({"none", "null", "n/a", "unknown", ""})
_YES = frozenset({"true", "yes", "free", "1"})
_CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_IDLE = "restaurants restaurant business attributes attribute good for by has is accepts"
_IDLE_PARTS = frozenset(_IDLE.split())
_OTHER_WORDS = {
    "takeout": ("to go", "carry out"),
    "outdoorseating": ("outdoor", "patio", "outside seating"),
    "ambience": ("ambiance", "atmosphere"),
}
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_EVERY_DAY = re.compile(
    r"\b(?:seven|7) days\b|\bevery ?day\b|\bdaily\b|\bmonday\s*(?:to|through|-|–)\s*sunday\b", re.I
)
_CLAUSE_END = re.compile(
    r"[.;:!?\n]|,?\s\b(?=(?:but|while|although|though|however|whereas|yet)\b)", re.I
)
_SENTENCE = re.compile(r"[^.!?\n]+(?:\.\d[^.!?\n]*)*[.!?\n]?")
_DENIAL = re.compile(
    r"\b(?:not|no|never|neither|nor|without|cannot|lacks?|lacking|none)\b|n['’]t\b", re.I
)
_DENIAL_AFTER = re.compile(r"\b(?:not|unavailable)\b|n['’]t\b", re.I)
_AFFIRMS_ANEW = re.compile(
    r"\b(?:they|it|which|and|there)\s+(?:do|does|is|are|has|have|also|can|may)\b"
    r"(?!\s+not\b|n['’]t|\s+no\b)"
    r"|\b(?:offers|provides|features|accepts|has|includes)\b(?!\s+(?:no|neither)\b)",
    re.I,
)
_SAYS_UNKNOWN = re.compile(
    r"\bnot (?:specified|provided|mentioned|available in|given|clear|listed|stated|known)\b"
    r"|\bno (?:information|details?|mention|indication|data)\b"
    r"|\b(?:do|does|did)(?: not|n['’]t) (?:specify|mention|include|provide|state|indicate)\b"
    r"|\b(?:unclear|unknown|unspecified|whether)\b",
    re.I,
)
_NEW_CLAUSE = re.compile(r"\b(?:and|with|that|which)\s+(?:do|does|is|are|has|the|it)\b", re.I)
_FAR = 60
"""A denial further behind a word than this denies something else."""


class Field(NamedTuple):
    """A field that says yes, no or nothing."""

    name: str
    state: State
    mention: re.Pattern[str]
    needs: re.Pattern[str] | None
    """What the sentence must have too: a lot is one for cars only beside parking."""


class Slip(NamedTuple):
    """A place where the answer says otherwise than the record."""

    fault: Fault
    field: str
    start: int
    end: int


class Record(NamedTuple):
    """What the structured contexts of an answer hold."""

    fields: tuple[Field, ...]
    days: frozenset[str]
    """Days of the week that have a value; empty where the record has none."""
    times: Supply
    """Every time and number of the record."""


def record_of(texts: Sequence[str]) -> Record | None:
    """The fields of the contexts that are records; None where all are prose."""
    found = [field for text in texts for field in _fields_of(text)]
    if not found:
        return None
    prose = " ".join(value for _, value in found if len(value.split()) > LONG)
    fields = [_field(name, value) for name, value in found]
    told = tuple(field for field in fields if field and not field.mention.search(prose))
    days = frozenset(
        day for name, value in found for day in _DAYS if name.lower().endswith(day) and value
    )
    return Record(told, days, supply(one for text in texts for one in quantities(text)))


def slips(record: Record, answer: str) -> list[Slip]:
    """Where the answer says otherwise than the record, in reading order."""
    found = [
        slip
        for sentence in _SENTENCE.finditer(answer)
        if not _SAYS_UNKNOWN.search(sentence[0])
        for slip in _in_sentence(record, answer, sentence.start(), sentence.end())
    ]
    found += _wrong_times(record, answer)
    every = _EVERY_DAY.search(answer)
    if every and 0 < len(record.days) < len(_DAYS):
        missing = ", ".join(day for day in _DAYS if day not in record.days)
        found.append(Slip("days", missing, *every.span()))
    return sorted(found, key=lambda slip: (slip.start, slip.end, slip.field))


def _fields_of(text: str) -> list[tuple[str, str]]:
    """The fields of a text that is a record: JSON, or lines of `name: value`; else none."""
    if text.lstrip().startswith(("{", "[")):
        try:
            return list(_flattened(json.loads(text), ()))
        except (ValueError, RecursionError):
            pass  # it only begins like JSON
    lines = sum(1 for line in text.split("\n") if line.strip())
    found = [(match[1], match[2].strip()) for match in _FIELD.finditer(text)]
    if len(found) < LEAST_FIELDS or len(found) < LEAST_SHARE * lines:
        return []
    return found


def _flattened(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The fields of a JSON value, their names joined by blanks as in the other form."""
    if isinstance(value, dict):
        for name, held in value.items():
            yield from _flattened(held, (*path, name))
    elif isinstance(value, list):
        for held in value:
            yield from _flattened(held, path)
    elif path:
        yield " ".join(path), str(value)


def _field(name: str, value: str) -> Field | None:
    """The field, where its value is a yes, a no or nothing."""
    word = value.lower().strip("'\" ,")
    state: State | None = (
        "yes" if word in _YES else "no" if word in _NO else "unknown" if word in _UNKNOWN else None
    )
    path = name.split()
    parts = [part.lower() for part in _CAMEL.findall(path[-1])]
    if state is None or not parts or path[-1].lower() in ("hours", *_DAYS):
        return None
    telling = [part for part in parts if part not in _IDLE_PARTS] or parts
    above = [part.lower() for part in _CAMEL.findall(path[-2])] if len(path) > 1 else []
    needs = re.compile(r"\bpark", re.I) if "parking" in above else None
    return Field(name, state, _mention(telling), needs)


def _mention(parts: list[str]) -> re.Pattern[str]:
    """The words of a field however they are joined: takeout, take-out, take out."""
    ways = [parts, *(way.split() for way in _OTHER_WORDS.get("".join(parts), ()))]
    joined = (r"[\s-]*".join(map(_letters, way)) for way in ways)
    return re.compile(rf"\b(?:{'|'.join(joined)})s?\b", re.I)


def _letters(part: str) -> str:
    """A part of a name; `wifi` and `takeout` are also written in two."""
    split = {"wifi": r"wi[\s-]?fi", "takeout": r"take[\s-]?out"}
    singular = part.removesuffix("s") if len(part) > 4 else part
    return split.get(part, re.escape(singular))


def _in_sentence(record: Record, answer: str, start: int, end: int) -> Iterator[Slip]:
    sentence = answer[start:end]
    fields = [one for one in record.fields if not one.needs or one.needs.search(sentence)]
    for first, last in _clauses(sentence):
        clause = sentence[first:last]
        for field in fields:
            mention = field.mention.search(clause)
            if mention is None:
                continue
            fault = _fault(field.state, _denied(clause, *mention.span()))
            if fault:
                at = start + first
                yield Slip(fault, field.name, at + mention.start(), at + mention.end())


def _clauses(sentence: str) -> Iterator[tuple[int, int]]:
    start = 0
    for end in _CLAUSE_END.finditer(sentence):
        if end.start() > start:
            yield start, end.start()
        start = end.end()
    if start < len(sentence):
        yield start, len(sentence)


def _fault(state: State, denied: bool) -> Fault | None:
    if state == "unknown":
        return "untold_denied" if denied else "untold"
    if state == "yes":
        return "affirmed" if denied else None
    return None if denied else "denied"


def _denied(clause: str, start: int, end: int) -> bool:
    """Whether the clause denies what stands at this place, before it or after it."""
    before = clause[:start]
    anew = [match.start() for match in _AFFIRMS_ANEW.finditer(before)]
    if _DENIAL.search(before[anew[-1] :] if anew else before):
        return True
    after = _DENIAL_AFTER.search(clause, end)
    if after is None or after.start() - end >= _FAR:
        return False
    return _NEW_CLAUSE.search(clause[end : after.start()]) is None


def _wrong_times(record: Record, answer: str) -> list[Slip]:
    """Times of the day in the answer that the record does not have."""
    from ragauge.text.quantities import unsupported

    times: list[Quantity] = [one for one in quantities(answer) if one.kind == "time"]
    return [Slip("times", one.text, one.start, one.end) for one in unsupported(times, record.times)]
