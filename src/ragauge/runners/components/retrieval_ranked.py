"""A run against its judgements: in rank order, each document once, with its grade and scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, structs

from ragauge.contracts.metric import Absent, Metric
from ragauge.contracts.options import NoRelevant, TwiceRanked
from ragauge.contracts.rankings import Rankings
from ragauge.contracts.report import Finding, Findings
from ragauge.ingest.ranked.ranking_rows import RankingRows
from ragauge.ingest.records import quoted
from ragauge.metrics.retrieval import named
from ragauge.metrics.retrieval_kernel import retrieval_sums
from ragauge.metrics.retrieval_order import Brought, first_of_each, offsets_of_kept, rank_order
from ragauge.runners.components.retrieval_judged import (
    Judged,
    JudgedRows,
    grouped,
    note_each,
    offsets_of,
    places_in,
    queries_of,
    rows_of_blocks,
    without_chunk,
)

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from ragauge.contracts.metric import Array

    Mask = NDArray[np.bool_]

NO_SOURCE = "(none)"
_NO_RANK = int(np.iinfo(np.int64).min)


class Setup(Struct, frozen=True, kw_only=True):
    """All a process needs to score: plain values, so that it can cross to another one."""

    metrics: tuple[str, ...]
    no_rel: NoRelevant | None
    """None until the judgements are known: a TREC file is counted as trec_eval does."""
    duplicates: TwiceRanked = "collapse"
    collapse: str | None = None
    """What separates a document from its chunk."""
    drop_self: bool = False
    rel: int = 1
    """The lowest grade that is relevant."""

    @property
    def no_relevant(self) -> NoRelevant:
        return self.no_rel or "exclude"

    def measures(self) -> list[Metric]:
        found = (named(id, self.no_relevant) for id in self.metrics)
        return [metric for metric in found if metric is not None]


class Taken(Struct, frozen=True, kw_only=True):
    """Rows by query, in the order of the judgements; those of a query as they were given."""

    run: RankingRows
    frame: pl.DataFrame
    row: Array
    """The place of each in what was read."""
    offsets: Array
    missing: Mask
    """(queries,): the run does not have it."""
    unknown: list[str]
    """Queries nobody judged, in the order of the run."""
    scattered: bool
    """The rows of a query were in several places."""

    def where(self, row: int) -> str:
        """The place of a row, as a finding names it."""
        return self.run.where(int(self.row[row]))


def _taken(run: RankingRows, judged: Judged) -> Taken:
    """The rows of every judged query that the run has."""
    import polars as pl

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
    missing = np.ones(len(judged.queries), dtype=bool)
    missing[place[known]] = False
    if run.empty:  # a query without a result is one that the run has
        empty = places_in(judged.queries, pl.Series("query", run.empty))
        missing[empty[empty >= 0]] = False
    return Taken(
        run=run,
        frame=frame,
        row=np.arange(frame.height) if rows is None else rows,
        offsets=offsets_of(sizes),
        missing=missing,
        unknown=groups.queries.gather(np.flatnonzero(place < 0)).to_list(),
        scattered=groups.order is not None,
    )


def _without_self(taken: Taken, found: Findings) -> Taken:
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


def _scores_of(taken: Taken, rank: Array | None) -> tuple[Array, Mask]:
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
    if rank is not None:
        by_rank = np.ones(len(scored), dtype=bool)
        by_rank[query[rank == _NO_RANK]] = False
        place = np.where(by_rank[query], rank, place)
    score = frame["value"].fill_null(0.0).to_numpy()
    return np.where(scored[query], score, -place.astype(np.float64)), scored


class Placed(Struct, frozen=True, kw_only=True):
    """A run's rows by judged query and rank."""

    taken: Taken
    document: pl.Series
    """As rows were taken, chunks as their documents."""
    score: Array
    """What rows are ordered by, as they were taken."""
    order: Array | None
    """The row at each place; None where every row is in its place already."""
    grades: Array
    """Of each place."""
    keep: Mask | None
    """The places that count; None where all do."""
    tied: Mask
    """(queries,): two documents have the same score."""

    def column(self, column: pl.Series) -> pl.Series:
        return column if self.order is None else column.gather(self.order)

    def where(self, place: int) -> str:
        return self.taken.where(place if self.order is None else int(self.order[place]))

    @property
    def offsets(self) -> Array:
        """Where each query begins, among the places that count."""
        offsets = self.taken.offsets
        return offsets if self.keep is None else offsets_of_kept(offsets, self.keep)


def placed(run: RankingRows, judged: Judged, setup: Setup, found: Findings) -> Placed:
    """The run's rows in the order that is measured; what is to be said goes into `found`."""
    taken = _taken(run, judged)
    if setup.drop_self:
        taken = _without_self(taken, found)
    frame, offsets = taken.frame, taken.offsets
    document = without_chunk(frame["document"], setup.collapse)
    rank = frame["rank"].fill_null(_NO_RANK).to_numpy() if "rank" in frame.columns else None
    score, scored = _scores_of(taken, rank)
    ordered = rank_order(offsets, score, document, rank)
    if rank is not None and ordered.disagreeing.any():
        # Only where the ranks say anything at all.
        query = queries_of(offsets)
        varied = np.zeros(len(scored), dtype=bool)
        varied[query[1:][(query[1:] == query[:-1]) & (rank[1:] != rank[:-1])]] = True
        varied[query[rank == _NO_RANK]] = False
        fact = "rank and score disagree; scores decide"
        note_each(
            found,
            "rank_score_disagree",
            offsets[:-1][ordered.disagreeing & scored & varied],
            lambda row: (taken.where(row), f"{quoted(frame['query'][row])}: {fact}"),
        )
    grades, repeats = judged.grades_of(offsets, document)
    order = ordered.order
    by_rank = document if order is None else document.gather(order)
    return Placed(
        taken=taken,
        document=document,
        score=score,
        order=order,
        grades=grades if order is None else grades[order],
        keep=first_of_each(offsets, by_rank) if repeats else None,
        tied=ordered.tied & scored,
    )


def _sources(rows: Placed) -> tuple[Array, pl.Series]:
    """A row for every source of every result: the result's place, and the source's name."""
    import polars as pl

    frame = rows.taken.frame
    if "source" not in frame.columns:
        return np.arange(frame.height), pl.Series([NO_SOURCE]).new_from_index(0, frame.height)
    listed = pl.DataFrame({"source": rows.column(frame["source"])}).with_row_index("place")
    # What an empty list explodes to is not the same in every version; null is.
    some = pl.when(pl.col("source").list.len() > 0).then(pl.col("source"))
    each = listed.with_columns(some.alias("source")).explode("source").unique(maintain_order=True)
    named = each["source"].replace("", None).fill_null(NO_SOURCE)
    return each["place"].to_numpy().astype(np.int64), named


def _repeated(rows: Placed, setup: Setup, found: Findings) -> list[str]:
    """The problems with documents that a query was given again; what was left out is a finding.

    That two sources bring one document is no fault, nor are two of its chunks.
    """
    import polars as pl

    if rows.keep is None:
        return []
    offsets = rows.taken.offsets
    named = rows.column(rows.taken.frame["document"])
    own = first_of_each(offsets, named) if setup.collapse else rows.keep
    again = np.zeros(len(rows.keep), dtype=bool) if own is None else ~own

    def note(code: str, mask: Mask, fact: str) -> None:
        places = np.flatnonzero(mask)
        note_each(found, code, places, lambda at: (rows.where(at), f"{quoted(named[at])} {fact}"))

    note("duplicate_document", again, "stands there again for its query; the best rank stays")
    note("chunk_collapsed", ~rows.keep & ~again, "is a chunk of a document with a better rank")
    if setup.duplicates != "error":
        return []
    place, source = _sources(rows)
    query = queries_of(offsets)[place]
    given = pl.DataFrame({"query": query, "document": named.gather(place), "source": source})
    first = given.select(pl.struct(pl.all()).is_first_distinct()).to_series().to_numpy()
    return [
        f"{rows.where(at)}: document: {quoted(named[at])} was given for its query already; keep one"
        for at in np.unique(place[~first]).tolist()
    ]


def _brought(rows: Placed, relevant: Mask) -> Brought | None:
    """What each source brought, by rank; None where the run does not name sources."""
    import polars as pl

    offsets = rows.taken.offsets
    if "source" not in rows.taken.frame.columns:
        return None
    place, source = _sources(rows)
    names = sorted(set(source.to_list()))
    shown = np.ones(len(relevant), dtype=bool) if rows.keep is None else rows.keep
    query = queries_of(offsets)
    pairs = pl.DataFrame({"query": query, "document": rows.column(rows.document)})
    first = pairs.filter(shown).with_row_index("pair")
    met = pairs.join(first, on=["query", "document"], how="left", maintain_order="left")
    pair = met["pair"].to_numpy().astype(np.int64)
    rank_of_pair = np.arange(first.height) - offsets_of_kept(offsets, shown)[query[shown]] + 1
    score = rows.score if rows.order is None else rows.score[rows.order]
    best = score == score[shown][pair]
    return Brought(
        names=names,
        source=places_in(pl.Series(names, dtype=pl.String), source),
        pair=pair[place],
        rank=rank_of_pair[pair][place],
        best=best[place],
        relevant=relevant[place],
    )


class Facts(Struct, frozen=True, kw_only=True):
    """What is known of each query besides its metrics."""

    retrieved: Array
    relevant: Array
    relevant_retrieved: Array
    first_relevant: Array
    """The rank, 0 where there is none."""
    unjudged: Array
    missing: Array
    tied: Array

    @classmethod
    def of(cls, rankings: Rankings, tied: Mask, rel: int) -> Facts:
        offsets = rankings.retrieved_offsets
        hits = np.flatnonzero(rankings.retrieved >= rel)
        first = np.append(hits, len(rankings.retrieved))[np.searchsorted(hits, offsets[:-1])]

        def counted(marks: Array, offsets: Array) -> Array:
            """How many rows of each query are marked."""
            before = np.zeros(len(marks) + 1, dtype=np.int64)
            np.cumsum(marks, out=before[1:])
            return before[offsets[1:]] - before[offsets[:-1]]

        return cls(
            retrieved=np.diff(offsets),
            relevant=counted(rankings.judged >= rel, rankings.judged_offsets),
            relevant_retrieved=counted(rankings.retrieved >= rel, offsets),
            first_relevant=np.where(first < offsets[1:], first - offsets[:-1] + 1, 0),
            unjudged=counted(rankings.retrieved < 0, offsets),
            missing=rankings.missing,
            tied=tied,
        )


class PieceScores(Struct, frozen=True, kw_only=True):
    """All that is known of some queries; a few numbers each, however much was retrieved."""

    queries: list[str]
    values: dict[str, tuple[Array, Array, Mapping[Absent, int]]]
    """By metric: a number and whether it counts, for each query, and the reasons of the others."""
    facts: Facts
    unknown: list[str]
    rows: int
    judged_rows: int
    scattered_run: bool
    scattered_qrels: bool
    findings: Findings
    """Of the run."""
    qrels_findings: Findings
    problems: list[str]
    qrels_problems: list[str]
    sources: Brought | None = None


def score_rows(
    run: RankingRows, judged: JudgedRows, setup: Setup, problems: Iterable[str] = ()
) -> PieceScores:
    """The scores of every judged query; `problems` are those met when the run was read."""
    found = Findings()
    rows = placed(run, judged.judged, setup, found)
    faults = _repeated(rows, setup, found)
    rankings = Rankings(
        retrieved=rows.grades if rows.keep is None else rows.grades[rows.keep],
        retrieved_offsets=rows.offsets,
        judged=judged.judged.grade,
        judged_offsets=judged.judged.offsets,
        missing=rows.taken.missing,
    )
    sums = retrieval_sums(setup.measures(), rankings, setup.no_relevant)
    return PieceScores(
        queries=judged.judged.queries.to_list(),
        values={
            id: (one.sums[:, 0], one.scored.astype(bool), one.absent) for id, one in sums.items()
        },
        facts=Facts.of(rankings, rows.tied, setup.rel),
        unknown=rows.taken.unknown,
        rows=run.frame.height,
        judged_rows=judged.rows,
        scattered_run=rows.taken.scattered,
        scattered_qrels=judged.scattered,
        findings=found,
        qrels_findings=judged.findings,
        problems=[*problems, *faults],
        qrels_problems=judged.problems,
        sources=_brought(rows, rows.grades >= setup.rel),
    )
