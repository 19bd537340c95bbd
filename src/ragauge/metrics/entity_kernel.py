"""The facts of many documents at once, from columns; equal to `document_facts` one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from ragauge.contracts.entities import SCHEMAS, Empty, EntityFacts, Matching, Met, Schema
from ragauge.metrics.entity_columns import (
    Both,
    OverlapColumns,
    entity_at,
    overlaps,
    place_keys,
    rows_at,
    same_place,
)
from ragauge.metrics.entity_matching import least_share, paired

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array

    Partners = dict[Schema, Array]

ALONE = -1


class Paired(Struct, frozen=True):
    """For each gold entity, by schema, the place of the prediction that stands for it, or -1."""

    partner: Partners

    def pairs(self, schema: Schema) -> tuple[Array, Array]:
        """The places of gold entities that have a partner, and of the partners."""
        gold = np.flatnonzero(self.partner[schema] != ALONE)
        return gold, self.partner[schema][gold]


def pair_columns(
    both: Both, matching: Matching = "best", min_overlap: float | None = None
) -> Paired:
    """The pairs that `matched` finds, document by document and layer by layer.

    Entities of the same place and type are found by sorted keys. Of the others, a gold entity and
    a prediction that overlap each other and nothing else are a pair whatever the matching; only
    what is more entangled goes through the plain functions.
    """
    least = least_share(matching, min_overlap)
    partner = np.full(len(both.gold.doc), ALONE, dtype=np.int64)
    if matching == "nervaluate":
        return _settled(both, overlaps(both, least), partner, matching)
    g, p = _same(both)
    partner[g] = p
    free = np.ones(len(both.predicted.doc), dtype=bool)
    free[p] = False
    rest_g, rest_p = np.flatnonzero(partner == ALONE), np.flatnonzero(free)
    rest = Both(rows_at(both.gold, rest_g), rows_at(both.predicted, rest_p))
    met = overlaps(rest, least)
    near = OverlapColumns(rest_g[met.gold], rest_p[met.predicted], met.shared)
    return _settled(both, near, partner, matching)


def _same(both: Both) -> tuple[Array, Array]:
    """Pairs of the same place and type, of entities that stand once on each side."""
    gold, predicted = place_keys(both.gold, both.predicted)
    if not len(gold) or not len(predicted):
        none = np.zeros(0, dtype=np.int64)
        return none, none
    order = np.argsort(predicted, kind="stable")
    at = np.searchsorted(predicted, gold, sorter=order)
    p = order[np.minimum(at, len(order) - 1)]
    g = np.flatnonzero(predicted[p] == gold)
    return g, p[g]


def _settled(both: Both, near: OverlapColumns, partner: Array, matching: Matching) -> Paired:
    g_degree = np.bincount(near.gold, minlength=len(both.gold.doc))
    p_degree = np.bincount(near.predicted, minlength=len(both.predicted.doc))
    simple = (g_degree[near.gold] == 1) & (p_degree[near.predicted] == 1)
    partner[near.gold[simple]] = near.predicted[simple]
    apart = matching == "nervaluate"
    partners = {schema: partner.copy() if apart else partner for schema in SCHEMAS}
    for g, p, shared in _by_document(both, near, ~simple):
        _settle(both, g, p, shared, matching, partners)
    return Paired(partners)


def _by_document(
    both: Both, near: OverlapColumns, chosen: Array
) -> Iterator[tuple[Array, Array, Array]]:
    """The chosen overlaps, those of one document and layer at a time."""
    rows = np.flatnonzero(chosen)
    g = near.gold[rows]
    group = both.gold.doc[g] * len(both.gold.layers) + both.gold.layer[g]
    rows = rows[np.argsort(group, kind="stable")]
    ends = np.flatnonzero(np.diff(np.sort(group))) + 1
    if len(rows):
        for part in np.split(rows, ends):
            yield near.gold[part], near.predicted[part], near.shared[part]


def _settle(
    both: Both, g: Array, p: Array, shared: Array, matching: Matching, partners: Partners
) -> None:
    """Pair the entangled entities of one document and layer by the plain functions."""
    rows, columns = sorted(set(g.tolist())), sorted(set(p.tolist()))
    row_of = {place: row for row, place in enumerate(rows)}
    column_of = {place: column for column, place in enumerate(columns)}
    near: dict[int, dict[int, int]] = {}
    for one, other, common in zip(g.tolist(), p.tolist(), shared.tolist(), strict=True):
        near.setdefault(row_of[one], {})[column_of[other]] = common
    gold = [entity_at(both.gold, place) for place in rows]
    predicted = [entity_at(both.predicted, place) for place in columns]
    for schema, pairs in paired(gold, predicted, near, matching).items():
        for row, column in pairs:
            partners[schema][rows[row]] = columns[column]


class Judged(Struct, frozen=True):
    """The pairs of one schema, and which of them count in full."""

    gold: Array
    predicted: Array
    right: Array


def judged(both: Both, found: Paired) -> dict[Schema, Judged]:
    """What each schema makes of its pairs."""
    verdicts: dict[Schema, Judged] = {}
    compared: dict[int, tuple[Array, ...]] = {}
    for schema, partner in found.partner.items():
        if id(partner) not in compared:  # all schemas have the same pairs, but nervaluate's
            g, p = found.pairs(schema)
            same_type = both.gold.type[g] == both.predicted.type[p]
            compared[id(partner)] = g, p, same_place(both, g, p), same_type
        g, p, in_place, same_type = compared[id(partner)]
        right = {"strict": in_place & same_type, "ent_type": same_type}.get(schema, in_place)
        verdicts[schema] = Judged(g, p, right)
    return verdicts


def column_facts(
    both: Both,
    verdicts: dict[Schema, Judged],
    *,
    answered: Array,
    tokenised: Array,
    token_types: Array,
    empty: Empty = "null",
) -> EntityFacts:
    """The facts of every document, a column each; columns of types have tp, fp, fn in turn."""
    return EntityFacts(
        answered=answered,
        **{
            schema: counted(
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


def counted(verdict: Judged, schema: Schema, gold: Array, predicted: Array, size: int) -> Met:
    """The outcomes by a number that each gold and each predicted entity has, such as its document.

    Pairs have the same number on both sides.
    """
    wanted, given, pairs, correct = (
        np.bincount(numbers, minlength=size)
        for numbers in (gold, predicted, gold[verdict.gold], gold[verdict.gold[verdict.right]])
    )
    other, none = pairs - correct, np.zeros_like(pairs)
    if schema == "semeval_partial":
        return Met(correct, none, other, wanted - pairs, given - pairs)
    return Met(correct, other, none, wanted - pairs, given - pairs)


def _by_type(both: Both, verdict: Judged) -> Array:
    """tp, fp and fn of each type in turn: (documents, 3 * types)."""
    right = verdict.gold[verdict.right]
    cells = both.documents * both.types
    gold, predicted, tp = (
        np.bincount(doc * both.types + type, minlength=cells).reshape(both.documents, both.types)
        for doc, type in (
            (both.gold.doc, both.gold.type),
            (both.predicted.doc, both.predicted.type),
            (both.gold.doc[right], both.gold.type[right]),
        )
    )
    return np.stack([tp, predicted - tp, gold - tp], axis=-1).reshape(
        both.documents, 3 * both.types
    )
