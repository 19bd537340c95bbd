"""Plain records at hand as columns: the quick way for those with nothing wrong in them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from ragauge.contracts.entities import ONE_LAYER, EntityColumns
from ragauge.ingest.annotated.entity_records import ENTITIES, LINKS
from ragauge.metrics.entity_columns import first_of_each, rows_at, whole
from ragauge.runners.components.entity_marked import Marked, repeated_entities

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array

_UNCOMMON = {"tokens", "notes", "doc_id", "entity_linking"}
"""Fields of a record that only the reader of files understands."""
_UNCOMMON_OF_ENTITIES = {"fragments", *LINKS}


class _NotPlain(Exception):
    """Something in the records wants the reader that checks and tells field by field."""


def plain_records(records: Sequence[Any], name: str) -> Marked | None:
    """The records as columns; None where any has something to be told of or to be worked out.

    They are looked at a column at a time. What is found here is what `entities_of` finds.
    """
    try:
        return _marked(records, name)
    except (_NotPlain, KeyError, TypeError, AttributeError, OverflowError):
        return None


def _marked(records: Sequence[Any], name: str) -> Marked:
    _only(dict, records)
    fields = set().union(*records)
    field = _one_of(ENTITIES, fields)
    if fields & _UNCOMMON:
        raise _NotPlain
    ids = _each(records, "id")
    _only(str, ids)
    if len(set(ids)) < len(ids) or not all(map(str.strip, ids)):
        raise _NotPlain
    lists = _each(records, field)
    _only(list, lists)
    nothing = [None] * len(ids)
    texts = [record.get("text") for record in records] if "text" in fields else nothing
    strata = [record.get("strata") or {} for record in records] if "strata" in fields else []
    _only(dict, strata)
    entities = list(chain.from_iterable(lists))
    _only(dict, entities)
    columns = _columns(ids, list(map(len, lists)), entities)
    _check_places(columns, texts, entities)
    kept = first_of_each(columns)
    return Marked(
        columns=columns if len(kept) == len(entities) else rows_at(columns, kept),
        texts=texts,
        tokens=nothing,
        strata=strata or [{}] * len(ids),
        where=lambda place: f"{name} {place + 1}",
        surface=lambda row: entities[kept[row]].get("text"),
        layers=columns.layers,
        findings=repeated_entities(columns, kept, partial(_place, columns, field, name)),
    )


def _columns(ids: Sequence[str], sizes: Sequence[int], entities: Sequence[Any]) -> EntityColumns:
    keys = set().union(*entities)
    if keys & _UNCOMMON_OF_ENTITIES:
        raise _NotPlain
    types = _each(entities, _one_of(("type", "label"), keys)) if entities else []
    layers = [one.get("layer", ONE_LAYER) for one in entities] if "layer" in keys else []
    starts, ends = _each(entities, "start"), _each(entities, "end")
    _only(int, starts)
    _only(int, ends)
    _only(str, types)
    _only(str, layers)
    known, layered = sorted(set(types)), sorted(set(layers)) or [ONE_LAYER]
    if any(type != type.strip() or not type for type in known):
        raise _NotPlain
    return EntityColumns(
        documents=ids,
        doc=np.repeat(np.arange(len(ids)), sizes),
        start=whole(starts),
        end=whole(ends),
        type=_numbered(types, known),
        types=known,
        layer=_numbered(layers, layered) if layers else np.zeros(len(entities), dtype=np.int64),
        layers=layered,
    )


def _check_places(
    columns: EntityColumns, texts: Sequence[str | None], entities: Sequence[Any]
) -> None:
    """Whether every entity can stand in its text, and its surface stands there."""
    if (columns.start < 0).any() or (columns.start >= columns.end).any():
        raise _NotPlain
    surfaces = {one.get("text") for one in entities}
    if not {*map(type, texts), *map(type, surfaces)} <= {str, type(None)} or "" in surfaces:
        raise _NotPlain
    if texts.count(None) == len(texts):
        return
    longest = np.iinfo(np.int64).max
    sizes = whole([longest if text is None else len(text) for text in texts])
    if (columns.end > sizes[columns.doc]).any():
        raise _NotPlain
    for doc, one in zip(columns.doc.tolist(), entities, strict=True):
        surface, text = one.get("text"), texts[doc]
        if surface is None or text is None:
            continue
        if text[one["start"] : one["end"]] != surface:
            raise _NotPlain


def _place(columns: EntityColumns, field: str, name: str, row: int) -> str:
    """Where an entity stands in its record."""
    doc = columns.doc[row]
    return f"{name} {doc + 1}: {field}[{row - np.searchsorted(columns.doc, doc)}]"


def _numbered(texts: Sequence[str], known: Sequence[str]) -> Array:
    place = {text: number for number, text in enumerate(known)}
    return whole(list(map(place.__getitem__, texts)))


def _each(records: Sequence[Any], field: str) -> list[Any]:
    """The field of each record; raises KeyError where one has none."""
    return list(map(itemgetter(field), records))


def _only(kind: type, values: Sequence[Any]) -> None:
    if not {*map(type, values)} <= {kind}:
        raise _NotPlain


def _one_of(names: Sequence[str], fields: set[str]) -> str:
    """The one name of several that is in use."""
    there = [name for name in names if name in fields]
    if len(there) != 1:
        raise _NotPlain
    return there[0]
