"""A knowledge base: its entities, with their names and their ids elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from ragauge.ingest.fields import (
    BadField,
    Columns,
    Field,
    Shape,
    an_id,
    mapping,
    quoted,
    refuse,
    text,
)
from ragauge.ingest.records import Records, Source
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


def _names(value: Any, field: str) -> tuple[str, ...]:
    """A list of names; a table's cell holds one, or several with | between them."""
    members = value.split("|") if type(value) is str else value
    if type(members) is not list or not members:
        raise BadField(field, "expected a list of texts; give its label, and aliases after it")
    for place, name in enumerate(members):
        if not text(name, f"{field}[{place}]").strip():
            raise BadField(f"{field}[{place}]", "is empty")
    return tuple(members)


def _id_of(base: str, value: Any, field: str) -> str:
    """An id as it is written, which must be one of its base."""
    try:
        kb_id(an_id(value, field), base)
    except ValueError as fact:
        raise BadField(field, f"{quoted(str(value))} {fact}") from None
    return str(value)


def _ids(value: Any, field: str) -> dict[str, str]:
    return {
        kb_name(name): _id_of(kb_name(name), one, f"{field}.{name}")
        for name, one in mapping(value, field).items()
        if one is not None
    }


def _of(base: str) -> Any:
    return lambda value, field: _id_of(base, value, field)


KNOWN_ENTITY = Shape(
    name="entity",
    doc="An entity of a knowledge base.",
    fields=(
        Field("id", an_id, "Its own id in the file.", missing="missing; name the entity"),
        Field(
            "names",
            _names,
            "Its label, and aliases after it.",
            aliases=("name", "labels"),
            many=True,
            missing="missing; give its label, and aliases after it",
        ),
        Field("type", text, "Its type."),
        Field("description", text, "What it is, in a sentence."),
        Field("ids", _ids, "Its ids elsewhere, by knowledge base."),
        *(Field(name, _of(base), f"Its id in {base}.") for name, base in BASES.items()),
    ),
)


def read_knowledge_base(
    source: Source, problems: list[str], columns: Columns | None = None
) -> tuple[KnownEntity, ...]:
    """The entities of a source; what is wrong goes into the list."""
    return tuple(
        _entity(row.values)
        for row in Records(source, KNOWN_ENTITY, problems, columns=columns).once("id")
    )


def known_entities(source: Source, columns: Columns | None = None) -> tuple[KnownEntity, ...]:
    """The entities of a source; raises InputRejected with all that is wrong with it."""
    problems: list[str] = []
    entities = read_knowledge_base(source, problems, columns)
    refuse(problems)
    return entities


def _entity(fields: Mapping[str, Any]) -> KnownEntity:
    elsewhere = {base: fields[name] for name, base in BASES.items() if name in fields}
    return KnownEntity(
        id=fields["id"],
        names=fields["names"],
        type=fields.get("type"),
        description=fields.get("description", ""),
        ids={**elsewhere, **fields.get("ids", {})} or {LOCAL: fields["id"]},
    )
