"""What the metrics read of each mention: gold and prediction side by side."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from msgspec import Struct, structs

from ragauge.contracts.links import NIL_KB, Candidate, GoldLink, LinkedMention, PredictedLink
from ragauge.metrics.link_matching import Placed, weak_pairs
from ragauge.metrics.link_tables import Crosswalk, Equivalents, pairs_of
from ragauge.text.kb_ids import KbId

MentionPair = tuple[GoldLink | None, PredictedLink | None]
"""A mention in gold and in the prediction; None on the side that has none."""


class Comparing(Struct, frozen=True):
    """What decides whether an id is right, beside gold itself."""

    equivalents: Equivalents | None = None
    crosswalk: Crosswalk | None = None


def linked_mentions(pairs: Sequence[MentionPair], by: Comparing) -> list[LinkedMention]:
    """The facts of a document's mentions, in the order of the pairs."""
    facts = [linked_mention(gold, predicted, by) for gold, predicted in pairs]
    golds = [
        (place, Placed(gold.key.start, gold.key.end, ids_of(gold)))
        for place, (gold, _) in enumerate(pairs)
        if gold and not gold.nil and gold.key.start is not None and gold.key.end is not None
    ]
    answers = [
        (place, Placed(said.key.start, said.key.end, said.candidates[0].answer))
        for place, (_, said) in enumerate(pairs)
        if said and said.linked and said.key.start is not None and said.key.end is not None
    ]
    matched = weak_pairs([one for _, one in golds], [one for _, one in answers])
    for mine, theirs in matched.items():
        mention, answer = golds[mine][0], answers[theirs][0]
        facts[mention] = structs.replace(facts[mention], weak_gold=True)
        facts[answer] = structs.replace(facts[answer], weak_predicted=True)
    for mention, answer in hipe_pairs(pairs):
        gold, said = pairs[mention][0], pairs[answer][1]
        rank = hipe_rank(gold, said) if gold and said else None
        facts[mention] = structs.replace(facts[mention], hipe_rank=rank)
        facts[answer] = structs.replace(facts[answer], hipe_predicted_rank=rank)
    return facts


def hipe_pairs(pairs: Sequence[MentionPair]) -> Iterator[tuple[int, int]]:
    """Places of gold mentions, each with that of the prediction that HIPE's scorer pairs with it.

    In reading order a prediction is paired with the mention at its own place, else with the first
    one it overlaps that no prediction before it took. Mentions of one column do not overlap.
    """
    golds, answers = list[tuple[int, int, int]](), list[tuple[int, int, int]]()
    for place, (gold, said) in enumerate(pairs):
        if gold and gold.key.start is not None and gold.key.end is not None:
            golds.append((gold.key.start, gold.key.end, place))
        says = said is not None and (said.linked or said.said_nil)
        if said and says and said.key.start is not None and said.key.end is not None:
            answers.append((said.key.start, said.key.end, place))
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


def hipe_rank(gold: GoldLink, said: PredictedLink) -> int | None:
    """The rank of gold's id among the alternatives of a prediction; NIL is an id like any other."""
    if not gold.nil:
        return rank_of(said.ranked, ids_of(gold))
    ranks = (rank for rank, one in enumerate(said.ranked, 1) if one.kb == NIL_KB)
    return next(ranks, None)


def linked_mention(
    gold: GoldLink | None, predicted: PredictedLink | None, by: Comparing
) -> LinkedMention:
    """The facts of one mention, but for what overlaps it."""
    right = ids_of(gold) if gold else frozenset()
    candidates = predicted.ranked if predicted else ()
    equivalents = by.equivalents
    wider = equivalents.beside(right) if equivalents else right
    key = gold.key if gold else predicted.key if predicted else None
    linked = predicted is not None and predicted.linked
    crosswalk, given = by.crosswalk, predicted.ids if predicted and linked else {}
    return LinkedMention(
        in_gold=gold is not None,
        nil=gold is not None and gold.nil,
        answered=predicted is not None,
        said_nil=predicted is not None and predicted.said_nil,
        linked=linked,
        rank=rank_of(candidates, right),
        relaxed_rank=rank_of(candidates, wider),
        relaxed=equivalents is not None,
        placed=key is not None and key.start is not None,
        exact=_same_place(gold, predicted),
        crosswalk=crosswalk is not None,
        paired=tuple(pairs_of(given)) if crosswalk else (),
        pairs=crosswalk.compared(given) if crosswalk else {},
    )


def _same_place(gold: GoldLink | None, predicted: PredictedLink | None) -> bool:
    """Whether a prediction stands where its mention does; ids join what has moved."""
    if gold is None or predicted is None or gold.key.start is None:
        return gold is not None and predicted is not None
    return (gold.key.start, gold.key.end) == (predicted.key.start, predicted.key.end)


def ids_of(gold: GoldLink) -> frozenset[KbId]:
    """The ids a mention is known under, each with its knowledge base."""
    return frozenset((kb, id) for kb, ids in gold.ids.items() for id in ids)


def rank_of(candidates: Sequence[Candidate], right: frozenset[KbId]) -> int | None:
    """The rank of the first candidate with an id that is right; None where there is none.

    >>> rank_of([Candidate("Q2", "wikidata"), Candidate("Q1", "wikidata")],
    ...         frozenset({("wikidata", "Q1")}))
    2
    """
    for rank, candidate in enumerate(candidates, 1):
        if not right.isdisjoint(candidate.answer):
            return rank
    return None
