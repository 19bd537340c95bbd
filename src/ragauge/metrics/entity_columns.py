"""Columns of entities, and which predicted ones overlap which gold ones, for many texts at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from ragauge.contracts.entities import ONE_LAYER, Entity, EntityColumns
from ragauge.metrics.entity_matching import shared

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array

_ROOM = 1 << 62
"""Keys stay below this, so that they fit 64 bits with their sign."""


class Both(Struct, frozen=True):
    """Gold and predicted columns in the same terms: equal documents, types and layers."""

    gold: EntityColumns
    predicted: EntityColumns

    @property
    def documents(self) -> int:
        return len(self.gold.documents)

    @property
    def types(self) -> int:
        return len(self.gold.types)


def columns_of(entities: Sequence[Iterable[Entity]], documents: Sequence[str]) -> EntityColumns:
    """The entities of each document as columns, in the order given; types and layers sorted."""
    given = [(doc, one) for doc, each in enumerate(entities) for one in each]
    types = sorted({one.type for _, one in given})
    layers = sorted({one.layer for _, one in given}) or [ONE_LAYER]
    type_of = {type: place for place, type in enumerate(types)}
    layer_of = {layer: place for place, layer in enumerate(layers)}
    return EntityColumns(
        documents=documents,
        doc=whole([doc for doc, _ in given]),
        start=whole([one.start for _, one in given]),
        end=whole([one.end for _, one in given]),
        type=whole([type_of[one.type] for _, one in given]),
        types=types,
        layer=whole([layer_of[one.layer] for _, one in given]),
        layers=layers,
        fragments={row: one.fragments for row, (_, one) in enumerate(given) if one.fragments},
    )


def in_same_terms(gold: EntityColumns, predicted: EntityColumns) -> Both:
    """Columns of the same documents, with types and layers numbered alike, sorted by name."""
    types = sorted({*gold.types, *predicted.types})
    layers = sorted({*gold.layers, *predicted.layers})
    return Both(*(_renumbered(side, types, layers) for side in (gold, predicted)))


def _renumbered(side: EntityColumns, types: Sequence[str], layers: Sequence[str]) -> EntityColumns:
    type_of = {type: place for place, type in enumerate(types)}
    layer_of = {layer: place for place, layer in enumerate(layers)}
    return replace(
        side,
        type=whole([type_of[type] for type in side.types])[side.type],
        types=types,
        layer=whole([layer_of[layer] for layer in side.layers])[side.layer],
        layers=layers,
    )


def whole(numbers: Sequence[int]) -> Array:
    """Whole numbers as a column."""
    return np.array(numbers, dtype=np.int64)


def rows_at(columns: EntityColumns, places: Array) -> EntityColumns:
    """Only the entities at these places, ascending."""
    fragments = {}
    if columns.fragments:
        moved = {int(place): row for row, place in enumerate(places)}
        fragments = {moved[row]: parts for row, parts in columns.fragments.items() if row in moved}
    return replace(
        columns,
        doc=columns.doc[places],
        start=columns.start[places],
        end=columns.end[places],
        type=columns.type[places],
        layer=columns.layer[places],
        fragments=fragments,
    )


def first_of_each(columns: EntityColumns) -> Array:
    """The places of the entities, ascending, of which none of one place and type stands before."""
    (keys,) = place_keys(columns)
    if not repeats(keys):
        return np.arange(len(keys))
    return np.sort(np.unique(keys, return_index=True)[1])


def repeats(keys: Array) -> bool:
    """Whether a number is met twice."""
    ordered = np.sort(keys)
    return bool((ordered[1:] == ordered[:-1]).any())


def place_keys(*sides: EntityColumns, typed: bool = True) -> list[Array]:
    """A number for each entity of each side: equal where document, layer, parts and type are."""
    shapes: dict[object, int] = {}
    told = [
        [
            side.doc,
            side.layer,
            side.start,
            side.end - side.start,
            *([side.type] if typed else []),
            *_shapes(side, shapes, any(other.fragments for other in sides)),
        ]
        for side in sides
    ]
    return _packed(told)


def same_place(both: Both, gold: Array, predicted: Array) -> Array:
    """Which pairs of entities, given by their rows, have the same parts."""
    one, other = both.gold, both.predicted
    same: Array = (one.start[gold] == other.start[predicted]) & (
        one.end[gold] == other.end[predicted]
    )
    if one.fragments or other.fragments:
        for pair in np.flatnonzero(same):
            parts = one.fragments.get(int(gold[pair]))
            same[pair] = parts == other.fragments.get(int(predicted[pair]))
    return same


def _shapes(side: EntityColumns, known: dict[object, int], needed: bool) -> list[Array]:
    """0 for an entity of one piece, else a number for its parts; no column where all are whole."""
    if not needed:
        return []
    shapes = np.zeros(len(side.doc), dtype=np.int64)
    for row, parts in side.fragments.items():
        shapes[row] = known.setdefault(parts, len(known) + 1)
    return [shapes]


def _packed(sides: Sequence[Sequence[Array]]) -> list[Array]:
    """For each side one number a row, with the columns as its digits."""
    columns = list(zip(*sides, strict=True))
    radices = [_radix(column) for column in columns]
    if prod(radices) >= _ROOM:
        columns = [tuple(_ranked(column)) for column in columns]
        radices = [_radix(column) for column in columns]
    keys = [np.zeros(len(side[0]), dtype=np.int64) for side in sides]
    most = 1
    for column, radix in zip(columns, radices, strict=True):
        if radix == 1:
            continue
        if most * radix >= _ROOM:
            keys = _ranked(keys)
            most = _radix(keys)
        keys = [key * radix + one for key, one in zip(keys, column, strict=True)]
        most *= radix
    return keys


def _radix(sides: Sequence[Array]) -> int:
    return 1 + max((int(side.max()) for side in sides if len(side)), default=0)


def _ranked(sides: Sequence[Array]) -> list[Array]:
    """Numbers by their rank among those of all sides, so that they stay small."""
    ranks = np.unique(np.concatenate(sides), return_inverse=True)[1]
    return np.split(ranks, np.cumsum([len(side) for side in sides])[:-1])


class OverlapColumns(Struct, frozen=True):
    """Pairs of a gold and a predicted entity that overlap, and the positions they share."""

    gold: Array
    predicted: Array
    shared: Array


def overlaps(both: Both, least: float) -> OverlapColumns:
    """All pairs within a document and layer that share a position, and this share of the gold.

    A pair overlaps where one of the two begins within the other, so each is met once: with the
    prediction beginning in the gold entity, or the gold entity later in the prediction.
    """
    gold, predicted = both.gold, both.predicted
    ends = [int(side.end.max()) for side in (gold, predicted) if len(side.end)]
    extent = max(ends, default=0) + 1
    g_base, p_base = (
        (side.doc * len(side.layers) + side.layer) * extent for side in (gold, predicted)
    )
    g_start, p_start = g_base + gold.start, p_base + predicted.start
    p_in_g = _begins_within(p_start, g_start, g_base + gold.end)
    g_in_p = _begins_within(g_start, p_start + 1, p_base + predicted.end)
    g = np.concatenate([p_in_g[0], g_in_p[1]])
    p = np.concatenate([p_in_g[1], g_in_p[0]])
    first = np.maximum(gold.start[g], predicted.start[p])
    common = np.minimum(gold.end[g], predicted.end[p]) - first
    length = gold.end - gold.start
    _count_in_parts(both, g, p, common, length)
    enough = (common > 0) & (common / length[g] >= least)
    return OverlapColumns(g[enough], p[enough], common[enough])


def _begins_within(starts: Array, first: Array, last: Array) -> tuple[Array, Array]:
    """Pairs (interval, start) in which the start is within [first, last)."""
    order = np.argsort(starts, kind="stable")
    ordered = starts[order]
    low = np.searchsorted(ordered, first)
    times = np.maximum(np.searchsorted(ordered, last) - low, 0)
    interval = np.repeat(np.arange(len(first)), times)
    nth = np.arange(len(interval)) - np.repeat(np.cumsum(times) - times, times)
    return interval, order[low[interval] + nth]


def _count_in_parts(both: Both, g: Array, p: Array, common: Array, length: Array) -> None:
    """Count the positions of discontinuous entities anew: what lies between is not theirs."""
    for row, parts in both.gold.fragments.items():
        length[row] = sum(end - start for start, end in parts)
    broken = np.isin(g, list(both.gold.fragments)) | np.isin(p, list(both.predicted.fragments))
    for pair in np.flatnonzero(broken):
        one, other = entity_at(both.gold, int(g[pair])), entity_at(both.predicted, int(p[pair]))
        common[pair] = shared(one, other)


def entity_at(columns: EntityColumns, row: int) -> Entity:
    """An entity as the plain functions read it."""
    return Entity(
        start=int(columns.start[row]),
        end=int(columns.end[row]),
        type=columns.types[columns.type[row]],
        layer=columns.layers[columns.layer[row]],
        fragments=columns.fragments.get(row, ()),
    )
