"""Which predicted entity is paired with which gold one, within a document and a layer.

The kernel pairs many documents at once from columns and leaves entangled entities to this module.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heappop, heappush

from ragauge.contracts.entities import (
    MATCHINGS,
    Entity,
    Fragment,
    Matching,
    Schema,
)
from ragauge.errors import UsageError


def heaviest_assignment(weights: Sequence[Mapping[int, int]]) -> list[tuple[int, int]]:
    """Pairs of rows and columns with the largest sum of weights, all of which are above zero.

    Exact for integers of any size, in time proportional to the rows times the entangled part.
    Among equally heavy assignments, earlier rows have priority.

    >>> heaviest_assignment([{0: 5, 1: 4}, {0: 4}])
    [(0, 1), (1, 0)]
    >>> heaviest_assignment([{0: 1}, {0: 1}])
    [(0, 0)]
    """
    # Rows are added one by one; each time the cheapest chain of swaps makes room. Every row also
    # has a column of its own, which costs nothing and means: unassigned. All else being equal,
    # later rows are unassigned first.
    columns = 1 + max((column for row in weights for column in row), default=-1)
    costs = [
        {column: -weight for column, weight in row.items()} | {columns + len(weights) - place: 0}
        for place, row in enumerate(weights)
    ]
    row_price = [0] * len(weights)
    column_price: dict[int, int] = {}
    row_of: dict[int, int] = {}
    column_of: dict[int, int] = {}
    for new in range(len(weights)):
        # Dijkstra's search from the new row to the nearest free column.
        distance: dict[int, int] = {}
        came: dict[int, int] = {}
        waiting: list[tuple[int, int]] = []
        done: dict[int, int] = {}
        row, so_far = new, 0
        while True:
            for column, cost in costs[row].items():
                far = so_far + cost - row_price[row] - column_price.get(column, 0)
                if column not in done and (column not in distance or far < distance[column]):
                    distance[column], came[column] = far, row
                    heappush(waiting, (far, column))
            so_far, column = heappop(waiting)
            while column in done or so_far != distance[column]:
                so_far, column = heappop(waiting)
            if column not in row_of:
                break
            done[column] = so_far
            row = row_of[column]
        row_price[new] += so_far
        for passed, far in done.items():
            column_price[passed] = column_price.get(passed, 0) - (so_far - far)
            row_price[row_of[passed]] += so_far - far
        while True:  # the swaps
            row = came[column]
            before = column_of.get(row)
            column_of[row], row_of[column] = column, row
            if row == new or before is None:
                break
            column = before
    return [(row, column) for row, column in column_of.items() if column < columns]


Pair = tuple[int, int]
"""The places of a gold entity and of its prediction."""
Overlaps = Mapping[int, Mapping[int, int]]
"""For each gold entity, the predictions that overlap it enough, with the positions shared."""
Mismatch = Callable[[int, int], tuple[int, ...]]
"""A sort key: how little a gold entity suits a prediction."""

LEAST_OF_NERVALUATE = 0.01
"""The fraction of a gold entity that a prediction must cover in nervaluate 1.2."""


def least_overlap(matching: Matching, min_overlap: float | None) -> float:
    """The fraction of a gold entity that a prediction must cover; by default, one position.

    Raises UsageError for a matching that does not exist.
    """
    if matching not in MATCHINGS:
        raise UsageError(f'there is no matching "{matching}"; choose {", ".join(MATCHINGS)}')
    if min_overlap is not None:
        return min_overlap
    return LEAST_OF_NERVALUATE if matching == "nervaluate" else 0.0


def match_entities(
    gold: Sequence[Entity],
    predicted: Sequence[Entity],
    matching: Matching = "best",
    min_overlap: float | None = None,
) -> dict[Schema, list[Pair]]:
    """The sorted pairs of the entities of one document and layer, for each schema.

    `best` takes entities with the same place and type first. The rest are paired one to one with
    as many pairs as possible; among such pairings, the one with the most pairs of the same type,
    then the most shared positions, then the earliest in the text, then the nearest. It does not
    depend on the order of the lists. `hipe` also takes equal entities first, then for each
    prediction in reading order the first free gold entity that it overlaps. `nervaluate` behaves
    as version 1.2.1, with separate pairs for each schema, in the order of the lists.

    >>> gold = [Entity(start=0, end=10, type="A"), Entity(start=20, end=30, type="A")]
    >>> found = [Entity(start=5, end=25, type="A"), Entity(start=0, end=4, type="A")]
    >>> match_entities(gold, found)["ent_type"]
    [(0, 1), (1, 0)]
    """
    least = least_overlap(matching, min_overlap)
    return pair_entities(gold, predicted, overlaps_of(gold, predicted, least), matching)


def pair_entities(
    gold: Sequence[Entity], predicted: Sequence[Entity], overlaps: Overlaps, matching: Matching
) -> dict[Schema, list[Pair]]:
    """The same as `match_entities`, given which entities overlap."""
    if matching == "nervaluate":
        return _as_nervaluate(gold, predicted, overlaps)
    places = {(one.parts, one.type): g for g, one in enumerate(gold)}
    same: list[Pair] = []
    for p, other in enumerate(predicted):
        g = places.pop((other.parts, other.type), None)
        if g is not None:
            same.append((g, p))
    golds, found = {g for g, _ in same}, {p for _, p in same}
    rest = {
        g: {p: common for p, common in row.items() if p not in found}
        for g, row in overlaps.items()
        if g not in golds
    }
    pair_rest = _first_free if matching == "hipe" else _best
    pairs = sorted([*same, *pair_rest(gold, predicted, rest)])
    return {"strict": pairs, "exact": pairs, "semeval_partial": pairs, "ent_type": pairs}


def size(entity: Entity) -> int:
    """How many positions it covers."""
    return sum(end - start for start, end in entity.parts)


def shared_positions(one: Entity, other: Entity) -> int:
    """How many positions two entities have in common.

    >>> shared_positions(
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
    """Which predictions cover at least one position and this fraction of which gold entity."""
    found: dict[int, dict[int, int]] = {}
    for g, one in enumerate(gold):
        for p, other in enumerate(predicted):
            common = shared_positions(one, other)
            if common and common / size(one) >= least:
                found.setdefault(g, {})[p] = common
    return found


def reading_order(entity: Entity) -> tuple[object, ...]:
    """A sort key: where an entity is, then its type."""
    return entity.start, entity.end, entity.parts, entity.type


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
    # The weight of a pair, the most important criterion in the highest digits: `match_entities`.
    weights: list[dict[int, int]] = [{} for _ in rows]
    for row, g in enumerate(rows):
        one = gold[g]
        for p, common in overlaps[g].items():
            other = predicted[p]
            late = one.start + one.end + other.start + other.end
            apart = abs(one.start - other.start) + abs(one.end - other.end)
            worth = radix + (one.type == other.type)
            weights[row][place[p]] = ((worth * radix + common) * radix - late) * radix - apart
    return [(rows[row], columns[column]) for row, column in heaviest_assignment(weights)]


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
    """Each prediction, in the order of the list, takes the free gold entity that suits it best."""

    def same_place(g: int, p: int) -> tuple[int, ...]:
        return (gold[g].parts != predicted[p].parts, g)

    def same(g: int, p: int) -> tuple[int, ...]:
        return (gold[g].parts != predicted[p].parts or gold[g].type != predicted[p].type, g)

    def same_type(g: int, p: int) -> tuple[int, ...]:
        one, other = gold[g], predicted[p]
        if one.type != other.type:
            return (1, g)
        return (0, abs(one.start - other.start) + abs(one.end - other.end), g)

    candidates: list[list[int]] = [[] for _ in predicted]
    for g, row in overlaps.items():
        for p in row:
            candidates[p].append(g)

    def in_turn(mismatch: Mismatch) -> list[Pair]:
        taken: set[int] = set()
        pairs = []
        for p, near in enumerate(candidates):
            free = [g for g in near if g not in taken]
            if free:
                chosen = min(free, key=lambda g: mismatch(g, p))
                taken.add(chosen)
                pairs.append((chosen, p))
        return sorted(pairs)

    by_place = in_turn(same_place)
    return {
        "strict": in_turn(same),
        "exact": by_place,
        "semeval_partial": by_place,
        "ent_type": in_turn(same_type),
    }


def distinct(entities: Iterable[Entity]) -> list[Entity]:
    """The entities without repetitions of the same layer, place and type."""
    kept: dict[tuple[object, ...], Entity] = {}
    for entity in entities:
        kept.setdefault((entity.layer, entity.parts, entity.type), entity)
    return list(kept.values())


def is_correct(one: Entity, other: Entity, schema: Schema) -> bool:
    """Whether a pair counts in full under a schema."""
    same_place, same_type = one.parts == other.parts, one.type == other.type
    if schema == "strict":
        return same_place and same_type
    return same_type if schema == "ent_type" else same_place


def outcomes(
    gold: Sequence[Entity], predicted: Sequence[Entity], pairs: Sequence[Pair], schema: Schema
) -> Counter[str]:
    """The counts of SemEval's five outcomes in one document and layer."""
    correct = sum(is_correct(gold[g], predicted[p], schema) for g, p in pairs)
    otherwise = "partial" if schema == "semeval_partial" else "incorrect"
    return Counter(
        {
            "correct": correct,
            otherwise: len(pairs) - correct,
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
