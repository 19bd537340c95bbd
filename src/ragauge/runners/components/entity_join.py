"""Gold and predicted entities of the same documents, joined by document id."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from ragauge.contracts.entities import EntityColumns, Fragment
from ragauge.contracts.finding import Finding, Findings
from ragauge.errors import UsageError
from ragauge.ingest.fields import quoted
from ragauge.metrics.entity_kernel import Both, first_of_each, in_same_terms, rows_at, whole
from ragauge.runners.components.entity_marked import Marked

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array

NOBODY = -1


class Joined(Struct, frozen=True, kw_only=True):
    """The gold documents by id, with the predictions for them."""

    gold: Marked
    predicted: Marked
    units: Sequence[str]
    gold_place: Array
    """(documents,): where each stands among the gold documents given."""
    predicted_place: Array
    """(documents,): the same among the predicted ones; -1 where there is no record."""
    both: Both
    gold_row: Array
    """(entities,): the row that each gold entity had as it was given."""
    predicted_row: Array

    @property
    def answered(self) -> Array:
        answered: Array = self.predicted_place != NOBODY
        return answered

    texts: Sequence[str | None]
    """(documents,): gold's, else the prediction's."""
    tokens: Sequence[Sequence[Fragment] | None]
    """(documents,): gold's; the prediction's where gold has neither tokens nor text."""


def joined(gold: Marked, predicted: Marked, layer: str | None) -> Joined:
    """The two sides by document; of one layer, where it is named."""
    gold_place = whole(sorted(range(len(gold.ids)), key=gold.ids.__getitem__))
    units = [gold.ids[place] for place in gold_place.tolist()]
    unit_of = {id: unit for unit, id in enumerate(units)}
    found = whole([unit_of.get(id, NOBODY) for id in predicted.ids])
    predicted_place = np.full(len(units), NOBODY, dtype=np.int64)
    known = np.flatnonzero(found != NOBODY)
    predicted_place[found[known]] = known
    moved = np.empty_like(gold_place)
    moved[gold_place] = np.arange(len(units))
    _check_layer(layer, gold, predicted)
    one, gold_row = _in_units(gold.columns, moved, units, layer)
    other, predicted_row = _in_units(predicted.columns, found, units, layer)
    return Joined(
        gold=gold,
        predicted=predicted,
        units=units,
        gold_place=gold_place,
        predicted_place=predicted_place,
        both=in_same_terms(one, other),
        gold_row=gold_row,
        predicted_row=predicted_row,
        **_bodies(gold, predicted, gold_place.tolist(), predicted_place.tolist()),
    )


def _bodies(
    gold: Marked, predicted: Marked, places: Sequence[int], there: Sequence[int]
) -> dict[str, Any]:
    """The texts and tokens of the documents."""
    texts = [gold.texts[place] for place in places]
    tokens = [gold.tokens[place] for place in places]
    for unit, (text, known, other) in enumerate(zip(texts, tokens, there, strict=True)):
        if text is None and known is None and other != NOBODY:
            texts[unit], tokens[unit] = predicted.texts[other], predicted.tokens[other]
    return {"texts": texts, "tokens": tokens}


def _check_layer(layer: str | None, gold: Marked, predicted: Marked) -> None:
    known = sorted({*gold.layers, *predicted.layers})
    if layer is not None and layer not in known:
        there = ", ".join(map(quoted, known))
        raise UsageError(f"there is no layer {quoted(layer)}; there are {there}")


def _in_units(
    columns: EntityColumns, unit: Array, units: Sequence[str], layer: str | None
) -> tuple[EntityColumns, Array]:
    """The entities of the units, by unit and else in the order given, and their rows before."""
    doc = unit[columns.doc] if len(unit) else columns.doc
    keep = doc != NOBODY
    if layer is not None:
        keep &= columns.layer == _place(columns.layers, layer)
    rows = np.flatnonzero(keep)
    if (np.diff(doc[rows]) < 0).any():
        rows = rows[np.argsort(doc[rows], kind="stable")]
    kept = columns if len(rows) == len(doc) and (rows == np.arange(len(rows))).all() else None
    kept = kept or rows_at(columns, rows)
    return replace(kept, doc=doc[rows], documents=units), rows


def _place(names: Sequence[str], name: str) -> int:
    return list(names).index(name) if name in names else NOBODY


def relabelled(found: Joined, name: Callable[[str], str]) -> Joined:
    """The same with other types; entities that are then of one place and type count once."""
    both = renamed(found.both, name)
    kept = [first_of_each(side) for side in (both.gold, both.predicted)]
    return replace(
        found,
        both=Both(rows_at(both.gold, kept[0]), rows_at(both.predicted, kept[1])),
        gold_row=found.gold_row[kept[0]],
        predicted_row=found.predicted_row[kept[1]],
    )


def renamed(both: Both, name: Callable[[str], str]) -> Both:
    """The same with other types."""
    sides = []
    for side in (both.gold, both.predicted):
        types = sorted({name(type) for type in side.types})
        number = whole([types.index(name(type)) for type in side.types])
        sides.append(replace(side, type=number[side.type], types=types))
    return in_same_terms(*sides)


def only_types(found: Joined, types: set[str]) -> Joined:
    """Without the predictions of other types than these."""
    side = found.both.predicted
    known = np.array([type in types for type in side.types], dtype=bool)
    kept = np.flatnonzero(known[side.type]) if len(known) else np.zeros(0, dtype=np.int64)
    return replace(
        found,
        both=Both(found.both.gold, rows_at(side, kept)),
        predicted_row=found.predicted_row[kept],
    )


def join_findings(found: Joined, findings: Findings) -> None:
    """What a reader should know of the two sides."""
    for finding in (*found.gold.findings, *found.predicted.findings):
        findings.add(finding)
    for unit in np.flatnonzero(~found.answered).tolist():
        where = found.gold.where(found.gold_place[unit])
        fact = f"{quoted(found.units[unit])} has no prediction record; all of it is missed"
        findings.add(Finding("missing_document", where, fact))
    known = set(found.units)
    for place, id in enumerate(found.predicted.ids):
        if id not in known:
            fact = f"gold has no document {quoted(id)}; it is not scored"
            findings.add(Finding("unknown_document", found.predicted.where(place), fact))
    _find_other_layers(found, findings)


def _find_other_layers(found: Joined, findings: Findings) -> None:
    met = [
        side.layers[place]
        for side in (found.both.gold, found.both.predicted)
        for place in np.unique(side.layer)
    ]
    gold, predicted = {*found.gold.layers}, {*found.predicted.layers}
    for layer in sorted({*met} & (predicted - gold)):
        fact = f"gold has no layer {quoted(layer)}; what is predicted in it counts as spurious"
        findings.add(Finding("layer_not_in_gold", quoted(layer), fact))
    for layer in sorted({*met} & (gold - predicted)):
        fact = f"nothing was predicted in the layer {quoted(layer)}; all of it is missed"
        findings.add(Finding("layer_not_predicted", quoted(layer), fact))
