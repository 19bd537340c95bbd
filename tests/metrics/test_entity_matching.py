"""Which prediction stands for which gold entity: the rule, and that it is kept."""

from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.entities import MATCHINGS, Entity
from ragauge.errors import UsageError
from ragauge.metrics.entity_kernel import align, columns_of, pair_columns
from ragauge.metrics.entity_matching import (
    distinct,
    heaviest_assignment,
    match_entities,
    shared_positions,
)


def entity(start, end, type="A"):
    return Entity(start=start, end=end, type=type)


entities = st.builds(
    lambda start, size, kind: entity(start, start + size, kind),
    st.integers(0, 12),
    st.integers(1, 6),
    st.sampled_from("AB"),
)
some = st.lists(entities, max_size=5).map(distinct)


def worth(gold, predicted, pairs):
    """What `best` wants most of, the most important first."""
    chosen = [(gold[g], predicted[p]) for g, p in pairs]
    return (
        sum(one == other for one, other in chosen),
        len(chosen),
        sum(one.type == other.type for one, other in chosen),
        sum(shared_positions(one, other) for one, other in chosen),
        -sum(one.start + one.end + other.start + other.end for one, other in chosen),
        -sum(abs(one.start - other.start) + abs(one.end - other.end) for one, other in chosen),
    )


def every_pairing(gold, predicted):
    for size in range(min(len(gold), len(predicted)) + 1):
        for golds in combinations(range(len(gold)), size):
            for found in permutations(range(len(predicted)), size):
                pairs = list(zip(golds, found, strict=True))
                if all(shared_positions(gold[g], predicted[p]) for g, p in pairs):
                    yield pairs


@given(st.lists(entities, max_size=4).map(distinct), st.lists(entities, max_size=4).map(distinct))
def test_best_is_the_best_of_all_pairings(gold, predicted):
    most = max(worth(gold, predicted, pairs) for pairs in every_pairing(gold, predicted))
    assert worth(gold, predicted, match_entities(gold, predicted)["strict"]) == most


@given(some, some, st.randoms(use_true_random=False), st.sampled_from(("best", "hipe")))
def test_the_order_of_the_lists_changes_nothing(gold, predicted, random, matching):
    def pairs_of(one, other):
        found = match_entities(one, other, matching)["ent_type"]
        return {(one[g], other[p]) for g, p in found}

    shuffled = random.sample(gold, len(gold)), random.sample(predicted, len(predicted))
    assert pairs_of(*shuffled) == pairs_of(gold, predicted)


@given(some, some, st.sampled_from(MATCHINGS), st.sampled_from((None, 0.5)))
def test_an_entity_is_in_one_pair_at_most(gold, predicted, matching, least):
    for pairs in match_entities(gold, predicted, matching, least).values():
        assert len({g for g, _ in pairs}) == len({p for _, p in pairs}) == len(pairs)
        assert all(shared_positions(gold[g], predicted[p]) for g, p in pairs)


@given(
    st.lists(st.dictionaries(st.integers(0, 4), st.integers(1, 9), max_size=4), max_size=5),
)
def test_the_heaviest_assignment_is_the_heaviest_of_all(weights):
    def total(pairs):
        return sum(weights[row][column] for row, column in pairs)

    best = 0
    for size in range(len(weights) + 1):
        for rows in combinations(range(len(weights)), size):
            for columns in permutations(range(5), size):
                pairs = list(zip(rows, columns, strict=True))
                if all(column in weights[row] for row, column in pairs):
                    best = max(best, total(pairs))
    found = heaviest_assignment(weights)
    assert total(found) == best
    assert len({column for _, column in found}) == len(found)


def test_b2_greedy_lists_do_not_decide():
    gold = [entity(0, 10), entity(20, 30)]
    predicted = [entity(5, 25), entity(0, 4)]
    assert match_entities(gold, predicted)["ent_type"] == [(0, 1), (1, 0)]
    assert match_entities(gold, predicted[::-1])["ent_type"] == [(0, 0), (1, 1)]


@pytest.mark.parametrize("name", ["Strict", "partial", "BEST", ""])
def test_b4_an_unknown_matching_is_an_error(name):
    with pytest.raises(UsageError, match="best, hipe, nervaluate"):
        match_entities([entity(0, 4)], [entity(0, 4)], name)


def test_b7_one_position_is_a_match_unless_more_is_asked():
    gold, predicted = [entity(0, 200)], [entity(199, 250)]
    assert match_entities(gold, predicted)["ent_type"] == [(0, 0)]
    assert match_entities(gold, predicted, "hipe")["ent_type"] == [(0, 0)]
    assert match_entities(gold, predicted, "nervaluate")["ent_type"] == []
    assert match_entities(gold, predicted, "best", 0.01)["ent_type"] == []
    assert match_entities(gold, predicted, "nervaluate", 0.005)["ent_type"] == [(0, 0)]


def test_b8_one_prediction_over_two_golds_takes_that_of_its_type():
    gold = [entity(0, 10, "A"), entity(10, 14, "B")]
    over_both = [entity(0, 14, "B")]
    assert match_entities(gold, over_both)["ent_type"] == [(1, 0)]
    assert match_entities(gold, over_both, "hipe")["ent_type"] == [(0, 0)]


def test_b8_in_hipe_a_span_of_the_wrong_type_uses_up_the_gold():
    gold, predicted = [entity(0, 10, "A")], [entity(0, 10, "B"), entity(2, 12, "A")]
    assert match_entities(gold, predicted, "hipe")["ent_type"] == [(0, 0)]
    assert match_entities(gold, predicted, "best")["ent_type"] == [(0, 1)]


def test_b8_what_is_the_same_is_taken_before_all_else():
    gold = [entity(0, 10), entity(5, 10)]
    predicted = [entity(4, 10), entity(0, 10)]
    for matching in ("best", "hipe"):
        assert match_entities(gold, predicted, matching)["strict"] == [(0, 1), (1, 0)]


def test_b9_fragments_are_compared_by_their_own_positions():
    broken = Entity(start=0, end=20, type="A", fragments=((0, 5), (15, 20)))
    assert match_entities([broken], [entity(6, 14)])["ent_type"] == []
    assert match_entities([broken], [entity(0, 20)])["ent_type"] == [(0, 0)]
    assert match_entities([broken], [entity(4, 9)], "best", 0.2)["ent_type"] == []
    assert match_entities([broken], [entity(3, 9)], "best", 0.2)["ent_type"] == [(0, 0)]


def test_a_long_chain_of_shifted_entities_is_paired_to_the_end():
    gold = [entity(10 * n, 10 * n + 10) for n in range(2000)]
    predicted = [entity(10 * n + 1, 10 * n + 11) for n in range(2000)]
    both = align(columns_of([gold], ["d"]), columns_of([predicted], ["d"]))
    assert pair_columns(both).partner["strict"].tolist() == list(range(2000))
