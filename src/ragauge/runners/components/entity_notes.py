"""What a reader should know of two sides that were joined, before trusting a number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

import numpy as np

from ragauge.contracts.entities import EntityColumns
from ragauge.contracts.finding import Finding, Findings
from ragauge.ingest.fields import quoted
from ragauge.runners.components.entity_detail import SEPARATOR
from ragauge.runners.components.entity_join import Joined

IDS_SHOWN = 3
LIKE = 0.6
"""How much of two names must be the same for one to be meant by the other."""


def note_strangers(found: Joined, findings: Findings) -> None:
    """Tell where no document of the predictions is one of gold, so that nothing was compared."""
    if found.answered.any() or not found.units or not found.predicted.ids:
        return
    fact = f"gold has {first_ids(found.units)}, the predictions {first_ids(found.predicted.ids)}"
    remedy = "give a document the same id in both"
    findings.add(Finding("no_document_in_common", "documents", f"{fact}; {remedy}"))


def first_ids(ids: Iterable[str]) -> str:
    """The first few ids, as a message shows them.

    >>> first_ids("badc")
    '"a", "b", "c", …'
    """
    ordered = sorted(ids)
    more = [", …"] if len(ordered) > IDS_SHOWN else []
    return "".join([", ".join(map(quoted, ordered[:IDS_SHOWN])), *more])


def note_pooled(found: Joined, layer: str | None, findings: Findings) -> None:
    """Tell where the numbers are over several layers, which often mark the same words again."""
    layers = sorted({*found.gold.layers})
    if layer is None and len(layers) > 1:
        fact = f"the numbers are over {len(layers)} layers: {', '.join(map(quoted, layers))}"
        findings.add(Finding("layers_pooled", "gold", f"{fact}; choose one with --layer"))


def note_types(told: Joined, declared: Sequence[str], findings: Findings) -> None:
    """Tell of each type that only predictions have, with the gold type that may be meant."""
    gold = _times(told.both.gold)
    for type, times in _times(told.both.predicted).items() if gold else ():
        if type in gold or type in declared:
            continue
        near = nearest(type, gold)
        hint = f"; the nearest is {quoted(near)}" if near else ""
        fact = f"gold has no {quoted(type)}, which is predicted {_often(times)}{hint}"
        findings.add(Finding("type_not_in_gold", quoted(type), fact))


def nearest(type: str, known: Iterable[str]) -> str | None:
    """The type, among these, with the name most like this one, in whole or in a part.

    >>> nearest("MUSEUM", ["GRP.HER.ARC", "GRP.HER.MUS", "TOP"])
    'GRP.HER.MUS'
    """
    likeness = {one: _likeness(type, one) for one in sorted(known)}
    best = max(likeness, key=likeness.__getitem__, default=None)
    return best if best is not None and likeness[best] >= LIKE else None


def _likeness(type: str, other: str) -> float:
    ones, others = ({*_parts(name)} for name in (type, other))
    return max(SequenceMatcher(None, one, two).ratio() for one in ones for two in others)


def _parts(type: str) -> tuple[str, str]:
    """A type as a whole and its last part, which tells most."""
    whole = type.casefold()
    return whole, whole.rpartition(SEPARATOR)[2]


def _times(side: EntityColumns) -> dict[str, int]:
    """How often each type is met, of those that are."""
    met = np.bincount(side.type, minlength=len(side.types)).tolist()
    return {type: times for type, times in zip(side.types, met, strict=True) if times}


def _often(times: int) -> str:
    return "once" if times == 1 else f"{times:,} times"
