"""Annotated texts as JSON records: heritage entries, and plain documents with entities or tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ragauge.contracts.entities import ONE_LAYER, AnnotatedText, Entity, Fragment
from ragauge.ingest.annotated.entity_reading import Given, Reading
from ragauge.ingest.annotated.tagged_texts import (
    MARKS,
    Layer,
    TaggedToken,
    bad_tag,
    laid,
    marked,
    places_in,
    scheme_of,
    tag_of,
)
from ragauge.ingest.fields import (
    BadField,
    Columns,
    Field,
    Shape,
    an_id,
    anything,
    expected,
    mapping,
    text,
    texts,
    whole,
)
from ragauge.ingest.heritage import MARKS as ENTRY_MARKS
from ragauge.ingest.records import Records, Row, Source, no_table
from ragauge.text.kb_ids import is_nil

ENTITIES = ("entities", "spans", "ner_annotations")
LABELS = ("label", "labels")
"""Fields that hold entities only where they hold lists, as doccano writes them."""
TAGS = "ner_tags"
TRIPLE = ("start", "end", "type")
OFFSETS = {"start": "start_offset", "end": "end_offset"}
"""What doccano calls them."""


def entities_field(record: Mapping[str, Any]) -> str | None:
    """The field of a record that holds its entities.

    >>> entities_field({"label": [[0, 5, "PER"]]}), entities_field({"label": "positive"})
    ('label', None)
    """
    for name in ENTITIES:
        if record.get(name) is not None:
            return name
    for name in LABELS:
        value = record.get(name)
        if type(value) is list and all(type(one) in (list, tuple, dict) for one in value):
            return name
    return TAGS if record.get(TAGS) is not None else None


def entity_fields(value: Any, name: str) -> dict[str, Any]:
    """An entity by its fields, from an object or from start, end and type in a list.

    >>> entity_fields([0, 5, "PER"], "entities[0]")
    {'start': 0, 'end': 5, 'type': 'PER'}
    """
    if type(value) is dict:
        own = {name: value[key] for name, key in OFFSETS.items() if key in value}
        return {**own, **value}
    if type(value) not in (list, tuple):
        raise BadField(name, expected("an object, or [start, end, type]", value))
    if len(value) != len(TRIPLE):
        raise BadField(name, f"expected start, end and type, got a list of {len(value)}")
    return dict(zip(TRIPLE, value, strict=True))


def tagged_entities(
    record: Mapping[str, Any], body: str, tokens: Sequence[Fragment], where: str, reading: Reading
) -> list[Given]:
    """The entities that the tags of a record mark in its tokens; raises BadField."""
    written = record[TAGS]
    if type(written) is not list or not all(type(tag) is str for tag in written):
        raise BadField(TAGS, "expected a list of tags such as B-PER; write their names, no numbers")
    if len(written) != len(tokens):
        raise BadField(TAGS, f"there are {len(written)}, and {len(tokens)} tokens; give each a tag")
    told = scheme_of([written])
    # one sentence that begins with I tells nothing of the others: IOB2 is what such records hold
    form = "iob2" if told == "iob1" else told
    sentence: list[TaggedToken] = []
    for place, (tag, (start, end)) in enumerate(zip(written, tokens, strict=True)):
        found = tag_of(tag, MARKS[form])
        if found is None:
            raise BadField(f"{TAGS}[{place}]", bad_tag(tag, form))
        at = f"{where}: {TAGS}[{place}]"
        sentence.append(TaggedToken(body[start:end], " ", at, (found,)))
    return list(marked(reading, body, sentence, tokens, 0, Layer(ONE_LAYER, form)))


IDS = ("id", "doc_id")
TYPES = ("type", "label", "entity_group", "entity", "tag")
LINKS = ("qid", "wikidata_id", "link", "links")
ENTRY_IDS = ("wikidata_id", "viaf_id", "isil_code", "ghcid")


ANNOTATED = Shape(
    name="document",
    doc="A text with its entities.",
    fields=(
        Field("id", an_id, "Its id.", aliases=IDS[1:], missing="missing; name the document by id"),
        Field("text", text, "The text; where there is none, its tokens."),
        Field(
            "entities",
            anything,
            "Its entities: an object with start, end and type each, or a list of the three.",
            aliases=(*ENTITIES[1:], *LABELS),
            many=True,
        ),
        Field(TAGS, anything, "In place of entities, a tag such as B-PER a token.", many=True),
        Field("tokens", anything, "Its tokens: words, or a start and an end each.", many=True),
        Field("notes", texts, "What its annotators wrote about it.", many=True),
        Field("entity_linking", anything, "For each mention its ids elsewhere."),
        Field("strata", mapping, "Anything to slice by, such as country."),
    ),
)


def read_records(
    source: Source, reading: Reading, name: str = "documents", columns: Columns | None = None
) -> None:
    """Read the documents of a source; what has no entities field is no document."""
    records = Records(
        source, ANNOTATED, reading.problems, name=name, table=no_table, columns=columns
    )
    # A list at hand may be empty; of a file, its reader says so.
    for row in records.checked(records.row(*one) for one in records.objects()):
        if columns:
            held = {field: row[field] for field in columns if row[field] is not None}
            row.record = {**row.record, **held}
        faults: list[BadField] = []
        found = _document(row, reading, faults)
        reading.problems += [f"{row.place}: {fault}" for fault in faults]
        if found and not faults:
            reading.keep_counted(*found)
    records.refuse_missed()


def _document(
    row: Row, reading: Reading, faults: list[BadField]
) -> tuple[AnnotatedText, list[Given]] | None:
    """A document and its entities; None with what is wrong, or where nobody marked entities."""
    record, where, id = row.record, row.place, row["id"]
    field = entities_field(record)
    if field is None:
        # An entry of another task is no document without entities: nobody looked for them.
        if any(mark in record for mark in ENTRY_MARKS):
            reading.find("not_annotated", where, "has no ner_annotations; it is not scored")
        else:
            fact = f"missing, as are {' and '.join(ENTITIES[1:])}; write [] where there is none"
            faults.append(BadField(ENTITIES[0], fact))
        return None
    given = [] if field == TAGS else _entities(record, field, where, faults)
    if faults:
        return None
    try:
        body, tokens = _tokens(record, row["text"], where, reading)
        if field == TAGS:
            given = tagged_entities(record, body or "", tokens or (), where, reading)
    except BadField as fault:
        faults.append(fault)
        return None
    if field != TAGS and tokens is not None and counts_tokens(record, given, reading):
        given = in_characters(given, tokens, field, faults)
        reading.in_tokens.add(id)
    if row["notes"]:
        reading.notes[id] = row["notes"]
    strata = row["strata"] or {}
    return AnnotatedText(id=id, text=body, tokens=tokens, strata=strata, where=where), given


def _entities(
    record: dict[str, Any], field: str, where: str, faults: list[BadField]
) -> list[Given]:
    try:
        if type(record[field]) is not list:
            raise BadField(field, expected("a list of objects", record[field]))
        links = _entry_links(record)
    except BadField as fault:
        faults.append(fault)
        return []
    given: list[Given] = []
    for place, member in enumerate(record[field]):
        name = f"{field}[{place}]"
        try:
            entity = _entity(entity_fields(member, name), name, links)
            given.append(Given(entity, f"{where}: {name}"))
        except BadField as fault:
            faults.append(fault)
    return given


def _entity(member: dict[str, Any], name: str, links: dict[str, tuple[str, ...]]) -> Entity:
    given = member.get("fragments")
    fragments = () if given is None else _pairs(given, f"{name}.fragments")
    start = _offset(member, "start", name, fragments[0][0] if fragments else None)
    end = _offset(member, "end", name, fragments[-1][1] if fragments else None)
    surface = member.get("text")
    if surface is not None and not text(surface, f"{name}.text"):
        raise BadField(f"{name}.text", "is empty; leave it out where it is not known")
    named = next((key for key in LINKS if key in member), None)
    if named is None:
        linked = links.get(surface or "")
    else:  # the ids of a link; none of them for NIL and null
        ids = member[named] if type(member[named]) is list else [member[named]]
        nil = len(ids) == 1 and is_nil(ids[0])
        linked = () if nil else tuple(text(id, f"{name}.{named}").strip() for id in ids)
    return Entity(
        start=start,
        end=end,
        type=_type(member, name),
        text=surface,
        layer=text(member.get("layer", ONE_LAYER), f"{name}.layer"),
        fragments=fragments if len(fragments) > 1 else (),
        links=linked,
        id=None if member.get("id") is None else str(member["id"]),
    )


def _offset(member: dict[str, Any], key: str, name: str, known: int | None) -> int:
    value = member.get(key, known)
    if value is None:
        raise BadField(f"{name}.{key}", "missing")
    return whole(value, f"{name}.{key}")


def _type(member: dict[str, Any], name: str) -> str:
    value = next((member[key] for key in TYPES if member.get(key) is not None), None)
    if value is None:
        raise BadField(f"{name}.type", "missing")
    if not text(value, f"{name}.type").strip():
        raise BadField(f"{name}.type", "is empty")
    return str(value).strip()


def _pairs(value: Any, name: str) -> tuple[Fragment, ...]:
    """Pairs of a start and an end."""
    if type(value) is not list:
        raise BadField(name, expected("a list of pairs", value))
    pairs: list[Fragment] = []
    for place, pair in enumerate(value):
        if type(pair) not in (list, tuple) or len(pair) != 2:
            raise BadField(f"{name}[{place}]", expected("a pair of start and end", pair))
        start, end = (whole(offset, f"{name}[{place}]") for offset in pair)
        pairs.append((start, end))
    return tuple(pairs)


def _entry_links(record: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """By surface, the ids a heritage entry links its mentions to; empty where all are null."""
    value = record.get("entity_linking") or {}
    found: dict[str, tuple[str, ...]] = {}
    for mention, ids in mapping(value, "entity_linking").items():
        known = mapping(ids, f"entity_linking.{mention}")
        found[mention] = tuple(
            str(known[name]).strip() for name in ENTRY_IDS if not is_nil(known.get(name))
        )
    return found


def _tokens(
    record: dict[str, Any], body: str | None, where: str, reading: Reading
) -> tuple[str | None, tuple[Fragment, ...] | None]:
    """The text, joined from the tokens where there is none, and where each token stands."""
    value = record.get("tokens")
    if value is None:
        return body, None
    if type(value) is list and value and type(value[0]) is not str:
        return body, _pairs(value, "tokens")
    tokens = texts(value, "tokens")
    joined = laid([(token, " ") for token in tokens])
    if body is None:
        return joined
    places, amiss = places_in(body, tokens)
    if amiss:
        remedy = "" if places else "; the tokens, joined by blanks, are taken for the text"
        reading.find("tokens_differ_from_text", where, amiss + remedy)
    return (body, places) if places is not None else joined


def counts_tokens(record: dict[str, Any], given: Sequence[Given], reading: Reading) -> bool:
    """Whether start and end count tokens: as asked, else where tokens are words and no entity
    has a surface by which characters could be checked."""
    if reading.options.offsets is not None:
        return reading.options.offsets == "tokens"
    words = all(type(token) is str for token in record["tokens"])
    return words and all(one.entity.text is None for one in given)


def in_characters(
    given: Sequence[Given], tokens: Sequence[Fragment], field: str, faults: list[BadField]
) -> list[Given]:
    """Entities that count tokens, half-open, at their places in the text."""
    found: list[Given] = []
    for place, one in enumerate(given):
        parts: list[Fragment] = []
        for first, end in one.entity.parts:
            if 0 <= first < end <= len(tokens):
                parts.append((tokens[first][0], tokens[end - 1][1]))
            else:
                fact = f"goes from token {first} to {end}, and there are {len(tokens)}"
                remedy = "; a span has 0 <= start < end" if first >= end else ""
                faults.append(BadField(f"{field}[{place}]", fact + remedy))
        if len(parts) == len(one.entity.parts):
            fragments = tuple(parts) if one.entity.fragments else ()
            start, end = parts[0][0], parts[-1][1]
            entity = replace(one.entity, start=start, end=end, fragments=fragments)
            found.append(Given(entity, one.where))
    return found
