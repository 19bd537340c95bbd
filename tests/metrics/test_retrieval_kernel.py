"""The kernel against the plain functions: the same rows, to the last bit."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from ragauge.contracts.metric import Absent, NotApplicable
from ragauge.contracts.rankings import Ranking
from ragauge.metrics.retrieval import KINDS, METRICS, from_name, parse
from ragauge.metrics.retrieval_kernel import VALUES, Grades, retrieval_sums
from tests.components.judged_runs import in_order

OTHERS = [
    "ndcg_exp",
    "ndcg@1",
    "ndcg_retrieved_ideal",
    "ndcg_retrieved_ideal@3",
    "ndcg_exp_retrieved_ideal@3",
    "p@1",
    "p(rel=2)@5",
    "p@1000",
    "recall(rel=3)@2",
    "rr@2",
    "rr(rel=2)",
    "ap@3",
    "ap(rel=2)",
    "success(rel=2)@3",
    "bpref(rel=2)",
    "bpref(rel=3)",
    "rprec(rel=2)",
    "rbp(p=0.95)",
    "rbp(p=0.5,rel=2)@4",
    "judged@1",
    "unjudged@1",
    "unjudged@5",
    "unjudged@20",
    "set_p(rel=2)",
    "set_r(rel=2)",
    "set_f(rel=2)",
    "set_f(rel=9)",
]
NAMES = [*(metric.name for metric in METRICS), *OTHERS]


@st.composite
def rankings(draw):
    """A query: any grades, some of them negative, some retrieved, unjudged documents between."""
    grades = st.integers(-2, 3) | st.integers(0, 1) | st.sampled_from((7, 60, 1_000_000))
    judged = draw(st.lists(grades, max_size=12))
    if draw(st.integers(0, 5)) == 0:
        return Ranking(retrieved=(), judged=tuple(judged), missing=True)
    shown = judged[: draw(st.integers(0, 12))] + [None] * draw(st.integers(0, 8))
    return Ranking(retrieved=tuple(draw(st.permutations(shown))), judged=tuple(judged))


@pytest.mark.parametrize("no_rel", ["exclude", "zero"])
@given(st.lists(rankings(), max_size=8))
def test_rows_equal_those_of_the_plain_function(no_rel, queries):
    metrics = [from_name(name, no_rel) for name in NAMES]
    for found in retrieval_sums(metrics, in_order(*queries), no_rel).values():
        assert_equal_rows(found, queries)


def test_deep_rankings_are_summed_in_the_same_order():
    """Before they are rounded: another order of many parts shows in the last bits."""
    queries = [*deep_rankings()]
    grades = Grades(in_order(*queries))
    for name in NAMES:
        kind, at = parse(name)
        values, applies = VALUES[kind](grades, at)
        plain = [KINDS[kind].value(query, at) for query in queries]
        found = zip(values.tolist(), applies.tolist(), strict=True)
        assert [value if told else None for value, told in found] == plain, name


def deep_rankings():
    chance = np.random.default_rng(5)
    for _ in range(40):
        judged = chance.integers(-1, 4, 700).tolist()
        shown = judged[:400] + [None] * int(chance.integers(0, 300))
        order = chance.permutation(len(shown)).tolist()
        yield Ranking(retrieved=tuple(shown[place] for place in order), judged=tuple(judged))


def assert_equal_rows(found, queries):
    plain = [found.metric(query) for query in queries]
    rows = [(0, 0) if isinstance(row, Absent) else row.counts for row in plain]
    assert found.sums.tolist() == [list(row) for row in rows]
    assert found.scored.tolist() == [int(not isinstance(row, Absent)) for row in plain]
    assert found.units.tolist() == [int(not isinstance(row, NotApplicable)) for row in plain]
    assert found.absent == Counter(row for row in plain if isinstance(row, Absent))


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_grades_may_come_in_any_width(dtype):
    queries = [Ranking(retrieved=(3, None, 1, 0), judged=(3, 1, 0, 2)) for _ in range(300)]
    wide = in_order(*queries)
    narrow = structs.replace(
        wide, retrieved=wide.retrieved.astype(dtype), judged=wide.judged.astype(dtype)
    )
    for metric in METRICS:
        found = retrieval_sums([metric], narrow)[metric.id]
        assert_equal_rows(found, queries)


def test_every_kind_has_a_kernel_and_is_compared():
    assert set(VALUES) == set(KINDS)
    compared = {parse(name)[0] for name in NAMES}
    assert compared == set(KINDS)
