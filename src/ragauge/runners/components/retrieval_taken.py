"""The rows of a run that belong to judged queries, and what they are ordered by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, structs

from ragauge.contracts.finding import PLACES_KEPT, Finding, Findings
from ragauge.ingest.fields import quoted
from ragauge.ingest.ranked.ranking_rows import RankingRows
from ragauge.metrics.retrieval_order import offsets_of_kept
from ragauge.runners.components.retrieval_groups import (
    grouped,
    offsets_of,
    places_in,
    queries_of,
    rows_of_blocks,
)

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from ragauge.contracts.metric import Array
    from ragauge.runners.components.retrieval_judged import Judged

    Mask = NDArray[np.bool_]

_NO_RANK = int(np.iinfo(np.int64).min)


class Taken(Struct, frozen=True, kw_only=True):
    """Rows by query, in the order of the judgements; those of a query as they were given."""

    run: RankingRows
    frame: pl.DataFrame
    row: Array
    """Where each stood in what was read."""
    offsets: Array
    missing: Mask
    """(queries,): the run does not have it."""
    unknown: list[str]
    """Queries nobody judged, in the order of the run."""
    scattered: bool
    """A query stood in several places."""

    def where(self, row: int) -> str:
        """The place of a row, as a finding names it."""
        return self.run.where(int(self.row[row]))


def taken_rows(run: RankingRows, judged: Judged) -> Taken:
    """The rows of every judged query that the run has."""
    groups = grouped(run.frame["query"])
    place = places_in(judged.queries, groups.queries)
    known = np.flatnonzero(place >= 0)
    starts = np.zeros(len(judged.queries), dtype=np.int64)
    sizes = np.zeros_like(starts)
    starts[place[known]] = groups.offsets[:-1][known]
    sizes[place[known]] = np.diff(groups.offsets)[known]
    rows = None
    if groups.order is not None or len(known) < len(place) or (np.diff(place) < 0).any():
        rows = rows_of_blocks(starts, sizes)
        rows = rows if groups.order is None else groups.order[rows]
    frame = run.frame if rows is None else run.frame[rows]
    return Taken(
        run=run,
        frame=frame,
        row=np.arange(frame.height) if rows is None else rows,
        offsets=offsets_of(sizes),
        missing=_missing(run, judged, place[known]),
        unknown=groups.queries.gather(np.flatnonzero(place < 0)).to_list(),
        scattered=groups.order is not None,
    )


def _missing(run: RankingRows, judged: Judged, present: Array) -> Mask:
    """The judged queries that the run does not have; one without a result it does have."""
    import polars as pl

    missing = np.ones(len(judged.queries), dtype=bool)
    missing[present] = False
    if run.empty:
        empty = places_in(judged.queries, pl.Series("query", run.empty))
        missing[empty[empty >= 0]] = False
    return missing


def without_self(taken: Taken, found: Findings) -> Taken:
    """The rows without documents that have the query's own id."""
    same = (taken.frame["query"] == taken.frame["document"]).to_numpy()
    for row in np.flatnonzero(same).tolist():
        message = "has the id of its query; it was left out, as drop_self says"
        found.add(Finding("self_dropped", taken.where(row), message))
    return structs.replace(
        taken,
        frame=taken.frame.filter(~same),
        row=taken.row[~same],
        offsets=offsets_of_kept(taken.offsets, ~same),
    )


def scores_of(taken: Taken) -> tuple[Array, Mask]:
    """What the rows are ordered by, and for each query whether that is its scores.

    A query of which a row has no score is in the order of its ranks, or in the one it was given.
    """
    frame, offsets = taken.frame, taken.offsets
    scored = np.ones(len(offsets) - 1, dtype=bool)
    if not frame["value"].null_count():
        return frame["value"].to_numpy(), scored
    query = queries_of(offsets)
    scored[query[frame["value"].is_null().to_numpy()]] = False
    place = np.arange(len(query)) - offsets[query]
    rank = ranks_of(taken)
    if rank is not None:
        by_rank = np.ones(len(scored), dtype=bool)
        by_rank[query[rank == _NO_RANK]] = False
        place = np.where(by_rank[query], rank, place)
    score = frame["value"].fill_null(0.0).to_numpy()
    return np.where(scored[query], score, -place.astype(np.float64)), scored


def ranks_of(taken: Taken) -> Array | None:
    """The rank column, where the run has one."""
    if "rank" not in taken.frame.columns:
        return None
    return taken.frame["rank"].fill_null(_NO_RANK).to_numpy()


def note_disagreeing(taken: Taken, rank: Array, queries: Mask, found: Findings) -> None:
    """Say of these queries that rank and score disagree, where the ranks say anything at all."""
    query = queries_of(taken.offsets)
    varied = np.zeros(len(queries), dtype=bool)
    varied[query[1:][(query[1:] == query[:-1]) & (rank[1:] != rank[:-1])]] = True
    varied[query[rank == _NO_RANK]] = False
    places = np.flatnonzero(queries & varied)
    for at in places[:PLACES_KEPT]:
        row = int(taken.offsets[at])
        message = f"{quoted(taken.frame['query'][row])}: rank and score disagree; scores decide"
        found.add(Finding("rank_score_disagree", taken.where(row), message))
    found.count("rank_score_disagree", max(0, len(places) - PLACES_KEPT))
