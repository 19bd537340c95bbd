"""The heaviest one-to-one assignment of rows to columns, where most have nothing in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush


def heaviest(weights: Sequence[Mapping[int, int]]) -> list[tuple[int, int]]:
    """Pairs of a row and a column whose weights, all above zero, sum to the most.

    Exact for integers of any size, in time that grows with the rows times the entangled part.
    Of equally heavy assignments the one is taken in which earlier rows keep what they have.

    >>> heaviest([{0: 5, 1: 4}, {0: 4}])
    [(0, 1), (1, 0)]
    >>> heaviest([{0: 1}, {0: 1}])
    [(0, 0)]
    """
    return _Assignment(weights).pairs()


class _Assignment:
    """Rows are let in one by one; each time the cheapest chain of swaps makes room.

    Every row has a column of its own besides, which costs nothing and means: left alone.
    """

    def __init__(self, weights: Sequence[Mapping[int, int]]) -> None:
        columns = 1 + max((column for row in weights for column in row), default=-1)
        self._columns, self._rows = columns, len(weights)
        self._costs = [
            {column: -weight for column, weight in row.items()} | {self._alone(place): 0}
            for place, row in enumerate(weights)
        ]
        self._row_price = [0] * len(weights)
        self._column_price: dict[int, int] = {}
        self._row_of: dict[int, int] = {}
        self._column_of: dict[int, int] = {}

    def pairs(self) -> list[tuple[int, int]]:
        for row in range(self._rows):
            self._let_in(row)
        return [(row, column) for row, column in self._column_of.items() if column < self._columns]

    def _alone(self, row: int) -> int:
        """The later a row, the sooner it is left alone, where all else is equal."""
        return self._columns + self._rows - row

    def _let_in(self, new: int) -> None:
        """Dijkstra's search from the new row to the nearest free column, then the swaps."""
        distance: dict[int, int] = {}
        came: dict[int, int] = {}
        waiting: list[tuple[int, int]] = []
        done: dict[int, int] = {}
        row, so_far = new, 0
        while True:
            for column, cost in self._costs[row].items():
                price = self._row_price[row] + self._column_price.get(column, 0)
                far = so_far + cost - price
                if column not in done and (column not in distance or far < distance[column]):
                    distance[column], came[column] = far, row
                    heappush(waiting, (far, column))
            so_far, column = heappop(waiting)
            while column in done or so_far != distance[column]:
                so_far, column = heappop(waiting)
            if column not in self._row_of:
                break
            done[column] = so_far
            row = self._row_of[column]
        self._raise_prices(new, done, so_far)
        self._swap(new, column, came)

    def _raise_prices(self, new: int, done: Mapping[int, int], total: int) -> None:
        self._row_price[new] += total
        for column, far in done.items():
            self._column_price[column] = self._column_price.get(column, 0) - (total - far)
            self._row_price[self._row_of[column]] += total - far

    def _swap(self, new: int, column: int, came: Mapping[int, int]) -> None:
        while True:
            row = came[column]
            before = self._column_of.get(row)
            self._column_of[row], self._row_of[column] = column, row
            if row == new or before is None:
                return
            column = before
