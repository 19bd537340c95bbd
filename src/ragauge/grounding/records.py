"""Structured records among the contexts: what their fields deny, and what an answer makes of it.

Prose is compared by its words. In a record the words of a field stand there whether the field
says True, False or None, so its value has to be read.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import Any, Literal, NamedTuple

from ragauge.quantities import Quantity, Supply, quantities, supply, unsupported

State = Literal["yes", "no", "unknown"]
Fault = Literal["denied", "untold", "untold_denied", "affirmed", "times", "days"]
FAULTS: tuple[Fault, ...] = ("denied", "untold", "untold_denied", "affirmed", "times", "days")
"""The answer says yes where the record says no; says yes, or no, where it tells nothing; says no
where it says yes; names a time that is none of its; claims every day where a day is missing."""
_FAULT_OF: dict[tuple[State, bool], Fault] = {
    ("unknown", True): "untold_denied",
    ("unknown", False): "untold",
    ("yes", True): "affirmed",
    ("no", False): "denied",
}
"""What is wrong by a field's state and whether the answer denies it."""

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
_FAR_BEFORE = 1_000
"""The same for one before it, in characters of a clause that no punctuation ends."""
MOST_SLIPS = 3
"""More of one kind in a sentence say no more."""
_LONGEST_NAME = 200
"""Letters of a field's name; no answer speaks of one with more."""
_DEEPEST = 8
"""Names above a value in nested JSON that are part of its field's name."""
_LONGEST_KEY = 32
"""Letters by which the fields that a text may mention are found."""
_PARK = re.compile(r"\bpark", re.I)
_WORD_START = re.compile(r"\b\w")
_GAP = re.compile(r"[\s-]+")
_LOWER = str.maketrans(ascii_uppercase + "\u212a\u017f\u0130\u0131", ascii_lowercase + "ksii")
"""Letters as a pattern that ignores case compares them, each to one."""


class Field(NamedTuple):
    """A field that says yes, no or nothing."""

    name: str
    state: State
    ways: tuple[tuple[str, ...], ...]
    """The words it goes by, each in parts that blanks and dashes may separate."""
    parking: bool
    """Only in a sentence on parking: elsewhere, a lot is something else."""


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
    by_key: Mapping[str, Sequence[int]]
    """The places of fields by the letters that a mention of them begins with."""
    lengths: Sequence[int]
    """Of those letters, rising."""
    heads: frozenset[str]
    """The first one or two of them."""


def record_of(texts: Sequence[str]) -> Record | None:
    """The fields of the contexts that are records; None where all are prose."""
    found = [field for text in texts for field in _fields_of(text)]
    if not found:
        return None
    prose = " ".join(value for _, value in found if len(value.split()) > LONG)
    fields = _fields(found)
    all_fields = _record(fields, frozenset(), frozenset())
    in_prose = {place for place, _, _ in _mentioned(all_fields, prose)}
    told = [field for place, field in enumerate(fields) if place not in in_prose]
    days = frozenset(
        day for name, value in found for day in _DAYS if name.lower().endswith(day) and value
    )
    times = supply(one for text in texts for one in quantities(text))
    return _record(told, days, times)


def _record(fields: Sequence[Field], days: frozenset[str], times: Supply) -> Record:
    by_key: defaultdict[str, list[int]] = defaultdict(list)
    for place, field in enumerate(fields):
        for way in field.ways:
            by_key["".join(way)[:_LONGEST_KEY]].append(place)
    heads = frozenset(way[0][:2] for field in fields for way in field.ways)
    lengths = sorted(set(map(len, by_key)))
    return Record(tuple(fields), days, times, dict(by_key), lengths, heads)


def slips(record: Record, answer: str, said: Sequence[Quantity] | None = None) -> list[Slip]:
    """Where the answer says otherwise than the record, in reading order.

    `said` are the answer's quantities, where they have been read already.
    """
    found = [
        slip
        for sentence in _SENTENCE.finditer(answer)
        if not _SAYS_UNKNOWN.search(sentence[0])
        for slip in _in_sentence(record, answer, sentence.start(), sentence.end())
    ]
    said = quantities(answer) if said is None else said
    times = unsupported([one for one in said if one.kind == "time"], record.times)
    found += [Slip("times", one.text, one.start, one.end) for one in times]
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
        yield " ".join(path[-_DEEPEST:]), str(value)


def _fields(found: Sequence[tuple[str, str]]) -> list[Field]:
    """The fields that say yes, no or nothing.

    Of a list of records, those of the first few: a mention is held against all of its name.
    """
    counts: Counter[tuple[object, ...]] = Counter()
    fields = []
    for field in filter(None, (_field(name, value) for name, value in found)):
        key = field[1:]
        counts[key] += 1
        if counts[key] <= MOST_SLIPS:
            fields.append(field)
    return fields


def _field(name: str, value: str) -> Field | None:
    """The field, where its value is a yes, a no or nothing."""
    word = value.lower().strip("'\" ,")
    state: State | None = (
        "yes" if word in _YES else "no" if word in _NO else "unknown" if word in _UNKNOWN else None
    )
    path = name.split()
    if not path or len(path[-1]) > _LONGEST_NAME:
        return None
    parts = [part.lower() for part in _CAMEL.findall(path[-1])]
    if state is None or not parts or path[-1].lower() in ("hours", *_DAYS):
        return None
    telling = [part for part in parts if part not in _IDLE_PARTS] or parts
    above = [part.lower() for part in _CAMEL.findall(path[-2])] if len(path) > 1 else []
    ways = [telling, *(way.split() for way in _OTHER_WORDS.get("".join(telling), ()))]
    return Field(name, state, tuple(map(_way, ways)), "parking" in above)


def _way(parts: Sequence[str]) -> tuple[str, ...]:
    """The parts of a name as they are looked for; `wifi` and `takeout` are also written in two."""
    split = {"wifi": ("wi", "fi"), "takeout": ("take", "out")}
    singular = [part.removesuffix("s") if len(part) > 4 else part for part in parts]
    return tuple(piece for part in singular for piece in split.get(part, (part,)))


def _mentioned(record: Record, text: str) -> list[tuple[int, int, int]]:
    """The fields that a text mentions: the place of each, and where its first mention stands.

    Each word is looked up among the fields, so that a record of many takes no longer than one of
    few. Blanks and dashes are left out meanwhile, for they may stand between any two parts.
    """
    if not record.lengths:
        return []
    low = text.translate(_LOWER)
    joined = _GAP.sub("", low)
    gaps, at = 0, 0
    found: dict[int, tuple[int, int]] = {}
    for word in _WORD_START.finditer(text):
        start = word.start()
        if low[start : start + 2] not in record.heads and low[start] not in record.heads:
            continue
        gaps += sum(map(len, _GAP.findall(text, at, start)))
        at = start
        head = joined[start - gaps : start - gaps + record.lengths[-1]]
        for key in dict.fromkeys(head[:length] for length in record.lengths):
            for place in record.by_key.get(key, ()):
                if place not in found and (end := _mention_end(low, start, record.fields[place])):
                    found[place] = start, end
    return [(place, *found[place]) for place in sorted(found)]


def _mention_end(low: str, start: int, field: Field) -> int:
    """Where the mention of a field that starts here ends; 0 where there is none.

    The words of a field count however they are joined: takeout, take-out, take out.
    """
    for way in field.ways:
        at = start
        for part in way:
            if at > start and (gap := _GAP.match(low, at)):
                at = gap.end()
            if not low.startswith(part, at):
                break
            at += len(part)
        else:
            for end in (at + 1, at) if low.startswith("s", at) else (at,):
                following = low[end : end + 1]
                if not following.isalnum() and following != "_":
                    return end
    return 0


def _in_sentence(record: Record, answer: str, start: int, end: int) -> Iterator[Slip]:
    sentence = answer[start:end]
    parks = _PARK.search(sentence) is not None
    at = 0
    for stop in (*_CLAUSE_END.finditer(sentence), None):
        clause = sentence[at : stop.start() if stop else None]
        for place, begin, past in _mentioned(record, clause):
            field = record.fields[place]
            if field.parking and not parks:
                continue
            fault = _FAULT_OF.get((field.state, _denied(clause, begin, past)))
            if fault:
                yield Slip(fault, field.name, start + at + begin, start + at + past)
        at = stop.end() if stop else at


def _denied(clause: str, start: int, end: int) -> bool:
    """Whether the clause denies what stands at this place, before it or after it."""
    before = clause[max(0, start - _FAR_BEFORE) : start]
    anew = [match.start() for match in _AFFIRMS_ANEW.finditer(before)]
    if _DENIAL.search(before[anew[-1] :] if anew else before):
        return True
    after = _DENIAL_AFTER.search(clause, end, end + 2 * _FAR)
    if after is None or after.start() - end >= _FAR:
        return False
    return _NEW_CLAUSE.search(clause[end : after.start()]) is None
