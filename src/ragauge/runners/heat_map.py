"""The heat map while it is filled: a letter for each run, little memory for each letter."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any

from ragauge.contracts.run import Variation
from ragauge.text.jitters import JITTERS

NO_RUN = "."

_JITTER_ORDER = {name: number for number, name in enumerate(JITTERS)}


class HeatMap:
    """Rows of letters by question; the columns are known when the last row is in."""

    def __init__(self, planned: tuple[Variation, ...]) -> None:
        self._planned = planned
        self._number = {variation: number for number, variation in enumerate(planned)}
        self._rows: dict[str, tuple[array[int], str]] = {}

    def add(self, qid: str, cells: Mapping[Variation, str]) -> None:
        numbers = (self._number.setdefault(v, len(self._number)) for v in cells)
        self._rows[qid] = array("I", numbers), "".join(cells.values())

    def columns(self) -> tuple[Variation, ...]:
        """The planned runs in their order, then whatever else the runs varied."""
        others = sorted(set(self._number).difference(self._planned), key=_column_order)
        return (*self._planned, *others)

    def rows(self) -> dict[str, str]:
        """Each question's letters, one a column."""
        place = {self._number[v]: place for place, v in enumerate(self.columns())}
        found = {}
        for qid, (numbers, letters) in self._rows.items():
            row = [NO_RUN] * len(place)
            for number, letter in zip(numbers, letters, strict=True):
                row[place[number]] = letter
            found[qid] = "".join(row)
        return found


def _column_order(variation: Variation) -> tuple[Any, ...]:
    jitter = _JITTER_ORDER.get(variation.jitter, len(_JITTER_ORDER))
    return variation.paraphrase, jitter, variation
