"""The units of two runs that a metric tells apart, a page at a time."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ragauge.contracts.history import UnitRow
from ragauge.contracts.paging import PAGE, Paged

Direction = Literal["up", "down", "one-sided"]
"""The last where only one of the runs has a value."""


class ChangeQuery(Struct, frozen=True, kw_only=True):
    """Which units of two runs a metric tells apart."""

    metric: str
    words: str = ""
    """As of `UnitQuery`, in the later run."""
    way: Direction | None = None
    left_out: frozenset[str] = frozenset()
    """Units that cannot be compared: their question means something else in each run."""
    start: int = 0
    limit: int = PAGE


class UnitChange(Struct, frozen=True, kw_only=True):
    """A unit in two runs."""

    before: UnitRow
    after: UnitRow


class UnitChanges(Struct, frozen=True, kw_only=True):
    """A page of the units whose value differs, and how the others came out."""

    page: Paged[UnitChange]
    rose: int
    fell: int
    """Of all units that both runs have, whatever is searched for."""
    same: int
    one_sided: int
    """Units with a value in one of the runs only: how much they changed cannot be told, but that
    they count in one total and not in the other."""
