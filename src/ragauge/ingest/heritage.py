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
    Field,
    Shape,
    an_id,
    filled,
    mapping,
    mappings,
    quoted,
    text,
    texts,
    whole,
)
from ragauge.ingest.records import Records, Row, Source, file_of, no_table

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
    values = ENTRY.read(record)
    known = {_PARTS.get(name, name): value for name, value in values.items()}
    primary, secondary = known.pop("type", (None, ()))
    extra = {key: record[key] for key in ENTRY.unread(record) if record[key] is not None}
    return Entry(**known, primary_type=primary, secondary_types=secondary, extra=extra)


def entry_at(place: str, record: Any, problems: list[str]) -> Entry | None:
    """The entry that a record is; what is wrong with it goes into the list."""
    try:
        return entry_of(record)
    except BadRecord as fault:
        problems += [f"{place}: {field}" for field in fault.fields]
        return None


def read_entries(source: Source, problems: list[str]) -> list[Entry]:
    """The entries of a source; what is wrong goes into the list."""
    rows = list(Records(source, RECORD, problems, name="entries", table=no_table).rows())
    # Another kind of gold set: every record asks, and none is an entry.
    if rows and all("question" in row.record and not is_entry(row.record) for row in rows):
        problems.append(
            f"{file_of(rows[0].place)}: is a gold set of questions, and the plan wants heritage "
            f"entries: id, text, and {', '.join(MARKS[:-1])} or {MARKS[-1]}; without --plan its "
            "questions are checked"
        )
        return []
    return [entry for _, entry in entries_in(rows, problems)]


def entries_in(rows: Iterable[Row], problems: list[str]) -> Iterator[tuple[Row, Entry]]:
    """The entry of each record, each once; what is wrong goes into the list."""
    places: dict[str, str] = {}
    for row in rows:
        entry = entry_at(row.place, row.record, problems)
        if entry is None:
            continue
        first = places.setdefault(entry.id, row.place)
        if first != row.place:
            problems.append(f"{row.place}: id: {quoted(entry.id)} is at {first} already; keep one")
        else:
            yield row, entry


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


def _typing(value: Any, field: str) -> tuple[str, tuple[str, ...]]:
    """The type, and what else it is."""
    part = mapping(value, field)
    if part.get("primary_type") is None:
        raise BadField(f"{field}.primary_type", "missing")
    return (
        text(part["primary_type"], f"{field}.primary_type"),
        texts(part.get("secondary_types") or [], f"{field}.secondary_types"),
    )


def _links(value: Any, field: str) -> dict[str, dict[str, Any]]:
    return {name: mapping(ids, f"{field}.{name}") for name, ids in mapping(value, field).items()}


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


def _each(read: Callable[[dict[str, Any], str], Any]) -> Check:
    return lambda value, field: tuple(
        read(part, f"{field}[{place}]") for place, part in enumerate(mappings(value, field))
    )


RECORD = Shape(name="heritage entry", fields=(), doc="An entry as it is written.", keeps=True)
ENTRY = Shape(
    name="heritage entry",
    doc="A text with its entities, its type, its links and questions about it.",
    fields=(
        Field("id", an_id, "Its id.", missing="missing"),
        Field("text", filled, "The text.", missing="missing"),
        Field(
            "ner_annotations",
            _each(_mention),
            "Its entities, each with text, type, start and end, half-open, in characters.",
            many=True,
        ),
        Field("type_classification", _typing, "Its primary_type, and secondary_types."),
        Field(
            "entity_linking", _links, "For each mention its ids elsewhere; all null where unknown."
        ),
        Field(
            "qa_pairs",
            _each(_pair),
            "Questions, each with answer, answer_type and supporting_facts.",
            many=True,
        ),
        Field("strata", mapping, "Anything to slice by, such as country."),
    ),
    keeps=True,
)
_PARTS = {
    "ner_annotations": "mentions",
    "type_classification": "type",
    "entity_linking": "links",
    "qa_pairs": "pairs",
}
