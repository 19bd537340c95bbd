"""The slices of a comparison that are worth a line."""

from __future__ import annotations

from itertools import groupby

from msgspec import Struct

from ragauge.contracts.comparison import ComparedSlice, ComparisonReport
from ragauge.reports.comparison.story import ORDER, verdict_of


class Slice(Struct, frozen=True):
    """A stratum, and what is told of it: the surest differences first."""

    stratum: str
    values: int
    told: tuple[ComparedSlice, ...]
    left_out: int
    few: tuple[tuple[str, int], ...]
    """Values with too few units to be tested, and how many they have."""


def slices(report: ComparisonReport, most: int) -> list[Slice]:
    """The strata in the order they were asked for, with at most so many slices of each."""
    by_stratum = groupby(report.slices, key=lambda cell: cell.stratum)
    return [_slice(stratum, list(cells), most) for stratum, cells in by_stratum]


def _slice(stratum: str, cells: list[ComparedSlice], most: int) -> Slice:
    tested = [cell for cell in cells if cell.compared.method]
    told = sorted((cell for cell in tested if cell.compared.change), key=_surest)[:most]
    units: dict[str, int] = {}
    for cell in cells:
        units[cell.value] = max(units.get(cell.value, 0), cell.compared.n)
    few = units.keys() - {cell.value for cell in tested}
    return Slice(
        stratum,
        len(units),
        tuple(told),
        len(tested) - len(told),
        tuple((value, units[value]) for value in sorted(few)),
    )


def _surest(cell: ComparedSlice) -> tuple[int, float, float, str, str]:
    one = cell.compared
    p = 1.0 if one.p_adjusted is None else one.p_adjusted
    rank = ORDER.index(verdict_of(one))
    return rank, p, -abs(one.change or 0.0), cell.value, cell.metric
