"""Entities of one document, plainly: which prediction stands for which gold entity, and the counts.

The twin of the kernel, which counts many documents at once from columns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heappop, heappush

from ragauge.contracts.entities import (
    MATCHINGS,
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
from ragauge.errors import UsageError


def heaviest(weights: Sequence[Mapping[int, int]]) -> list[tuple[int, int]]:
    """Pairs of a row and a column whose weights, all above zero, sum to the most.

    Exact for integers of any size, in time that grows with the rows times the entangled part.
    Of equally heavy assignments the one is taken in which earlier rows keep what they have.

    >>> heaviest([{0: 5, 1: 4}, {0: 4}])
    [(0, 1), (1, 0)]
    >>> heaviest([{0: 1}, {0: 1}])
    [(0, 0)]
    """
    return _Assignment(weights).pairs()


class _Assignment:
    """Rows are let in one by one; each time the cheapest chain of swaps makes room.

    Every row has a column of its own besides, which costs nothing and means: left alone.
    """

    def __init__(self, weights: Sequence[Mapping[int, int]]) -> None:
        columns = 1 + max((column for row in weights for column in row), default=-1)
        self._columns, self._rows = columns, len(weights)
        self._costs = [
            {column: -weight for column, weight in row.items()} | {self._alone(place): 0}
            for place, row in enumerate(weights)
        ]
        self._row_price = [0] * len(weights)
        self._column_price: dict[int, int] = {}
        self._row_of: dict[int, int] = {}
        self._column_of: dict[int, int] = {}

    def pairs(self) -> list[tuple[int, int]]:
        for row in range(self._rows):
            self._let_in(row)
        return [(row, column) for row, column in self._column_of.items() if column < self._columns]

    def _alone(self, row: int) -> int:
        """The later a row, the sooner it is left alone, where all else is equal."""
        return self._columns + self._rows - row

    def _let_in(self, new: int) -> None:
        """Dijkstra's search from the new row to the nearest free column, then the swaps."""
        distance: dict[int, int] = {}
        came: dict[int, int] = {}
        waiting: list[tuple[int, int]] = []
        done: dict[int, int] = {}
        row, so_far = new, 0
        while True:
            for column, cost in self._costs[row].items():
                price = self._row_price[row] + self._column_price.get(column, 0)
                far = so_far + cost - price
                if column not in done and (column not in distance or far < distance[column]):
                    distance[column], came[column] = far, row
                    heappush(waiting, (far, column))
            so_far, column = heappop(waiting)
            while column in done or so_far != distance[column]:
                so_far, column = heappop(waiting)
            if column not in self._row_of:
                break
            done[column] = so_far
            row = self._row_of[column]
        self._raise_prices(new, done, so_far)
        self._swap(new, column, came)

    def _raise_prices(self, new: int, done: Mapping[int, int], total: int) -> None:
        self._row_price[new] += total
        for column, far in done.items():
            self._column_price[column] = self._column_price.get(column, 0) - (total - far)
            self._row_price[self._row_of[column]] += total - far

    def _swap(self, new: int, column: int, came: Mapping[int, int]) -> None:
        while True:
            row = came[column]
            before = self._column_of.get(row)
            self._column_of[row], self._row_of[column] = column, row
            if row == new or before is None:
                return
            column = before


Pair = tuple[int, int]
"""The places of a gold entity and of the prediction that stands for it."""
Overlaps = Mapping[int, Mapping[int, int]]
"""For each gold entity, the predictions that overlap it enough, with the positions shared."""
Liking = Callable[[int, int], tuple[int, ...]]
"""How little a gold entity suits a prediction."""

LEAST_OF_NERVALUATE = 0.01
"""The share of a gold entity that nervaluate 1.2 asks a prediction to cover."""


def least_share(matching: Matching, min_overlap: float | None) -> float:
    """The share of a gold entity that a prediction must cover; one position suffices by default.

    Raises UsageError for a matching that does not exist.
    """
    if matching not in MATCHINGS:
        raise UsageError(f'there is no matching "{matching}"; choose {", ".join(MATCHINGS)}')
    if min_overlap is not None:
        return min_overlap
    return LEAST_OF_NERVALUATE if matching == "nervaluate" else 0.0


def matched(
    gold: Sequence[Entity],
    predicted: Sequence[Entity],
    matching: Matching = "best",
    min_overlap: float | None = None,
) -> dict[Schema, list[Pair]]:
    """For each schema the pairs, sorted, of the entities of one document and layer.

    `best` takes entities with the same place and type first. The rest are paired one to one so
    that pairs are as many as can be; of such pairings, those with the most pairs of one type,
    then with the most positions shared, then the earliest in the text, then the nearest. It does
    not depend on the order of the lists. `hipe` takes the same first, then for each prediction in
    reading order the first free gold entity that it overlaps. `nervaluate` does what version
    1.2.1 does, with pairs of its own for each schema, in the order of the lists.

    >>> gold = [Entity(start=0, end=10, type="A"), Entity(start=20, end=30, type="A")]
    >>> found = [Entity(start=5, end=25, type="A"), Entity(start=0, end=4, type="A")]
    >>> matched(gold, found)["ent_type"]
    [(0, 1), (1, 0)]
    """
    least = least_share(matching, min_overlap)
    return paired(gold, predicted, overlaps_of(gold, predicted, least), matching)


def paired(
    gold: Sequence[Entity], predicted: Sequence[Entity], overlaps: Overlaps, matching: Matching
) -> dict[Schema, list[Pair]]:
    """The same, where it is known which entities overlap."""
    if matching == "nervaluate":
        return _as_nervaluate(gold, predicted, overlaps)
    same = _same_place_and_type(gold, predicted)
    rest = _without(overlaps, same)
    settle = _first_free if matching == "hipe" else _best
    pairs = sorted([*same, *settle(gold, predicted, rest)])
    return {"strict": pairs, "exact": pairs, "semeval_partial": pairs, "ent_type": pairs}


def size(entity: Entity) -> int:
    """How many positions it covers."""
    return sum(end - start for start, end in entity.parts)


def shared(one: Entity, other: Entity) -> int:
    """How many positions two entities have in common.

    >>> shared(
    ...     Entity(start=0, end=9, type="A", fragments=((0, 2), (6, 9))),
    ...     Entity(start=1, end=7, type="B"),
    ... )
    2
    """
    return sum(
        max(0, min(end, last) - max(start, first))
        for start, end in one.parts
        for first, last in other.parts
    )


def overlaps_of(gold: Sequence[Entity], predicted: Sequence[Entity], least: float) -> Overlaps:
    """Which predictions cover at least one position, and this share, of which gold entity."""
    found: dict[int, dict[int, int]] = {}
    for g, one in enumerate(gold):
        for p, other in enumerate(predicted):
            common = shared(one, other)
            if common and common / size(one) >= least:
                found.setdefault(g, {})[p] = common
    return found


def reading_order(entity: Entity) -> tuple[object, ...]:
    """What entities are sorted by: where they stand, then their type."""
    return entity.start, entity.end, entity.parts, entity.type


def _same_place_and_type(gold: Sequence[Entity], predicted: Sequence[Entity]) -> list[Pair]:
    places = {(one.parts, one.type): g for g, one in enumerate(gold)}
    pairs = []
    for p, other in enumerate(predicted):
        g = places.pop((other.parts, other.type), None)
        if g is not None:
            pairs.append((g, p))
    return pairs


def _without(overlaps: Overlaps, taken: Iterable[Pair]) -> Overlaps:
    golds, found = {g for g, _ in taken}, {p for _, p in taken}
    return {
        g: {p: common for p, common in row.items() if p not in found}
        for g, row in overlaps.items()
        if g not in golds
    }


def _best(gold: Sequence[Entity], predicted: Sequence[Entity], overlaps: Overlaps) -> list[Pair]:
    rows = sorted(overlaps, key=lambda g: reading_order(gold[g]))
    columns = sorted(
        {p for row in overlaps.values() for p in row}, key=lambda p: reading_order(predicted[p])
    )
    place = {p: column for column, p in enumerate(columns)}
    furthest = max((gold[g].end for g in rows), default=0) + max(
        (predicted[p].end for p in columns), default=0
    )
    radix = 2 * (min(len(rows), len(columns)) * furthest + 1)
    weights = [
        {
            place[p]: _weight(gold[g], predicted[p], common, radix)
            for p, common in overlaps[g].items()
        }
        for g in rows
    ]
    return [(rows[row], columns[column]) for row, column in heaviest(weights)]


def _weight(one: Entity, other: Entity, common: int, radix: int) -> int:
    """What a pair is worth, the more important in the higher digits: see `matched`."""
    late = one.start + one.end + other.start + other.end
    apart = abs(one.start - other.start) + abs(one.end - other.end)
    worth = radix + (one.type == other.type)
    return ((worth * radix + common) * radix - late) * radix - apart


def _first_free(
    gold: Sequence[Entity], predicted: Sequence[Entity], overlaps: Overlaps
) -> list[Pair]:
    free = sorted(overlaps, key=lambda g: reading_order(gold[g]))
    pairs = []
    for p in sorted(range(len(predicted)), key=lambda p: reading_order(predicted[p])):
        first = next((g for g in free if p in overlaps[g]), None)
        if first is not None:
            free.remove(first)
            pairs.append((first, p))
    return pairs


def _as_nervaluate(
    gold: Sequence[Entity], predicted: Sequence[Entity], overlaps: Overlaps
) -> dict[Schema, list[Pair]]:
    """Each prediction, in the order of the list, takes the free gold entity it likes best."""

    def same_place(g: int, p: int) -> tuple[int, ...]:
        return (gold[g].parts != predicted[p].parts, g)

    def same(g: int, p: int) -> tuple[int, ...]:
        return (gold[g].parts != predicted[p].parts or gold[g].type != predicted[p].type, g)

    def same_type(g: int, p: int) -> tuple[int, ...]:
        one, other = gold[g], predicted[p]
        if one.type != other.type:
            return (1, g)
        return (0, abs(one.start - other.start) + abs(one.end - other.end), g)

    by_place = _taken_in_turn(overlaps, len(predicted), same_place)
    return {
        "strict": _taken_in_turn(overlaps, len(predicted), same),
        "exact": by_place,
        "semeval_partial": by_place,
        "ent_type": _taken_in_turn(overlaps, len(predicted), same_type),
    }


def _taken_in_turn(overlaps: Overlaps, predictions: int, liking: Liking) -> list[Pair]:
    """Pairs, where the gold entity with the least `liking` is the best liked."""
    candidates: list[list[int]] = [[] for _ in range(predictions)]
    for g, row in overlaps.items():
        for p in row:
            candidates[p].append(g)
    taken: set[int] = set()
    pairs = []
    for p, near in enumerate(candidates):
        free = [g for g in near if g not in taken]
        if free:
            chosen = min(free, key=lambda g: liking(g, p))
            taken.add(chosen)
            pairs.append((chosen, p))
    return sorted(pairs)


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
