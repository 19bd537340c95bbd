"""A run against its judgements: in rank order, each document once, with its grade and scores."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, field, structs

from ragauge.contracts.metric import Absent, Metric
from ragauge.contracts.options import RetrievalOptions
from ragauge.contracts.rankings import UNJUDGED, Rankings
from ragauge.contracts.report import PLACES_KEPT, Finding, Findings
from ragauge.ingest.fields import quoted
from ragauge.ingest.ranked.ranking_rows import RankingRows
from ragauge.metrics.retrieval import from_name
from ragauge.metrics.retrieval_kernel import retrieval_sums
from ragauge.metrics.retrieval_order import SourcedRows, first_of_each, offsets_of_kept, rank_order
from ragauge.metrics.sums import Sums
from ragauge.runners.components.evaluation import add_findings

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from ragauge.contracts.metric import Array

    Mask = NDArray[np.bool_]

NO_SOURCE = "(none)"
_NO_RANK = int(np.iinfo(np.int64).min)


def metrics_of(options: RetrievalOptions) -> list[Metric]:
    """The measures, where each is named by the id of its metric."""
    found = (from_name(id, options.no_relevant) for id in options.measures)
    return [metric for metric in found if metric is not None]


class Groups(Struct, frozen=True, kw_only=True):
    """The rows of each query together; those of a query keep their order."""

    queries: pl.Series
    offsets: Array
    """(queries + 1,)"""
    rows: Array | None
    """The row at each place; None where every row is at its place already."""
    scattered: bool
    """The rows of a query are in several places."""
    unknown: list[str]
    """Queries that are none of the known ones."""

    def of(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame if self.rows is None else frame[self.rows]


def grouped(query: pl.Series, known: pl.Series | None = None) -> Groups:
    """Rows by query: the queries are the known ones, else those there in the order they are met."""
    import polars as pl

    starts = np.flatnonzero((query != query.shift(1)).fill_null(True).to_numpy())
    heads, sizes = query.gather(starts), np.diff(np.append(starts, len(query)))
    distinct = heads.unique(maintain_order=True)
    queries = pl.Series("query", distinct if known is None else known)
    place = places_in(queries, heads)
    scattered = len(distinct) < len(heads)
    rows = None
    if scattered or (np.diff(place) < 0).any() or (place < 0).any():
        of_row = np.repeat(place, sizes)
        there = np.flatnonzero(of_row >= 0)
        rows = there[np.argsort(of_row[there], kind="stable")]
    met = place >= 0
    return Groups(
        queries=queries,
        offsets=offsets_of(
            np.bincount(place[met], weights=sizes[met], minlength=len(queries)).astype(np.int64)
        ),
        rows=rows,
        scattered=scattered,
        unknown=heads.gather(np.flatnonzero(~met)).unique(maintain_order=True).to_list(),
    )


def places_in(known: pl.Series, wanted: pl.Series) -> Array:
    """Where each of the wanted queries stands among the known; -1 where it does not."""
    import polars as pl

    if len(known) == len(wanted) and (known == wanted).all():
        return np.arange(len(known))
    index = pl.DataFrame({"query": known, "place": np.arange(len(known))})
    asked = pl.DataFrame({"query": wanted})
    met = asked.join(index, on="query", how="left", maintain_order="left")
    return met["place"].fill_null(-1).to_numpy()


def offsets_of(sizes: Array) -> Array:
    """Where each query's rows begin, and where the last one's end."""
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def rows_of_blocks(starts: Array, sizes: Array) -> Array:
    """The rows of blocks, one block after the other.

    >>> rows_of_blocks(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(sizes)
    return np.repeat(starts - (ends - sizes), sizes) + np.arange(int(sizes.sum()))


def queries_of(offsets: Array) -> Array:
    """(rows,): the query of each row."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def without_chunk(document: pl.Series, separator: str | None) -> pl.Series:
    """The document of each chunk: what stands before the last separator."""
    if not separator:
        return document
    import polars as pl

    last = f"(?s)^(.+){re.escape(separator)}.*$"
    column = pl.col("document").str.replace(last, "${1}")
    return pl.DataFrame({"document": document}).select(column).to_series()


class Judged(Struct, frozen=True, kw_only=True):
    """Graded documents by query; no query has a document twice."""

    queries: pl.Series
    offsets: Array
    document: pl.Series
    grade: Array
    findings: Findings = field(default_factory=Findings)
    """What there is to say of all that were read."""
    problems: list[str] = []
    rows: int = 0
    """Rows that were read."""
    scattered: bool = False
    """A query stands in several places."""

    def some(self, places: Array) -> Judged:
        """The judgements of these queries, with nothing to say."""
        sizes = np.diff(self.offsets)[places]
        rows = rows_of_blocks(self.offsets[places], sizes)
        return Judged(
            queries=self.queries.gather(places),
            offsets=offsets_of(sizes),
            document=self.document.gather(rows),
            grade=self.grade[rows],
        )

    def grades_of(self, offsets: Array, document: pl.Series) -> Array:
        """The grade of each retrieved document of these queries, UNJUDGED without one."""
        import polars as pl

        mine = {"query": queries_of(self.offsets), "document": self.document, "grade": self.grade}
        asked = pl.DataFrame({"query": queries_of(offsets), "document": document})
        met = asked.join(
            pl.DataFrame(mine), on=["query", "document"], how="left", maintain_order="left"
        )
        return met["grade"].fill_null(UNJUDGED).to_numpy()


def judged_rows(
    rows: RankingRows, collapse: str | None = None, problems: Iterable[str] = ()
) -> Judged:
    """The judgements of a file's rows; a document judged twice with two grades is a problem.

    `problems` are those met when the file was read.
    """
    import polars as pl

    groups = grouped(rows.frame["query"])
    frame = groups.of(rows.frame)
    found = Findings()
    add_findings(rows.findings.kept(), rows.findings.counts, found)
    faults = list(problems)
    document, grade, offsets = frame["document"], frame["value"].to_numpy(), groups.offsets
    at = np.arange(len(grade)) if groups.rows is None else groups.rows
    fact = "counts as 0, and its document as unjudged"
    note_each(
        found,
        "negative_grade",
        np.flatnonzero(grade < 0),
        lambda place: (rows.where(int(at[place])), f"grade {int(grade[place])} {fact}"),
    )
    keep = first_of_each(offsets, document)
    if keep is not None:
        _note_repeated(rows, offsets, keep, at, found, faults)
        document, grade = document.filter(keep), grade[keep]
        offsets = offsets_of_kept(offsets, keep)
    queries = groups.queries
    known = set(queries.to_list()) if rows.empty else set()
    empty = [query for query in dict.fromkeys(rows.empty) if query not in known]
    if empty:  # queries that were given without a document come last
        queries = queries.append(pl.Series("query", empty))
        offsets = np.append(offsets, np.full(len(empty), offsets[-1]))
    judged = Judged(
        queries=queries,
        offsets=offsets,
        document=document,
        grade=grade,
        findings=found,
        problems=faults,
        rows=rows.frame.height,
        scattered=groups.scattered,
    )
    return _collapsed(judged, rows.name, collapse) if collapse else judged


def note_each(
    found: Findings, code: str, places: Array, said: Callable[[int], tuple[str, str]]
) -> None:
    """Add a finding for each place, by what is said of it; of those beyond, only their number."""
    for place in places[:PLACES_KEPT].tolist():
        found.add(Finding(code, *said(place)))
    found.count(code, max(0, len(places) - PLACES_KEPT))


def _note_repeated(
    rows: RankingRows, offsets: Array, keep: Array, at: Array, found: Findings, problems: list[str]
) -> None:
    """Say of every repeated judgement whether it agrees with the first."""
    frame = rows.frame
    query = queries_of(offsets)
    repeated = np.flatnonzero(~keep)
    names = {(int(query[place]), frame["document"][int(at[place])]) for place in repeated}
    first: dict[tuple[int, str], int] = {}
    suspects = np.flatnonzero(np.isin(query, [place for place, _ in names]))
    for place in suspects:
        row = int(at[place])
        key = int(query[place]), frame["document"][row]
        if key not in names:
            continue
        earlier = first.setdefault(key, row)
        if earlier == row:
            continue
        was, now = frame["value"][earlier], frame["value"][row]
        told = f"{quoted(key[1])} was judged already for {quoted(frame['query'][row])}"
        if was == now:
            message = f"{told} at {rows.where(earlier)}, with the same grade"
            found.add(Finding("duplicate_judgement", rows.where(row), message))
        else:
            fact = f"{told} at {rows.where(earlier)}, with grade {was}, not {now}; keep one"
            problems.append(f"{rows.where(row)}: grade: {fact}")


def _collapsed(judged: Judged, name: str, separator: str) -> Judged:
    """With documents for chunks, each with the best grade of its chunks."""
    import polars as pl

    document = without_chunk(judged.document, separator)
    query = queries_of(judged.offsets)
    if first_of_each(judged.offsets, document) is None:
        return structs.replace(judged, document=document)
    best = (
        pl.DataFrame({"query": query, "document": document, "grade": judged.grade})
        .group_by("query", "document", maintain_order=True)
        .agg(pl.col("grade").max())
    )
    times = len(document) - best.height
    message = f"{times:,} judged chunks share a document with another; the best grade stays"
    judged.findings.add(Finding("judgements_collapsed", name, message), times)
    sizes = np.bincount(best["query"].to_numpy(), minlength=len(judged.queries))
    return structs.replace(
        judged,
        offsets=offsets_of(sizes),
        document=best["document"],
        grade=best["grade"].to_numpy(),
    )


def _scores_of(frame: pl.DataFrame, offsets: Array, rank: Array | None) -> tuple[Array, Mask]:
    """What the rows are ordered by, and for each query whether that is its scores.

    A query of which a row has no score is in the order of its ranks, or in the one it was given.
    """
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

    run: RankingRows
    frame: pl.DataFrame
    """Rows by query, in the order of the judgements; those of a query as they were given."""
    row: Array
    """The place of each in what was read."""
    rows_of: Array
    """(queries + 1,): where the rows of each query begin."""
    missing: Mask
    """(queries,): the run does not have it."""
    unknown: list[str]
    """Queries nobody judged, in the order of the run."""
    scattered: bool
    """The rows of a query were in several places."""
    document: pl.Series
    """Of each row, chunks as their documents."""
    score: Array
    """What rows are ordered by."""
    order: Array | None
    """The row at each place; None where every row is in its place already."""
    grades: Array
    """Of each place."""
    keep: Mask | None
    """The places that count; None where all do."""
    tied: Mask
    """(queries,): two documents have the same score."""

    def column(self, column: pl.Series) -> pl.Series:
        """A column of rows, by place."""
        return column if self.order is None else column.gather(self.order)

    def where(self, place: int) -> str:
        """The place of a result in its file, as a finding names it."""
        return self.run.where(int(self.row[place if self.order is None else self.order[place]]))

    @property
    def offsets(self) -> Array:
        """Where each query begins, among the places that count."""
        return self.rows_of if self.keep is None else offsets_of_kept(self.rows_of, self.keep)


def placed(run: RankingRows, judged: Judged, options: RetrievalOptions, found: Findings) -> Placed:
    """The run's rows in the order that is measured; what is to be said goes into `found`."""
    import polars as pl

    groups = grouped(run.frame["query"], judged.queries)
    frame, offsets = groups.of(run.frame), groups.offsets
    at = np.arange(frame.height) if groups.rows is None else groups.rows
    missing = np.diff(offsets) == 0
    if run.empty:  # a query without a result is one that the run has
        empty = places_in(judged.queries, pl.Series("query", run.empty))
        missing[empty[empty >= 0]] = False
    if options.drop_self:
        own = (frame["query"] == frame["document"]).to_numpy()
        message = "has the id of its query; it was left out, as drop_self says"
        for row in at[own].tolist():
            found.add(Finding("self_dropped", run.where(row), message))
        frame, at, offsets = frame.filter(~own), at[~own], offsets_of_kept(offsets, ~own)
    document = without_chunk(frame["document"], options.collapse)
    rank = frame["rank"].fill_null(_NO_RANK).to_numpy() if "rank" in frame.columns else None
    score, scored = _scores_of(frame, offsets, rank)
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
            lambda row: (run.where(int(at[row])), f"{quoted(frame['query'][row])}: {fact}"),
        )
    grades, order = judged.grades_of(offsets, document), ordered.order
    by_rank = document if order is None else document.gather(order)
    return Placed(
        run=run,
        frame=frame,
        row=at,
        rows_of=offsets,
        missing=missing,
        unknown=groups.unknown,
        scattered=groups.scattered,
        document=document,
        score=score,
        order=order,
        grades=grades if order is None else grades[order],
        keep=first_of_each(offsets, by_rank),
        tied=ordered.tied & scored,
    )


def _sources(rows: Placed) -> tuple[Array, pl.Series]:
    """A row for every source of every result: the result's place, and the source's name."""
    import polars as pl

    frame = rows.frame
    if "source" not in frame.columns:
        return np.arange(frame.height), pl.Series([NO_SOURCE]).new_from_index(0, frame.height)
    listed = pl.DataFrame({"source": rows.column(frame["source"])}).with_row_index("place")
    # What an empty list explodes to is not the same in every version; null is.
    some = pl.when(pl.col("source").list.len() > 0).then(pl.col("source"))
    each = listed.with_columns(some.alias("source")).explode("source").unique(maintain_order=True)
    named = each["source"].replace("", None).fill_null(NO_SOURCE)
    return each["place"].to_numpy().astype(np.int64), named


def _repeated(rows: Placed, options: RetrievalOptions, found: Findings) -> list[str]:
    """The problems with documents that a query was given again; what was left out is a finding.

    That two sources bring one document is no fault, nor are two of its chunks.
    """
    import polars as pl

    if rows.keep is None:
        return []
    offsets = rows.rows_of
    named = rows.column(rows.frame["document"])
    own = first_of_each(offsets, named) if options.collapse else rows.keep
    again = np.zeros(len(rows.keep), dtype=bool) if own is None else ~own

    def note(code: str, mask: Mask, fact: str) -> None:
        places = np.flatnonzero(mask)
        note_each(found, code, places, lambda at: (rows.where(at), f"{quoted(named[at])} {fact}"))

    note("duplicate_document", again, "stands there again for its query; the best rank stays")
    note("chunk_collapsed", ~rows.keep & ~again, "is a chunk of a document with a better rank")
    if options.duplicates != "error":
        return []
    place, source = _sources(rows)
    query = queries_of(offsets)[place]
    given = pl.DataFrame({"query": query, "document": named.gather(place), "source": source})
    first = given.select(pl.struct(pl.all()).is_first_distinct()).to_series().to_numpy()
    return [
        f"{rows.where(at)}: document: {quoted(named[at])} was given for its query already; keep one"
        for at in np.unique(place[~first]).tolist()
    ]


def _brought(rows: Placed, relevant: Mask) -> SourcedRows | None:
    """What each source brought, by rank; None where the run does not name sources."""
    import polars as pl

    offsets = rows.rows_of
    if "source" not in rows.frame.columns:
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
    return SourcedRows(
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


class RunScores(Struct, frozen=True, kw_only=True):
    """A run, or a piece of one, against its judgements, query by query."""

    name: str = ""
    queries: list[str]
    values: dict[str, tuple[Array, Array, Mapping[Absent, int]]] = {}
    """Of a piece, by metric: a number for each query, whether it counts, and why others do not."""
    sums: dict[str, Sums] = {}
    """Of a run, by metric."""
    facts: Facts
    unknown: list[str]
    rows: int
    judged_rows: int
    scattered_run: bool = False
    scattered_qrels: bool = False
    findings: Findings
    """Of the run."""
    qrels_findings: Findings
    problems: list[str]
    qrels_problems: list[str]
    sources: SourcedRows | None


def score_rows(
    run: RankingRows, judged: Judged, options: RetrievalOptions, problems: Iterable[str] = ()
) -> RunScores:
    """The scores of every judged query; `problems` are those met when the run was read."""
    found = Findings()
    add_findings(run.findings.kept(), run.findings.counts, found)
    rows = placed(run, judged, options, found)
    faults = _repeated(rows, options, found)
    rankings = Rankings(
        retrieved=rows.grades if rows.keep is None else rows.grades[rows.keep],
        retrieved_offsets=rows.offsets,
        judged=judged.grade,
        judged_offsets=judged.offsets,
        missing=rows.missing,
    )
    sums = retrieval_sums(metrics_of(options), rankings, options.no_relevant)
    return RunScores(
        queries=judged.queries.to_list(),
        values={
            id: (one.sums[:, 0], one.scored.astype(bool), one.absent) for id, one in sums.items()
        },
        facts=Facts.of(rankings, rows.tied, options.rel),
        unknown=rows.unknown,
        rows=run.frame.height,
        judged_rows=judged.rows,
        scattered_run=rows.scattered,
        scattered_qrels=judged.scattered,
        findings=found,
        qrels_findings=judged.findings,
        problems=[*problems, *faults],
        qrels_problems=judged.problems,
        sources=_brought(rows, rows.grades >= options.rel),
    )
