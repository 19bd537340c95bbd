"""What an evaluation of types has of its own: the confusion matrix, classes and categories."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from ragauge.contracts.evaluation import EvalReport, LabelDetail
from ragauge.contracts.labels import MISSING, OTHER
from ragauge.reports import numbers
from ragauge.reports.evaluation.tables import (
    Cell,
    Measured,
    Row,
    Table,
    counted,
    named,
    number,
    per_type,
)

CONFUSIONS_SHOWN = 15
HIERARCHY = {
    "labels.accuracy": "the label itself",
    "labels.category_accuracy": "at least its category",
    "labels.category_gap": "right category, wrong label",
    "labels.hierarchical_precision": "of all the predicted labels and their groups, those in gold",
    "labels.hierarchical_recall": "of all the gold labels and their groups, those predicted",
    "labels.hierarchical_f1": "of both",
}
MEANINGS = {
    OTHER: "not in the label set",
    MISSING: "nothing was predicted",
}


class Matrix(Struct, frozen=True, kw_only=True):
    """Counts by gold label (rows) and predicted label (columns)."""

    title: str
    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    @property
    def totals(self) -> list[int]:
        return [sum(row) for row in self.counts]

    def share(self, row: int, column: int) -> float:
        """Of the items with the row's gold label, those with the column's prediction."""
        total = sum(self.counts[row])
        return self.counts[row][column] / total if total else 0.0

    def seen(self) -> Matrix:
        """Without the labels that are neither in gold nor predicted."""
        kept = [
            place
            for place in range(len(self.labels))
            if any(self.counts[place]) or any(row[place] for row in self.counts)
        ]
        return Matrix(
            title=self.title,
            labels=tuple(self.labels[place] for place in kept),
            counts=tuple(tuple(self.counts[row][column] for column in kept) for row in kept),
        )


def matrices(detail: LabelDetail) -> list[Matrix]:
    """The confusions of labels, and those of categories where there are any."""
    found = [Matrix(title="Confusion matrix", labels=detail.labels, counts=detail.matrix)]
    if detail.categories:
        found.append(
            Matrix(title="Categories", labels=detail.categories, counts=detail.category_matrix)
        )
    return [matrix for matrix in found if matrix.labels]


def tables(report: EvalReport, detail: LabelDetail) -> Iterator[Table]:
    """The tables of the task, what matters most first."""
    if detail.confusions:
        yield _confusions(detail)
    if any(map(_occurs, report.per_type.values())):
        yield _classes(report, detail)
    if hierarchy := _hierarchy(report):
        yield hierarchy


def _confusions(detail: LabelDetail) -> Table:
    shown = detail.confusions[:CONFUSIONS_SHOWN]
    most = max(one.count for one in shown)
    rows = tuple(
        Row(
            (
                named(one.gold),
                named(one.predicted),
                counted(one.count),
                Cell(f"{100 * one.share:.1f} %", tone="soft"),
                named(" ".join(one.examples)),
            ),
            share=one.count / most,
        )
        for one in shown
    )
    errors = numbers.counted(detail.errors, "error")
    pairs = numbers.counted(detail.distinct_confusions, "pair")
    left = detail.distinct_confusions - len(shown)
    return Table(
        title="Top confusions",
        about=f"{errors} in {pairs} of labels; share is of the gold label's items",
        heads=("gold", "predicted", "items", "share", "such as"),
        rows=rows,
        right=frozenset({2, 3}),
        bar="items",
        whole=True,
        more=f"and {numbers.counted(left, 'more pair')}" if left > 0 else "",
    )


def _classes(report: EvalReport, detail: LabelDetail) -> Table:
    """The labels that occur: `macro_words` counts those that do not, and the files list them."""
    order = [label for label in in_order(report, detail) if _occurs(report.per_type[label])]
    return per_type("Labels", macro_words(report, detail), "label", report.per_type, order)


def in_order(report: EvalReport, detail: LabelDetail) -> list[str]:
    """The labels that were measured: as the label set has them, then others by name."""
    known = [label for label in detail.labels if label in report.per_type]
    return [*known, *sorted(set(report.per_type) - set(known))]


def _occurs(found: Measured) -> bool:
    """Whether a label is in gold or was predicted."""
    return any(value for value in found.values())


def macro_words(report: EvalReport, detail: LabelDetail) -> str:
    """Both macro averages, and how many labels of the set part them."""
    told = []
    for id, over in (("macro_f1", "the labels that occur"), ("macro_f1_all", "all labels")):
        score = report.metrics.get(f"labels.{id}")
        if score is not None:
            told.append(f"{numbers.value(score.value)} over {over}")
    if not told:
        return ""
    absent = numbers.counted(detail.absent_labels, "label")
    verb = "occurs nowhere and counts" if detail.absent_labels == 1 else "occur nowhere and count"
    return f"macro F1 {', '.join(told)} of {detail.label_set} ({absent} {verb} 0 there)"


def _hierarchy(report: EvalReport) -> Table | None:
    """How far right what is not quite right is; None where the labels have no groups."""
    known = {id: report.metrics[id] for id in HIERARCHY if id in report.metrics}
    if all(known[id].value is None for id in known if id != "labels.accuracy"):
        return None
    rows = tuple(
        Row(
            (Cell(id.partition(".")[2].replace("_", " ")), number(score.value)),
            share=None if id == "labels.category_gap" else score.value,
            note=HIERARCHY[id],
        )
        for id, score in known.items()
    )
    return Table(
        title="Hierarchy",
        about="how far right what is not quite right is",
        heads=("metric", "value"),
        rows=rows,
        right=frozenset({1}),
        bar="value",
    )
