"""The heat map while it is filled: a letter for each run, little memory for each letter."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from typing import Any

from ragauge.contracts.run import Variation
from ragauge.text.jitters import JITTERS

NO_RUN = "."

_JITTER_ORDER = {name: number for number, name in enumerate(JITTERS)}


class HeatMap:
    """Rows of letters, one a question; the columns are known when the last row is in."""

    def __init__(self, planned: tuple[Variation, ...]) -> None:
        self._planned = planned
        self._number = {variation: number for number, variation in enumerate(planned)}
        self._rows: list[tuple[array[int], str]] = []

    def add(self, cells: Mapping[Variation, str]) -> None:
        numbers = (self._number.setdefault(v, len(self._number)) for v in cells)
        self._rows.append((array("I", numbers), "".join(cells.values())))

    def columns(self) -> tuple[Variation, ...]:
        """The planned runs in their order, then whatever else the runs varied."""
        others = sorted(set(self._number).difference(self._planned), key=_column_order)
        return (*self._planned, *others)

    def rows(self) -> Iterator[str]:
        """Each question's letters, one a column, in the order they were added."""
        place = {self._number[v]: place for place, v in enumerate(self.columns())}
        for numbers, letters in self._rows:
            row = [NO_RUN] * len(place)
            for number, letter in zip(numbers, letters, strict=True):
                row[place[number]] = letter
            yield "".join(row)


def _column_order(variation: Variation) -> tuple[Any, ...]:
    jitter = _JITTER_ORDER.get(variation.jitter, len(_JITTER_ORDER))
    return variation.paraphrase, jitter, variation
