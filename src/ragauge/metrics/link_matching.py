"""Which links of a document answer which gold mentions where an overlap is place enough."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from msgspec import Struct

from ragauge.text.kb_ids import KbId


class Placed(Struct, frozen=True):
    """A stretch of a text, half-open, and the ids of the entity that is there."""

    start: int
    end: int
    ids: frozenset[KbId]


def weak_pairs(gold: Sequence[Placed], predicted: Sequence[Placed]) -> dict[int, int]:
    """By place of the gold mention that of its prediction: overlapping, with an id in common.

    One to one and as many as there can be; exact places are paired first, so that a link on a
    mention's own place is never given to another.

    >>> one, other = frozenset({("wikidata", "Q1")}), frozenset({("wikidata", "Q2")})
    >>> weak_pairs([Placed(0, 4, one), Placed(6, 9, one)], [Placed(3, 7, one), Placed(6, 9, other)])
    {0: 0}
    """
    reach = _overlapping(gold, predicted)
    pairing = _Pairing(reach)
    for place, near in enumerate(reach):
        same = (one for one in near if _place(predicted[one]) == _place(gold[place]))
        free = next((one for one in same if one not in pairing.gold_of), None)
        if free is not None:
            pairing.join(place, free)
    for place in range(len(gold)):
        if place not in pairing.answer_of:
            pairing.add(place)
    return dict(sorted(pairing.answer_of.items()))


def _place(one: Placed) -> tuple[int, int]:
    return one.start, one.end


def _overlapping(gold: Sequence[Placed], predicted: Sequence[Placed]) -> list[list[int]]:
    """For each gold mention the predictions it may be paired with, in reading order."""
    order = sorted(range(len(predicted)), key=lambda one: _place(predicted[one]))
    by_id: dict[KbId, list[int]] = {}
    for one in order:
        for id in predicted[one].ids:
            by_id.setdefault(id, []).append(one)
    reach = []
    for mention in gold:
        near = {
            one
            for id in mention.ids
            for one in by_id.get(id, ())
            if predicted[one].start < mention.end and mention.start < predicted[one].end
        }
        reach.append(sorted(near, key=lambda one: (_place(predicted[one]), one)))
    return reach


class _Pairing:
    """Gold mentions and predictions, one to one, while more of them are paired."""

    def __init__(self, reach: Sequence[Sequence[int]]) -> None:
        self._reach = reach
        self.answer_of: dict[int, int] = {}
        self.gold_of: dict[int, int] = {}

    def join(self, mention: int, answer: int) -> None:
        self.answer_of[mention], self.gold_of[answer] = answer, mention

    def add(self, start: int) -> None:
        """Pair one more mention, moving others along the shortest path to a free prediction."""
        came_from: dict[int, int] = {}
        waiting = deque([start])
        while waiting:
            mention = waiting.popleft()
            for answer in self._reach[mention]:
                if answer in came_from:
                    continue
                came_from[answer] = mention
                if answer not in self.gold_of:
                    self._move(answer, start, came_from)
                    return
                waiting.append(self.gold_of[answer])

    def _move(self, free: int, start: int, came_from: dict[int, int]) -> None:
        mention = came_from[free]
        while mention != start:
            left = self.answer_of[mention]
            self.join(mention, free)
            free, mention = left, came_from[left]
        self.join(mention, free)
