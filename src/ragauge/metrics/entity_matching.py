"""Which predicted entity stands for which gold one, within a document and a layer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ragauge.contracts.entities import MATCHINGS, Entity, Matching, Schema
from ragauge.errors import UsageError
from ragauge.metrics.entity_assignment import heaviest

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
