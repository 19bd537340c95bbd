"""The order of a run, its ties and disagreements, and documents that are given twice."""

import numpy as np
import polars as pl
from hypothesis import example, given
from hypothesis import strategies as st

from ragauge.metrics.retrieval_order import first_of_each, offsets_of_kept, rank_order

scores = st.sampled_from((0.0, -0.0, 1.0, 1.00000001, 2.5, -3.0)) | st.floats(allow_nan=False)
documents = st.sampled_from(("a", "b", "B", "é", "z", "z1", "Ω", "館", "😀", "�", "")) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=3
)
queries = st.lists(
    st.lists(st.tuples(documents, scores, st.integers(0, 6)), max_size=7), max_size=6
)


def columns(drawn):
    offsets = np.cumsum([0, *map(len, drawn)])
    rows = [row for query in drawn for row in query]
    return (
        offsets,
        np.array([score for _, score, _ in rows], dtype=np.float64),
        pl.Series([document for document, _, _ in rows], dtype=pl.String),
        np.array([rank for _, _, rank in rows], dtype=np.int64),
    )


def in_order(found, rows):
    return rows if found.order is None else [rows[place] for place in found.order.tolist()]


@given(queries)
def test_order_is_that_of_a_plain_sort(drawn):
    offsets, score, document, _ = columns(drawn)
    found = rank_order(offsets, score, document)
    rows = in_order(found, [row[:2] for query in drawn for row in query])
    for place, query in enumerate(drawn):
        by_score = sorted(
            (row[:2] for row in query), key=lambda row: (row[1], row[0].encode()), reverse=True
        )
        assert rows[offsets[place] : offsets[place + 1]] == by_score


@given(queries)
def test_ties_and_disagreements_are_found_pair_by_pair(drawn):
    offsets, score, document, rank = columns(drawn)
    by_rank = rank_order(offsets, score, document, rank)
    by_place = rank_order(offsets, score, document)
    for place, query in enumerate(drawn):
        pairs = [(one, other) for i, one in enumerate(query) for other in query[i + 1 :]]
        assert by_rank.tied[place] == any(one[1] == other[1] for one, other in pairs)
        assert by_place.disagreeing[place] == any(one[1] < other[1] for one, other in pairs)
        assert by_rank.disagreeing[place] == any(disagree(*pair) for pair in pairs)
    assert (by_place.tied == by_rank.tied).all()


def disagree(one, other):
    """Of two results the higher score has not the lower rank."""
    if one[1] == other[1]:
        return False
    higher, lower = (one, other) if one[1] > other[1] else (other, one)
    return higher[2] >= lower[2]


@given(queries)
@example([[("a", 1.0, 1), ("a", 0.5, 2)], [("a", 1.0, 1)]])
def test_the_first_of_equal_documents_stays(drawn):
    offsets, _, document, _ = columns(drawn)
    kept = first_of_each(offsets, document)
    keep = np.ones(len(document), dtype=bool) if kept is None else kept
    rows = [(place, row[0]) for place, query in enumerate(drawn) for row in query]
    assert keep.tolist() == [rows.index(row) == place for place, row in enumerate(rows)]
    assert (kept is None) == (len({*rows}) == len(rows))
    sizes = [len({row[0] for row in query}) for query in drawn]
    assert offsets_of_kept(offsets, keep).tolist() == np.cumsum([0, *sizes]).tolist()


def test_equal_hashes_of_different_documents_are_no_repetition(monkeypatch):
    monkeypatch.setattr(pl.Series, "hash", lambda series: pl.Series(np.zeros(len(series))))
    assert first_of_each(np.array([0, 3]), pl.Series(["a", "b", "c"])) is None
    kept = first_of_each(np.array([0, 2, 4]), pl.Series(["a", "b", "a", "a"]))
    assert kept.tolist() == [True, True, True, False]


def test_rows_in_order_are_not_moved():
    offsets, score = np.array([0, 2, 2, 3]), np.array([2.0, 1.0, 1.0])
    found = rank_order(offsets, score, pl.Series(["a", "b", "c"]), np.array([1, 2, 1]))
    assert found.order is None
    assert not found.tied.any()
    assert not found.disagreeing.any()


def test_no_query_and_no_row():
    for offsets in (np.array([0]), np.array([0, 0])):
        none = pl.Series([], dtype=pl.String)
        found = rank_order(offsets, np.zeros(0), none)
        assert found.order is None
        assert found.tied.tolist() == found.disagreeing.tolist() == [False] * (len(offsets) - 1)
        assert first_of_each(offsets, none) is None
