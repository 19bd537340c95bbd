"""Reranking against scipy's τ, scikit-learn's nDCG, and plain twins."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr
from sklearn.metrics import ndcg_score

from ragauge.citations.reranking import (
    NO_GOLD_IDS,
    NO_K_POS,
    NOT_RERANKED,
    NOTHING_RETRIEVED,
    ONE_CHUNK,
    SHARED_PLACE,
    Gain,
    PairOrder,
    final_order,
    flips,
    gain,
    ndcg,
    pair_order,
    rank_agreement,
    ranks_of,
)
from ragauge.contracts.citation import Citation, Offsets


def chunk(id, k_pos=None, k_final=None):
    return Citation(
        doc_id="handbook",
        section_id="keys",
        snippet_id=id,
        source_url="https://example.org/handbook",
        offsets=Offsets(0, 9),
        tokens=1,
        index_hash="faiss:2f7d9a",
        embed_model="bge",
        analyzer="lowercase",
        rev="r1",
        k_pos=k_pos,
        k_final=k_final,
    )


def reranked(places):
    return [chunk(f"c{before}", before, after) for before, after in places]


@st.composite
def rerankings(draw, least=2):
    """Chunks with distinct places before and after, listed in any order."""
    before = draw(st.lists(st.integers(0, 50), unique=True, min_size=least, max_size=12))
    size = len(before)
    after = draw(st.lists(st.integers(0, 50), unique=True, min_size=size, max_size=size))
    return list(zip(before, after, strict=True))


@given(rerankings())
def test_the_pairs_give_scipys_tau(places):
    found = pair_order(reranked(places))
    tau = (found.concordant - found.discordant) / (found.concordant + found.discordant)
    assert tau == pytest.approx(kendalltau(*zip(*places, strict=True)).statistic)


def test_tau_by_hand():
    assert pair_order(reranked([(1, 1), (2, 3), (3, 2)])) == PairOrder(2, 1)
    assert pair_order(reranked([(1, 3), (2, 2), (3, 1)])) == PairOrder(0, 3)
    with_strays = [*reranked([(1, 1), (2, 2)]), chunk("c3", 3), chunk("c4", None, 3)]
    assert pair_order(with_strays) == PairOrder(1, 0)


def test_an_order_that_is_not_there_is_not_compared():
    assert pair_order([]) is NOT_RERANKED
    assert pair_order([chunk("c1", 1), chunk("c2", 2)]) is NOT_RERANKED
    assert pair_order([chunk("c1", 1, 1), chunk("c2", 2)]) is ONE_CHUNK
    assert pair_order([chunk("c1", None, 1), chunk("c2", None, 2)]) is ONE_CHUNK
    assert pair_order(reranked([(1, 1), (1, 2)])) is SHARED_PLACE
    assert pair_order(reranked([(1, 1), (2, 1)])) is SHARED_PLACE


ids = st.sampled_from("abcdefgh")
orders = st.lists(ids, unique=True, min_size=1, max_size=8)


@given(orders.filter(lambda order: len(order) > 1), st.sets(ids, min_size=1))
def test_ndcg_is_scikit_learns_at_the_lists_own_length(order, gold):
    """Gold ids that were not retrieved stand behind the list, where its length cuts them off."""
    everything = [*order, *sorted(gold - set(order))]
    relevance = [[int(id in gold) for id in everything]]
    scores = [[-place for place in range(len(everything))]]
    authority = ndcg_score(np.array(relevance), np.array(scores), k=len(order))
    assert ndcg(order, gold) == pytest.approx(authority)


def test_ndcg_by_hand():
    assert ndcg(["a", "b", "c"], ["c", "x"]) == pytest.approx(0.5 / (1 + 1 / np.log2(3)))
    assert ndcg(["b", "b", "a"], ["b"]) == 1
    assert ndcg(["a", "muse\u0301e"], ["musée"]) == pytest.approx(1 / np.log2(3))


@given(rerankings(least=1), st.sets(st.integers(0, 50), min_size=1))
def test_the_gain_is_ndcg_in_either_order(places, relevant):
    gold = [f"c{place}" for place in relevant]
    before = [f"c{place}" for place, _ in sorted(places)]
    after = [f"c{place}" for place, _ in sorted(places, key=lambda both: both[1])]
    expected = Gain(ndcg(before, gold), ndcg(after, gold)) if len(places) > 1 else ONE_CHUNK
    assert gain(reranked(places), gold) == expected


def test_a_chunk_the_reranker_cut_stands_behind_the_others():
    chunks = [chunk("a", 1), chunk("b", 2), chunk("c", 3, 1)]
    assert final_order(chunks) == ("c", "a", "b")
    assert gain(chunks, ["a"]) == Gain(1, ndcg(["c", "a", "b"], ["a"]))


def test_no_gain_without_places_or_gold():
    both = reranked([(1, 2), (2, 1)])
    assert gain(both, []) is NO_GOLD_IDS
    assert gain([], ["c1"]) is NOTHING_RETRIEVED
    assert gain([chunk("c1", 1), chunk("c2", 2)], ["c1"]) is NOT_RERANKED
    assert gain([chunk("c1", 1, 1), chunk("c2", None, 2)], ["c1"]) is NO_K_POS
    assert gain(reranked([(1, 1), (1, 2)]), ["c1"]) is SHARED_PLACE
    assert gain(reranked([(1, 1), (2, 1)]), ["c1"]) is SHARED_PLACE


def test_the_order_in_the_end_is_by_the_best_place_that_is_told():
    assert final_order([chunk("a", 1, 2), chunk("b", 2, 1)]) == ("b", "a")
    assert final_order([chunk("a", 2), chunk("b", 1)]) == ("b", "a")
    assert final_order([chunk("b"), chunk("a")]) == ("b", "a")


@given(st.lists(orders, max_size=5))
def test_flips_are_counted_pair_by_pair(runs):
    flipped = paired = 0
    for one, other in combinations(runs, 2):
        for a, b in combinations(sorted(set(one) & set(other)), 2):
            paired += 1
            flipped += (one.index(a) < one.index(b)) != (other.index(a) < other.index(b))
    assert flips(runs) == (flipped, paired)
    assert flips(runs[::-1]) == (flipped, paired)


def test_flips_by_hand():
    assert flips([("a", "b", "c"), ("a", "b", "c")]) == (0, 3)
    assert flips([("a", "b", "c"), ("c", "b", "a")]) == (3, 3)
    assert flips([("a", "b"), ("b", "a"), ("a", "b")]) == (2, 3)
    assert flips([("a", "b", "a"), ("a", "b")]) == (0, 1)
    assert flips([("musée", "b"), ("b", "muse\u0301e")]) == (1, 1)
    assert flips([("a", "b")]) == (0, 0)
    assert flips([]) == (0, 0)


# Two rankings of one question.

ranked_chunks = st.lists(
    st.tuples(st.sampled_from("abcdefghijkl"), st.sampled_from([0.1, 0.2, 0.5, 0.9])), max_size=12
)


def listed(chunks):
    return [{"id": id, "score": score} for id, score in sorted(chunks, key=lambda c: -c[1])]


@given(ranked_chunks, ranked_chunks)
def test_two_rankings_are_as_alike_as_scipy_says(one, other):
    first, second = ranks_of(listed(one)), ranks_of(listed(other))
    found, reason = rank_agreement(first, second)
    common = [id for id in first if id in second]
    sides = [first[id] for id in common], [second[id] for id in common]
    if not first or not second:
        assert (found, reason) == ({}, "nothing was retrieved")
    elif min(len(first), len(second)) < 2:
        assert (found.keys(), reason) == ({"overlap"}, "fewer than two ids retrieved")
    elif len(common) < 2:
        assert (found.keys(), reason) == ({"overlap"}, "fewer than two ids in common")
    elif len(set(sides[0])) == 1 or len(set(sides[1])) == 1:
        assert (found.keys(), reason) == ({"overlap"}, "all common ids share a rank")
    else:
        assert reason == ""
        assert found["rho"] == pytest.approx(spearmanr(*sides).statistic, abs=1e-12)
        assert found["tau"] == pytest.approx(kendalltau(*sides).statistic, abs=1e-12)
    swapped, _ = rank_agreement(second, first)
    assert swapped == pytest.approx(found)


def test_overlap_is_of_the_first_ten():
    one = ranks_of([f"c{n}" for n in range(30)])
    other = ranks_of([f"c{n}" for n in range(5, 35)])
    assert rank_agreement(one, other)[0] == {"overlap": 0.5, "rho": 1.0, "tau": 1.0}
    assert rank_agreement(one, one)[0] == {"overlap": 1.0, "rho": 1.0, "tau": 1.0}


def test_an_id_counts_once_and_in_any_unicode_form():
    assert ranks_of(["caf\u00e9", "b", "cafe\u0301"]) == {"caf\u00e9": 0, "b": 1}
