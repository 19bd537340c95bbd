"""The rows of a run: their order, repeated documents, and what each source contributes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from ragauge.contracts.metric import Array

    Mask = NDArray[np.bool_]


class RankOrder(Struct, frozen=True, kw_only=True):
    """The order of a run's rows, and remarks on each query's order."""

    order: Array | None
    """(rows,): the row at each place; None if every row is in its place already."""
    tied: Mask
    """(queries,): two of its documents have the same score."""
    disagreeing: Mask
    """(queries,): the given order or rank is not the order of the scores."""


def rank_order(
    offsets: Array, score: Array, document: pl.Series, rank: Array | None = None
) -> RankOrder:
    """The rows of each query by score descending, ties by document id descending, bytewise.

    That is trec_eval's order, in double precision. Query i has the rows from offsets[i] to
    offsets[i + 1]; no score is NaN. `rank` is the rank column, if the run has one; without it, the
    given order is that of the rows. Documents of equal score may be in any order.

    >>> import polars as pl
    >>> documents = pl.Series(["a", "b", "c", "d"])
    >>> found = rank_order(np.array([0, 2, 4]), np.array([1.0, 1.0, 0.5, 2.0]), documents)
    >>> found.order.tolist(), found.tied.tolist(), found.disagreeing.tolist()
    ([1, 0, 3, 2], [True, False], [False, True])
    """
    score = np.asarray(score, dtype=np.float64)
    query, queries = _query_of(offsets), len(offsets) - 1
    inner = query[1:] == query[:-1]
    climbs = inner & (score[1:] > score[:-1])
    climbing = _queries_with(climbs, query, queries)
    order: Array | None = None
    if climbs.any():
        order = np.arange(len(score))
        for _, rows in _by_length(offsets, np.flatnonzero(climbing)):
            order[rows] = np.take_along_axis(rows, np.argsort(-score[rows], axis=1), axis=1)
    sorted_score = score if order is None else score[order]
    ties = inner & (sorted_score[1:] == sorted_score[:-1])
    if ties.any():
        order = _ties_by_document(ties, order, document)
    disagreeing = climbing
    if rank is not None:
        falls = climbing | _queries_with(inner & (rank[1:] <= rank[:-1]), query, queries)
        # Queries in which a higher score has a rank that is not lower.
        disagreeing = np.zeros(queries, dtype=bool)
        for among, rows in _by_length(offsets, np.flatnonzero(falls)):
            by_rank = np.take_along_axis(rows, np.argsort(rank[rows], axis=1), axis=1)
            ranks, scores = rank[by_rank], score[by_rank]
            higher = scores[:, 1:] > scores[:, :-1]
            shared = (ranks[:, 1:] == ranks[:, :-1]) & (scores[:, 1:] != scores[:, :-1])
            disagreeing[among] = (higher | shared).any(axis=1)
    tied = _queries_with(ties, query, queries)
    return RankOrder(order=order, tied=tied, disagreeing=disagreeing)


def first_of_each(offsets: Array, document: pl.Series) -> Mask | None:
    """Which rows have the first of a query's equal documents; None if none is repeated.

    With rows in rank order the best rank of each document is kept, so that the chunks of one
    document count once.

    >>> import polars as pl
    >>> first_of_each(np.array([0, 3, 4]), pl.Series(["a", "b", "a", "a"])).tolist()
    [True, True, False, True]
    """
    import polars as pl

    # Only queries in which a hash occurs twice can repeat a document.
    hashes, found = document.hash().to_numpy(), [np.zeros(0, dtype=np.int64)]
    for _, block in _by_length(offsets, np.arange(len(offsets) - 1)):
        by_hash = np.sort(hashes[block], axis=1)
        found.append(block[(by_hash[:, 1:] == by_hash[:, :-1]).any(axis=1)].ravel())
    rows = np.sort(np.concatenate(found))
    if not len(rows):
        return None
    pairs = pl.DataFrame({"query": _query_of(offsets)[rows], "document": document.gather(rows)})
    keep = np.ones(len(document), dtype=bool)
    keep[rows] = pairs.select(pl.struct("query", "document").is_first_distinct()).to_series()
    return None if keep.all() else keep


def offsets_of_kept(offsets: Array, keep: Mask) -> Array:
    """The offsets of the queries once only these rows are kept.

    >>> offsets_of_kept(np.array([0, 3, 4]), np.array([True, True, False, True])).tolist()
    [0, 2, 3]
    """
    kept = np.zeros(len(keep) + 1, dtype=np.int64)
    np.cumsum(keep, out=kept[1:])
    return kept[offsets]


def _query_of(offsets: Array) -> Array:
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def _queries_with(marks: Mask, query: Array, queries: int) -> Mask:
    """The queries in which a row is marked relative to the one before it."""
    found = np.zeros(queries, dtype=bool)
    found[query[1:][marks]] = True
    return found


def _by_length(offsets: Array, among: Array) -> Iterator[tuple[Array, Array]]:
    """These queries grouped by length, with a matrix of their rows, which makes sorting fast."""
    lengths = np.diff(offsets)[among]
    by_length = np.argsort(lengths, kind="stable")
    cuts = np.flatnonzero(np.diff(lengths[by_length])) + 1
    for places in np.split(by_length, cuts):
        if len(places) and lengths[places[0]]:
            queries = among[places]
            yield queries, offsets[queries, None] + np.arange(lengths[places[0]])


def _ties_by_document(ties: Mask, order: Array | None, document: pl.Series) -> Array:
    """The order with documents of equal score sorted, the greatest id first."""
    import polars as pl

    order = np.arange(len(ties) + 1) if order is None else order
    member = np.zeros(len(order), dtype=bool)
    member[1:] |= ties
    member[:-1] |= ties
    places = np.flatnonzero(member)
    opens = np.ones(len(places), dtype=bool)
    opens[1:] = ~ties[places[1:] - 1]
    rows = order[places]
    tied = pl.DataFrame({"group": np.cumsum(opens), "document": document.gather(rows), "row": rows})
    order[places] = tied.sort("group", "document", descending=[False, True], maintain_order=True)[
        "row"
    ].to_numpy()
    return order


class SourcedRows(Struct, frozen=True, kw_only=True):
    """Rows of a run with their sources: a row for every source that found a document."""

    names: Sequence[str]
    source: Array
    """(rows,): places in `names`."""
    pair: Array
    """(rows,): a number for each document of a query, the same in each of its rows."""
    rank: Array
    """(rows,): the rank of the document, from 1."""
    best: Mask
    """(rows,): whether this source determined the document's rank; several may have."""
    relevant: Mask

    def within(self, depth: int) -> SourcedRows:
        """Only the rows down to a rank."""
        near = self.rank <= depth
        return SourcedRows(
            names=self.names,
            source=self.source[near],
            pair=self.pair[near],
            rank=self.rank[near],
            best=self.best[near],
            relevant=self.relevant[near],
        )


def source_fraction(rows: SourcedRows, source: int, k: int | None = None) -> float | None:
    """Fraction of the results in the first k ranks that this source put there.

    Divided by the actual results, which may be fewer than k per query; None if there are none.
    Several sources of the same result are all credited with it, so the fractions can sum to more
    than 1.
    """
    near = rows if k is None else rows.within(k)
    there = len(np.unique(near.pair))
    mine = len(np.unique(near.pair[near.best & (near.source == source)]))
    return mine / there if there else None


def documents_of(rows: SourcedRows, source: int, *, relevant: bool = False) -> Array:
    """The distinct documents of a source, sorted; with `relevant`, only relevant ones."""
    mine = rows.source == source
    return np.unique(rows.pair[mine & rows.relevant if relevant else mine])


def unique_relevant(rows: SourcedRows) -> list[int]:
    """For each source, the number of relevant documents that no other source found."""
    hits = [documents_of(rows, source, relevant=True) for source in range(len(rows.names))]
    every, sources = np.unique(np.concatenate([*hits, []]), return_counts=True)
    alone = every[sources == 1]
    return [int(np.isin(mine, alone).sum()) for mine in hits]


def overlaps(rows: SourcedRows) -> dict[str, int]:
    """For each pair of sources, the number of documents that both found for a query."""
    documents = {name: documents_of(rows, place) for place, name in enumerate(rows.names)}
    return {
        f"{one}+{other}": len(np.intersect1d(documents[one], documents[other], True))
        for one, other in combinations(sorted(documents), 2)
    }
