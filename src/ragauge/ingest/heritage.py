"""Heritage gold entries: a text with its entities, types, links and questions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec import Struct

from ragauge.contracts.report import Finding
from ragauge.ingest.fields import (
    BadField,
    BadRecord,
    Check,
    expected,
    mapping,
    mappings,
    quoted,
    text,
    texts,
    whole,
)
from ragauge.ingest.lines import read_whole
from ragauge.ingest.placed_records import no_table, records_of

CUSTODIAN_TYPES: tuple[str, ...] = ("GRP.HER.ARC", "GRP.HER.LIB", "GRP.HER.MUS", "GRP.HER.SOC")
ENTITY_TYPES: tuple[str, ...] = (*CUSTODIAN_TYPES, "IDENTIFIER", "TMP", "TOP")
LETTERS: tuple[str, ...] = tuple("GLAMORCUBESFIXPHDNT")
"""The types of custodians in one letter each, of the label set `heritage`."""
MARKS = ("ner_annotations", "type_classification", "entity_linking", "qa_pairs")
"""The keys of which an entry has one at least, and no other record has any."""


class Mention(Struct, frozen=True):
    """An entity in a text: its surface, its type and its place, half-open, in characters."""

    text: str
    type: str
    start: int
    end: int


class Pair(Struct, frozen=True, kw_only=True):
    """A question about the text, with its answer."""

    question: str
    answer: str | None = None
    answer_type: str | None = None
    supporting_facts: Any = None
    extra: dict[str, Any] = {}


class Entry(Struct, frozen=True, kw_only=True):
    """One heritage gold entry."""

    id: str
    text: str
    mentions: tuple[Mention, ...] = ()
    primary_type: str | None = None
    secondary_types: tuple[str, ...] = ()
    links: dict[str, dict[str, Any]] = {}
    """For each mention its ids elsewhere; all null where it is nowhere known."""
    pairs: tuple[Pair, ...] = ()
    strata: dict[str, Any] = {}
    extra: dict[str, Any] = {}


def is_entry(record: Any) -> bool:
    return type(record) is dict and any(mark in record for mark in MARKS)


def entry_of(record: Any) -> Entry:
    """An entry from its decoded fields; raises BadRecord with every one that is wrong."""
    if type(record) is not dict:
        raise BadRecord([BadField("record", expected("an object", record))])
    faults = [BadField(name, "missing") for name in ("id", "text") if record.get(name) is None]
    given = {name: value for name, value in record.items() if value is not None}
    known: dict[str, Any] = {}
    for name, check in _CHECKS.items():
        if name in given:
            try:
                known |= check(given.pop(name), name)
            except BadField as fault:
                faults.append(fault)
    if faults:
        raise BadRecord(faults)
    return Entry(**known, extra=given)


def read_entries(name: str, problems: list[str]) -> list[Entry]:
    """The entries of a JSON Lines file or a JSON array; what is wrong goes into the list."""
    entries: list[Entry] = []
    seen: set[str] = set()
    records = list(records_of(name, read_whole(name), problems, no_table))
    # Another kind of gold set: every record asks, and none is an entry.
    if records and all(
        type(record) is dict and "question" in record and not is_entry(record)
        for _, record in records
    ):
        problems.append(
            f"{name}: is a gold set of questions, and the plan wants heritage entries: id, text, "
            f"and {', '.join(MARKS[:-1])} or {MARKS[-1]}; without --plan its questions are checked"
        )
        return entries
    for place, record in records:
        try:
            entry = entry_of(record)
        except BadRecord as fault:
            problems += [f"{place}: {field}" for field in fault.fields]
            continue
        if entry.id in seen:
            problems.append(f"{place}: id: {quoted(entry.id)} stands in the file already")
        seen.add(entry.id)
        entries.append(entry)
    return entries


def misplaced(entry: Entry) -> Iterator[Finding]:
    """A finding for each entity that does not stand where it is said to, with its right place."""
    for mention in entry.mentions:
        fact = misplacement(entry.text, mention)
        if fact:
            yield Finding("misplaced_span", entry.id, fact)


def misplacement(text: str, mention: Mention) -> str | None:
    """Where an entity really is, in words; None where it stands at its place.

    Of several right places the nearest to the given one is named.

    >>> misplacement("opened in 1800", Mention("1800", "TMP", 8, 12))
    '"1800" is at 10–14, not at 8–12, which holds "n 18"'
    """
    start, end = mention.start, mention.end
    there = text[start:end] if 0 <= start < end else ""
    if there == mention.text:
        return None
    holds = f"at {start}–{end}, which holds {quoted(there) if there else 'nothing'}"
    places = [found.start() for found in re.finditer(f"(?={re.escape(mention.text)})", text)]
    if not places:
        return f"{quoted(mention.text)} is nowhere in the text, and not {holds}"
    right = min(places, key=lambda place: (abs(place - start), place))
    others = f" (and at {len(places) - 1} more)" if len(places) > 1 else ""
    return f"{quoted(mention.text)} is at {right}–{right + len(mention.text)}{others}, not {holds}"


def custodian_types(met: Iterable[str]) -> tuple[str, ...]:
    """The set that texts are typed with: the letters where one of them is met, else the codes."""
    return LETTERS if {*met} & {*LETTERS} else CUSTODIAN_TYPES


def unknown_types(entry: Entry) -> Iterator[Finding]:
    """A finding for each type that the plan does not know."""
    named = [(mention.type, ENTITY_TYPES) for mention in entry.mentions]
    if entry.primary_type is not None:
        named.append((entry.primary_type, custodian_types([entry.primary_type])))
    for name, known in dict.fromkeys(named):
        if name not in known:
            fact = f"type {quoted(name)} is none of {', '.join(known)}"
            yield Finding("unknown_type", entry.id, fact)


def _filled(value: Any, field: str) -> dict[str, Any]:
    if not text(value, field).strip():
        raise BadField(field, "is empty")
    return {field: value}


def _mention(part: dict[str, Any], field: str) -> Mention:
    for name in ("text", "type", "start", "end"):
        if name not in part:
            raise BadField(f"{field}.{name}", "missing")
    mention = Mention(
        text(part["text"], f"{field}.text"),
        text(part["type"], f"{field}.type"),
        whole(part["start"], f"{field}.start"),
        whole(part["end"], f"{field}.end"),
    )
    if not mention.text:
        raise BadField(f"{field}.text", "is empty")
    return mention


def _typing(value: Any, field: str) -> dict[str, Any]:
    part = mapping(value, field)
    if part.get("primary_type") is None:
        raise BadField(f"{field}.primary_type", "missing")
    return {
        "primary_type": text(part["primary_type"], f"{field}.primary_type"),
        "secondary_types": texts(part.get("secondary_types") or [], f"{field}.secondary_types"),
    }


def _links(value: Any, field: str) -> dict[str, Any]:
    links = mapping(value, field)
    return {"links": {name: mapping(ids, f"{field}.{name}") for name, ids in links.items()}}


def _pair(part: dict[str, Any], field: str) -> Pair:
    given = {name: value for name, value in part.items() if value is not None}
    if not text(given.pop("question", ""), f"{field}.question").strip():
        raise BadField(f"{field}.question", "missing")
    named = {
        name: text(given.pop(name), f"{field}.{name}")
        for name in ("answer", "answer_type")
        if name in given
    }
    facts = given.pop("supporting_facts", None)
    return Pair(question=part["question"], **named, supporting_facts=facts, extra=given)


def _each(value: Any, field: str, read: Callable[[dict[str, Any], str], Any]) -> tuple[Any, ...]:
    parts = enumerate(mappings(value, field))
    return tuple(read(part, f"{field}[{place}]") for place, part in parts)


_CHECKS: dict[str, Check] = {
    "id": _filled,
    "text": _filled,
    "ner_annotations": lambda value, field: {"mentions": _each(value, field, _mention)},
    "type_classification": _typing,
    "entity_linking": _links,
    "qa_pairs": lambda value, field: {"pairs": _each(value, field, _pair)},
    "strata": lambda value, field: {field: mapping(value, field)},
}
