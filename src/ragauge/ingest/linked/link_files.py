"""Gold links and predicted ones from files, records or frames, in any of the forms they come in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import structs

from ragauge.contracts.links import GoldLink, GoldLinks, MentionKey, PredictedLink
from ragauge.contracts.report import Finding, Findings
from ragauge.ingest.fields import (
    BadField,
    BadRecord,
    expected,
    mapping,
    mappings,
    quoted,
    text,
    whole,
)
from ragauge.ingest.heritage import entry_of, misplaced
from ragauge.ingest.linked.link_fields import (
    answer,
    gold_ids,
    has_gold_alone,
    id_is_link,
    says_link,
)
from ragauge.ingest.linked.link_records import LinkReading, grouped_rows, name_of, records_in
from ragauge.ingest.placed_records import Records, gathered

if TYPE_CHECKING:
    from ragauge.ingest.linked.link_records import Source

DOCUMENT_IDS = ("doc_id", "doc", "document", "id")
ENTITIES = ("entities", "spans", "annotations", "mentions", "ner_annotations")
SURFACES = ("mention", "surface", "text")
UNKNOWN_TEXT = "?"
"""Stands for the text of an entry that has none, as a prediction may."""

Flat = tuple[str, dict[str, Any]]
"""The place of a mention, and its record."""


def is_document(record: Mapping[str, Any]) -> bool:
    """Whether a record holds the mentions of a whole document, and not one mention."""
    return "entity_linking" in record or _entities_field(record) is not None


def mentions_of(
    record: dict[str, Any], where: str, findings: Findings, gold: bool
) -> tuple[str, list[Flat]]:
    """A document's id and the records of its mentions; raises BadField or BadRecord.

    An entity that says nothing of a link is no gold; predicted, it was found and not linked.
    """
    if record.get("entity_linking") is not None:
        return _of_entry(record, where, findings)
    doc, mentions = _of_annotated(record)
    found: list[Flat] = []
    for field, flat in mentions:
        place = f"{where}: {field}"
        if says_link(flat) or id_is_link(flat):
            found.append((place, flat))
            continue
        fact = f"{quoted(flat['mention'])} says nothing of what it is linked to"
        findings.add(Finding("unlinked_entity", place, fact))
        if not gold:
            found.append((place, {**flat, "nil": False}))
    return doc, found


def _of_entry(record: dict[str, Any], where: str, findings: Findings) -> tuple[str, list[Flat]]:
    named = ("id", "text", "ner_annotations", "entity_linking", "strata")
    given = {name: record[name] for name in named if record.get(name) is not None}
    entry = entry_of({"text": UNKNOWN_TEXT, **given})
    if "text" in given:
        for finding in misplaced(entry):
            findings.add(Finding(finding.code, f"{where}: {finding.where}", finding.message))
    # A record for each place of a mention; one without a place where nobody marked any.
    context = None if entry.text == UNKNOWN_TEXT else entry.text
    found: list[Flat] = []
    for mention, ids in entry.links.items():
        place = f"{where}: entity_linking.{mention}"
        about = {"doc": entry.id, "mention": mention, "context": context, "strata": entry.strata}
        marked = [
            {"start": one.start, "end": one.end, "type": one.type}
            for one in entry.mentions
            if one.text == mention
        ]
        found += [(place, {**ids, **about, **one}) for one in marked or [{}]]
    return entry.id, found


def _of_annotated(record: dict[str, Any]) -> tuple[str, list[Flat]]:
    """A document's id, and each entity as the record of a mention."""
    field = _entities_field(record) or ENTITIES[0]
    ids = (record.get(name) for name in DOCUMENT_IDS)
    named = (str(id) for id in ids if type(id) is int or (type(id) is str and id.strip()))
    doc = next(named, None)
    if doc is None:
        raise BadField("doc_id", "missing; name the document")
    strata = mapping(record.get("strata") or {}, "strata")
    found: list[Flat] = []
    for number, entity in enumerate(mappings(record.get(field) or [], field)):
        name = f"{field}[{number}]"
        start, end = _entity_place(entity, name)
        own = mapping(entity.get("strata") or {}, f"{name}.strata")
        flat = {**entity, "doc": doc, "start": start, "end": end, "context": record.get("text")}
        flat["mention"] = _surface(record, entity, start, end)
        flat["strata"] = {**strata, **own}
        found.append((name, flat))
    return doc, found


def _entities_field(record: Mapping[str, Any]) -> str | None:
    return next((name for name in ENTITIES if type(record.get(name)) is list), None)


def _entity_place(entity: Mapping[str, Any], field: str) -> tuple[int, int]:
    """Start and end, half-open: two fields, or a pair."""
    pair = entity.get("span")
    if type(pair) is list and len(pair) == 2:
        return whole(pair[0], f"{field}.span[0]"), whole(pair[1], f"{field}.span[1]")
    for name in ("start", "end"):
        if entity.get(name) is None:
            raise BadField(f"{field}.{name}", "missing")
    return whole(entity["start"], f"{field}.start"), whole(entity["end"], f"{field}.end")


def _surface(record: Mapping[str, Any], entity: Mapping[str, Any], start: int, end: int) -> str:
    """The words of a mention: as the entity gives them, else from the text or its tokens.

    Where a document has tokens, places count them; they stay as they are written, because the
    prediction names the same.
    """
    for name in SURFACES:
        if type(entity.get(name)) is str:
            return text(entity[name], name)
    tokens, whole_text = record.get("tokens"), record.get("text")
    if type(tokens) is list and all(type(token) is str for token in tokens):
        return " ".join(tokens[start:end])
    return whole_text[start:end] if type(whole_text) is str else ""


DOCUMENTS = ("doc", "doc_id", "document")
MENTIONS = ("mention", "surface")
Link = TypeVar("Link", GoldLink, PredictedLink)


def read_gold_links(source: Source, reading: LinkReading) -> GoldLinks:
    """The gold mentions and their documents; what is wrong goes into the reading.

    A mention that is named twice is wrong: by its place, its id, or its words in one context.
    """
    documents: dict[str, dict[str, Any]] = {}
    flat = _flat(records_in(source, reading), reading, documents, gold=True)
    links = _numbered(_distinct(list(_read(flat, _gold, reading)), reading.problems))
    if not links and not documents and not reading.problems:
        fact = "holds no gold link; write one record a mention"
        reading.problems.append(f"{name_of(source)}: {fact}")
    for link in links:
        if link.document is not None:
            documents.setdefault(link.document, {})
    return GoldLinks(links=tuple(links), documents=dict(sorted(documents.items())))


def read_predicted_links(source: Source, reading: LinkReading) -> list[PredictedLink]:
    """What was predicted, in the order it is written; what is wrong goes into the reading."""
    documents: dict[str, dict[str, Any]] = {}
    records = grouped_rows(records_in(source, reading), reading.problems)
    flat = _flat(records, reading, documents, gold=False)
    links = list(_read(flat, _predicted, reading))
    if not links and not documents and not reading.problems:
        fact = "holds no prediction; write one record a mention"
        reading.problems.append(f"{name_of(source)}: {fact}")
    return links


def _flat(
    records: Records, reading: LinkReading, documents: dict[str, dict[str, Any]], *, gold: bool
) -> Iterator[tuple[str, dict[str, Any]]]:
    """A record a mention; the documents that were searched for them are noted."""
    for place, record in records:
        try:
            fields = mapping(record, "record")
            if not is_document(fields):
                yield place, fields
                continue
            doc, mentions = mentions_of(fields, place, reading.findings, gold)
            if doc in documents:
                raise BadField("id", f"{quoted(doc)} stands in the file already; keep one")
        except (BadField, BadRecord) as fault:
            reading.problems.extend(_told(place, fault))
            continue
        documents[doc] = fields.get("strata") or {}
        yield from mentions


def _read(
    records: Iterator[tuple[str, dict[str, Any]]],
    read: Callable[[dict[str, Any], str, LinkReading], Link],
    reading: LinkReading,
) -> Iterator[Link]:
    for place, record in records:
        try:
            yield read(record, place, reading)
        except (BadField, BadRecord) as fault:
            reading.problems.extend(_told(place, fault))


def _told(place: str, fault: BadField | BadRecord) -> list[str]:
    faults = fault.fields if isinstance(fault, BadRecord) else [fault]
    return [f"{place}: {one}" for one in faults]


def _gold(record: dict[str, Any], where: str, reading: LinkReading) -> GoldLink:
    known = gathered(
        (
            ("about", partial(_about, record)),
            ("ids", partial(gold_ids, record, reading.bare)),
            ("type", partial(_optional, record, "type")),
            ("strata", partial(mapping, record.get("strata") or {}, "strata")),
        )
    )
    return GoldLink(**known.pop("about"), **known, where=where)


def _predicted(record: dict[str, Any], where: str, reading: LinkReading) -> PredictedLink:
    known = gathered(
        (("about", partial(_about, record)), ("said", partial(answer, record, reading.bare)))
    )
    if has_gold_alone(record):
        fact = "nothing is predicted beside gold, which is taken for the prediction"
        reading.findings.add(Finding("gold_as_prediction", where, fact))
    return PredictedLink(**known["about"], **structs.asdict(known["said"]), where=where)


def _about(record: Mapping[str, Any]) -> dict[str, Any]:
    """Which mention a record is about: its place or its id, else its words."""
    document = next((id for name in DOCUMENTS if (id := _name(record, name))), None)
    id = None if id_is_link(record) else _name(record, "id")
    mention = next((words for name in MENTIONS if (words := _optional(record, name))), "")
    start, end = _place(record)
    if start is not None and document is None and id is None:
        raise BadField("doc", "missing; a start and an end need their document")
    if document is not None and start is not None:
        key = MentionKey(document, start, end)
    elif id is not None:
        key = MentionKey(id)
    elif mention:
        key = MentionKey(mention if document is None else f"{document}: {mention}")
    else:
        raise BadField("mention", "missing; give doc, start and end, or an id, or the mention")
    context = _optional(record, "context")
    return {"key": key, "document": document, "id": id, "mention": mention, "context": context}


def _place(record: Mapping[str, Any]) -> tuple[int | None, int | None]:
    given = [name for name in ("start", "end") if record.get(name) is not None]
    if len(given) == 1:
        other = "end" if given == ["start"] else "start"
        raise BadField(other, f"missing, and there is a {given[0]}")
    if not given:
        return None, None
    start, end = whole(record["start"], "start"), whole(record["end"], "end")
    if not 0 <= start < end:
        raise BadField("end", f"{start}–{end} holds nothing; the end is the first place after")
    return start, end


def _name(record: Mapping[str, Any], field: str) -> str | None:
    """An id as text, which may be written as a number; None where it is empty or absent."""
    value = record.get(field)
    if value is None or type(value) is int:
        return None if value is None else str(value)
    if type(value) is not str:
        raise BadField(field, expected("text", value))
    return value.strip() or None


def _optional(record: Mapping[str, Any], field: str) -> str | None:
    value = record.get(field)
    return None if value is None else text(value, field) or None


def _distinct(links: list[GoldLink], problems: list[str]) -> list[GoldLink]:
    """Each mention once; the others are problems."""
    seen: dict[Any, GoldLink] = {}
    for link in links:
        own = link.key.start is not None or link.id is not None
        mark = link.key if own else (link.key, link.context)
        earlier = seen.setdefault(mark, link)
        if earlier is not link:
            remedy = "keep one" if own else "give each an id, or doc, start and end"
            fact = f"{quoted(str(link.key))} stands at {earlier.where} already; {remedy}"
            problems.append(f"{link.where}: mention: {fact}")
    return list(seen.values())


def _numbered(links: list[GoldLink]) -> list[GoldLink]:
    """Links with a key each: the same words in another context are another mention."""
    found: list[GoldLink] = []
    met: dict[MentionKey, int] = {}
    for link in sorted(links, key=lambda link: (link.key.doc, link.context or "")):
        times = met[link.key] = met.get(link.key, 0) + 1
        again = times > 1 and link.key.start is None and link.id is None
        key = MentionKey(f"{link.key.doc} ({times})") if again else link.key
        found.append(structs.replace(link, key=key))
    return sorted(found, key=lambda link: (link.key.doc, link.key.start or 0, link.key.end or 0))
