"""Links that stand in documents, one record a mention: heritage entries, and annotated texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragauge.contracts.finding import Finding, Findings
from ragauge.ingest.fields import BadField, mapping, mappings, quoted, text, whole
from ragauge.ingest.heritage import Entry, entry_of, misplaced
from ragauge.ingest.linked.link_ids import id_is_link, says_link

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
    return entry.id, list(_linked(entry, where))


def _linked(entry: Entry, where: str) -> Iterator[Flat]:
    """A record for each place of a mention; one without a place where nobody marked any."""
    context = None if entry.text == UNKNOWN_TEXT else entry.text
    for mention, ids in entry.links.items():
        common = {
            **ids,
            "doc": entry.id,
            "mention": mention,
            "context": context,
            "strata": entry.strata,
        }
        place = f"{where}: entity_linking.{mention}"
        marked = [one for one in entry.mentions if one.text == mention]
        for one in marked:
            yield place, {**common, "start": one.start, "end": one.end, "type": one.type}
        if not marked:
            yield place, common


def _of_annotated(record: dict[str, Any]) -> tuple[str, list[Flat]]:
    """A document's id, and each entity as the record of a mention."""
    field = _entities_field(record) or ENTITIES[0]
    doc = _document_id(record)
    strata = mapping(record.get("strata") or {}, "strata")
    found: list[Flat] = []
    for number, entity in enumerate(mappings(record.get(field) or [], field)):
        name = f"{field}[{number}]"
        start, end = _place(entity, name)
        own = mapping(entity.get("strata") or {}, f"{name}.strata")
        flat = {**entity, "doc": doc, "start": start, "end": end, "context": record.get("text")}
        flat["mention"] = _surface(record, entity, start, end)
        flat["strata"] = {**strata, **own}
        found.append((name, flat))
    return doc, found


def _entities_field(record: Mapping[str, Any]) -> str | None:
    return next((name for name in ENTITIES if type(record.get(name)) is list), None)


def _document_id(record: Mapping[str, Any]) -> str:
    for name in DOCUMENT_IDS:
        id = record.get(name)
        if type(id) is int or (type(id) is str and id.strip()):
            return str(id)
    raise BadField("doc_id", "missing; name the document")


def _place(entity: Mapping[str, Any], field: str) -> tuple[int, int]:
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
