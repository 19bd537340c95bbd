"""The facts of each mention, from gold and prediction compared, and the sums over documents.

Equivalent ids are for a relaxed score, a crosswalk shows whether ids belong together.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
from msgspec import Struct, structs

from ragauge.contracts.links import (
    NIL_KB,
    Candidate,
    GoldLink,
    KbIds,
    LinkedMention,
    PredictedLink,
    SamePair,
)
from ragauge.contracts.metric import Absent, Metric, NotApplicable
from ragauge.metrics.linking import NOT_IN_GOLD
from ragauge.metrics.sums import Sums
from ragauge.text.kb_ids import KbId

DIFFERENT = frozenset(("different", "differentfrom", "distinct", "notsame", "no"))
"""Relations that say two ids are not one entity."""
WIDER = frozenset(
    ("related", "relatedmatch", "broad", "broader", "broadmatch", "narrow", "narrower",
     "narrowmatch", "partof", "haspart", "seealso")
)  # fmt: skip
"""Relations that say two ids have to do with each other, but are not one entity."""


def plain_relation(written: str) -> str:
    """A relation without its vocabulary, case and spaces.

    >>> plain_relation("owl:sameAs"), plain_relation("skos:exact match")
    ('sameas', 'exactmatch')
    """
    name = written.strip().replace("#", ":").replace("/", ":").rpartition(":")[2]
    return "".join(letter for letter in name.lower() if letter.isalnum())


def is_same(pair: SamePair) -> bool:
    """Whether the two ids are one entity; an unnamed relation means that they are."""
    return plain_relation(pair.relation) not in DIFFERENT | WIDER


class Equivalents:
    """Ids that count as correct in addition to the gold ones.

    "Same" relations are followed through any number of steps, as with redirects; "related" ones
    are followed for one step.
    """

    def __init__(self, pairs: Iterable[SamePair]) -> None:
        self._head: dict[KbId, KbId] = {}
        related: list[SamePair] = []
        for pair in pairs:
            if is_same(pair):
                self._join(pair.one, pair.other)
            elif plain_relation(pair.relation) in WIDER:
                related.append(pair)
        self._members: dict[KbId, set[KbId]] = {}
        for id in list(self._head):
            self._members.setdefault(self._root(id), set()).add(id)
        self._related: dict[KbId, set[KbId]] = {}
        for pair in related:
            one, other = self._root(pair.one), self._root(pair.other)
            self._related.setdefault(one, set()).add(other)
            self._related.setdefault(other, set()).add(one)

    def expand(self, ids: Iterable[KbId]) -> frozenset[KbId]:
        """These ids with all that are equivalent to one of them."""
        found: set[KbId] = set()
        for id in ids:
            head = self._root(id)
            for near in (head, *self._related.get(head, ())):
                found |= self._members.get(near, {near})
            found.add(id)
        return frozenset(found)

    def _join(self, one: KbId, other: KbId) -> None:
        head, tail = sorted((self._root(one), self._root(other)))
        self._head.setdefault(one, head)
        self._head.setdefault(other, head)
        self._head[tail] = self._head[head] = head

    def _root(self, id: KbId) -> KbId:
        while (above := self._head.get(id, id)) != id:
            self._head[id] = self._head.get(above, above)
            id = above
        return id


class Crosswalk:
    """Which ids of one knowledge base go with which of another."""

    def __init__(self, pairs: Iterable[SamePair]) -> None:
        self._partners: dict[KbId, set[KbId]] = {}
        for pair in pairs:
            if is_same(pair) and pair.one != pair.other:
                self._partners.setdefault(pair.one, set()).add(pair.other)
                self._partners.setdefault(pair.other, set()).add(pair.one)

    def compared(self, ids: KbIds) -> dict[str, bool]:
        """For each pair of knowledge bases it knows these ids in, whether the ids agree.

        >>> walk = Crosswalk([SamePair(("wikidata", "Q1"), ("viaf", "5"), "P214")])
        >>> walk.compared({"viaf": frozenset({"5"}), "wikidata": frozenset({"Q1"})})
        {'wikidata-viaf': True}
        """
        found = {}
        for pair, (one, other) in pairs_of(ids).items():
            agrees = self._agree(one, other, ids)
            if agrees is not None:
                found[pair] = agrees
        return found

    def _agree(self, one: str, other: str, ids: Mapping[str, frozenset[str]]) -> bool | None:
        """Whether an id of one matches an id of the other; None if the crosswalk has neither."""
        there = {(other, id) for id in ids[other]}
        here = {(one, id) for id in ids[one]}
        beyond = {partner for id in here for partner in self._in(id, other)}
        back = {partner for id in there for partner in self._in(id, one)}
        if not beyond and not back:
            return None
        return bool(beyond & there or back & here)

    def _in(self, id: KbId, kb: str) -> set[KbId]:
        """An id's partners in a knowledge base: direct ones, else those through a third one."""
        near = self._partners.get(id, set())
        direct = {one for one in near if one[0] == kb}
        if direct:
            return direct
        through = {one for one in near if one[0] not in (kb, id[0])}
        return {far for one in through for far in self._partners[one] if far[0] == kb}


def pairs_of(ids: KbIds) -> dict[str, tuple[str, str]]:
    """Every two knowledge bases an entity has ids in, by the name of the pair.

    >>> list(pairs_of({"viaf": frozenset({"5"}), "wikidata": frozenset({"Q1"})}))
    ['wikidata-viaf']
    """
    # In the order that people use: wikidata-viaf, wikidata-isil, viaf-isil.
    both = combinations(sorted(ids, key=lambda kb: (_FIRST.get(kb, len(_FIRST)), kb)), 2)
    return {f"{one}-{other}": (one, other) for one, other in both}


_FIRST = {kb: place for place, kb in enumerate(("wikidata", "viaf", "isil", "ghcid"))}


class LinkedSpan(Struct, frozen=True):
    """A half-open span of a text, and the ids of the entity there."""

    start: int
    end: int
    ids: frozenset[KbId]


def weak_pairs(gold: Sequence[LinkedSpan], predicted: Sequence[LinkedSpan]) -> dict[int, int]:
    """The place of the prediction for each gold mention: overlapping, with an id in common.

    The pairs are one to one and as many as possible; exact places are paired first, so that a link
    at a mention's own place is never assigned to another mention.

    >>> one, other = frozenset({("wikidata", "Q1")}), frozenset({("wikidata", "Q2")})
    >>> gold = [LinkedSpan(0, 4, one), LinkedSpan(6, 9, one)]
    >>> weak_pairs(gold, [LinkedSpan(3, 7, one), LinkedSpan(6, 9, other)])
    {0: 0}
    """
    order = sorted(range(len(predicted)), key=lambda one: _place(predicted[one]))
    by_id: dict[KbId, list[int]] = {}
    for one in order:
        for id in predicted[one].ids:
            by_id.setdefault(id, []).append(one)
    reach: list[list[int]] = []
    """For each gold mention the predictions it may be paired with, in reading order."""
    for mention in gold:
        near = {
            one
            for id in mention.ids
            for one in by_id.get(id, ())
            if predicted[one].start < mention.end and mention.start < predicted[one].end
        }
        reach.append(sorted(near, key=lambda one: (_place(predicted[one]), one)))
    answer_of: dict[int, int] = {}
    gold_of: dict[int, int] = {}

    def join(mention: int, answer: int) -> None:
        answer_of[mention], gold_of[answer] = answer, mention

    def add(start: int) -> None:
        """Pair one more mention, moving others along the shortest path to a free prediction."""
        came_from: dict[int, int] = {}
        waiting = deque([start])
        while waiting:
            mention = waiting.popleft()
            for answer in reach[mention]:
                if answer in came_from:
                    continue
                came_from[answer] = mention
                if answer in gold_of:
                    waiting.append(gold_of[answer])
                    continue
                free = answer
                while mention != start:
                    left = answer_of[mention]
                    join(mention, free)
                    free, mention = left, came_from[left]
                join(mention, free)
                return

    for place, nearby in enumerate(reach):
        same = (one for one in nearby if _place(predicted[one]) == _place(gold[place]))
        first = next((one for one in same if one not in gold_of), None)
        if first is not None:
            join(place, first)
    for place in range(len(gold)):
        if place not in answer_of:
            add(place)
    return dict(sorted(answer_of.items()))


def _place(one: LinkedSpan) -> tuple[int, int]:
    return one.start, one.end


MentionPair = tuple[GoldLink | None, PredictedLink | None]
"""A mention in gold and in the prediction; None on the side that has none."""


class IdMappings(Struct, frozen=True):
    """Mappings between ids, which decide along with gold whether an id is correct."""

    equivalents: Equivalents | None = None
    crosswalk: Crosswalk | None = None


def linked_mentions(pairs: Sequence[MentionPair], mappings: IdMappings) -> list[LinkedMention]:
    """The facts of a document's mentions, in the order of the pairs."""
    facts = [_linked_mention(gold, predicted, mappings) for gold, predicted in pairs]
    golds = [
        (place, LinkedSpan(gold.key.start, gold.key.end, _ids_of(gold)))
        for place, (gold, _) in enumerate(pairs)
        if gold and not gold.nil and gold.key.start is not None and gold.key.end is not None
    ]
    answers = [
        (
            place,
            LinkedSpan(prediction.key.start, prediction.key.end, prediction.candidates[0].answer),
        )
        for place, (_, prediction) in enumerate(pairs)
        if prediction
        and prediction.linked
        and prediction.key.start is not None
        and prediction.key.end is not None
    ]
    matched = weak_pairs([one for _, one in golds], [one for _, one in answers])
    for mine, theirs in matched.items():
        mention, answer = golds[mine][0], answers[theirs][0]
        facts[mention] = structs.replace(facts[mention], weak_gold=True)
        facts[answer] = structs.replace(facts[answer], weak_predicted=True)
    for mention, answer in _hipe_pairs(pairs):
        gold, prediction = pairs[mention][0], pairs[answer][1]
        rank = None
        if gold and prediction and not gold.nil:
            rank = rank_of(prediction.ranked, _ids_of(gold))
        elif gold and prediction:  # NIL is an id like any other
            ranks = (rank for rank, one in enumerate(prediction.ranked, 1) if one.kb == NIL_KB)
            rank = next(ranks, None)
        facts[mention] = structs.replace(facts[mention], hipe_rank=rank)
        facts[answer] = structs.replace(facts[answer], hipe_predicted_rank=rank)
    return facts


def _hipe_pairs(pairs: Sequence[MentionPair]) -> Iterator[tuple[int, int]]:
    """Pairs of places: a gold mention, and the prediction that HIPE's scorer pairs with it.

    In reading order a prediction is paired with the mention at its own place, else with the first
    one it overlaps that no prediction before it took. Mentions of one column do not overlap.
    """
    golds, answers = list[tuple[int, int, int]](), list[tuple[int, int, int]]()
    for place, (gold, prediction) in enumerate(pairs):
        if gold and gold.key.start is not None and gold.key.end is not None:
            golds.append((gold.key.start, gold.key.end, place))
        says = prediction is not None and (prediction.linked or prediction.said_nil)
        if (
            prediction
            and says
            and prediction.key.start is not None
            and prediction.key.end is not None
        ):
            answers.append((prediction.key.start, prediction.key.end, place))
    golds.sort()
    exact = {(start, end): place for start, end, place in golds}
    longest = max((end - start for start, end, _ in golds), default=0)
    used: set[int] = set()
    for start, end, answer in sorted(answers):
        mention = exact.get((start, end))
        at = bisect_left(golds, (start - longest, 0, 0))
        while mention is None and at < len(golds) and golds[at][0] < end:
            near = golds[at]
            mention = near[2] if near[1] > start and near[2] not in used else None
            at += 1
        if mention is not None and mention not in used:
            used.add(mention)
            yield mention, answer


def _linked_mention(
    gold: GoldLink | None, predicted: PredictedLink | None, mappings: IdMappings
) -> LinkedMention:
    """The facts of one mention, except those about overlapping mentions."""
    correct = _ids_of(gold) if gold else frozenset()
    candidates = predicted.ranked if predicted else ()
    equivalents = mappings.equivalents
    accepted = equivalents.expand(correct) if equivalents else correct
    key = gold.key if gold else predicted.key if predicted else None
    # Mentions that moved are joined by id, so a prediction may be at another place than its gold.
    exact = gold is not None and predicted is not None
    if gold and predicted and gold.key.start is not None:
        there = predicted.key
        exact = (gold.key.start, gold.key.end) == (there.start, there.end)
    linked = predicted is not None and predicted.linked
    crosswalk, given = mappings.crosswalk, predicted.ids if predicted and linked else {}
    return LinkedMention(
        in_gold=gold is not None,
        nil=gold is not None and gold.nil,
        answered=predicted is not None,
        said_nil=predicted is not None and predicted.said_nil,
        linked=linked,
        rank=rank_of(candidates, correct),
        relaxed_rank=rank_of(candidates, accepted),
        relaxed=equivalents is not None,
        placed=key is not None and key.start is not None,
        exact=exact,
        crosswalk=crosswalk is not None,
        paired=tuple(pairs_of(given)) if crosswalk else (),
        pairs=crosswalk.compared(given) if crosswalk else {},
    )


def _ids_of(gold: GoldLink) -> frozenset[KbId]:
    """The ids of a mention, each with its knowledge base."""
    return frozenset((kb, id) for kb, ids in gold.ids.items() for id in ids)


def rank_of(candidates: Sequence[Candidate], correct: frozenset[KbId]) -> int | None:
    """The rank of the first candidate with a correct id; None if there is none.

    >>> rank_of([Candidate("Q2", "wikidata"), Candidate("Q1", "wikidata")],
    ...         frozenset({("wikidata", "Q1")}))
    2
    """
    for rank, candidate in enumerate(candidates, 1):
        if not correct.isdisjoint(candidate.answer):
            return rank
    return None


_SPURIOUS = LinkedMention(
    in_gold=False,
    answered=True,
    linked=True,
    relaxed=True,
    placed=True,
    crosswalk=True,
    pairs={"wikidata-viaf": True},
)
"""A mention that was only predicted, with everything else that a metric could need."""


def mention_sums(metric: Metric, documents: Sequence[Sequence[LinkedMention]]) -> Sums:
    """The metric's sums for each document, with how many of its mentions were scored.

    Mentions that were only predicted are not units of a metric about gold mentions.
    """
    if reads_gold_only(metric):
        documents = [[one for one in mentions if one.in_gold] for mentions in documents]
    sums = np.zeros((len(documents), len(metric.columns)), dtype=np.int64)
    scored = np.zeros(len(documents), dtype=np.int64)
    units = np.array([len(mentions) for mentions in documents], dtype=np.int64)
    absent: Counter[Absent] = Counter()
    for place, mentions in enumerate(documents):
        for mention in mentions:
            row = metric(mention)
            if isinstance(row, Absent):
                absent[row] += 1
                units[place] -= isinstance(row, NotApplicable)
            else:
                sums[place] += row.counts
                scored[place] += 1
    return Sums(metric, sums, scored, units, absent)


def reads_gold_only(metric: Metric) -> bool:
    """Whether the metric does not apply to any mention that is not in gold."""
    return metric(_SPURIOUS) == NOT_IN_GOLD
