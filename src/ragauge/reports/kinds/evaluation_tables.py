"""The tables of entities, labels and links: by type, by schema, by rank, by knowledge base."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import structs

from ragauge.contracts.evaluation import EntityDetail, EvalReport, LabelDetail, LinkDetail
from ragauge.reports import document as doc
from ragauge.reports import numbers
from ragauge.reports.document import Bar, Block, Cell, Column, Table, Tone, names, number
from ragauge.reports.figures import scatter

Measured = Mapping[str, float | None]

SHOWN = 24
"""Rows of a table in a terminal."""
EVERYTHING = "--report FILE.html shows them"
CONFUSIONS_SHOWN = 15
LABELS_IN_TEXT = 30
FREQUENT = 0.1
"""An error over this fraction of the gold label's items is highlighted."""
GOOD, FAIR = 0.8, 0.5
"""From where on the bar of a rate is green, and yellow; below it is red."""
SCHEMAS = {
    "strict": "the same place and the same type",
    "exact": "the same place, whatever the type",
    "semeval_partial": "an overlap counts half, whatever the type",
    "ent_type": "an overlap of the same type counts in full: the partial F1",
}
RANKS = {"1": "1", "2-5": "2 to 5", "6-10": "6 to 10", "beyond": "beyond 10", "none": "not found"}
COUNTS = (
    *("support", "gold", "predicted", "correct", "incorrect", "partial", "missed", "spurious"),
    *("tp", "fp", "fn", "types", "n", "nil"),
)
RATES = {
    "precision": "P",
    "precision_strict": "P strict",
    "recall": "R",
    "recall_strict": "R strict",
    "f1": "F1",
    "f1_strict": "F1 strict",
    "precision_partial": "P partial",
    "recall_partial": "R partial",
    "f1_partial": "F1 partial",
    "over_prediction": "over prediction",
    "accuracy": "accuracy",
    "hits@1": "hits@1",
    "mrr": "mrr",
}
"""What is measured of a type, a label or a schema, in the order of columns."""
PLOT = Column("", plot=True)


def of_entities(report: EvalReport, detail: EntityDetail) -> Iterator[Block]:
    for layer, schemas in (("", detail.schemas), *sorted(detail.layers.items())):
        known = [name for name in SCHEMAS if name in schemas]
        yield measured_table(
            "schema",
            [(Cell(name.replace("_", " "), name), structs.asdict(schemas[name])) for name in known],
            title="Layer" if layer else "Schemas",
            about=layer,
            remark="" if layer else f"matching: {detail.matching}",
            note=None if layer else lambda row: SCHEMAS[row[0].value],
        )
    yield from by_type(report)
    types = sorted(detail.token_types.items(), key=lambda pair: (-pair[1].tp - pair[1].fn, pair[0]))
    total = (Cell("all types"), structs.asdict(detail.tokens))
    yield measured_table(
        "type",
        [total, *((names(type), structs.asdict(one)) for type, one in types)],
        title="Tokens",
        remark="a token counts once for each type it has",
        strong=lambda row: row is total,
    )
    if detail.levels:
        yield measured_table(
            "parts of the type",
            [
                (
                    Cell(str(one.level), one.level),
                    {"types": one.types, "f1_strict": one.f1_strict, "f1_partial": one.f1_partial},
                )
                for one in detail.levels
            ],
            title="Levels",
            remark="types cut to this many parts: at 1, GRP.HER.MUS is GRP",
        )


def confusion(title: str, labels: Sequence[str], counts: Sequence[Sequence[int]]) -> Block:
    """Gold labels as rows, predicted ones as columns, without labels that do not occur.

    A terminal has no room for many labels: there the top confusions have to do.
    """
    totals = [sum(row) for row in counts]
    seen = [at for at in range(len(labels)) if totals[at] or any(row[at] for row in counts)]

    def cell(row: int, column: int) -> Cell:
        times = counts[row][column]
        if not times:
            return Cell("·", 0, "dim")
        of_row = f"{numbers.share(times, totals[row])} of the row"
        hint = f"gold {labels[row]}, predicted {labels[column]}: {numbers.count(times)}, {of_row}"
        frequent = times / totals[row] > FREQUENT
        tone: Tone = "good" if row == column else "bad" if frequent else "warm"
        return Cell(numbers.count(times), times, tone, hint=hint)

    unseen = numbers.counted(len(labels) - len(seen), "label")
    made = doc.table(
        seen,
        {
            "gold": lambda row: names(labels[row]),
            **{
                Column(labels[at], right=True, begins=True, foreign=True): partial(cell, column=at)
                for at in seen
            },
            "n": lambda row: doc.count(totals[row], "dim"),
        },
        title=title,
        remark="rows are gold, columns predicted; errors over 10 % of their row are highlighted",
        after=f"{unseen} neither in gold nor predicted" if len(seen) < len(labels) else "",
        part="confusion",
    )
    return made if len(seen) <= LABELS_IN_TEXT else doc.on_pages(made, part="confusion")


def of_labels(report: EvalReport, detail: LabelDetail) -> Iterator[Block]:
    if detail.labels:
        yield confusion("Confusion matrix", detail.labels, detail.matrix)
    if detail.categories:
        yield confusion("Categories", detail.categories, detail.category_matrix)
    if detail.confusions:
        most, errors = detail.confusions[0].count, numbers.counted(detail.errors, "error")
        yield doc.table(
            detail.confusions,
            {
                "gold": lambda one: names(one.gold),
                "predicted": lambda one: names(one.predicted),
                "items": lambda one: doc.count(one.count),
                "fraction": lambda one: number(one.share, f"{100 * one.share:.1f} %", "dim"),
                "such as": lambda one: names(" ".join(one.examples)),
                PLOT: lambda one: doc.plot(Bar(one.count / most)),
            },
            title="Top confusions",
            remark=f"{errors}; the fraction is of the gold label's items",
            shown=CONFUSIONS_SHOWN,
            total=detail.distinct_confusions,
            everything=EVERYTHING,
            part="tables",
        )
    # Labels that do not occur fill no table; the files for machines list them.
    known = {label: report.per_type[label] for label in label_order(report, detail)}
    if given := [(names(label), one) for label, one in known.items() if any(one.values())]:
        absent = numbers.counted(detail.absent_labels, "label")
        zeros = detail.absent_labels and f"macro_f1_all counts {absent} that do not occur as 0"
        remark = doc.listed(f"label set: {detail.label_set}", zeros, sep="; ")
        yield measured_table("label", given, title="Labels", remark=remark)
        yield from scatter.by_type(report.per_type)


def label_order(report: EvalReport, detail: LabelDetail) -> list[str]:
    """The labels that were measured: as the label set has them, then others by name."""
    known = [label for label in detail.labels if label in report.per_type]
    return [*known, *sorted(set(report.per_type) - set(known))]


def of_links(report: EvalReport, detail: LinkDetail) -> Iterator[Block]:
    total, most = sum(detail.ranks.values()), max(detail.ranks.values(), default=0) or 1
    yield doc.table(
        [(RANKS[rank], detail.ranks[rank]) for rank in RANKS if rank in detail.ranks],
        {
            "rank": lambda pair: Cell(pair[0]),
            "mentions": lambda pair: doc.count(pair[1]),
            "fraction": lambda pair: doc.share(pair[1], total),
            PLOT: lambda pair: doc.plot(Bar(pair[1] / most)),
        },
        title="Ranks",
        remark="of the first correct candidate, for mentions in the knowledge base",
        part="tables",
    )
    yield from by_type(report)
    if detail.kb_pairs:
        yield doc.table(
            sorted(detail.kb_pairs.items(), key=lambda pair: (-pair[1].comparable, pair[0])),
            {
                "pair": lambda pair: names(pair[0]),
                "in both": lambda pair: doc.count(pair[1].of),
                "comparable": lambda pair: doc.count(pair[1].comparable),
                "coverage": lambda pair: doc.share(pair[1].comparable, pair[1].of),
                "agree": lambda pair: doc.count(pair[1].agree),
                "agreement": lambda pair: number(pair[1].agreement),
                PLOT: lambda pair: quality(pair[1].agreement),
            },
            title="Knowledge bases",
            remark="whether the ids given to one entity in both of them belong together",
            part="tables",
        )


def by_type(report: EvalReport) -> Iterator[Block]:
    found, columns = report.per_type, columns_of(report.per_type.values())
    if found:
        ranked = sorted(found, key=lambda name: (-(found[name].get(columns[0]) or 0.0), name))
        given = [(names(type), found[type]) for type in ranked]
        yield measured_table("type", given, title="Types", remark="the most frequent first")
        yield from scatter.by_type(found)


def measured_table(first: str, given: Sequence[tuple[Cell, Measured]], **about: Any) -> Table:
    """What was measured of each thing: counts, then rates, and a bar of its F1 or accuracy."""
    ids = columns_of(measured for _, measured in given)
    drawn = next((id for id in ("f1_strict", "f1", "accuracy") if id in ids), "")

    def cell(row: tuple[Cell, Measured], id: str) -> Cell:
        value = row[1].get(id)
        return number(value) if value is None or id not in COUNTS else doc.count(int(value))

    return doc.table(
        given,
        {
            Column(first): lambda row: row[0],
            **{
                Column(RATES.get(id, id.replace("nil", "NIL")), True, begins=True): partial(
                    cell, id=id
                )
                for id in ids
            },
            PLOT: lambda row: quality(row[1].get(drawn)),
        },
        shown=SHOWN,
        everything=EVERYTHING,
        part="tables",
        **about,
    )


def columns_of(rows: Iterable[Measured]) -> list[str]:
    """The names of all that was measured, counts before rates.

    >>> columns_of([{"f1_partial": 1.0, "f1_strict": 1.0, "recall_strict": 1.0, "tp": 1}])
    ['tp', 'recall_strict', 'f1_strict', 'f1_partial']
    """
    found = {name for row in rows for name in row}
    known = [name for name in (*COUNTS, *RATES) if name in found]
    return [*known, *sorted(found.difference(known))]


def quality(value: float | None) -> Cell:
    """The bar of a rate, green where it is good and red where it is not."""
    if value is None:
        return doc.plot(None)
    tone: Tone = "good" if value >= GOOD else "warm" if value >= FAIR else "bad"
    return doc.plot(Bar(value, tone))
