"""A knowledge base in a file: an entity a line, with its names and its ids elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec import Struct

from ragauge.ingest.lines import read_whole
from ragauge.ingest.records import (
    BadField,
    BadRecord,
    expected,
    gathered,
    mapping,
    no_table,
    quoted,
    records_of,
    refuse,
    text,
    texts,
)
from ragauge.text.kb_ids import kb_id, kb_name

LOCAL = "local"
"""The knowledge base of an entity that only this file knows."""
BASES = {"wikidata_id": "wikidata", "viaf_id": "viaf", "isil_code": "isil", "ghcid": "ghcid"}


class KnownEntity(Struct, frozen=True, kw_only=True):
    """An entity of a knowledge base."""

    id: str
    """Its own id in the file."""
    names: tuple[str, ...]
    """Labels and aliases, the usual one first."""
    type: str | None = None
    description: str = ""
    ids: dict[str, str]
    """By knowledge base, as they are written; that of the file alone where there is no other."""


def read_knowledge_base(name: str, problems: list[str]) -> tuple[KnownEntity, ...]:
    """The entities of a JSON Lines file or a JSON array; what is wrong goes into the list."""
    found: dict[str, tuple[str, KnownEntity]] = {}
    for place, record in records_of(name, read_whole(name), problems, no_table):
        try:
            entity = entity_of(record)
        except BadRecord as fault:
            problems += [f"{place}: {field}" for field in fault.fields]
            continue
        earlier, _ = found.setdefault(entity.id, (place, entity))
        if earlier != place:
            twice = f"{quoted(entity.id)} stands there already at {earlier}; keep one"
            problems.append(f"{place}: id: {twice}")
    return tuple(entity for _, entity in found.values())


def known_entities(name: str) -> tuple[KnownEntity, ...]:
    """The entities of a file; raises InputRejected with all that is wrong with it."""
    problems: list[str] = []
    entities = read_knowledge_base(name, problems)
    if not entities and not problems:
        problems.append(f"{name}: holds no entity; write one JSON object a line: id, names")
    refuse(problems)
    return entities


def entity_of(record: Any) -> KnownEntity:
    """An entity from its decoded fields; raises BadRecord with every one that is wrong.

    >>> entity_of({"id": "rm", "names": ["Rijksmuseum"], "isil_code": "NL-AmRM"}).ids
    {'isil': 'NL-AmRM'}
    """
    if type(record) is not dict:
        raise BadRecord([BadField("record", expected("an object", record))])
    known = gathered((name, partial(check, record)) for name, check in _CHECKS.items())
    return KnownEntity(**known | {"ids": known["ids"] or {LOCAL: known["id"]}})


def _id(record: dict[str, Any]) -> str:
    if record.get("id") is None:
        raise BadField("id", "missing; name the entity")
    if not text(record["id"], "id").strip():
        raise BadField("id", "is empty")
    return str(record["id"])


def _names(record: dict[str, Any]) -> tuple[str, ...]:
    names = texts(record.get("names") or [], "names")
    if not names:
        raise BadField("names", "missing; give its label, and aliases after it")
    for place, name in enumerate(names):
        if not name.strip():
            raise BadField(f"names[{place}]", "is empty")
    return names


def _ids(record: dict[str, Any]) -> dict[str, str]:
    """The ids elsewhere, of the fields we know and of `ids`; each must be one of its base."""
    given = {base: (field, record.get(field)) for field, base in BASES.items()}
    others = mapping(record.get("ids") or {}, "ids")
    given |= {kb_name(name): (f"ids.{name}", value) for name, value in others.items()}
    found: dict[str, str] = {}
    for base, (field, value) in given.items():
        if value is None:
            continue
        try:
            kb_id(text(value, field), base)
        except ValueError as fact:
            raise BadField(field, f"{quoted(value)} {fact}") from None
        found[base] = value
    return found


_CHECKS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "id": _id,
    "names": _names,
    "type": lambda record: None if record.get("type") is None else text(record["type"], "type"),
    "description": lambda record: text(record.get("description") or "", "description"),
    "ids": _ids,
}
