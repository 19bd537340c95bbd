"""What is done in columns, done again one by one: the same numbers from plain dictionaries."""

from collections import defaultdict
from itertools import combinations
from random import Random

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.evaluation import RankingDetail, SourceShare
from ragauge.contracts.metric import Absent
from ragauge.contracts.rankings import UNJUDGED, Ranking
from ragauge.metrics.retrieval import from_name
from ragauge.runners.components.evaluate_retrieval import evaluate_retrieval
from ragauge.runners.components.retrieval_ranked import Judged, grouped

MEASURES = ("ndcg@5", "p@5", "recall@10", "rr", "ap", "bpref", "judged@10")
Qrels = dict[str, dict[str, int]]
Rows = list[tuple[str, str, float]]

queries = st.sampled_from(["q1", "q2", "q10", "é", "zz"])
documents = st.sampled_from([*"abcdefgh", "ab", "ä", "a much longer document id, beyond any view"])
grades = st.integers(-2, 3)
qrels_made = st.dictionaries(queries, st.dictionaries(documents, grades, min_size=1), min_size=1)
rows_made = st.lists(
    st.tuples(queries, documents, st.sampled_from([0.0, 0.5, 1.0, 2.5])), max_size=60
)


def plain_values(qrels: Qrels, rows: Rows, name: str) -> list[float | None]:
    """By sorted query, from dictionaries and the metric's own function."""
    metric = from_name(name)
    assert metric is not None
    found: list[float | None] = []
    for query in sorted(qrels):
        mine = [(score, document) for one, document, score in rows if one == query]
        ranked = list(dict.fromkeys(document for _, document in sorted(mine, reverse=True)))
        row = metric(
            Ranking(
                retrieved=tuple(qrels[query].get(document) for document in ranked),
                judged=tuple(qrels[query].values()),
                missing=not mine,
            )
        )
        value = None if isinstance(row, Absent) else float(metric.finish(np.array(row.counts)))
        found.append(value)
    return found


@given(qrels_made, rows_made)
def test_columns_give_what_dictionaries_give(qrels: Qrels, rows: Rows) -> None:
    frame = pl.DataFrame(
        rows,
        schema={"query": pl.String, "document": pl.String, "score": pl.Float64},
        orient="row",
    )
    units = evaluate_retrieval(qrels, frame, measures=MEASURES, intervals=False).units
    assert [*units.ids] == sorted(qrels)
    for name in MEASURES:
        values = [
            None if value != value else value
            for value in units.measured[f"retrieval.{name}"].values
        ]
        assert values == plain_values(qrels, rows, name)


def test_grades_are_those_of_the_query_and_the_document() -> None:
    judged = Judged(
        queries=pl.Series(["q1", "q2"]),
        offsets=np.array([0, 2, 3]),
        document=pl.Series(["apple", "berry", "apple"]),
        grade=np.array([3, 2, 1]),
    )
    found = judged.grades_of(np.array([0, 2, 3]), pl.Series(["almond", "berry", "apple"]))
    assert found.tolist() == [UNJUDGED, 2, 1]


@given(st.lists(queries, max_size=20))
def test_rows_of_a_query_come_together_in_their_order(rows: list[str]) -> None:
    found = grouped(pl.Series("query", rows, dtype=pl.String))
    order = range(len(rows)) if found.rows is None else found.rows.tolist()
    by_query = [
        list(order)[start:end]
        for start, end in zip(found.offsets[:-1], found.offsets[1:], strict=True)
    ]
    wanted = dict.fromkeys(rows)
    assert found.queries.to_list() == list(wanted)
    assert by_query == [[at for at, one in enumerate(rows) if one == name] for name in wanted]


Sourced = list[tuple[str, str, float, list[str]]]
sourced_rows = st.lists(
    st.tuples(
        st.sampled_from(["q1", "q2", "q3"]),
        st.sampled_from("abcdef"),
        st.sampled_from([0.0, 1.0, 2.0]),
        st.lists(st.sampled_from("xyz"), max_size=3),
    ),
    min_size=1,
    max_size=30,
)
relevant_documents = st.sets(st.sampled_from("abcdef"), min_size=1)


def sources_by_hand(rows: Sourced, relevant: set[str], depth: int) -> dict[str, SourceShare]:
    """What each source contributes, from sets of (query, document) alone."""
    scores: dict[tuple[str, str], float] = {}
    for query, document, score, _ in rows:
        scores[query, document] = max(score, scores.get((query, document), score))
    ahead = {
        (query, document): sum(
            (theirs, other) > (score, document)
            for (one, other), theirs in scores.items()
            if one == query
        )
        for (query, document), score in scores.items()
    }
    brought: dict[str, set[tuple[str, str]]] = defaultdict(set)
    put_there: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for query, document, score, names in rows:
        pair = query, document
        for name in names or ["(none)"]:
            if ahead[pair] < depth:
                brought[name].add(pair)
                if score == scores[pair]:
                    put_there[name].add(pair)

    def share(name: str, k: int) -> float:
        shown = {pair for pair, before in ahead.items() if before < min(k, depth)}
        return len(put_there[name] & shown) / len(shown)

    found = {}
    for name, mine in brought.items():
        others = set[tuple[str, str]]().union(*(brought[one] for one in brought if one != name))
        found[name] = SourceShare(
            share=share(name, depth),
            top1=share(name, 1),
            top5=share(name, 5),
            relevant=sum(document in relevant for _, document in mine),
            unique_relevant=sum(document in relevant for _, document in mine - others),
            precision=sum(document in relevant for _, document in mine) / len(mine),
        )
    return found


def sources_told(rows: Sourced, relevant: set[str], depth: int) -> RankingDetail:
    qrels = {query: dict.fromkeys(relevant, 1) for query in ("q1", "q2", "q3")}
    kinds = {"query": pl.String, "document": pl.String, "score": pl.Float64}
    frame = pl.DataFrame(rows, schema={**kinds, "source": pl.List(pl.String)}, orient="row")
    found = evaluate_retrieval(qrels, frame, source_depth=depth, intervals=False).report.detail
    assert isinstance(found, RankingDetail)
    return found


@given(sourced_rows, relevant_documents, st.sampled_from([1, 2, 9]))
def test_sources_are_counted_as_by_hand(rows: Sourced, relevant: set[str], depth: int) -> None:
    wanted = sources_by_hand(rows, relevant, depth)
    found = sources_told(rows, relevant, depth).sources
    assert {name: one for name, one in found.items() if one.precision is not None} == wanted


@given(sourced_rows, relevant_documents, st.randoms(use_true_random=False))
def test_sources_do_not_depend_on_the_order_of_rows(
    rows: Sourced, relevant: set[str], chance: Random
) -> None:
    shuffled = [(*row, chance.sample(names, len(names))) for *row, names in rows]
    chance.shuffle(shuffled)
    first, again = sources_told(rows, relevant, 9), sources_told(shuffled, relevant, 9)
    assert (first.sources, first.overlap) == (again.sources, again.overlap)


@given(sourced_rows)
def test_overlaps_are_what_two_sources_both_brought(rows: Sourced) -> None:
    sets: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for query, document, _, names in rows:
        for name in names or ["(none)"]:
            sets[name].add((query, document))
    assert sources_told(rows, {"a"}, 9).overlap == {
        f"{one}+{other}": len(sets[one] & sets[other])
        for one, other in combinations(sorted(sets), 2)
    }


def test_the_report_has_the_sources_of_a_table() -> None:
    frame = pl.DataFrame(
        {
            "query": ["q1", "q1", "q1"],
            "document": ["a", "b", "a"],
            "score": [3.0, 2.0, 1.0],
            "source": ["bm25", "dense", None],
        }
    )
    found = evaluate_retrieval({"q1": {"a": 1}}, frame).report.detail
    assert isinstance(found, RankingDetail)
    assert found.sources["(none)"].relevant == 1
    assert found.sources["bm25"].share == 0.5
    assert found.overlap == {"(none)+bm25": 1, "(none)+dense": 0, "bm25+dense": 0}
