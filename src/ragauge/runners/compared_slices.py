"""Slices of two runs: each value of a stratum, with each metric over its units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from ragauge.contracts.finding import Finding, Findings
from ragauge.contracts.gold import ANSWERABLE, value_of
from ragauge.errors import UsageError
from ragauge.runners.metric_change import Change, Comparable, How, change_of, untested
from ragauge.runners.paired_units import PairedUnits

FEWEST = 10
"""Units a slice must have to be tested."""
MOST_VALUES = 200
"""A stratum with more values than this is an id, not a slice."""


class Cell(Struct, frozen=True, kw_only=True):
    """A metric in a slice, before it is judged among the others."""

    stratum: str
    value: str
    metric: str
    change: Change


def slice_names(asked: tuple[str, ...], units: PairedUnits) -> list[str]:
    """The strata to slice by, each once; raises UsageError with those there are."""
    known = {ANSWERABLE}.union(*(one.strata for one in units.gold.values()))
    unknown = [name for name in dict.fromkeys(asked) if name not in known or not units.gold]
    if unknown:
        there = ", ".join(sorted(known)) if units.gold else "none, for the runs have no gold set"
        raise UsageError(
            *(f'--slice "{name}": no question has it; there are {there}' for name in unknown)
        )
    return list(dict.fromkeys(asked))


class Slicing(Struct, frozen=True):
    """A stratum, and the value each unit has in it; empty where it has none."""

    stratum: str
    values: tuple[str, ...]

    @property
    def sizes(self) -> dict[str, int]:
        """How many units each value has, in the order of the values."""
        return dict(sorted(Counter(value for value in self.values if value).items()))

    @property
    def tested(self) -> int:
        """How many values have units enough."""
        return sum(n >= FEWEST for n in self.sizes.values())


def slicing(units: PairedUnits, stratum: str, found: Findings) -> Slicing:
    """How a stratum divides the units; raises UsageError where it is too fine."""
    asked = (units.gold.get(unit) for unit in units.after.ids)
    of = [(value_of(one, stratum) if one else None) or "" for one in asked]
    made = Slicing(stratum, tuple(of))
    sizes = made.sizes
    lacking = of.count("")
    if lacking:
        message = f"{lacking:,} questions have no {stratum} and stand in no slice"
        found.add(Finding("no_stratum", stratum, message), lacking)
    if len(sizes) > MOST_VALUES:
        raise UsageError(
            f'--slice "{stratum}": has {len(sizes):,} values, and at most {MOST_VALUES} can be '
            "told apart; slice by something coarser"
        )
    for value, n in sizes.items():
        if n < FEWEST:
            found.add(Finding("slice_too_small", f"{stratum}={value}", _too_few(n)))
    return made


def slice_cells(
    units: PairedUnits, made: Slicing, metrics: Sequence[Comparable], how: How
) -> list[Cell]:
    """Each value of a stratum with each metric, in the order of the values."""
    of = np.array(made.values)
    columns = {one.id: units.columns(one.id, weighted=one.weighted) for one in metrics}
    cells = []
    for value, n in made.sizes.items():
        inside = of == value
        for metric in metrics:
            before, after = (one.of(inside) for one in columns[metric.id])
            change = (
                change_of(metric, before, after, how)
                if n >= FEWEST
                else untested(metric, before, after, _too_few(n))
            )
            cells.append(Cell(stratum=made.stratum, value=value, metric=metric.id, change=change))
    return cells


def _too_few(n: int) -> str:
    return f"too few: {n} in both runs, and a slice is tested from {FEWEST} on"
