"""Advice on components: what goes wrong most, by document, item, mention or query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from ragauge.contracts.score import Advice
from ragauge.diagnosis.advice import advised


class Fault(Struct, frozen=True, kw_only=True):
    """One thing that went wrong in a unit, as the catalogue asks for it; None where nothing did."""

    qid: str
    error: str | None
    answerable: bool | None = None
    """A unit of a component is no question."""


def advise_component(
    family: str,
    units: Sequence[str],
    faults: Sequence[tuple[str, str]],
    strata: Mapping[str, Mapping[str, Any]],
    of: int,
) -> tuple[Advice, ...]:
    """The hypotheses that the faults of a component speak for, those with the most first.

    `units` may be the first of many: `of` says how many there are in all.
    """
    known = set(units)
    facts = [Fault(qid=unit, error=None) for unit in units]
    facts += [Fault(qid=unit, error=error) for unit, error in faults if unit in known]
    found = advised(family, facts, {}, strata)
    if of == len(units):
        return found
    among = f", among the first {len(units):,} of {of:,}"
    return tuple(_beside(one, among) for one in found)


def _beside(one: Advice, among: str) -> Advice:
    return structs.replace(one, evidence=one.evidence + among)
