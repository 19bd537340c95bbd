"""An evaluation of retrieval: cut-offs, queries from the worst on, sources, other runs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from ragauge.contracts.evaluation import ComparedMetric, EvalReport, QueryRow, RankingDetail
from ragauge.errors import UsageError
from ragauge.reports import document as doc
from ragauge.reports import numbers
from ragauge.reports.document import Bar, Block, Cell, Column, Row, Table, Tone, names, number
from ragauge.reports.kinds.comparison import CORRECTIONS, NAMES, TONES, p_value
from ragauge.reports.kinds.evaluation_tables import EVERYTHING, counted, quality, table, tally
from ragauge.stats.decision import outlook

if TYPE_CHECKING:
    from ragauge.contracts.metric import Better

FAMILY = "retrieval."
WITH_CUTS = ("ndcg", "ndcg_exp", "p", "recall", "success", "rr", "ap")
QUERY_VALUES = ("ndcg@10", "p@10", "recall@10", "rr", "ap")
IN_TEXT, ON_PAGES = 10, 500
"""Queries that are shown."""
_BETWEEN = re.compile(r",(?![^()]*\))")


class Ranking(Struct, frozen=True):
    """The metric by which queries are good or bad."""

    name: str
    """Without its family, as in the values of queries."""
    title: str
    lower: bool = False
    """Whether less of it is better."""


NDCG = Ranking("ndcg@10", "nDCG@10")


def requested(report: EvalReport) -> dict[str, str]:
    """The ids of the metrics that --measures names, each as it is written there."""
    options = report.identity.get("options")
    if report.task != "retrieval" or not isinstance(options, dict):
        return {}
    written = options.get("measures") or ()
    each = [name.strip() for text in written for name in _BETWEEN.split(str(text))]
    found = {_id(name, options.get("rel") or 1): name for name in each}
    return {id: name for id, name in found.items() if id in report.metrics}


def _id(name: str, rel: int) -> str:
    """The id of the metric with this name; the name itself where there is none."""
    from ragauge.metrics.retrieval import KINDS, metric_id, parsed

    try:
        kind, at = parsed(name)
    except UsageError:
        return name
    if "rel" in KINDS[kind].takes and "rel" not in name.partition("(")[2]:
        at = structs.replace(at, rel=rel)
    return metric_id(kind, at)


def ranking(report: EvalReport) -> Ranking | None:
    """nDCG@10, or else the first metric that was requested or measured query by query."""
    rows: tuple[QueryRow, ...] = getattr(report.detail, "queries", ())
    measured = {id.removeprefix(FAMILY) for row in rows for id in row.values}
    if NDCG.name in measured:
        return NDCG
    wanted = {id.removeprefix(FAMILY): name for id, name in requested(report).items()}

    def place(name: str) -> tuple[int, int, str]:
        """As the kinds are ordered, and of one kind the deepest first."""
        cut = name.rpartition("@")[2]
        return WITH_CUTS.index(_kind(name)), -int(cut) if cut.isdecimal() else 0, name

    cuts = sorted((name for name in measured if _kind(name) in WITH_CUTS), key=place)
    first = next((name for name in (*wanted, *cuts) if name in measured), None)
    if first is None:
        return None
    return Ranking(first, wanted.get(first, first), _better(f"{FAMILY}{first}") == "lower")


def _kind(name: str) -> str:
    return re.split(r"[(@]", name)[0]


def _better(id: str) -> Better:
    from ragauge.metrics.table import find

    try:
        return find(id).better
    except UsageError:  # a report outlives the plug-in that made its numbers
        return "higher"


def value_of(row: QueryRow, name: str) -> float | None:
    """A query's value of a metric, with its family in the name or without."""
    return row.values.get(f"{FAMILY}{name}", row.values.get(name))


def of_rankings(report: EvalReport, detail: RankingDetail) -> Iterator[Block]:
    by = ranking(report)
    if by and (found := tenths(value_of(row, by.name) for row in detail.queries)):
        yield spread(by, found)
    if cuts := _cuts(report):
        yield cuts
    yield from _compared(detail)
    if detail.sources:
        yield _sources(detail)
    if detail.overlap:
        ranked = sorted(detail.overlap.items(), key=lambda pair: (-pair[1], pair[0]))
        yield tally(
            "Overlap of sources",
            ("sources", "documents"),
            [(names(pair), each) for pair, each in ranked],
            remark="documents that both found for one query",
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
            "queries": lambda one: counted(one[1]),
            "": lambda one: doc.plot(Bar(one[1] / max(counts))),
        },
        title=f"{by.title}, query by query",
        remark="how many queries are in each tenth",
        part="spread",
        name="spread",
    )


def worst_first(report: EvalReport, detail: RankingDetail) -> list[QueryRow]:
    """All queries, the worst first; those without a relevant document last, ties by id.

    Where the report names the worst of all queries by nDCG@10, they come first, in its order.
    """
    by = ranking(report) or NDCG
    first = {id: place for place, id in enumerate(detail.worst if by == NDCG else ())}

    def badness(row: QueryRow) -> tuple[int, bool, bool, float, str]:
        place = first.get(row.query, len(first))
        if place < len(first) or not row.relevant:
            return place, not row.relevant, False, 0.0, row.query
        value = value_of(row, by.name)
        return place, False, value is None, -(value or 0.0) if by.lower else value or 0.0, row.query

    return sorted(detail.queries, key=badness)


def queries(report: EvalReport, detail: RankingDetail) -> Table:
    """The queries, the worst first: those of a page; a terminal shows the first of them."""
    by, ranked = ranking(report), worst_first(report, detail)
    wanted = [id.removeprefix(FAMILY) for id in requested(report)] or QUERY_VALUES
    values = [
        name
        for name in dict.fromkeys([*([by.name] if by else []), *wanted])
        if any(name in row.values or f"{FAMILY}{name}" in row.values for row in detail.queries)
    ]
    order = f"the {'highest' if by.lower else 'lowest'} {by.title} first; " if by else ""

    def row(one: QueryRow) -> list[Cell]:
        value = value_of(one, by.name) if by else None
        plain = doc.plot(None if value is None else Bar(value))
        return [
            names(one.query, to=("question", one.query)),
            _first_relevant(one),
            Cell(numbers.n_of(one.relevant_retrieved, one.relevant), one.relevant_retrieved),
            counted(one.retrieved),
            *(number(value_of(one, name)) for name in values),
            plain if by and by.lower else quality(value),
        ]

    heads = ("first relevant", "found", "retrieved", *values)
    return Table(
        title="Queries",
        remark=f"{order}found: relevant documents retrieved, of all relevant",
        columns=[
            Column("query"),
            *(
                Column(head, right=True, begins=place in (0, 3), foreign=place >= 3)
                for place, head in enumerate(heads)
            ),
            Column("", plot=True),
        ],
        rows=doc.rows(map(row, ranked[:ON_PAGES])),
        shown=IN_TEXT,
        total=len(ranked),
        everything=EVERYTHING,
        part="queries",
    )


def _first_relevant(row: QueryRow) -> Cell:
    if row.first_relevant is None:
        return Cell("none", tone="bad" if row.relevant else "dim")
    return Cell(f"rank {numbers.count(row.first_relevant)}", row.first_relevant)


def _cuts(report: EvalReport) -> Table | None:
    """The metrics that are cut at a rank, by rank; empty where one was not requested."""
    found: dict[str, dict[int, float | None]] = {}
    for id, score in report.metrics.items():
        name, _, cut = id.partition(".")[2].rpartition("@")
        if cut.isdecimal() and _kind(name) in WITH_CUTS:
            found.setdefault(name, {})[int(cut)] = score.value
    cuts = sorted({cut for values in found.values() for cut in values})
    if not found:
        return None
    ranked = sorted(found.items(), key=lambda pair: (WITH_CUTS.index(_kind(pair[0])), pair[0]))
    return table(
        "By cut-off",
        ("metric", *(f"@{cut}" for cut in cuts)),
        doc.rows(
            [names(name), *(number(at[cut]) if cut in at else Cell("") for cut in cuts)]
            for name, at in ranked
        ),
        plot=False,
    )


def _sources(detail: RankingDetail) -> Table:
    ranked = sorted(detail.sources.items(), key=lambda pair: (-pair[1].share, pair[0]))

    def percent(part: float | None) -> Cell:
        return number(part, numbers.ABSENT if part is None else f"{100 * part:.1f} %")

    return table(
        "Sources",
        ("source", "of results", "of rank 1", "of ranks 1–5", "relevant", "alone", "precision"),
        doc.rows(
            [
                names(source),
                *map(percent, (one.share, one.top1, one.top5)),
                counted(one.relevant),
                counted(one.unique_relevant),
                number(one.precision),
                doc.plot(Bar(one.share)),
            ]
            for source, one in ranked
        ),
        remark="alone: relevant documents that no other source found",
    )


def _compared(detail: RankingDetail) -> Iterator[Table]:
    """A table for each other run, in the order the user named them."""
    correction = CORRECTIONS.get(detail.correction or "none", f"p adjusted: {detail.correction}")
    methods = tests_words(one.method for one in detail.compared if one.method)
    for run in dict.fromkeys(one.run for one in detail.compared):
        yield Table(
            title="Against",
            about=run,
            remark=f"{methods}; {correction}" if methods else correction,
            columns=[
                Column("metric"),
                *(Column(head, right=True, begins=True) for head in ("this", "other", "change")),
                Column("interval", spare=2),
                Column("p", right=True, spare=1),
                Column("adjusted p", right=True, begins=True),
                Column("verdict"),
            ],
            rows=[_change(one) for one in detail.compared if one.run == run],
            part="tables",
        )


def tests_words(methods: Iterable[str]) -> str:
    """The tests, each named once with the ways it was done.

    >>> tests_words(["randomisation, exact", "McNemar, exact", "randomisation, 10,000 draws"])
    'randomisation (exact or 10,000 draws), McNemar (exact)'
    """
    ways: dict[str, list[str]] = {}
    for method in dict.fromkeys(methods):
        test, _, way = method.partition(", ")
        ways.setdefault(test, []).extend([way] if way else [])
    return ", ".join(
        f"{test} ({' or '.join(each)})" if each else test for test, each in ways.items()
    )


def _change(one: ComparedMetric) -> Row:
    word = change_word(one)
    tones: dict[str, Tone] = {"good": "good", "bad": "bad"}
    sides = f"{numbers.count(one.better)} better, {numbers.count(one.worse)} worse"
    notes = [f"{numbers.counted(one.n, 'query', 'queries')}: {sides}"]
    notes += [f"effect {numbers.signed(one.effect)}"] if one.effect is not None else []
    notes += [one.reason] if one.reason else []
    return Row(
        (
            names(one.metric.partition(".")[2] or one.metric, to=("metric", one.metric)),
            number(one.value),
            number(one.other),
            number(one.estimate, numbers.signed(one.estimate)),
            Cell(numbers.signed_interval(one.ci), one.ci, "dim"),
            number(one.p, p_value(one.p)),
            number(one.p_adjusted, p_value(one.p_adjusted)),
            Cell(word, word, tones.get(TONES.get(word, ""), "dim")),
        ),
        "; ".join(notes),
        strong=word in TONES,
    )


def change_word(one: ComparedMetric) -> str:
    """better, worse, the same, or that it cannot be said; the adjusted p decides."""
    if one.n and one.n == one.n_zero:
        return "the same"
    p = one.p if one.p_adjusted is None else one.p_adjusted
    return NAMES[outlook(one.estimate, one.ci, p, _better(one.metric))]
