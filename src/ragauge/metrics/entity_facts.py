"""What came of one document's entities, counted plainly: the twin of the columns' kernel."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from ragauge.contracts.entities import (
    SCHEMAS,
    Empty,
    Entity,
    EntityFacts,
    Fragment,
    Matching,
    Met,
    Schema,
    TokenRule,
)
from ragauge.metrics.entity_matching import Pair, matched

TypeCounts = dict[str, list[int]]
"""For each type its tp, fp and fn."""


def document_facts(
    gold: Sequence[Entity],
    predicted: Sequence[Entity] | None,
    *,
    types: Sequence[str],
    tokens: Sequence[Fragment] | None = None,
    matching: Matching = "best",
    min_overlap: float | None = None,
    token_rule: TokenRule = "overlap",
    empty: Empty = "null",
) -> EntityFacts:
    """The facts of a document, whose entities are matched within their layers.

    `predicted` is None where there is no record of the document: all its entities are missed.
    An entity that is given twice, of one place and type, counts once: what is there can be found
    once.
    """
    gold, given = distinct(gold), distinct(predicted or ())
    met: dict[Schema, Counter[str]] = {schema: Counter() for schema in SCHEMAS}
    by_type: dict[Schema, TypeCounts] = {
        schema: {type: [0, 0, 0] for type in types} for schema in SCHEMAS
    }
    for layer in sorted({entity.layer for entity in (*gold, *given)}):
        here, there = in_layer(gold, layer), in_layer(given, layer)
        for schema, pairs in matched(here, there, matching, min_overlap).items():
            met[schema] += outcomes(here, there, pairs, schema)
            _count_types(by_type[schema], here, there, pairs, schema)
    held = _flat(token_counts(gold, given, tokens or (), token_rule), types)
    return EntityFacts(
        answered=predicted is not None,
        **{schema: _met(met[schema]) for schema in SCHEMAS},
        strict_types=_flat(by_type["strict"], types),
        partial_types=_flat(by_type["ent_type"], types),
        tokenised=tokens is not None,
        tokens=(sum(held[0::3]), sum(held[1::3]), sum(held[2::3])),
        token_types=held,
        empty=empty,
    )


def distinct(entities: Iterable[Entity]) -> list[Entity]:
    """The entities without those of which one stands before, of the same layer, place and type."""
    kept: dict[tuple[object, ...], Entity] = {}
    for entity in entities:
        kept.setdefault((entity.layer, entity.parts, entity.type), entity)
    return list(kept.values())


def in_layer(entities: Iterable[Entity], layer: str) -> list[Entity]:
    return [entity for entity in entities if entity.layer == layer]


def is_correct(one: Entity, other: Entity, schema: Schema) -> bool:
    """Whether a pair counts in full under a schema."""
    same_place, same_type = one.parts == other.parts, one.type == other.type
    if schema == "strict":
        return same_place and same_type
    return same_type if schema == "ent_type" else same_place


def outcomes(
    gold: Sequence[Entity], predicted: Sequence[Entity], pairs: Sequence[Pair], schema: Schema
) -> Counter[str]:
    """How often each of SemEval's five outcomes is met in one document and layer."""
    right = sum(is_correct(gold[g], predicted[p], schema) for g, p in pairs)
    otherwise = "partial" if schema == "semeval_partial" else "incorrect"
    return Counter(
        {
            "correct": right,
            otherwise: len(pairs) - right,
            "missed": len(gold) - len(pairs),
            "spurious": len(predicted) - len(pairs),
        }
    )


def tokens_of(text: str) -> tuple[Fragment, ...]:
    """Where the words of a text stand: whatever is between blanks, of any kind and number.

    >>> tokens_of("Het  Rijks\\tmuseum")
    ((0, 3), (5, 10), (11, 17))
    """
    return tuple(found.span() for found in re.finditer(r"\S+", text))


def token_counts(
    gold: Sequence[Entity],
    predicted: Sequence[Entity],
    tokens: Sequence[Fragment],
    rule: TokenRule = "overlap",
) -> TypeCounts:
    """tp, fp and fn of each type over tokens; a token holds a set of types in each layer.

    >>> museum = [Entity(start=1, end=12, type="MUS")]
    >>> token_counts(museum, museum, tokens_of("(Rijksmuseum)"))
    {'MUS': [1, 0, 0]}
    >>> token_counts(museum, museum, tokens_of("(Rijksmuseum)"), "brief")
    {}
    """
    wanted, given = _held(gold, tokens, rule), _held(predicted, tokens, rule)
    found: TypeCounts = {}
    for place, holders in enumerate((wanted & given, given - wanted, wanted - given)):
        for _, _, type in holders:
            found.setdefault(type, [0, 0, 0])[place] += 1
    return found


def _held(
    entities: Iterable[Entity], tokens: Sequence[Fragment], rule: TokenRule
) -> set[tuple[int, str, str]]:
    return {
        (place, entity.layer, entity.type)
        for entity in entities
        for start, end in entity.parts
        for place, (first, last) in enumerate(tokens)
        if (start <= first < end if rule == "brief" else first < end and start < last)
    }


def _count_types(
    counts: TypeCounts,
    gold: Sequence[Entity],
    predicted: Sequence[Entity],
    pairs: Sequence[Pair],
    schema: Schema,
) -> None:
    right = [(g, p) for g, p in pairs if is_correct(gold[g], predicted[p], schema)]
    found, good = {g for g, _ in right}, {p for _, p in right}
    for g, entity in enumerate(gold):
        counts[entity.type][0 if g in found else 2] += 1
    for p, entity in enumerate(predicted):
        if p not in good:
            counts[entity.type][1] += 1


def _met(counts: Counter[str]) -> Met:
    names = ("correct", "incorrect", "partial", "missed", "spurious")
    return Met(*(counts[name] for name in names))


def _flat(counts: TypeCounts, types: Sequence[str]) -> tuple[int, ...]:
    return tuple(count for type in types for count in counts.get(type, (0, 0, 0)))
