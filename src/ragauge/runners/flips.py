"""Questions that are right in one of two runs only, with their answers."""

from __future__ import annotations

from ragauge.contracts.comparison import FLIPS_KEPT, Flip, Side, Way
from ragauge.contracts.history import UnitRow
from ragauge.runners.paired_units import PairedUnits


def flips_of(units: PairedUnits) -> tuple[tuple[Flip, ...], dict[Way, int]]:
    """What broke and what was mended, by qid, as far as a report holds it; and how many of each.

    A unit that a run says nothing of did not flip.
    """
    found: dict[Way, list[tuple[UnitRow, UnitRow]]] = {"broken": [], "mended": []}
    for was, now in zip(units.before, units.after, strict=True):
        if was.right is None or now.right is None or was.right == now.right:
            continue
        found["mended" if now.right else "broken"].append((was, now))
    kept = tuple(
        _flip(units, way, was, now)
        for way, pairs in found.items()
        for was, now in sorted(pairs, key=lambda pair: pair[1].unit)[:FLIPS_KEPT]
    )
    return kept, {way: len(pairs) for way, pairs in found.items()}


def _flip(units: PairedUnits, way: Way, was: UnitRow, now: UnitRow) -> Flip:
    question = units.gold.get(now.unit)
    return Flip(
        qid=now.unit,
        question=question.question if question else None,
        way=way,
        was=_side(was),
        now=_side(now),
    )


def _side(row: UnitRow) -> Side:
    """What a run answered; where it answered nothing, its error."""
    said = row.detail.get("claim") or row.detail.get("error")
    return Side(
        label=row.label,
        claim=str(said) if said else None,
        cited=tuple(str(id) for id in row.detail.get("cited") or ()),
    )
