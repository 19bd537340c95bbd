"""Ids in the fields of a record: which fields hold them, and of which knowledge base."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ragauge.contracts.links import KbIds
from ragauge.ingest.fields import BadField, expected, quoted
from ragauge.text.kb_ids import NAMES, KbId, belongs, is_nil, kb_id, kb_name

IdField = tuple[str, str | None, Any]
"""A field that holds ids: its name, its knowledge base where the name tells, its value."""
GENERIC = ("kb_id", "entity_id", "link", "links")
"""Fields that hold ids of whatever knowledge base."""
GOLD_GENERIC = ("gold", "gold_id", "gold_ids")
PREDICTED_GENERIC = ("prediction", "predicted", "predicted_id", "pred", "pred_id")
TABULAR = "\0row"
"""Marks a record that was a row of a table: its `id` is what the mention is linked to."""
OF_BASE: dict[str, str] = {
    f"{name}{end}": base for name, base in NAMES.items() for end in ("", "_id", "_code", "_uri")
}
ANSWER_OF_BASE = OF_BASE | {
    f"{said}_{name}": base for name, base in OF_BASE.items() for said in ("predicted", "pred")
}
GOLD_OF_BASE = {f"gold_{name}": base for name, base in OF_BASE.items()}


def says_link(record: Mapping[str, Any]) -> bool:
    """Whether a record has any field for what a mention is linked to."""
    return _says_answer(record) or _says_gold(record)


def has_gold_alone(record: Mapping[str, Any]) -> bool:
    """Whether what a mention is linked to stands in fields called gold_… and nowhere else."""
    return _says_gold(record) and not _says_answer(record)


def _says_answer(record: Mapping[str, Any]) -> bool:
    named = (*GENERIC, *PREDICTED_GENERIC, "ids", "nil", "candidates")
    return any(name in ANSWER_OF_BASE or name in named for name in record)


def _says_gold(record: Mapping[str, Any]) -> bool:
    return any(name in GOLD_OF_BASE or name in GOLD_GENERIC for name in record)


def id_is_link(record: Mapping[str, Any]) -> bool:
    """Whether `id` is what the mention is linked to, and not the mention's own.

    It is where nothing else in the record is, and the mention has a place; in JSON it must look
    like an id of a knowledge base, too.
    """
    if "id" not in record or says_link(record) or record.get("start") is None:
        return False
    id = record["id"]
    if TABULAR in record or id is None:
        return True
    return type(id) is str and (is_nil(id) or belongs(id))


def ids_by_base(names: Iterable[str]) -> list[tuple[str, str]]:
    """The names that tell a knowledge base, each with it.

    >>> ids_by_base(("qid", "viaf_id", "label"))
    [('qid', 'wikidata'), ('viaf_id', 'viaf')]
    """
    return [(name, OF_BASE[name]) for name in names if name in OF_BASE]


def id_fields(
    record: Mapping[str, Any],
    of_base: Mapping[str, str],
    generic: Iterable[str],
    with_id: bool = False,
) -> Iterator[IdField]:
    """The fields that hold ids: name, knowledge base, value."""
    for name, value in record.items():
        if name in of_base:
            yield name, of_base[name], value
        elif name in generic:
            yield name, None, value
    if with_id:
        yield "id", None, record.get("id")


def ids_in(value: Any, field: str, kb: str | None, bare: str | None = None) -> Iterator[KbId]:
    """The ids of a field: one, several, or by knowledge base; none where it says NIL."""
    if type(value) is dict:
        for name, part in value.items():
            base = None if name in ("id", "ids") else OF_BASE.get(name, kb_name(name))
            yield from ids_in(part, f"{field}.{name}", base, bare)
    elif type(value) is list:
        for place, part in enumerate(value):
            yield from ids_in(part, f"{field}[{place}]", kb, bare)
    else:
        for part in written_id(value, field).split("|"):
            if not is_nil(part):
                yield _normal(part, field, kb, bare)


def written_id(value: Any, field: str) -> str:
    """An id as text; VIAF and GeoNames ids are often numbers."""
    if value is None:
        return ""
    if type(value) is int:
        return str(value)
    if type(value) is not str:
        raise BadField(field, expected("an id", value))
    return value


def _normal(written: str, field: str, kb: str | None, bare: str | None) -> KbId:
    try:
        return kb_id(written, kb, bare)
    except ValueError as fact:
        raise BadField(field, f"{quoted(written)} {fact}") from None


def grouped(ids: Iterable[KbId]) -> KbIds:
    """Ids by knowledge base.

    >>> grouped([("viaf", "1"), ("viaf", "1"), ("wikidata", "Q1")])
    {'viaf': frozenset({'1'}), 'wikidata': frozenset({'Q1'})}
    """
    found: dict[str, set[str]] = {}
    for kb, id in ids:
        found.setdefault(kb, set()).add(id)
    return {kb: frozenset(found[kb]) for kb in sorted(found)}
