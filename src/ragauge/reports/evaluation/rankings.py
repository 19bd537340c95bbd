"""What an evaluation of retrieval has of its own: cut-offs, queries, sources, other runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from ragauge.contracts.evaluation import EvalReport, QueryRow, RankingDetail
from ragauge.reports import numbers
from ragauge.reports.evaluation.compared import compared
from ragauge.reports.evaluation.measures import (
    FAMILY,
    NDCG,
    WITH_CUTS,
    Ranking,
    asked,
    ranking,
    value_of,
)
from ragauge.reports.evaluation.tables import (
    Cell,
    Row,
    Table,
    counted,
    named,
    number,
    numeric,
    tally,
)

TENTHS = 10
WORST_SHOWN = 10
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


def by_query(report: EvalReport, detail: RankingDetail) -> Iterator[Table]:
    """How the queries are spread, and the worst of them: for forms that draw neither."""
    by = ranking(report)
    if by is None:
        return
    if found := tenths(detail, by):
        times = [(Cell(one.name), one.queries) for one in found]
        yield tally(f"{by.title}, query by query", (by.title, "queries"), times)
    if worst := queries_worst_first(detail, by)[:WORST_SHOWN]:
        yield _queries("Worst queries", worst, _columns(report, detail), by)


def tenths(detail: RankingDetail, by: Ranking = NDCG) -> list[Tenth]:
    """The queries by the tenth their value lies in; nothing where none has one."""
    return tenths_of(one for row in detail.queries if (one := value_of(row, by.name)) is not None)


def tenths_of(values: Iterable[float]) -> list[Tenth]:
    """How many of the values lie in each tenth; nothing where there are none."""
    counts = [0] * TENTHS
    for one in values:
        # 0.3 * 10 is 3.0000000000000004 in some sums: what is within rounding counts as there.
        counts[min(TENTHS - 1, max(0, int(round(one * TENTHS, 9))))] += 1
    if not any(counts):
        return []
    return [Tenth(n / TENTHS, (n + 1) / TENTHS, times) for n, times in enumerate(counts)]


def queries_worst_first(detail: RankingDetail, by: Ranking = NDCG) -> list[QueryRow]:
    """The queries with relevant documents, the worst first; ties by id.

    Where the report names the worst of all queries by nDCG@10, they stand first as it has them.
    """
    by_id = {row.query: row for row in detail.queries}
    worst = detail.worst if by == NDCG else ()
    first = [by_id[id] for id in worst if id in by_id]
    named_first = {row.query for row in first}
    others = [row for row in detail.queries if row.relevant and row.query not in named_first]

    def badness(row: QueryRow) -> tuple[bool, float, str]:
        value = value_of(row, by.name)
        return value is None, -(value or 0.0) if by.lower else value or 0.0, row.query

    return [*first, *sorted(others, key=badness)]


def worst_first(report: EvalReport, detail: RankingDetail) -> list[QueryRow]:
    """All queries, the worst first; those without a relevant document last."""
    ranked = queries_worst_first(detail, ranking(report) or NDCG)
    there = {row.query for row in ranked}
    others = (row for row in detail.queries if row.query not in there)
    return ranked + sorted(others, key=lambda row: row.query)


def queries(report: EvalReport, detail: RankingDetail, most: int) -> Table:
    """All queries, the worst first; those without a relevant document last."""
    by, ranked = ranking(report), worst_first(report, detail)
    columns = _columns(report, detail)
    return _queries("Queries", ranked[:most], columns, by, left=len(ranked) - most)


def _columns(report: EvalReport, detail: RankingDetail) -> list[str]:
    """The metrics shown of each query: those asked for by name, and else the usual ones."""
    wanted = [id.removeprefix(FAMILY) for id in asked(report)] or QUERY_VALUES
    by = ranking(report)
    names = dict.fromkeys([*([by.name] if by else []), *wanted])
    return [name for name in names if any(_has(row, name) for row in detail.queries)]


def _queries(
    title: str, rows: list[QueryRow], columns: list[str], by: Ranking | None, left: int = 0
) -> Table:
    heads = ("query", "first relevant", "found", "retrieved", *columns)
    found = "found: relevant documents retrieved, of all relevant"
    return Table(
        title=title,
        about=f"{by.worst}; {found}" if by else found,
        heads=heads,
        rows=tuple(
            Row(
                (
                    named(row.query),
                    _first(row),
                    Cell(numbers.n_of(row.relevant_retrieved, row.relevant)),
                    counted(row.retrieved),
                    *(number(value_of(row, name)) for name in columns),
                ),
                share=value_of(row, by.name) if by else None,
                tone="plain" if by and by.lower else "",
            )
            for row in rows
        ),
        right=numeric(heads),
        bar=by.name if by else "",
        breaks=frozenset({1, 4}),
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
        Row((Cell(name), *(_at(found[name], cut) for cut in cuts)))
        for name in sorted(found, key=place)
    )
    return Table(title="By cut-off", heads=heads, rows=rows, right=numeric(heads))


def _at(values: Mapping[int, float | None], cut: int) -> Cell:
    """The value at a cut; empty where nobody asked for it."""
    return number(values[cut]) if cut in values else Cell("")


def _sources(detail: RankingDetail) -> Table:
    heads = ("source", "of results", "of rank 1", "of ranks 1–5", "relevant", "alone", "precision")
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
        bar="of results",
        whole=True,
    )


def _percent(part: float | None) -> str:
    return numbers.ABSENT if part is None else f"{100 * part:.1f} %"


def _overlap(detail: RankingDetail) -> Table:
    ranked = sorted(detail.overlap.items(), key=lambda pair: (-pair[1], pair[0]))
    times = [(named(pair), each) for pair, each in ranked]
    about = "documents that both brought for one query"
    return tally("Overlap of sources", ("sources", "documents"), times, about=about)
