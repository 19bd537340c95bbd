"""Linking metrics: their laws, and slow twins of what is clever."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.links import (
    NIL_CANDIDATE,
    Candidate,
    GoldLink,
    LinkedMention,
    MentionKey,
    PredictedLink,
    SamePair,
)
from ragauge.contracts.metric import SCALE, Absent, NotApplicable
from ragauge.metrics.link_facts import (
    Crosswalk,
    Equivalents,
    IdMappings,
    LinkedSpan,
    linked_mentions,
    mention_sums,
    plain_relation,
    rank_of,
    reads_gold_only,
    weak_pairs,
)
from ragauge.metrics.linking import METRICS, from_name
from ragauge.metrics.sums import Sums
from tests.metrics.component_units import plain

IDS = ("Q1", "Q2", "Q3")
candidates = st.lists(
    st.builds(Candidate, st.sampled_from(IDS), st.just("wikidata"))
    | st.just(NIL_CANDIDATE)
    | st.builds(
        Candidate, st.just("5"), st.just("viaf"), st.none(), st.just((("wikidata", "Q1"),))
    ),
    max_size=4,
    unique_by=lambda one: one.id,
).map(tuple)


@st.composite
def mention_pairs(draw):
    """The mentions of one document, on one side or on both."""
    spans = draw(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4)), max_size=6, unique=True))
    found = []
    for start, width in spans:
        key = MentionKey("d", start, start + width)
        side = draw(st.sampled_from(("gold", "both", "both", "predicted")))
        ids = draw(st.frozensets(st.sampled_from(IDS), max_size=2))
        said = draw(candidates)
        nil = draw(st.none() | st.booleans()) if said else draw(st.booleans())
        link = {"key": key, "mention": "m", "where": "here", "document": "d"}
        gold = GoldLink(**link, ids={"wikidata": ids} if ids else {})
        told = {kb: frozenset({id}) for kb, id in (said[0].ids if said else ()) if kb != "nil"}
        predicted = PredictedLink(**link, candidates=said, nil=nil, ids=told)
        found.append((gold if side != "predicted" else None, predicted if side != "gold" else None))
    return found


TABLES = IdMappings(
    Equivalents([SamePair(("wikidata", "Q2"), ("wikidata", "Q3"), "redirect")]),
    Crosswalk([SamePair(("viaf", "5"), ("wikidata", "Q1"), "P214")]),
)
documents = st.tuples(mention_pairs(), st.sampled_from((IdMappings(), TABLES)))


def test_only_what_counts_predictions_counts_the_spurious():
    assert {one.id.removeprefix("linking.") for one in METRICS if not reads_gold_only(one)} == {
        *("strong_precision", "strong_f1", "weak_precision", "weak_f1", "mention_f1"),
        *("consistency", "consistency_coverage"),
        *(f"hipe_{rate}@{k}" for rate in ("precision", "f1") for k in (1, 3, 5)),
    }


def test_another_rank_has_a_name():
    assert from_name("linking.hits@3").id == "linking.hits@3"
    assert from_name("hits@1x") is None and from_name("mrr") is None


@given(document=documents)
def test_values_stay_within_their_bounds(document):
    pairs, by = document
    facts = linked_mentions(pairs, by)
    for metric in METRICS:
        sums = mention_sums(metric, [facts])
        if sums.scored.sum():
            value = float(metric.finish(sums.sums.sum(axis=0)))
            assert metric.bounds[0] <= value <= metric.bounds[1], metric.id
        told = [pair for pair in pairs if pair[0] or not reads_gold_only(metric)]
        assert int(sums.scored.sum()) + sum(sums.absent.values()) == len(told), metric.id
        outside = sum(times for why, times in sums.absent.items() if isinstance(why, NotApplicable))
        assert int(sums.units.sum()) == len(told) - outside, metric.id


@given(documents=st.lists(documents, min_size=2, max_size=2))
def test_documents_merge(documents):
    facts = [linked_mentions(pairs, by) for pairs, by in documents]
    for metric in METRICS:
        one, other = ([facts[0], []], [[], facts[1]])
        merged = mention_sums(metric, one) + mention_sums(metric, other)
        assert plain(merged) == plain(mention_sums(metric, facts)), metric.id


@given(document=documents, data=st.data())
def test_the_order_of_mentions_does_not_matter(document, data):
    pairs, by = document
    facts = [linked_mentions(one, by) for one in (pairs, data.draw(st.permutations(pairs)))]
    for metric in METRICS:
        forwards, shuffled = (plain(mention_sums(metric, [one])) for one in facts)
        assert forwards == shuffled, metric.id


def test_nothing_is_absent_and_never_a_number():
    for metric in METRICS:
        assert plain(mention_sums(metric, [[]])) == plain(Sums.zero(metric, 1)), metric.id


@given(document=documents)
def test_a_plain_twin_counts_the_same(document):
    """Every count again from its definition, with none of the shared parts."""
    pairs, by = document
    facts = linked_mentions(pairs, by)

    def total(name):
        metric = next(one for one in METRICS if one.id == f"linking.{name}")
        return mention_sums(metric, [facts]).total()

    golds = [(gold, said) for gold, said in pairs if gold]
    in_kb = [(set(gold.ids["wikidata"]), said) for gold, said in golds if gold.ids]
    ranks = [plain_rank(right, said) for right, said in in_kb]
    for k in (1, 5, 10):
        assert total(f"hits@{k}") == (sum(r is not None and r <= k for r in ranks), len(ranks))
    assert total("mrr") == (sum(round(SCALE / r) for r in ranks if r), len(ranks))
    answered = [r for r, (_, said) in zip(ranks, in_kb, strict=True) if said]
    assert total("mrr_answered") == (sum(round(SCALE / r) for r in answered if r), len(answered))
    nil_gold = {id(gold) for gold, _ in golds if not gold.ids}
    nil_said = {id(gold) for gold, said in golds if said and plainly_nil(said)}
    both = len(nil_gold & nil_said)
    assert total("nil_f1") == (both, len(nil_said) - both, len(nil_gold) - both)
    right = both + sum(
        r == 1 and not plainly_nil(said) for r, (_, said) in zip(ranks, in_kb, strict=True)
    )
    assert total("accuracy") == (right, len(golds))
    links = sum(bool(said and said.candidates and not plainly_nil(said)) for _, said in pairs)
    strong = right - both
    assert total("strong_f1") == (strong, links - strong, len(in_kb) - strong)
    found = sum(gold is not None and said is not None for gold, said in pairs)
    predicted = sum(said is not None for _, said in pairs)
    assert total("mention_f1") == (found, predicted - found, len(golds) - found)


def plain_rank(right, said):
    if said is None:
        return None
    listed = said.candidates
    if plainly_nil(said):
        listed = [NIL_CANDIDATE, *(one for one in listed if one.id != "NIL")]
    ids = [{id for kb, id in one.ids if kb == "wikidata"} for one in listed]
    return next((place for place, one in enumerate(ids, 1) if one & right), None)


def plainly_nil(said):
    if said.nil is None:
        return bool(said.candidates) and said.candidates[0].id == "NIL"
    return said.nil


places = st.lists(
    st.builds(
        lambda start, width, qid: LinkedSpan(start, start + width, frozenset({("wikidata", qid)})),
        st.integers(0, 12),
        st.integers(1, 5),
        st.sampled_from(("Q1", "Q2")),
    ),
    max_size=5,
)


@given(gold=places, predicted=places)
def test_weak_pairs_are_as_many_as_there_can_be(gold, predicted):
    """Against every way to pair them, one by one."""
    found = weak_pairs(gold, predicted)
    assert len({*found.values()}) == len(found)
    assert all(fits(gold[one], predicted[other]) for one, other in found.items())
    short, long = sorted((gold, predicted), key=len)
    best = max(
        sum(fits(one, long[place]) for one, place in zip(short, order, strict=True))
        for order in permutations(range(len(long)), len(short))
    )
    assert len(found) == best


def fits(one, other):
    shared = {*range(one.start, one.end)} & {*range(other.start, other.end)}
    return bool(shared) and one.ids == other.ids


@given(document=mention_pairs())
def test_weak_is_never_below_strong(document):
    facts = [linked_mentions(document, IdMappings())]
    f1 = {
        name: mention_sums(metric, facts).total()
        for metric in METRICS
        if (name := metric.name) in ("strong_f1", "weak_f1")
    }
    assert f1["weak_f1"][0] >= f1["strong_f1"][0]
    assert f1["weak_f1"][0] + f1["weak_f1"][1] == f1["strong_f1"][0] + f1["strong_f1"][1]


def test_a_chain_of_overlaps_is_paired_without_deep_recursion():
    one = frozenset({("wikidata", "Q1")})
    gold = [LinkedSpan(2 * n, 2 * n + 2, one) for n in range(3000)]
    said = [LinkedSpan(2 * n + 1, 2 * n + 3, one) for n in range(3000)]
    assert len(weak_pairs(gold[::-1], said)) == 3000


class TestTables:
    def test_equivalents_through_any_number_of_steps(self):
        chain = [SamePair(("k", f"{n}"), ("k", f"{n + 1}"), "sameAs") for n in range(2000)]
        assert len(Equivalents(chain).expand([("k", "7")])) == 2001

    @given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")), max_size=8))
    def test_equivalents_are_the_connected_ids(self, edges):
        table = Equivalents([SamePair(("k", one), ("k", other), "") for one, other in edges])
        for start in "abcdef":
            reached, waiting = {start}, [start]
            while waiting:
                here = waiting.pop()
                near = {*(b for a, b in edges if a == here), *(a for a, b in edges if b == here)}
                waiting += near - reached
                reached |= near
            assert table.expand([("k", start)]) == {("k", one) for one in reached}

    def test_what_differs_is_no_equivalent(self):
        table = Equivalents([SamePair(("k", "a"), ("k", "b"), "owl:differentFrom")])
        assert table.expand([("k", "a")]) == {("k", "a")}

    def test_a_crosswalk_reaches_through_a_third_knowledge_base_only_where_it_must(self):
        pairs = [
            SamePair(("wikidata", "Q1"), ("viaf", "1"), "P214"),
            SamePair(("wikidata", "Q1"), ("isil", "NL-A"), "P791"),
            SamePair(("wikidata", "Q2"), ("isil", "NL-B"), "P791"),
        ]
        ids = {"viaf": frozenset({"1"}), "isil": frozenset({"NL-A"})}
        assert Crosswalk(pairs).compared(ids) == {"viaf-isil": True}
        direct = [*pairs, SamePair(("viaf", "1"), ("isil", "NL-B"), "same")]
        assert Crosswalk(direct).compared({**ids, "isil": frozenset({"NL-B"})}) == {
            "viaf-isil": True
        }
        assert Crosswalk(direct).compared({"viaf": ids["viaf"]}) == {}

    @pytest.mark.parametrize(
        ("written", "plain"),
        [
            ("owl:sameAs", "sameas"),
            ("http://www.w3.org/2004/02/skos/core#exactMatch", "exactmatch"),
            ("P214", "p214"),
            ("", ""),
        ],
    )
    def test_relations_without_their_vocabulary(self, written, plain):
        assert plain_relation(written) == plain


def test_ranks_of_candidates():
    listed = (NIL_CANDIDATE, Candidate("Q2", "wikidata"), Candidate("Q1", "wikidata"))
    assert rank_of(listed, frozenset({("wikidata", "Q1")})) == 3
    assert rank_of(listed, frozenset({("viaf", "Q1")})) is None
    assert rank_of(listed, frozenset()) is None


def test_a_mention_with_its_place_moved_is_no_strong_match():
    moved = LinkedMention(
        in_gold=True, answered=True, linked=True, rank=1, placed=True, exact=False
    )
    by_name = {metric.name: metric(moved) for metric in METRICS}
    assert by_name["strong_f1"].counts == (0, 1, 1)
    assert by_name["mention_f1"].counts == (0, 1, 1)
    assert by_name["hits@1"].counts == (1, 1)
    assert isinstance(by_name["nil_f1"], Absent)


def test_finish_gives_no_warning_where_nothing_was_counted():
    f1 = next(metric for metric in METRICS if metric.id == "linking.nil_f1")
    assert np.isnan(f1.finish(np.zeros((2, 3), dtype=np.int64))).all()
