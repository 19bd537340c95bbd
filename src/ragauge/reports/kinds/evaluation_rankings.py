"""An evaluation of retrieval: cut-offs, the worst queries first, sources, other runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ragauge.contracts.evaluation import ComparedMetric, EvalReport, QueryRow, RankingDetail
from ragauge.metrics.table import known
from ragauge.metrics.worst_first import Ranking, by_table, ranked_queries, ranking, requested
from ragauge.reports import document as doc
from ragauge.reports import phrasing
from ragauge.reports.document import Bar, Block, Cell, Column, Table, count, names, number
from ragauge.reports.kinds.comparison import NAMES, TONES, correction_text, p_value
from ragauge.reports.kinds.evaluation_tables import EVERYTHING
from ragauge.stats.decision import outlook

if TYPE_CHECKING:
    pass

FAMILY = "retrieval."
NDCG = "retrieval.ndcg@10"
QUERY_VALUES = tuple(f"{FAMILY}{one}" for one in ("ndcg@10", "p@10", "recall@10", "rr", "ap"))
IN_TEXT, ON_PAGES = 10, 500
"""Queries that are shown."""


def of_rankings(report: EvalReport, detail: RankingDetail) -> Iterator[Block]:
    by = ranking(report)
    if by and (found := tenths(row.values.get(by.id) for row in detail.queries)):
        yield spread(by, found)
    yield from _cuts(report)
    yield from _compared(detail)
    if detail.sources:
        yield doc.table(
            sorted(detail.sources.items(), key=lambda one: (-one[1].share, one[0])),
            {
                "source": lambda one: names(one[0]),
                "of results": lambda one: number(one[1].share),
                "of rank 1": lambda one: number(one[1].top1),
                "of ranks 1–5": lambda one: number(one[1].top5),
                Column("relevant", right=True, begins=True): lambda one: count(one[1].relevant),
                "alone": lambda one: count(one[1].unique_relevant),
                "precision": lambda one: number(one[1].precision),
                "": lambda one: doc.plot(Bar(one[1].share)),
            },
            title="Sources",
            remark="fractions of the results; alone: relevant and in no other source",
            part="tables",
        )


def tenths(values: Iterable[float | None]) -> list[int]:
    """How many of the values are in each tenth from 0 to 1; nothing where there are none."""
    # 0.3 * 10 is 3.0000000000000004 in some sums: what is within rounding counts as there.
    times = Counter(
        min(9, max(0, int(round(10 * value, 9)))) for value in values if value is not None
    )
    return [times[tenth] for tenth in range(10)] if times else []


def spread(by: Ranking, counts: Sequence[int]) -> Table:
    """How many queries there are in each tenth of a metric."""
    return doc.table(
        enumerate(counts),
        {
            "value": lambda one: Cell(f"{one[0] / 10:.1f} to {(one[0] + 1) / 10:.1f}"),
            "queries": lambda one: count(one[1]),
            "": lambda one: doc.plot(Bar(one[1] / max(counts))),
        },
        title=f"{by.title}, query by query",
        remark="how many queries are in each tenth",
        part="spread",
        name="spread",
    )


def queries(report: EvalReport, detail: RankingDetail) -> Table:
    """The queries, the worst first: those of a page; a terminal shows the first of them."""
    by, ranked = ranking(report), ranked_queries(report, detail)
    order = f"the {'highest' if by.lower else 'lowest'} {by.title} first; " if by else ""

    def first_relevant(row: QueryRow) -> Cell:
        if row.first_relevant is None:
            return Cell("none", tone="bad" if row.relevant else "dim")
        return Cell(f"rank {phrasing.count(row.first_relevant)}", row.first_relevant)

    def value(row: QueryRow, id: str) -> Cell:
        return number(row.values.get(id))

    def bar(row: QueryRow) -> Cell:
        found = row.values.get(by.id) if by else None
        return doc.plot(None if found is None else Bar(found))

    measured: dict[str | Column, Callable[[QueryRow], Cell]] = {
        Column(id.removeprefix(FAMILY), True, begins=True, foreign=True): partial(value, id=id)
        for id in dict.fromkeys([*([by.id] if by else []), *(requested(report) or QUERY_VALUES)])
    }
    table = doc.table(
        ranked[:ON_PAGES],
        {
            "query": lambda row: names(row.query, to=("question", row.query)),
            Column("first relevant", right=True, begins=True): first_relevant,
            "found": lambda row: doc.n_of(row.relevant_retrieved, row.relevant),
            "retrieved": lambda row: count(row.retrieved),
            **measured,
            "": bar,
        },
        title="Queries",
        remark=f"{order}found: relevant documents retrieved, of all relevant",
        shown=IN_TEXT,
        total=len(ranked),
        everything=EVERYTHING,
        part="queries",
    )
    return doc.without_empty_columns(table, always=("first relevant", "found"))


def _cuts(report: EvalReport) -> Iterator[Table]:
    """The metrics that are cut at a rank, by rank; empty where one was not requested."""
    found: dict[str, dict[int, float | None]] = {}
    for id, score in report.metrics.items():
        name, _, cut = id.removeprefix(FAMILY).rpartition("@")
        if cut.isdecimal():
            found.setdefault(name, {})[int(cut)] = score.value

    def value(name: str, cut: int) -> Cell:
        return number(found[name][cut]) if cut in found[name] else Cell("")

    cuts = sorted({at for values in found.values() for at in values})
    if found:
        yield doc.table(
            sorted(found, key=lambda name: by_table(f"{FAMILY}{name}")),
            {
                "metric": names,
                **{f"@{at}": partial(value, cut=at) for at in cuts},
            },
            title="By cut-off",
            part="tables",
        )


def _compared(detail: RankingDetail) -> Iterator[Table]:
    """A table for each other run, in the order the user named them."""
    correction = correction_text(detail.correction or "none")
    methods = dict.fromkeys(one.method for one in detail.compared)

    def verdict(one: ComparedMetric) -> Cell:
        return Cell(change_verdict(one), tone=TONES.get(change_verdict(one), "dim"))

    for run in dict.fromkeys(one.run for one in detail.compared):
        yield doc.table(
            [one for one in detail.compared if one.run == run],
            {
                "metric": lambda one: names(
                    one.metric.removeprefix(FAMILY), to=("metric", one.metric)
                ),
                "this": lambda one: number(one.value),
                "other": lambda one: number(one.other),
                "change": lambda one: doc.signed(one.estimate),
                Column("interval", spare=1): lambda one: doc.signed_interval(one.ci),
                "p": lambda one: number(_p(one), p_value(_p(one))),
                Column("effect", True, spare=2): lambda one: doc.signed(one.effect),
                Column("n", True, spare=3): lambda one: count(one.n),
                "better": lambda one: count(one.better),
                "worse": lambda one: count(one.worse),
                "verdict": verdict,
            },
            note=lambda one: one.reason or "",
            strong=lambda one: change_verdict(one) in TONES,
            title="Against",
            about=run,
            remark=doc.listed(*methods, correction, sep="; "),
            part="tables",
        )


def _p(one: ComparedMetric) -> float | None:
    return one.p if one.p_adjusted is None else one.p_adjusted


def change_verdict(one: ComparedMetric) -> str:
    """`better`, `worse` or undecided; the adjusted p decides."""
    metric = known(one.metric)
    return NAMES[outlook(one.estimate, one.ci, _p(one), metric.better if metric else "higher")]
