"""The tables of entities, labels and links: by type, by schema, by rank, by knowledge base."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from ragauge.contracts.evaluation import (
    EntityDetail,
    EvalReport,
    LabelDetail,
    LinkDetail,
    MatchCounts,
    TokenCounts,
)
from ragauge.reports import document as doc
from ragauge.reports import numbers
from ragauge.reports.document import Bar, Block, Cell, Column, Row, Table, Tone, names, number

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
COUNTS = ("correct", "incorrect", "partial", "missed", "spurious")
HIERARCHY = {
    "labels.accuracy": "the label itself",
    "labels.category_accuracy": "at least its category",
    "labels.category_gap": "correct category, wrong label",
    "labels.hierarchical_precision": "of all predicted labels and their groups, those in gold",
    "labels.hierarchical_recall": "of all gold labels and their groups, those predicted",
    "labels.hierarchical_f1": "of both",
}
RANKS = {
    "1": "1",
    "2-5": "2 to 5",
    "6-10": "6 to 10",
    "beyond": "beyond 10",
    "none": "not found",
}
ENDS = {
    "mention": ("mentions", "the mention was found, whatever its link"),
    "strong": ("strong", "the same place and the same id"),
    "weak": ("weak", "an overlap, and the same id"),
    "nil": ("NIL", "mentions of what is in no knowledge base"),
}
RATES = frozenset(
    {"precision", "recall", "f1", "accuracy", "share", "ratio", "prediction", "hits", "mrr"}
)
"""A column with one of these words in its name holds rates, any other counts."""
COLUMN_ORDER = (
    *("items", "support", "gold", "predicted", "correct", "incorrect", "partial", "missed"),
    *("spurious", "tp", "fp", "fn", "precision", "recall", "f1"),
)
"""Columns whose names begin with these words are in this order; others after them, by name."""
SHORT = {"precision": "P", "recall": "R", "f1": "F1", "nil": "NIL"}
_PARTS = re.compile(r"[_.@]")


def of_entities(report: EvalReport, detail: EntityDetail) -> Iterator[Table]:
    yield _schemas("Schemas", detail.schemas, remark=f"matching: {detail.matching}")
    if report.per_type:
        yield per_type("Types", "the most frequent first", "type", report.per_type)
    types = sorted(detail.token_types.items(), key=lambda pair: (-pair[1].tp - pair[1].fn, pair[0]))
    yield table(
        "Tokens",
        ("type", "tp", "fp", "fn", "P", "R", "F1"),
        [
            Row((Cell("all types"), *_token(detail.tokens)), strong=True),
            *(Row((names(type), *_token(one))) for type, one in types),
        ],
        remark="a token counts once for each type it has",
    )
    if detail.levels:
        yield table(
            "Levels",
            ("parts of the type", "types", "strict F1", "partial F1"),
            doc.rows(
                [
                    *map(counted, (one.level, one.types)),
                    *map(number, (one.f1_strict, one.f1_partial)),
                ]
                for one in detail.levels
            ),
            remark="types cut to this many parts: at 1, GRP.HER.MUS is GRP",
            plot=False,
        )
    for layer, schemas in sorted(detail.layers.items()):
        yield _schemas("Layer", schemas, about=layer)
    if detail.distribution:
        yield _distribution(detail)


def _schemas(
    title: str, schemas: Mapping[str, MatchCounts], *, remark: str = "", about: str = ""
) -> Table:
    known = [name for name in SCHEMAS if name in schemas]
    return table(
        title,
        ("schema", *COUNTS, "P", "R", "F1"),
        doc.rows(
            (
                [
                    Cell(name.replace("_", " ")),
                    *(counted(getattr(schemas[name], one)) for one in COUNTS),
                    *_rates(schemas[name]),
                ]
                for name in known
            ),
            () if about else [SCHEMAS[name] for name in known],
        ),
        remark=remark,
        about=about,
        groups=("correct", "P"),
        plot=False,
    )


def _rates(one: MatchCounts | TokenCounts) -> list[Cell]:
    return [number(one.precision), number(one.recall), number(one.f1)]


def _token(one: TokenCounts) -> list[Cell]:
    return [*map(counted, (one.tp, one.fp, one.fn)), *_rates(one), quality(one.f1)]


def _distribution(detail: EntityDetail) -> Table:
    shares = sorted(detail.distribution.items(), key=lambda pair: (-pair[1].gold, pair[0]))
    most = max(max(one.gold, one.predicted) for _, one in shares) or 1
    gold, predicted = (sum(getattr(one, of) for _, one in shares) for of in ("gold", "predicted"))

    def ratio(value: float | None) -> Cell:
        return number(value, numbers.ABSENT if value is None else f"{value:.2f}", "dim")

    total = (Cell("all types"), counted(gold), counted(predicted))
    return table(
        "Type distribution",
        ("type", "gold", "predicted", "over_prediction"),
        [
            Row((*total, ratio(predicted / gold if gold else None), doc.plot(None)), strong=True),
            *(
                Row(
                    (
                        names(type),
                        counted(one.gold),
                        counted(one.predicted),
                        ratio(one.ratio),
                        doc.plot(Bar(one.predicted / most, mark=one.gold / most)),
                    )
                )
                for type, one in shares
            ),
        ],
        remark="over_prediction: predicted over gold; a bar ends at predicted, its mark is at gold",
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
        yield _confusions(detail)
    # `_macro_words` counts the labels that do not occur, and the files for machines list them.
    occurring = [
        label for label in label_order(report, detail) if any(report.per_type[label].values())
    ]
    if occurring:
        yield per_type("Labels", _macro_words(report, detail), "label", report.per_type, occurring)
    known = {id: report.metrics[id] for id in HIERARCHY if id in report.metrics}
    if any(one.value is not None for id, one in known.items() if id != "labels.accuracy"):
        yield table(
            "Hierarchy",
            ("metric", "value"),
            [
                Row(
                    (
                        Cell(id.partition(".")[2].replace("_", " "), id, to=("metric", id)),
                        number(one.value),
                        doc.plot(None) if id == "labels.category_gap" else quality(one.value),
                    ),
                    HIERARCHY[id],
                )
                for id, one in known.items()
            ],
            remark="how close the labels are that are not correct",
        )


def _confusions(detail: LabelDetail) -> Table:
    shown = detail.confusions[:CONFUSIONS_SHOWN]
    most = max(one.count for one in shown)
    errors = numbers.counted(detail.errors, "error")
    pairs = numbers.counted(detail.distinct_confusions, "pair")
    left = detail.distinct_confusions - len(shown)
    return Table(
        title="Top confusions",
        remark=f"{errors} in {pairs} of labels; the fraction is of the gold label's items",
        columns=doc.columns(
            *("gold", "predicted", "items", "fraction", "such as", "plot"),
            right=("items", "fraction"),
            plots=("plot",),
        ),
        rows=doc.rows(
            [
                names(one.gold),
                names(one.predicted),
                counted(one.count),
                number(one.share, f"{100 * one.share:.1f} %", "dim"),
                names(" ".join(one.examples)),
                doc.plot(Bar(one.count / most)),
            ]
            for one in shown
        ),
        after=f"and {numbers.counted(left, 'more pair')}" if left > 0 else "",
        part="tables",
    )


def label_order(report: EvalReport, detail: LabelDetail) -> list[str]:
    """The labels that were measured: as the label set has them, then others by name."""
    known = [label for label in detail.labels if label in report.per_type]
    return [*known, *sorted(set(report.per_type) - set(known))]


def _macro_words(report: EvalReport, detail: LabelDetail) -> str:
    """Both macro averages, and how many labels of the set make them differ."""
    over = {"macro_f1": "the labels that occur", "macro_f1_all": "all labels"}
    known = {name: report.metrics.get(f"labels.{name}") for name in over}
    averages = [
        f"{numbers.value(one.value)} over {over[name]}" for name, one in known.items() if one
    ]
    if not averages:
        return ""
    absent = numbers.counted(detail.absent_labels, "label")
    verb = "does not occur and counts" if detail.absent_labels == 1 else "do not occur and count"
    return f"macro F1 {', '.join(averages)} of {detail.label_set} ({absent} {verb} 0 there)"


def of_links(report: EvalReport, detail: LinkDetail) -> Iterator[Table]:
    known = [rank for rank in RANKS if rank in detail.ranks]
    known += sorted(set(detail.ranks) - set(known))
    about = [
        f"{numbers.counted(detail.in_kb, 'mention')} in the knowledge base",
        f"{numbers.count(detail.nil)} NIL",
        f"{numbers.count(detail.missing)} without a prediction",
    ]
    yield tally(
        "Ranks",
        ("rank", "mentions", "fraction"),
        [(Cell(RANKS.get(rank, rank)), detail.ranks[rank]) for rank in known],
        remark=f"of the first correct candidate; {', '.join(about)}",
    )
    if ends := _end_to_end(report):
        yield ends
    if report.per_type:
        yield per_type("Types", "", "type", report.per_type)
    if detail.kb_pairs:
        yield _pairs(report, detail)


def _end_to_end(report: EvalReport) -> Table | None:
    made = []
    for family, (name, meaning) in ENDS.items():
        ids = [f"linking.{family}_{rate}" for rate in ("precision", "recall", "f1")]
        scores = [report.metrics.get(id) for id in ids]
        if any(scores):
            cells = [number(one.value) if one else Cell("") for one in scores]
            reason = next((one.reason for one in scores if one and one.value is None), None)
            f1 = scores[-1].value if scores[-1] else None
            note = f"{meaning}: {reason}" if reason else meaning
            made.append(Row((Cell(name), *cells, quality(f1)), note))
    return table("NIL, and end to end", ("mentions", "P", "R", "F1"), made) if made else None


def _pairs(report: EvalReport, detail: LinkDetail) -> Table:
    ranked = sorted(detail.kb_pairs.items(), key=lambda pair: (-pair[1].comparable, pair[0]))
    covered = report.metrics.get("linking.consistency_coverage")
    coverage = f"; coverage {numbers.value(covered.value)}" if covered else ""
    return table(
        "Knowledge bases",
        ("pair", "in both", "comparable", "coverage", "agree", "agreement"),
        doc.rows(
            [
                names(pair),
                counted(one.of),
                counted(one.comparable),
                doc.share(one.comparable, one.of),
                counted(one.agree),
                number(one.agreement),
                quality(one.agreement),
            ]
            for pair, one in ranked
        ),
        remark=f"whether the ids given to one entity in both of them belong together{coverage}",
    )


def table(
    title: str,
    heads: Sequence[str],
    rows: Sequence[Row],
    *,
    remark: str = "",
    about: str = "",
    groups: Sequence[str] = (),
    plot: bool = True,
) -> Table:
    """Rows of numbers after a name, with a bar at the end unless `plot` is off.

    On a narrow page columns of one group stay together; without groups each can be cut off.
    """
    return Table(
        title=title,
        about=about,
        remark=remark,
        columns=[
            Column(heads[0]),
            *(Column(head, right=True, begins=not groups or head in groups) for head in heads[1:]),
            *([Column("", plot=True)] if plot else []),
        ],
        rows=rows,
        shown=SHOWN,
        everything=EVERYTHING,
        part="tables",
    )


def tally(
    title: str, heads: Sequence[str], times: Sequence[tuple[Cell, int]], *, remark: str = ""
) -> Table:
    """How often each occurs, with bars; as fractions too, where there is a head for them."""
    total, most = sum(each for _, each in times), max((each for _, each in times), default=0) or 1
    return table(
        title,
        heads,
        doc.rows(
            [
                name,
                counted(each),
                *([doc.share(each, total)] if len(heads) > 2 else []),
                doc.plot(Bar(each / most)),
            ]
            for name, each in times
        ),
        remark=remark,
    )


def counted(times: int) -> Cell:
    return doc.count(times, "" if times else "dim")


def quality(value: float | None) -> Cell:
    """The bar of a rate, green where it is good and red where it is not."""
    if value is None:
        return doc.plot(None)
    tone: Tone = "good" if value >= GOOD else "warm" if value >= FAIR else "bad"
    return doc.plot(Bar(value, tone))


def per_type(
    title: str,
    remark: str,
    first: str,
    found: Mapping[str, Measured],
    order: Sequence[str] | None = None,
) -> Table:
    """What was measured of each type or label; the most frequent first, unless in an order."""
    columns = columns_of(found.values())
    rates = ("f1_strict", "strict_f1", "f1", *sorted(filter(is_rate, columns)))
    drawn = next((name for name in rates if name in columns), "")

    def weight(type: str) -> tuple[float, str]:
        return -(found[type].get(columns[0]) or 0.0), type

    kinds = [_place(name)[:2] for name in columns]
    begins = [not place or kind != kinds[place - 1] for place, kind in enumerate(kinds)]
    return table(
        title,
        (first, *map(column_name, columns)),
        doc.rows(
            [
                names(type),
                *(measured(name, found[type].get(name)) for name in columns),
                quality(found[type].get(drawn)),
            ]
            for type in (sorted(found, key=weight) if order is None else order)
        ),
        remark=remark,
        groups=[column_name(name) for name, on in zip(columns, begins, strict=True) if on],
    )


def columns_of(rows: Iterable[Measured]) -> list[str]:
    """The names of all that was measured, counts before rates.

    >>> columns_of([{"f1_partial": 1.0, "f1_strict": 1.0, "recall_strict": 1.0, "tp": 1}])
    ['tp', 'recall_strict', 'f1_strict', 'f1_partial']
    """
    return sorted({name for row in rows for name in row}, key=lambda name: (_place(name), name))


def measured(name: str, value: float | None) -> Cell:
    """A count or a rate, by the name of the column.

    >>> measured("support", 12.0).text, measured("f1_strict", 1.0).text
    ('12', '1.000')
    """
    if value is None:
        return Cell(numbers.ABSENT, tone="dim")
    return number(value) if is_rate(name) or value != int(value) else counted(int(value))


def column_name(name: str) -> str:
    """
    >>> column_name("f1_strict"), column_name("support"), column_name("hits@1")
    ('F1 strict', 'support', 'hits@1')
    """
    return " ".join(SHORT.get(word, word) for word in name.split("_"))


def is_rate(name: str) -> bool:
    """
    >>> is_rate("f1_strict"), is_rate("hits@1"), is_rate("strict.tp")
    (True, True, False)
    """
    return not RATES.isdisjoint(_PARTS.split(name))


def _place(name: str) -> tuple[bool, bool, int]:
    """Counts before rates, and of these the partial ones last; then as the words are ordered."""
    words = _PARTS.split(name)
    known = [COLUMN_ORDER.index(word) for word in words if word in COLUMN_ORDER]
    rate = is_rate(name)
    if rate and "partial" in words:
        known.remove(COLUMN_ORDER.index("partial"))
    later = "partial" in words or "prediction" in words
    return rate, rate and later, min(known, default=len(COLUMN_ORDER))
