"""The facts of many documents at once, from columns: their pairs, their counts and their tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from ragauge.contracts.entities import (
    ONE_LAYER,
    SCHEMAS,
    Empty,
    Entity,
    EntityColumns,
    EntityFacts,
    Fragment,
    Matching,
    Outcomes,
    Schema,
    TokenRule,
)
from ragauge.metrics.entity_matching import least_overlap, pair_entities, shared_positions

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array

    Partners = dict[Schema, Array]

_ROOM = 1 << 62
"""Keys are below this, to fit into 64 bits with a sign."""


class AlignedColumns(Struct, frozen=True):
    """Gold and predicted columns with the same numbers for documents, types and layers."""

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
        doc=int_column([doc for doc, _ in given]),
        start=int_column([one.start for _, one in given]),
        end=int_column([one.end for _, one in given]),
        type=int_column([type_of[one.type] for _, one in given]),
        types=types,
        layer=int_column([layer_of[one.layer] for _, one in given]),
        layers=layers,
        fragments={row: one.fragments for row, (_, one) in enumerate(given) if one.fragments},
    )


def align(gold: EntityColumns, predicted: EntityColumns) -> AlignedColumns:
    """Columns of the same documents, with types and layers numbered alike, sorted by name."""
    types = sorted({*gold.types, *predicted.types})
    layers = sorted({*gold.layers, *predicted.layers})
    type_of = {type: place for place, type in enumerate(types)}
    layer_of = {layer: place for place, layer in enumerate(layers)}
    return AlignedColumns(
        *(
            replace(
                side,
                type=int_column([type_of[type] for type in side.types])[side.type],
                types=types,
                layer=int_column([layer_of[layer] for layer in side.layers])[side.layer],
                layers=layers,
            )
            for side in (gold, predicted)
        )
    )


def int_column(numbers: Sequence[int]) -> Array:
    """Integers as a column."""
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


def first_of_duplicates(columns: EntityColumns) -> Array:
    """The places of the entities, ascending, without repetitions of the same place and type."""
    (keys,) = place_keys(columns)
    if not has_duplicates(keys):
        return np.arange(len(keys))
    return np.sort(np.unique(keys, return_index=True)[1])


def has_duplicates(keys: Array) -> bool:
    """Whether a number occurs twice."""
    ordered = np.sort(keys)
    return bool((ordered[1:] == ordered[:-1]).any())


def place_keys(*sides: EntityColumns, typed: bool = True) -> list[Array]:
    """A number for each entity of each side: equal if document, layer, parts and type are."""
    in_parts = any(side.fragments for side in sides)
    known: dict[object, int] = {}
    columns_of_sides = []
    for side in sides:
        columns = [side.doc, side.layer, side.start, side.end - side.start]
        if typed:
            columns.append(side.type)
        if in_parts:  # 0 for an entity of one piece, else a number for its parts
            shapes = np.zeros(len(side.doc), dtype=np.int64)
            for row, parts in side.fragments.items():
                shapes[row] = known.setdefault(parts, len(known) + 1)
            columns.append(shapes)
        columns_of_sides.append(columns)
    return _pack(columns_of_sides)


def same_place(both: AlignedColumns, gold: Array, predicted: Array) -> Array:
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


def _pack(sides: Sequence[Sequence[Array]]) -> list[Array]:
    """One number for each row of each side, with the columns as its digits."""
    columns = list(zip(*sides, strict=True))
    radices = [_radix(column) for column in columns]
    if prod(radices) >= _ROOM:
        columns = [tuple(_to_ranks(column)) for column in columns]
        radices = [_radix(column) for column in columns]
    keys = [np.zeros(len(side[0]), dtype=np.int64) for side in sides]
    most = 1
    for column, radix in zip(columns, radices, strict=True):
        if radix == 1:
            continue
        if most * radix >= _ROOM:
            keys = _to_ranks(keys)
            most = _radix(keys)
        keys = [key * radix + one for key, one in zip(keys, column, strict=True)]
        most *= radix
    return keys


def _radix(sides: Sequence[Array]) -> int:
    return 1 + max((int(side.max()) for side in sides if len(side)), default=0)


def _to_ranks(sides: Sequence[Array]) -> list[Array]:
    """Numbers replaced by their rank among those of all sides, which keeps them small."""
    ranks = np.unique(np.concatenate(sides), return_inverse=True)[1]
    return np.split(ranks, np.cumsum([len(side) for side in sides])[:-1])


class OverlapColumns(Struct, frozen=True):
    """Pairs of a gold and a predicted entity that overlap, and the positions they share."""

    gold: Array
    predicted: Array
    shared: Array


def overlaps(both: AlignedColumns, least: float) -> OverlapColumns:
    """All pairs within a document and layer that share a position and this fraction of the gold.

    In an overlapping pair one entity begins within the other, so each pair is found once: the
    prediction begins in the gold entity, or the gold entity begins later in the prediction.
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
    # Positions of discontinuous entities are recounted: the gaps do not belong to them.
    for row, parts in gold.fragments.items():
        length[row] = sum(end - start for start, end in parts)
    broken = np.isin(g, list(gold.fragments)) | np.isin(p, list(predicted.fragments))
    for pair in np.flatnonzero(broken):
        common[pair] = shared_positions(
            entity_at(gold, int(g[pair])), entity_at(predicted, int(p[pair]))
        )
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


def entity_at(columns: EntityColumns, row: int) -> Entity:
    """An entity as the plain functions read it."""
    return Entity(
        start=int(columns.start[row]),
        end=int(columns.end[row]),
        type=columns.types[columns.type[row]],
        layer=columns.layers[columns.layer[row]],
        fragments=columns.fragments.get(row, ()),
    )


ALONE = -1


class Pairing(Struct, frozen=True):
    """For each schema, the place of each gold entity's prediction, or -1."""

    partner: Partners

    def pairs(self, schema: Schema) -> tuple[Array, Array]:
        """The places of gold entities that have a partner, and of the partners."""
        gold = np.flatnonzero(self.partner[schema] != ALONE)
        return gold, self.partner[schema][gold]


def pair_columns(
    both: AlignedColumns, matching: Matching = "best", min_overlap: float | None = None
) -> Pairing:
    """The pairs that `match_entities` finds, document by document and layer by layer.

    Entities of the same place and type are found by sorted keys. Among the others, a gold entity
    and a prediction that overlap each other and nothing else are a pair with any matching; only
    entangled entities go through the plain functions.
    """
    least = least_overlap(matching, min_overlap)
    partner = np.full(len(both.gold.doc), ALONE, dtype=np.int64)
    if matching == "nervaluate":
        return _pair_overlapping(both, overlaps(both, least), partner, matching)
    g = p = np.zeros(0, dtype=np.int64)
    gold, predicted = place_keys(both.gold, both.predicted)
    if len(gold) and len(predicted):
        order = np.argsort(predicted, kind="stable")
        at = np.searchsorted(predicted, gold, sorter=order)
        near_key = order[np.minimum(at, len(order) - 1)]
        g = np.flatnonzero(predicted[near_key] == gold)
        p = near_key[g]
    partner[g] = p
    free = np.ones(len(both.predicted.doc), dtype=bool)
    free[p] = False
    rest_g, rest_p = np.flatnonzero(partner == ALONE), np.flatnonzero(free)
    rest = AlignedColumns(rows_at(both.gold, rest_g), rows_at(both.predicted, rest_p))
    near_rest = overlaps(rest, least)
    near = OverlapColumns(rest_g[near_rest.gold], rest_p[near_rest.predicted], near_rest.shared)
    return _pair_overlapping(both, near, partner, matching)


def _pair_overlapping(
    both: AlignedColumns, near: OverlapColumns, partner: Array, matching: Matching
) -> Pairing:
    """The partners, completed by pairs of overlapping entities that have no partner yet."""
    g_degree = np.bincount(near.gold, minlength=len(both.gold.doc))
    p_degree = np.bincount(near.predicted, minlength=len(both.predicted.doc))
    simple = (g_degree[near.gold] == 1) & (p_degree[near.predicted] == 1)
    partner[near.gold[simple]] = near.predicted[simple]
    apart = matching == "nervaluate"
    partners = {schema: partner.copy() if apart else partner for schema in SCHEMAS}
    rows = np.flatnonzero(~simple)
    if not len(rows):
        return Pairing(partners)
    g = near.gold[rows]
    group = both.gold.doc[g] * len(both.gold.layers) + both.gold.layer[g]
    rows = rows[np.argsort(group, kind="stable")]
    for part in np.split(rows, np.flatnonzero(np.diff(np.sort(group))) + 1):
        # The entangled entities of one document and layer are paired by the plain functions.
        golds, found = np.unique(near.gold[part]).tolist(), np.unique(near.predicted[part]).tolist()
        row_of = {place: row for row, place in enumerate(golds)}
        column_of = {place: column for column, place in enumerate(found)}
        nearby: dict[int, dict[int, int]] = {}
        columns = (near.gold[part], near.predicted[part], near.shared[part])
        for one, other, common in zip(*(column.tolist() for column in columns), strict=True):
            nearby.setdefault(row_of[one], {})[column_of[other]] = common
        pairs_of = pair_entities(
            [entity_at(both.gold, place) for place in golds],
            [entity_at(both.predicted, place) for place in found],
            nearby,
            matching,
        )
        for schema, pairs in pairs_of.items():
            for row, column in pairs:
                partners[schema][golds[row]] = found[column]
    return Pairing(partners)


class SchemaPairs(Struct, frozen=True):
    """The pairs of one schema, and which of them count in full."""

    gold: Array
    predicted: Array
    right: Array


def correct_pairs(both: AlignedColumns, found: Pairing) -> dict[Schema, SchemaPairs]:
    """The pairs of each schema, with those that count in full."""
    verdicts: dict[Schema, SchemaPairs] = {}
    compared: dict[int, tuple[Array, ...]] = {}
    for schema, partner in found.partner.items():
        if id(partner) not in compared:  # all schemas have the same pairs, except in nervaluate
            g, p = found.pairs(schema)
            same_type = both.gold.type[g] == both.predicted.type[p]
            compared[id(partner)] = g, p, same_place(both, g, p), same_type
        g, p, in_place, same_type = compared[id(partner)]
        correct = {"strict": in_place & same_type, "ent_type": same_type}.get(schema, in_place)
        verdicts[schema] = SchemaPairs(g, p, correct)
    return verdicts


def column_facts(
    both: AlignedColumns,
    verdicts: dict[Schema, SchemaPairs],
    *,
    answered: Array,
    tokenised: Array,
    token_types: Array,
    empty: Empty = "null",
) -> EntityFacts:
    """The facts of every document as columns; those of types have tp, fp and fn in turn."""
    return EntityFacts(
        answered=answered,
        **{
            schema: count_outcomes(
                verdicts[schema], schema, both.gold.doc, both.predicted.doc, both.documents
            )
            for schema in SCHEMAS
        },
        strict_types=_by_type(both, verdicts["strict"]),
        partial_types=_by_type(both, verdicts["ent_type"]),
        tokenised=tokenised,
        tokens=(
            token_types[:, 0::3].sum(axis=1),
            token_types[:, 1::3].sum(axis=1),
            token_types[:, 2::3].sum(axis=1),
        ),
        token_types=token_types,
        empty=empty,
    )


def count_outcomes(
    verdict: SchemaPairs, schema: Schema, gold: Array, predicted: Array, size: int
) -> Outcomes:
    """The outcomes by a number of each gold and predicted entity, such as its document.

    Both entities of a pair have the same number.
    """
    gold_counts, predicted_counts, pairs, correct = (
        np.bincount(numbers, minlength=size)
        for numbers in (gold, predicted, gold[verdict.gold], gold[verdict.gold[verdict.right]])
    )
    other, none = pairs - correct, np.zeros_like(pairs)
    if schema == "semeval_partial":
        return Outcomes(correct, none, other, gold_counts - pairs, predicted_counts - pairs)
    return Outcomes(correct, other, none, gold_counts - pairs, predicted_counts - pairs)


def _by_type(both: AlignedColumns, verdict: SchemaPairs) -> Array:
    """tp, fp and fn of each type in turn: (documents, 3 * types)."""
    correct = verdict.gold[verdict.right]
    cells = both.documents * both.types
    gold, predicted, tp = (
        np.bincount(doc * both.types + type, minlength=cells).reshape(both.documents, both.types)
        for doc, type in (
            (both.gold.doc, both.gold.type),
            (both.predicted.doc, both.predicted.type),
            (both.gold.doc[correct], both.gold.type[correct]),
        )
    )
    return np.stack([tp, predicted - tp, gold - tp], axis=-1).reshape(
        both.documents, 3 * both.types
    )


_BLANKS = tuple(code for code in range(0x3001) if chr(code).isspace())
"""The codes of whitespace; the highest is the ideographic space."""
_BLOCK = 1 << 22
"""Characters processed together."""


class TokenColumns(Struct, frozen=True):
    """The places of the tokens of many documents, in reading order, a row each."""

    documents: int
    doc: Array
    start: Array
    end: Array
    tokenised: Array
    """(documents,): whether its tokens are known."""


def token_columns(
    texts: Sequence[str | None], tokens: Sequence[Sequence[Fragment] | None]
) -> TokenColumns:
    """The tokens of each document: those its file gives, else the words of its text."""
    split = [
        place
        for place, (text, given) in enumerate(zip(texts, tokens, strict=True))
        if given is None and text is not None
    ]
    given = [place for place, known in enumerate(tokens) if known is not None]
    blocks: list[list[int]] = [[]]
    size = 0
    for place in split:
        if size >= _BLOCK:
            blocks.append([])
            size = 0
        blocks[-1].append(place)
        size += len(texts[place] or "")
    found = [_words(texts, block) for block in blocks if block]
    listed = [tokens[place] or () for place in given]
    ends = np.fromiter(chain.from_iterable(chain.from_iterable(listed)), dtype=np.int64)
    owner = np.repeat(np.array(given, dtype=np.int64), [len(one) for one in listed])
    found.append((owner, ends[0::2], ends[1::2]))
    doc, start, end = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.lexsort((end, start, doc)) if given else slice(None)
    tokenised = np.zeros(len(texts), dtype=bool)
    tokenised[split] = tokenised[given] = True
    return TokenColumns(len(texts), doc[order], start[order], end[order], tokenised)


def _words(texts: Sequence[str | None], places: Sequence[int]) -> tuple[Array, Array, Array]:
    """Words as runs of non-whitespace characters in the concatenated texts."""
    parts = [texts[place] or "" for place in places]
    joined = "\n".join([*parts, ""]).encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(joined, dtype=np.uint32)
    blank = np.zeros(_BLANKS[-1] + 2, dtype=bool)
    blank[list(_BLANKS)] = True
    inside = ~blank[np.minimum(codes, len(blank) - 1)]
    edges = np.flatnonzero(np.diff(inside, prepend=False))
    first, last = edges[0::2], edges[1::2]
    begins = np.cumsum([0, *(len(part) + 1 for part in parts[:-1])])
    text = np.searchsorted(begins, first, side="right") - 1
    return np.array(places, dtype=np.int64)[text], first - begins[text], last - begins[text]


def token_types(both: AlignedColumns, tokens: TokenColumns, rule: TokenRule = "overlap") -> Array:
    """tp, fp and fn of each type in turn, over the tokens: (documents, 3 * types)."""
    if not len(tokens.doc):
        return np.zeros((both.documents, 3 * both.types), dtype=np.int64)
    extent = 1 + max(
        (int(ends.max()) for ends in (tokens.end, both.gold.end, both.predicted.end) if len(ends)),
        default=0,
    )
    gold = _token_keys(both.gold, tokens, rule, extent)
    predicted = _token_keys(both.predicted, tokens, rule, extent)
    found = np.intersect1d(gold, predicted, assume_unique=True)
    cells = both.documents * both.types
    tp, fn, fp = (
        np.bincount(
            tokens.doc[keys // (both.types * len(both.gold.layers))] * both.types
            + keys % both.types,
            minlength=cells,
        ).reshape(both.documents, both.types)
        for keys in (found, gold, predicted)
    )
    return np.stack([tp, fp - tp, fn - tp], axis=-1).reshape(both.documents, 3 * both.types)


def _token_keys(side: EntityColumns, tokens: TokenColumns, rule: TokenRule, extent: int) -> Array:
    """A number for each token with a layer and type, without repetitions, sorted."""
    row, start, end = np.arange(len(side.doc)), side.start, side.end
    if side.fragments:  # every stretch of every entity, with the entity's row
        unbroken = np.ones(len(row), dtype=bool)
        unbroken[list(side.fragments)] = False
        parts = np.array(
            [(place, *part) for place, parts in side.fragments.items() for part in parts],
            dtype=np.int64,
        )
        row = np.concatenate([row[unbroken], parts[:, 0]])
        start = np.concatenate([start[unbroken], parts[:, 1]])
        end = np.concatenate([end[unbroken], parts[:, 2]])
    base = side.doc[row] * extent
    starts = tokens.doc * extent + tokens.start
    if rule == "brief":
        low = np.searchsorted(starts, base + start)
    else:
        low = np.searchsorted(tokens.doc * extent + tokens.end, base + start, side="right")
    times = np.maximum(np.searchsorted(starts, base + end) - low, 0)
    part = np.repeat(np.arange(len(row)), times)
    token = low[part] + np.arange(len(part)) - np.repeat(np.cumsum(times) - times, times)
    entity = row[part]
    keys = (token * len(side.layers) + side.layer[entity]) * len(side.types) + side.type[entity]
    return np.unique(keys)
