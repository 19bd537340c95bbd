"""The types that are compared: as they are, cut to a level, or as HIPE writes them."""

from __future__ import annotations

from functools import partial

import numpy as np
from msgspec import Struct

from ragauge.contracts.entities import Matching
from ragauge.contracts.finding import Finding, Findings
from ragauge.ingest.fields import quoted
from ragauge.runners.components.entity_detail import cut
from ragauge.runners.components.entity_join import Joined, only_types, relabelled


class TypesAsked(Struct, frozen=True, kw_only=True):
    """What the types of an evaluation depend on."""

    matching: Matching
    level: int | None
    types: tuple[str, ...]


def as_asked(found: Joined, asked: TypesAsked, findings: Findings) -> Joined:
    """The entities with the types that are compared: cut to a level, or as HIPE writes them."""
    told = found
    if asked.level is not None:
        told = relabelled(told, partial(cut, level=asked.level))
    if asked.matching == "hipe":
        told = relabelled(told, str.upper)
        told = _known_to_hipe(told, asked, findings)
    merged = sum(
        len(before) - len(after)
        for before, after in (
            (found.gold_row, told.gold_row),
            (found.predicted_row, told.predicted_row),
        )
    ) - findings.counts.get("ignored_type", 0)
    if merged:
        fact = f"{merged} entities are like another once their types are cut; they count once"
        findings.add(Finding("same_at_level", "types", fact), merged)
    _find_undeclared(told, asked, findings)
    return told


def _known_to_hipe(told: Joined, asked: TypesAsked, findings: Findings) -> Joined:
    """Without predictions of types that are neither in gold nor declared, as HIPE's scorer."""
    gold = told.both.gold
    known = {gold.types[place] for place in np.unique(gold.type)}
    known |= {type.upper() for type in asked.types}
    kept = only_types(told, known)
    ignored = len(told.predicted_row) - len(kept.predicted_row)
    if ignored:
        fact = f"predictions of types that gold does not have: {ignored:,}; HIPE leaves them out"
        findings.add(Finding("ignored_type", "predicted", fact), ignored)
    return kept


def _find_undeclared(told: Joined, asked: TypesAsked, findings: Findings) -> None:
    if not asked.types:
        return
    for name, side in (("gold", told.both.gold), ("predicted", told.both.predicted)):
        times = np.bincount(side.type, minlength=len(side.types)).tolist()
        for type, met in zip(side.types, times, strict=True):
            if met and type not in asked.types:
                fact = f"{quoted(type)} is none of the types declared"
                findings.add(Finding("undeclared_type", name, fact), met)
