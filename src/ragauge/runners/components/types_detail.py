"""What is taken for what: the confusion matrix, the commonest confusions, the labels' rates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragauge.contracts.evaluation import Confusion, LabelDetail
from ragauge.contracts.labels import MISSING, OTHER
from ragauge.metrics.label_sums import LabelPatterns, label_totals
from ragauge.metrics.labels import COUNTED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

CONFUSIONS = 100
"""Confusions that stand in a report, the commonest first; all are counted."""
EXAMPLES = 3
MATRIX_LABELS = 500
"""A matrix of more labels than this is left out: nobody reads it, and it grows as the square."""


def label_detail(patterns: LabelPatterns, units: Sequence[str]) -> LabelDetail:
    """The part of the report that only an evaluation of types has."""
    names = _names(patterns.label_set.labels)
    wrong = patterns.judged & ~patterns.right
    pairs = _confused(patterns, names)
    labels, matrix = _matrix(patterns, names)
    categories, category_matrix = _category_matrix(patterns, names)
    present = label_totals(patterns).reshape(-1, len(COUNTED)).any(axis=1)
    return LabelDetail(
        label_set=patterns.label_set.name,
        labels=labels,
        matrix=matrix,
        absent_labels=int((~present).sum()),
        errors=int(patterns.count[wrong].sum()),
        distinct_confusions=len(pairs),
        confusions=_shown(patterns, pairs[:CONFUSIONS], names, units),
        categories=categories,
        category_matrix=category_matrix,
    )


def per_label(patterns: LabelPatterns) -> dict[str, dict[str, float | None]]:
    """The rates and counts of each label, over items whose gold label the set has.

    Precision is None for a label that is never predicted, recall for one without support.
    """
    counts = label_totals(patterns).reshape(-1, len(COUNTED)).tolist()
    return {
        label: {
            "precision": _rate(tp, tp + fp),
            "recall": _rate(tp, tp + fn),
            "f1": _rate(2 * tp, 2 * tp + fp + fn),
            "support": tp + fn,
            "predicted": tp + fp,
        }
        for label, (tp, fp, fn) in zip(patterns.label_set.labels, counts, strict=True)
    }


def _rate(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _names(labels: Sequence[str]) -> tuple[str, ...]:
    """What each code is called; a label of the set that is itself called OTHER keeps its name.

    >>> _names(("M", "OTHER"))
    ('M', 'OTHER', '(OTHER)', 'MISSING')
    """
    beside = (f"({name})" if name in labels else name for name in (OTHER, MISSING))
    return (*labels, *beside)


def _confused(patterns: LabelPatterns, names: Sequence[str]) -> list[tuple[int, int, int]]:
    """Gold, prediction and count of each pair that differs: the commonest first, then by label."""
    wrong = np.flatnonzero(patterns.judged & ~patterns.right)
    met: dict[tuple[int, int], int] = {}
    for place in wrong.tolist():
        pair = int(patterns.gold[place]), int(patterns.predicted[place])
        met[pair] = met.get(pair, 0) + int(patterns.count[place])
    found = [(*pair, count) for pair, count in met.items()]
    return sorted(found, key=lambda one: (-one[2], names[one[0]], names[one[1]]))


def _shown(
    patterns: LabelPatterns,
    pairs: list[tuple[int, int, int]],
    names: Sequence[str],
    units: Sequence[str],
) -> tuple[Confusion, ...]:
    support = np.bincount(patterns.gold, weights=patterns.count, minlength=len(names))
    examples = _examples(patterns, {(gold, predicted) for gold, predicted, _ in pairs}, units)
    return tuple(
        Confusion(
            gold=names[gold],
            predicted=names[predicted],
            count=count,
            share=count / float(support[gold]),
            examples=tuple(examples[gold, predicted]),
        )
        for gold, predicted, count in pairs
    )


def _examples(
    patterns: LabelPatterns, pairs: set[tuple[int, int]], units: Sequence[str]
) -> dict[tuple[int, int], list[str]]:
    """The first units of each pair; they stand in the order of their ids."""
    pair_of = list(zip(patterns.gold.tolist(), patterns.predicted.tolist(), strict=True))
    first = _first_places(patterns.pattern, len(pair_of))
    places: dict[tuple[int, int], list[int]] = {pair: [] for pair in pairs}
    for pair, some in zip(pair_of, first, strict=True):
        if pair in places:
            places[pair] += some
    return {pair: [units[at] for at in sorted(some)[:EXAMPLES]] for pair, some in places.items()}


def _first_places(pattern: Ints, patterns: int) -> list[list[int]]:
    """For each pattern the first places that have it."""
    order = np.argsort(pattern, kind="stable")
    begins = np.searchsorted(pattern[order], np.arange(patterns + 1))
    return [
        order[begin : min(begin + EXAMPLES, end)].tolist()
        for begin, end in zip(begins[:-1].tolist(), begins[1:].tolist(), strict=True)
    ]


Matrix = tuple[tuple[int, ...], ...]


def _matrix(patterns: LabelPatterns, names: Sequence[str]) -> tuple[tuple[str, ...], Matrix]:
    """The rows and columns that are needed, gold by prediction; a large one is left out."""
    if patterns.outside > MATRIX_LABELS:
        return tuple(patterns.label_set.labels), ()
    return _squared(patterns.matrix(), names)


def _category_matrix(
    patterns: LabelPatterns, names: Sequence[str]
) -> tuple[tuple[str, ...], Matrix]:
    label_set = patterns.label_set
    if not label_set.grouped or patterns.outside > MATRIX_LABELS:
        return (), ()
    of_label = [label_set.category(label) for label in label_set.labels]
    categories = list(dict.fromkeys(of_label))
    place = {category: number for number, category in enumerate(categories)}
    codes = np.array([*(place[one] for one in of_label), len(place), len(place) + 1])
    cells = np.zeros((len(place) + 1, len(place) + 2), dtype=np.int64)
    np.add.at(cells, (codes[patterns.gold], codes[patterns.predicted]), patterns.count)
    return _squared(cells, _names(categories))


def _squared(cells: Ints, names: Sequence[str]) -> tuple[tuple[str, ...], Matrix]:
    """The matrix with a row for every column; OTHER and MISSING only where some item is there."""
    whole = np.vstack([cells, np.zeros((1, cells.shape[1]), dtype=np.int64)])
    inside = len(names) - 2
    used = [place for place in (inside, inside + 1) if whole[place].any() or whole[:, place].any()]
    kept = [*range(inside), *used]
    rows = whole[np.ix_(kept, kept)].tolist()
    return tuple(names[place] for place in kept), tuple(tuple(row) for row in rows)


def label_faults(patterns: LabelPatterns, units: Sequence[str]) -> list[tuple[str, str]]:
    """Each item that went wrong, with the catalogue's word for how."""
    words = [_fault(patterns, place) for place in range(len(patterns.count))]
    of_each = (words[place] for place in patterns.pattern.tolist())
    return [(unit, word) for unit, word in zip(units, of_each, strict=True) if word]


def _fault(patterns: LabelPatterns, place: int) -> str | None:
    gold, predicted = int(patterns.gold[place]), int(patterns.predicted[place])
    if gold == patterns.outside:
        return "unknown_gold"
    if predicted == gold:
        return None
    if predicted >= patterns.outside:
        return "missing" if predicted == patterns.missing else "other"
    known = patterns.label_set
    if not known.grouped:
        return "confused"
    one, other = (known.category(known.labels[code]) for code in (gold, predicted))
    return "near" if one == other else "far"
