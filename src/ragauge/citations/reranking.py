"""Reranking: how far it moves the retrieved chunks, whether it does so every time, and its gain.

`k_pos` is a chunk's place before, `k_final` after; a chunk without `k_final` in a list that was
reranked is one that the reranker cut.
"""

from __future__ import annotations

import math
from bisect import bisect, insort
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations, islice
from typing import Any

from msgspec import Struct

from ragauge.contracts.citation import Citation
from ragauge.contracts.metric import Absent, NotApplicable
from ragauge.stats.discrimination import rank_correlation, value_of
from ragauge.text.canonical import composed
from ragauge.text.citations import id_of

NOTHING_RETRIEVED = Absent("nothing was retrieved")
NOT_RERANKED = NotApplicable("no retrieved chunk has k_final")
NO_K_POS = Absent("a retrieved chunk does not tell k_pos")
ONE_CHUNK = NotApplicable("fewer than two chunks tell k_pos and k_final")
SHARED_PLACE = Absent("two retrieved chunks have the same place")
NO_GOLD_IDS = Absent("no gold citations")
TOO_FEW_IDS = "fewer than two ids retrieved"
ONE_RANK = "all common ids share a rank"

OVERLAP_K = 10
SCORES = ("rerank_score", "score_norm", "score_raw", "score")
"""What chunks are ranked by, the last that was computed first."""


class PairOrder(Struct, frozen=True):
    """Pairs of chunks that two orders agree on, and those they turn round."""

    concordant: int
    discordant: int


class Gain(Struct, frozen=True):
    """nDCG before reranking and after it."""

    before: float
    after: float


def pair_order(retrieved: Sequence[Citation]) -> PairOrder | Absent:
    """The counts of Kendall's τ between k_pos and k_final, over the chunks that have both.

    The pairs that are neither would be ties; two chunks in one place are a fault of the log, and
    no number comes of it.
    """
    places = [
        (chunk.k_pos, chunk.k_final)
        for chunk in retrieved
        if chunk.k_pos is not None and chunk.k_final is not None
    ]
    if len(places) < 2:
        return ONE_CHUNK if any(c.k_final is not None for c in retrieved) else NOT_RERANKED
    if any(_has_duplicates(side) for side in zip(*places, strict=True)):
        return SHARED_PLACE
    discordant = _inversions(after for _, after in sorted(places))
    return PairOrder(math.comb(len(places), 2) - discordant, discordant)


def gain(retrieved: Sequence[Citation], gold_ids: Collection[str]) -> Gain | Absent:
    """nDCG of all the retrieved chunks in the order of k_pos, and in that of k_final.

    Chunks that the reranker cut come after the others, in their old order.
    """
    if not gold_ids:
        return NO_GOLD_IDS
    if not retrieved:
        return NOTHING_RETRIEVED
    before = [chunk.k_pos for chunk in retrieved if chunk.k_pos is not None]
    after = [chunk.k_final for chunk in retrieved if chunk.k_final is not None]
    if not after:
        return NOT_RERANKED
    if len(retrieved) < 2:
        return ONE_CHUNK
    if len(before) < len(retrieved):
        return NO_K_POS
    if _has_duplicates(before) or _has_duplicates(after):
        return SHARED_PLACE
    by_k_pos = sorted(retrieved, key=lambda chunk: _last_if_none(chunk.k_pos))
    return Gain(
        before=ndcg([chunk.snippet_id for chunk in by_k_pos], gold_ids),
        after=ndcg(final_order(retrieved), gold_ids),
    )


def final_order(retrieved: Sequence[Citation]) -> tuple[str, ...]:
    """The ids in the final order of the chunks: by k_final, else by k_pos, else as listed."""
    ordered = sorted(
        retrieved, key=lambda chunk: (_last_if_none(chunk.k_final), _last_if_none(chunk.k_pos))
    )
    return tuple(chunk.snippet_id for chunk in ordered)


def ndcg(order: Sequence[str], gold_ids: Collection[str]) -> float:
    """nDCG of a list, with a gain of one for each gold id at its first place; neither may be empty.

    The ideal list has as many gold ids as there are, or as it has places: nDCG at its own length,
    as trec_eval's ndcg_cut counts it. A gold id that was not retrieved is a loss.

    >>> ndcg(["a", "b"], {"b"}), ndcg(["b", "a"], {"b"}), ndcg(["a"], {"b", "c"})
    (0.6309297535714575, 1.0, 0.0)
    """
    gold = set(map(composed, gold_ids))
    ids = tuple(map(composed, order))
    places = (ids.index(id) for id in gold.intersection(ids))
    return _discounted(places) / _discounted(range(min(len(gold), len(ids))))


def flips(orders: Sequence[Sequence[str]]) -> tuple[int, int]:
    """Pairs of chunks that two runs both retrieved and order differently, and all such pairs.

    Summed over every two runs of a question; each run is its ids, best first.

    >>> flips([("a", "b", "c"), ("b", "a", "d"), ("c", "a")])
    (2, 2)
    """
    ranked = [  # each id with its first place, in order
        {id: place for place, id in enumerate(dict.fromkeys(map(composed, order)))}
        for order in orders
    ]
    flipped = paired = 0
    for one, other in combinations(ranked, 2):
        places = [other[id] for id in one if id in other]
        flipped += _inversions(places)
        paired += math.comb(len(places), 2)
    return flipped, paired


Ranks = Mapping[str, int]
"""The rank of each id, from 0; ids with the same score share one."""


def ranks_of(retrieved: Sequence[Any]) -> dict[str, int]:
    """The ranks of retrieved chunks, payloads or ids, that are listed best first.

    Neighbours with the same score share a rank: which of them comes first says nothing.

    >>> ranks_of([{"id": "a", "score": 0.9}, {"id": "b", "score": 0.9}, "c", "a"])
    {'a': 0, 'b': 0, 'c': 2}
    """
    ranks: dict[str, int] = {}
    rank, before = 0, None
    for chunk in retrieved:
        id = id_of(chunk)
        if id is None or composed(id) in ranks:
            continue
        fields = chunk if isinstance(chunk, Mapping) else {}
        score = next((fields[name] for name in SCORES if fields.get(name) is not None), None)
        if score is None or score != before:
            rank = len(ranks)
        before = score
        ranks[composed(id)] = rank
    return ranks


def rank_agreement(one: Ranks, other: Ranks) -> tuple[dict[str, float], str]:
    """How alike two rankings of one question are: `rho`, `tau` and `overlap`, and why not all.

    Spearman's ρ and Kendall's τ-b are over the ids that both rankings have; `overlap` is the
    fraction of the first 10 ids that are among the first 10 of both.

    >>> rank_agreement({"a": 0, "b": 1, "c": 2}, {"c": 0, "a": 1, "d": 2})
    ({'overlap': 0.6666666666666666, 'rho': -1.0, 'tau': -1.0}, '')
    """
    if not one or not other:
        return {}, NOTHING_RETRIEVED.reason
    near = {*islice(one, OVERLAP_K)} & {*islice(other, OVERLAP_K)}
    found = {"overlap": len(near) / min(OVERLAP_K, max(len(one), len(other)))}
    both = sorted((rank, other[id]) for id, rank in one.items() if id in other)
    if min(len(one), len(other)) < 2:
        return found, TOO_FEW_IDS
    if len(both) < 2:
        return found, "fewer than two ids in common"
    first, second = zip(*both, strict=True)
    pairs = math.comb(len(both), 2)
    tied_first, tied_second, tied_both = (
        sum(math.comb(times, 2) for times in Counter(side).values())
        for side in (first, second, both)
    )
    untied = math.sqrt((pairs - tied_first) * (pairs - tied_second))
    rho = value_of(rank_correlation(first, second), len(both))
    if rho is None or not untied:
        return found, ONE_RANK
    turned = _inversions(second)
    alike = pairs - tied_first - tied_second + tied_both - turned
    return {**found, "rho": rho, "tau": (alike - turned) / untied}, ""


def _inversions(places: Iterable[int]) -> int:
    """Pairs of which the later is the lower."""
    sorted_places: list[int] = []
    found = 0
    for place in places:
        found += len(sorted_places) - bisect(sorted_places, place)
        insort(sorted_places, place)
    return found


def _discounted(places: Iterable[int]) -> float:
    return math.fsum(1 / math.log2(place + 2) for place in places)


def _has_duplicates(places: Sequence[int]) -> bool:
    return len(set(places)) < len(places)


def _last_if_none(place: int | None) -> float:
    return math.inf if place is None else place
