"""The evaluation of types: one label an item, joined on the item, scored against a label set."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from ragauge.contracts.evaluation import EvalReport
from ragauge.contracts.finding import Finding, Findings
from ragauge.contracts.labels import LabelledItem, LabelSet
from ragauge.contracts.score import Outcome
from ragauge.errors import UsageError
from ragauge.ingest.fields import quoted
from ragauge.ingest.labelled.label_sets import labels_met, read_label_set
from ragauge.ingest.labelled.labelled_items import Labelled, read_labelled
from ragauge.metrics.label_codes import LabelPatterns, label_patterns
from ragauge.metrics.label_sums import label_sums, label_values, too_many_labels
from ragauge.runners.components.evaluation import Evaluated, outcome_of
from ragauge.runners.components.options import EvalOptions, refuse_bad, rules_for
from ragauge.runners.components.strata import strata_of
from ragauge.runners.components.types_detail import label_detail, label_faults, per_label
from ragauge.runners.options import takes

if TYPE_CHECKING:
    from ragauge.ingest.labelled.labelled_items import Source

HEADLINES = ("labels.accuracy", "labels.macro_f1", "labels.category_accuracy")


class TypesOptions(EvalOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an evaluation of types can be asked."""

    labels: str | tuple[str, ...] | None = None
    """A preset, a TOML file, or the labels themselves; else all that gold and prediction have."""
    field: str | None = None
    """Where the labels stand in both files, with dots for a field inside another."""
    predicted_field: str | None = None
    """Where they stand in the predictions, if elsewhere."""


@takes(TypesOptions, "eval types")
def evaluate_types(
    gold: Source, predicted: Source, *, options: TypesOptions
) -> Outcome[EvalReport]:
    """The report on predicted labels: accuracy, F1, categories, and what is taken for what.

    Each side is a file, a sequence of records, a mapping of labels by id, or a polars frame.
    """
    rules_for("types", options)
    declared = None if options.labels is None else read_label_set(options.labels)
    problems: list[str] = []
    fields = options.field, options.predicted_field
    read = read_labelled(gold, predicted, problems, *fields, options.input_format)
    joined = _joined(read)
    own = [item.strata for item in joined.items]
    strata = strata_of(joined.units, own, options)
    refuse_bad(problems, read.records, options)
    label_set = declared or labels_met(joined.gold, filter(None, joined.predicted))
    patterns = label_patterns(label_set, joined.gold, joined.predicted, joined.secondary)
    evaluated = Evaluated(
        task="types",
        units=joined.units,
        sums=label_sums(patterns),
        headlines=HEADLINES,
        strata=strata,
        right=_right(patterns),
        per_type=per_label(patterns),
        detail=label_detail(patterns, joined.units),
        findings=_findings(read, joined, label_set, patterns, declared is not None),
        coverage=_coverage(read, joined, patterns, rejected=len(problems)),
        problems=problems,
        faults=label_faults(patterns, joined.units),
        signature=f"labels:{label_set.name}({len(label_set.labels)})",
        gold_sha256=_fingerprint(joined.items),
        meanings=[" ".join((item.label or "", *item.secondary)) for item in joined.items],
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


class _Joined(Struct, frozen=True, kw_only=True):
    """The items with a gold label by id, each with what was predicted for it."""

    items: Sequence[LabelledItem]
    units: Sequence[str]
    gold: Sequence[str]
    predicted: Sequence[str | None]
    secondary: Sequence[Sequence[str]]


def _joined(read: Labelled) -> _Joined:
    items = [read.gold[id] for id in sorted(read.gold) if read.gold[id].label is not None]
    told = [read.predicted.get(item.id) for item in items]
    return _Joined(
        items=items,
        units=[item.id for item in items],
        gold=[item.label or "" for item in items],
        predicted=[None if one is None else one.label for one in told],
        secondary=[item.secondary for item in items],
    )


def _right(patterns: LabelPatterns) -> list[bool | None]:
    """None where the gold label is outside the set: nothing can be said of the prediction."""
    of_pattern = [
        right if judged else None
        for right, judged in zip(patterns.right.tolist(), patterns.judged.tolist(), strict=True)
    ]
    return [of_pattern[place] for place in patterns.pattern.tolist()]


def _findings(
    read: Labelled,
    joined: _Joined,
    label_set: LabelSet,
    patterns: LabelPatterns,
    declared: bool,
) -> Findings:
    """What a reader should know of the two sides, by id."""
    findings = Findings()
    known = {*label_set.labels}
    outside = f"is none of the {len(known)} labels of the set {label_set.name}"
    for item, predicted in zip(joined.items, joined.predicted, strict=True):
        if item.label not in known:
            _find(findings, "unknown_gold_label", item, f"{_shown(item.label)} {outside}")
        if predicted is None:
            _find(findings, "missing_prediction", item, "has no prediction and counts as wrong")
        elif predicted not in known:
            there = read.predicted[item.id]
            _find(findings, "unknown_predicted_label", there, f"{_shown(predicted)} {outside}")
        for label in item.secondary if declared else ():
            if label not in known:
                _find(findings, "unknown_secondary_label", item, f"{_shown(label)} {outside}")
    if not declared:
        _find_strange_labels(joined, findings)
    for id in sorted(read.predicted.keys() - read.gold.keys()):
        _find(findings, "unknown_item", read.predicted[id], "gold has no such item")
    for id in sorted(read.gold):
        if read.gold[id].label is None:
            _find(findings, "unlabelled_item", read.gold[id], "has no gold label; not scored")
    if not joined.items:
        findings.add(Finding("nothing_to_score", "gold", "no item has a gold label"))
    if too_many_labels(patterns):
        fact = (
            f"{len(known):,} labels are too many for macro averages of {len(joined.items):,} items"
        )
        findings.add(Finding("too_many_labels", label_set.name, f"{fact}; they are left out"))
    return findings


def _find_strange_labels(joined: _Joined, findings: Findings) -> None:
    """Labels that are predicted and that gold never has: often the same ones, spelt otherwise."""
    known = sorted({*joined.gold})
    met = Counter(label for label in joined.predicted if label is not None)
    by_case = {label.casefold(): label for label in known}
    for label in sorted(met.keys() - {*known}):
        near = by_case.get(label.casefold()) or next(iter(get_close_matches(label, known, 1)), None)
        hint = f"; gold has {quoted(near)}" if near else ""
        fact = f"{quoted(label)} is predicted ({met[label]:,} times), and gold never has it{hint}"
        findings.add(Finding("label_not_in_gold", "predicted", fact))


def _find(findings: Findings, code: str, item: LabelledItem, fact: str) -> None:
    findings.add(Finding(code, item.where, f"{quoted(item.id)}: {fact}"))


def _shown(label: str | None) -> str:
    return quoted(label or "")


def _coverage(
    read: Labelled, joined: _Joined, patterns: LabelPatterns, rejected: int
) -> dict[str, int]:
    return {
        "items": len(read.gold),
        "scored": int(patterns.count[patterns.judged & patterns.answered].sum()),
        "missing": sum(label is None for label in joined.predicted),
        "unknown": len(read.predicted.keys() - read.gold.keys()),
        "unlabelled": len(read.gold) - len(joined.items),
        "duplicates": read.duplicates,
        "rejected": rejected,
    }


def _fingerprint(items: Sequence[LabelledItem]) -> str:
    """A hash of what gold says, whatever its file looks like."""
    said = [(item.id, item.label, item.secondary) for item in items]
    return hashlib.sha256(msgspec.json.encode(said)).hexdigest()
