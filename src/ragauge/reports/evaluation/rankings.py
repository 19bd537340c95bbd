"""What an evaluation of retrieval has of its own: cut-offs, queries, sources, other runs."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from ragauge.contracts.evaluation import EvalReport, QueryRow, RankingDetail
from ragauge.reports import numbers
from ragauge.reports.evaluation.compared import compared
from ragauge.reports.evaluation.tables import (
    Cell,
    Row,
    Table,
    counted,
    named,
    number,
    numeric,
)

DISTRIBUTED = "ndcg@10"
"""The metric whose values are drawn query by query."""
TENTHS = 10
WORST_SHOWN = 10
WITH_CUTS = ("ndcg", "ndcg_exp", "p", "recall", "success", "rr", "ap")
QUERY_VALUES = ("ndcg@10", "p@10", "recall@10", "rr", "ap")


class Tenth(Struct, frozen=True):
    """How many queries have a value from `low` up to `high`."""

    low: float
    high: float
    queries: int

    @property
    def name(self) -> str:
        return f"{self.low:.1f} to {self.high:.1f}"


def tables(report: EvalReport, detail: RankingDetail) -> Iterator[Table]:
    """The tables of the task, what matters most first; `by_query` has those of the queries."""
    if cuts := _cuts(report):
        yield cuts
    yield from compared(detail)
    if detail.sources:
        yield _sources(detail)
    if detail.overlap:
        yield _overlap(detail)


def by_query(detail: RankingDetail) -> Iterator[Table]:
    """How the queries are spread, and the worst of them: for forms that draw neither."""
    if tenths(detail):
        yield _distribution(detail)
    if worst := queries_worst_first(detail)[:WORST_SHOWN]:
        yield _queries("Worst queries", worst, detail)


def tenths(detail: RankingDetail) -> list[Tenth]:
    """The queries by the tenth their nDCG@10 lies in; nothing where none has one."""
    values = [one for row in detail.queries if (one := value_of(row, DISTRIBUTED)) is not None]
    if not values:
        return []
    counts = [0] * TENTHS
    for one in values:
        # 0.3 * 10 is 3.0000000000000004 in some sums: what is within rounding counts as there.
        counts[min(TENTHS - 1, max(0, int(round(one * TENTHS, 9))))] += 1
    return [Tenth(n / TENTHS, (n + 1) / TENTHS, times) for n, times in enumerate(counts)]


def value_of(row: QueryRow, name: str) -> float | None:
    """A query's value of a metric, with its family in the name or without."""
    return row.values.get(f"retrieval.{name}", row.values.get(name))


def queries_worst_first(detail: RankingDetail) -> list[QueryRow]:
    """The queries with relevant documents, the lowest nDCG@10 first; ties by id.

    Where the report names the worst of all queries, they stand first as it has them.
    """
    by_id = {row.query: row for row in detail.queries}
    first = [by_id[id] for id in detail.worst if id in by_id]
    named_first = {row.query for row in first}
    others = [row for row in detail.queries if row.relevant and row.query not in named_first]

    def badness(row: QueryRow) -> tuple[float, str]:
        value = value_of(row, DISTRIBUTED)
        return (2.0 if value is None else value), row.query

    return [*first, *sorted(others, key=badness)]


def queries(detail: RankingDetail, most: int) -> Table:
    """All queries, the worst first; those without a relevant document last."""
    ranked = queries_worst_first(detail)
    ranked += sorted(
        (row for row in detail.queries if not row.relevant and row.query not in detail.worst),
        key=lambda row: row.query,
    )
    return _queries("Queries", ranked[:most], detail, left=len(ranked) - most)


def _queries(title: str, rows: list[QueryRow], detail: RankingDetail, left: int = 0) -> Table:
    known = [name for name in QUERY_VALUES if any(_has(row, name) for row in detail.queries)]
    heads = ("query", "first relevant", "found", "retrieved", *known)
    return Table(
        title=title,
        about="the lowest nDCG@10 first; found: relevant documents retrieved, of all relevant",
        heads=heads,
        rows=tuple(
            Row(
                (
                    named(row.query),
                    _first(row),
                    Cell(numbers.n_of(row.relevant_retrieved, row.relevant)),
                    counted(row.retrieved),
                    *(number(value_of(row, name)) for name in known),
                ),
                share=value_of(row, DISTRIBUTED),
            )
            for row in rows
        ),
        right=numeric(heads),
        bar=DISTRIBUTED,
        more=f"{numbers.counted(left, 'query', 'queries')} not shown" if left > 0 else "",
    )


def _has(row: QueryRow, name: str) -> bool:
    return name in row.values or f"retrieval.{name}" in row.values


def _first(row: QueryRow) -> Cell:
    if row.first_relevant is None:
        return Cell("none", tone="bad" if row.relevant else "soft")
    return Cell(f"rank {numbers.count(row.first_relevant)}")


def _cuts(report: EvalReport) -> Table | None:
    """The metrics that are cut at a rank, by rank."""
    found: dict[str, dict[int, float | None]] = {}
    for id, score in report.metrics.items():
        name, _, cut = id.partition(".")[2].rpartition("@")
        if cut.isdecimal() and name.partition("(")[0] in WITH_CUTS:
            found.setdefault(name, {})[int(cut)] = score.value
    cuts = sorted({cut for values in found.values() for cut in values})
    if not found:
        return None
    heads = ("metric", *(f"@{cut}" for cut in cuts))

    def place(name: str) -> tuple[int, str]:
        return WITH_CUTS.index(name.partition("(")[0]), name

    rows = tuple(
        Row((Cell(name), *(number(found[name].get(cut)) for cut in cuts)))
        for name in sorted(found, key=place)
    )
    return Table(title="By cut-off", heads=heads, rows=rows, right=numeric(heads))


def _distribution(detail: RankingDetail) -> Table:
    drawn = tenths(detail)
    most = max(one.queries for one in drawn)
    rows = tuple(
        Row((Cell(one.name), counted(one.queries)), share=one.queries / most) for one in drawn
    )
    return Table(
        title="nDCG@10, query by query",
        heads=("nDCG@10", "queries"),
        rows=rows,
        right=frozenset({1}),
        bar="queries",
        whole=True,
    )


def _sources(detail: RankingDetail) -> Table:
    heads = ("source", "of rows", "of rank 1", "of ranks 1–5", "relevant", "alone", "precision")
    ranked = sorted(detail.sources.items(), key=lambda pair: (-pair[1].share, pair[0]))
    rows = tuple(
        Row(
            (
                named(source),
                *(Cell(_percent(part)) for part in (one.share, one.top1, one.top5)),
                counted(one.relevant),
                counted(one.unique_relevant),
                number(one.precision),
            ),
            share=one.share,
        )
        for source, one in ranked
    )
    return Table(
        title="Sources",
        about="alone: relevant documents that no other source brought",
        heads=heads,
        rows=rows,
        right=numeric(heads),
        bar="of rows",
        whole=True,
    )


def _percent(part: float | None) -> str:
    return numbers.ABSENT if part is None else f"{100 * part:.1f} %"


def _overlap(detail: RankingDetail) -> Table:
    ranked = sorted(detail.overlap.items(), key=lambda pair: (-pair[1], pair[0]))
    most = max(times for _, times in ranked) or 1
    rows = tuple(Row((named(pair), counted(times)), share=times / most) for pair, times in ranked)
    return Table(
        title="Overlap of sources",
        about="documents that both brought for one query",
        heads=("sources", "documents"),
        rows=rows,
        right=frozenset({1}),
        bar="documents",
        whole=True,
    )
