"""The evaluation of types: one label an item, joined on the item, scored against a label set."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import repeat
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from msgspec import Struct

from ragauge.contracts.evaluation import Confusion, EvalReport, LabelDetail
from ragauge.contracts.labels import MISSING, OTHER, LabelledItem
from ragauge.contracts.opt import takes
from ragauge.contracts.options import TypesOptions
from ragauge.contracts.report import ROWS_KEPT, Finding, Findings, Outcome
from ragauge.errors import UsageError
from ragauge.ingest.fields import Columns, quoted
from ragauge.ingest.label_sets import labels_met, read_label_set
from ragauge.ingest.labelled_items import Labelled, read_labelled
from ragauge.metrics.label_sums import (
    LabelPatterns,
    label_patterns,
    label_sums,
    label_totals,
    label_values,
    too_many_labels,
)
from ragauge.metrics.labels import COUNTED
from ragauge.runners.components.evaluation import Evaluated, outcome_of, strata_of
from ragauge.runners.components.options import refuse_bad, rules_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragauge.ingest.records import Source

    Ints = NDArray[np.int64]


CONFUSIONS = 100
"""Confusions that a report shows, the commonest first; all are counted."""
EXAMPLES = 3
MATRIX_LABELS = 500
"""A matrix of more labels than this is left out: nobody reads it, and it grows as the square."""
Matrix = tuple[tuple[int, ...], ...]
HEADLINES = ("labels.accuracy", "labels.macro_f1", "labels.category_accuracy")


class Meant(Struct, frozen=True, array_like=True, gc=False):
    """What gold says of an item, whatever its file looks like."""

    id: str
    label: str
    secondary: tuple[str, ...]


@takes(TypesOptions, "eval types")
def evaluate_types(
    gold: Source,
    predicted: Source,
    *,
    columns: Columns | None = None,
    options: TypesOptions,
) -> Outcome[EvalReport]:
    """The report on predicted labels: accuracy, F1, categories, and what is taken for what.

    Each side is a file, a sequence of records, a mapping of labels by id, or a polars frame.
    `columns` says for fields where the predictions have them, for `gold.FIELD` where gold does.
    """
    rules_for("types", options)
    declared = None if options.labels is None else read_label_set(options.labels)
    problems: list[str] = []
    fields = options.field, options.predicted_field
    read = read_labelled(gold, predicted, problems, *fields, options.input_format, columns)
    items, predictions = read.gold, read.predicted
    keys = [*items.at]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    rows = [*items.at.values()]
    if None in items.labels:
        order = [at for at in order if items.labels[rows[at]] is not None]
    # Looked up in the order of the files, which as a rule is the same: that is much quicker.
    same = predictions.at is items.at
    unknown = [] if same else sorted(predictions.at.keys() - items.at.keys())
    answered = rows if same else [*map(predictions.at.get, keys)]
    units, rows = [keys[at] for at in order], [rows[at] for at in order]
    labels = [items.labels[row] or "" for row in rows]
    secondary = [items.secondary[row] or () for row in rows] if items.secondary else None
    found = map(answered.__getitem__, order)
    said = [None if row is None else predictions.labels[row] for row in found]
    own = [items.strata[row] or {} for row in rows] if items.strata else [{}] * len(rows)
    strata = strata_of(units, own, options)
    refuse_bad(problems, read.records, options)
    label_set = declared or labels_met(labels, filter(None, said))
    patterns = label_patterns(label_set, labels, said, secondary)
    # None where the gold label is outside the set: nothing can be said of the prediction.
    right = patterns.right.astype(object)
    right[~patterns.judged] = None
    meant = msgspec.json.encode([*map(Meant, units, labels, secondary or repeat(()))])
    evaluated = Evaluated(
        task="types",
        units=units,
        sums=label_sums(patterns),
        headlines=HEADLINES,
        strata=strata,
        right=right[patterns.pattern].tolist(),
        per_type=per_label(patterns),
        detail=_detail(patterns, units),
        findings=_findings(read, units, said, unknown, patterns, declared=declared is not None),
        coverage={
            "items": len(read.gold),
            "scored": int(patterns.count[patterns.judged & patterns.answered].sum()),
            "missing": said.count(None),
            "unknown": len(unknown),
            "unlabelled": len(items) - len(units),
            "duplicates": read.duplicates,
            "rejected": len(problems),
        },
        problems=problems,
        unread=read.unread,
        faults=_faults(patterns, units),
        signature=f"labels:{label_set.name}({len(label_set.labels)})",
        gold_sha256=hashlib.sha256(meant).hexdigest(),
        meanings=[
            " ".join((label, *others)) for label, others in zip(labels, secondary, strict=True)
        ]
        if secondary
        else labels,
    )
    return outcome_of(evaluated, options)


def types_values(
    gold: Mapping[str, str],
    predicted: Mapping[str, str | None],
    labels: str | tuple[str, ...] | None = None,
) -> dict[str, float | None]:
    """The value of every metric and nothing else, from labels by id: for a quick look.

    An item without a prediction counts as wrong, as in `evaluate_types`; one that gold does not
    have is left out.

    >>> types_values({"1": "M", "2": "L"}, {"1": "M"})["labels.accuracy"]
    0.5
    """
    said = [predicted.get(id) for id in gold]
    if not {*map(type, gold.values())} <= {str} or not {*map(type, said)} <= {str, type(None)}:
        raise UsageError("types_values: every label is a text; None where nothing was predicted")
    known = [*gold.values()]
    label_set = read_label_set(labels) if labels else labels_met(known, filter(None, said))
    return label_values(label_patterns(label_set, known, said))


def _findings(
    read: Labelled,
    units: Sequence[str],
    said: Sequence[str | None],
    unknown: Sequence[str],
    patterns: LabelPatterns,
    *,
    declared: bool,
) -> Findings:
    """What a reader should know of the two sides, by id."""
    findings, label_set = read.findings, patterns.label_set
    known = {*label_set.labels}
    outside = f"is none of the {len(known)} labels of the set {label_set.name}"

    def find(code: str, item: LabelledItem, fact: str) -> None:
        findings.add(Finding(code, item.where, f"{quoted(item.id)}: {fact}"))

    odd = (patterns.gold >= patterns.outside) | (patterns.predicted >= patterns.outside)
    of_each = odd[patterns.pattern]
    if declared and read.gold.secondary:
        others = (read.gold[unit].secondary for unit in units)
        of_each |= np.array([not known.issuperset(one) for one in others], dtype=bool)
    for place in np.flatnonzero(of_each).tolist():
        item, predicted = read.gold[units[place]], said[place]
        if item.label not in known:
            find("unknown_gold_label", item, f"{quoted(item.label or '')} {outside}")
        if predicted is None:
            find("missing_prediction", item, "has no prediction and counts as wrong")
        elif predicted not in known:
            there = read.predicted[item.id]
            find("unknown_predicted_label", there, f"{quoted(predicted)} {outside}")
        for label in item.secondary if declared else ():
            if label not in known:
                find("unknown_secondary_label", item, f"{quoted(label)} {outside}")
    if not declared:
        # Labels that are predicted and that gold never has: often the same ones, spelt otherwise.
        used = sorted({label for label in read.gold.labels if label is not None})
        met = Counter(said)
        by_case = {label.casefold(): label for label in used}
        for label in sorted(label for label in met.keys() - {*used} if label is not None):
            near = by_case.get(label.casefold())
            near = near or next(iter(get_close_matches(label, used, 1)), None)
            hint = f"; gold has {quoted(near)}" if near else ""
            fact = f"{quoted(label)} is predicted ({met[label]:,} times), and gold never has it"
            findings.add(Finding("label_not_in_gold", "predicted", f"{fact}{hint}"))
    for id in unknown:
        find("unknown_item", read.predicted[id], "gold has no such item")
    for id in sorted(read.gold.at.keys() - {*units}) if len(units) < len(read.gold) else ():
        find("unlabelled_item", read.gold[id], "has no gold label; not scored")
    if not units:
        findings.add(Finding("nothing_to_score", "gold", "no item has a gold label"))
    if too_many_labels(patterns):
        fact = f"{len(known):,} labels are too many for macro averages of {len(units):,} items"
        findings.add(Finding("too_many_labels", label_set.name, f"{fact}; they are left out"))
    return findings


def _detail(patterns: LabelPatterns, units: Sequence[str]) -> LabelDetail:
    """The part of the report that only an evaluation of types has."""
    label_set = patterns.label_set
    names = _names(label_set.labels)
    wrong = patterns.judged & ~patterns.right
    pairs = _confused(patterns, names)
    labels: tuple[str, ...] = tuple(label_set.labels)
    categories: tuple[str, ...] = ()
    matrix: Matrix = ()
    category_matrix: Matrix = ()
    if patterns.outside <= MATRIX_LABELS:
        labels, matrix = _squared(patterns.matrix(), names)
        if label_set.grouped:
            categories, category_matrix = _category_matrix(patterns)
    present = label_totals(patterns).reshape(-1, len(COUNTED)).any(axis=1)
    return LabelDetail(
        label_set=label_set.name,
        labels=labels,
        matrix=matrix,
        absent_labels=int((~present).sum()),
        errors=int(patterns.count[wrong].sum()),
        distinct_confusions=len(pairs),
        confusions=_confusions(patterns, pairs[:CONFUSIONS], names, units),
        categories=categories,
        category_matrix=category_matrix,
    )


def per_label(patterns: LabelPatterns) -> dict[str, dict[str, float | None]]:
    """The rates and counts of each label, over items whose gold label the set has.

    Precision is None for a label that is never predicted, recall for one without support.
    """

    def rate(part: int, of: int) -> float | None:
        return part / of if of else None

    counts = label_totals(patterns).reshape(-1, len(COUNTED)).tolist()
    return {
        label: {
            "precision": rate(tp, tp + fp),
            "recall": rate(tp, tp + fn),
            "f1": rate(2 * tp, 2 * tp + fp + fn),
            "support": tp + fn,
            "predicted": tp + fp,
        }
        for label, (tp, fp, fn) in zip(patterns.label_set.labels, counts, strict=True)
    }


def _names(labels: Sequence[str]) -> tuple[str, ...]:
    """What each code is called; a label of the set that is itself called OTHER keeps its name.

    >>> _names(("M", "OTHER"))
    ('M', 'OTHER', '(OTHER)', 'MISSING')
    """
    others = (f"({name})" if name in labels else name for name in (OTHER, MISSING))
    return (*labels, *others)


def _confused(patterns: LabelPatterns, names: Sequence[str]) -> list[tuple[int, int, int]]:
    """Gold, prediction and count of each pair that differs: the commonest first, then by label."""
    wrong = np.flatnonzero(patterns.judged & ~patterns.right)
    met: dict[tuple[int, int], int] = {}
    for place in wrong.tolist():
        pair = int(patterns.gold[place]), int(patterns.predicted[place])
        met[pair] = met.get(pair, 0) + int(patterns.count[place])
    found = [(*pair, count) for pair, count in met.items()]
    return sorted(found, key=lambda one: (-one[2], names[one[0]], names[one[1]]))


def _confusions(
    patterns: LabelPatterns,
    pairs: list[tuple[int, int, int]],
    names: Sequence[str],
    units: Sequence[str],
) -> tuple[Confusion, ...]:
    """The pairs as a report shows them, each with its first units by id."""
    support = np.bincount(patterns.gold, weights=patterns.count, minlength=len(names))
    pair_of = zip(patterns.gold.tolist(), patterns.predicted.tolist(), strict=True)
    order = np.argsort(patterns.pattern, kind="stable")
    begins = np.searchsorted(patterns.pattern[order], np.arange(len(patterns.gold) + 1)).tolist()
    places: dict[tuple[int, int], list[int]] = {(gold, said): [] for gold, said, _ in pairs}
    for pair, begin, end in zip(pair_of, begins[:-1], begins[1:], strict=True):
        if pair in places:
            places[pair] += order[begin : min(begin + EXAMPLES, end)].tolist()
    return tuple(
        Confusion(
            gold=names[gold],
            predicted=names[predicted],
            count=count,
            share=count / float(support[gold]),
            examples=tuple(units[at] for at in sorted(places[gold, predicted])[:EXAMPLES]),
        )
        for gold, predicted, count in pairs
    )


def _category_matrix(patterns: LabelPatterns) -> tuple[tuple[str, ...], Matrix]:
    label_set = patterns.label_set
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


def _faults(patterns: LabelPatterns, units: Sequence[str]) -> list[tuple[str, str]]:
    """The first items that went wrong, with the catalogue's word for how."""
    known, grouped = patterns.label_set, patterns.label_set.grouped

    def fault(gold: int, predicted: int) -> str | None:
        if gold == patterns.outside:
            return "unknown_gold"
        if predicted == gold:
            return None
        if predicted >= patterns.outside:
            return "missing" if predicted == patterns.missing else "other"
        if not grouped:
            return "confused"
        one, other = (known.category(known.labels[code]) for code in (gold, predicted))
        return "near" if one == other else "far"

    words = list(map(fault, patterns.gold.tolist(), patterns.predicted.tolist()))
    of_each = map(words.__getitem__, patterns.pattern[:ROWS_KEPT].tolist())
    return [(unit, word) for unit, word in zip(units, of_each, strict=False) if word]
