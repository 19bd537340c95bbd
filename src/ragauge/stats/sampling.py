"""Splits and samples over several factors at once, the same whatever the order of the rows.

A cell is the units that have the same value of every factor. How many of a cell go where is
decided by rounding its share up or down; which of them, by the hash of the seed and their id.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array

Key = tuple[str, ...]
"""A unit's value of each factor, the factor that matters most first."""
Table = dict[Key, list[int]]
"""For each cell, how many of its units go to each part."""
Allocation = Literal["proportional", "equal"]

PARTNERS = 256
"""Cells tried against as many others when margins are evened out; more would cost their square."""


class SplitCell(Struct, frozen=True):
    """A cell, and how many of its units went to each part."""

    key: Key
    counts: tuple[int, ...]

    @property
    def size(self) -> int:
        return sum(self.counts)


class Split(Struct, frozen=True):
    """Which part each unit is in, and the cells that decided it, in their order."""

    part_of: dict[str, int]
    cells: tuple[SplitCell, ...]


class SampleCell(Struct, frozen=True):
    """A cell, and how many of its units were taken."""

    key: Key
    size: int
    taken: int

    @property
    def weight(self) -> float | None:
        """How many units each taken one stands for; None where none was taken."""
        return self.size / self.taken if self.taken else None


class Sample(Struct, frozen=True):
    """The units taken, each with its weight, and the cells that decided it, in their order."""

    weights: dict[str, float]
    cells: tuple[SampleCell, ...]


def split(units: Mapping[str, Key], shares: Sequence[int], seed: int = 0) -> Split:
    """Each unit's part, so that every part looks like the whole.

    `units` has each id's values of the factors; `shares` are whole numbers in any unit. With
    the share of a group in a part as the number of its units times the part's share:

    - the parts have the sizes of the largest remainder (Hamilton), exactly;
    - each cell, and each value of the first factor, is less than one unit from its share in
      every part. With four parts or more the sizes may, rarely, cost a cell less than two;
    - a value of a later factor is off by less than the number of combinations of earlier
      factors' values it is met with. That is the worst case: cells are exchanged between parts
      as long as it brings the values of all factors closer, and most end within one.
    """
    cells = _cells(units, seed)
    table = _table({key: len(ids) for key, ids in cells.items()}, shares, seed)
    part_of: dict[str, int] = {}
    for key, ids in cells.items():
        parts = (part for part, count in enumerate(table[key]) for _ in range(count))
        part_of.update(zip(ids, parts, strict=True))
    return Split(part_of, tuple(SplitCell(key, tuple(table[key])) for key in cells))


def sample(
    units: Mapping[str, Key], n: int, allocation: Allocation = "proportional", seed: int = 0
) -> Sample:
    """`n` units from all cells, with weights that make them stand for all units.

    Proportional: a cell's share of the sample is its share of the units, yet at least one where
    `n` allows; equal: as many of each cell as there are. A unit weighs the size of its cell over
    the number taken from it, so the weights sum to the number of units in the cells that were
    reached: all of them, unless `n` is below the number of cells.
    """
    cells = _cells(units, seed)
    sizes = {key: len(ids) for key, ids in cells.items()}
    taken = (
        _proportional(sizes, n, seed) if allocation == "proportional" else _equal(sizes, n, seed)
    )
    told = tuple(SampleCell(key, len(ids), taken[key]) for key, ids in cells.items())
    weights = {
        id: cell.weight for cell in told for id in cells[cell.key][: cell.taken] if cell.weight
    }
    return Sample(weights, told)


def hamilton(sizes: Sequence[int], seats: int) -> list[int]:
    """The seats each size gets by the largest remainder; of equal remainders the first wins.

    >>> hamilton([70, 15, 15], 10)
    [7, 2, 1]
    """
    whole = sum(sizes)
    given = [size * seats // whole for size in sizes]
    ranked = sorted(range(len(sizes)), key=lambda place: (-(sizes[place] * seats % whole), place))
    for place in ranked[: seats - sum(given)]:
        given[place] += 1
    return given


def _cells(units: Mapping[str, Key], seed: int) -> dict[Key, list[str]]:
    """The ids of each cell in the order of their hashes; cells in the order of their keys."""
    cells: defaultdict[Key, list[str]] = defaultdict(list)
    for id, key in units.items():
        cells[tuple(key)].append(id)
    return {key: sorted(cells[key], key=lambda one: _hash(seed, one)) for key in sorted(cells)}


def _hash(seed: int, *words: str) -> bytes:
    return hashlib.sha256("\0".join([str(seed), *words]).encode()).digest()


def _proportional(sizes: Mapping[Key, int], n: int, seed: int) -> dict[Key, int]:
    whole = sum(sizes.values())
    if n < len(sizes):
        table = _table(sizes, (n, whole - n), seed)
        return {key: counts[0] for key, counts in table.items()}
    taken = dict.fromkeys(sizes, 1)
    above = dict(sizes)
    while below := [key for key, size in above.items() if size * n < whole]:
        for key in below:  # a share under one is made one, and the others have less to share
            n, whole = n - 1, whole - above.pop(key)
    order = sorted(above, key=lambda key: _hash(seed, *key))
    shared = hamilton([above[key] for key in order], n) if order else []
    return taken | dict(zip(order, shared, strict=True))


def _equal(sizes: Mapping[Key, int], n: int, seed: int) -> dict[Key, int]:
    taken = dict.fromkeys(sizes, 0)
    while n and (open := [key for key, size in sizes.items() if taken[key] < size]):
        each = min([n // len(open), *(sizes[key] - taken[key] for key in open)])
        if not each:
            open, each = sorted(open, key=lambda key: _hash(seed, *key))[:n], 1
        for key in open:
            taken[key] += each
            n -= each
    return taken


def _table(sizes: Mapping[Key, int], shares: Sequence[int], seed: int) -> Table:
    totals = hamilton(shares, sum(sizes.values()))
    table = _nested(sizes, 0, totals, shares, seed)
    order = sorted(table, key=lambda key: _hash(seed, *key))
    if not order or len(order[0]) < 2:
        return table  # the cells are the values
    # Exchange units between two cells while it brings the factors' values closer to their shares:
    # one gives from part p to q and another from q to p, so that the parts keep their sizes.
    # Closeness is the sum of squares over all values and parts. No cell leaves its rounding, and no
    # value the bound that it has from the nested rounding.
    margins = _Margins(table, shares, order)
    pairs = list(combinations(range(len(shares)), 2))
    while best := min(filter(None, (margins.best(p, q) for p, q in pairs)), default=None):
        _, p, q, giver, taker = best
        margins.move(giver, p, q)
        margins.move(taker, q, p)
    return table


def _nested(
    sizes: Mapping[Key, int], depth: int, totals: Sequence[int], shares: Sequence[int], seed: int
) -> Table:
    """The cells' counts, rounded factor by factor: each group within the totals of the one above.

    Rounded totals of two-way tables can always be met by rounding the entries (Bacharach 1966),
    so that each group of the first factors, down to the cells, is less than one off.
    """
    groups: defaultdict[Key, dict[Key, int]] = defaultdict(dict)
    for key, size in sizes.items():
        groups[key[: depth + 1]][key] = size
    counts = {group: sum(members.values()) for group, members in groups.items()}
    rows = _rounded(counts, totals, shares, seed)
    table: Table = {}
    for group, members in groups.items():
        deepest = [*members] == [group]
        below = _nested(members, depth + 1, rows[group], shares, seed) if not deepest else None
        table.update(below or {group: rows[group]})
    return table


def _rounded(
    sizes: Mapping[Key, int], totals: Sequence[int], shares: Sequence[int], seed: int
) -> Table:
    """Counts by row and part, each share rounded up or down, that meet the totals of the parts."""
    whole, parts = sum(shares), range(len(shares))
    table: Table = {}
    owed = [0] * len(shares)
    for key in sorted(sizes, key=lambda key: _hash(seed, *key)):
        due = [sizes[key] * share for share in shares]
        counts = [part // whole for part in due]
        owed = [owed[p] + due[p] - counts[p] * whole for p in parts]
        open = [p for p in parts if due[p] % whole]
        open.sort(key=lambda p: (-owed[p], _hash(seed, *key, str(p))))
        for p in open[: sizes[key] - sum(counts)]:
            counts[p] += 1
            owed[p] -= whole
        table[key] = counts
    _meet(table, totals, shares)
    return table


def _meet(table: Table, totals: Sequence[int], shares: Sequence[int]) -> None:
    """Move units between parts within their rows until each part has its total.

    A move takes what was rounded up and gives to what was rounded down. Where no chain of such
    moves helps, which takes four parts or more, shares that are whole numbers move too, and in
    the end whatever does least harm.
    """
    parts = range(len(shares))
    while True:
        excess = [sum(counts[p] for counts in table.values()) - totals[p] for p in parts]
        if not any(excess):
            return
        chains = (
            _chain(table, excess, shares, slack) for slack in (0, 1, sum(totals) * sum(shares))
        )
        for key, p, q in next(filter(None, chains)):
            table[key][p] -= 1
            table[key][q] += 1


def _chain(
    table: Table, excess: Sequence[int], shares: Sequence[int], slack: int
) -> list[tuple[Key, int, int]]:
    """The shortest chain of moves from a part with too many units to one with too few, if any."""
    moves: dict[tuple[int, int], tuple[int, Key]] = {}
    for key, counts in table.items():
        off = _off(counts, shares)
        for p, q in permutations(range(len(shares)), 2):
            gain = off[p] - off[q]
            if counts[p] and off[p] > -slack and off[q] < slack:
                moves[p, q] = max(moves.get((p, q), (gain, key)), (gain, key))
    came: dict[int, list[tuple[Key, int, int]]] = {
        p: [] for p, more in enumerate(excess) if more > 0
    }
    reached = list(came)
    for p in reached:
        for q in range(len(shares)):
            if (p, q) in moves and q not in came:
                came[q] = [*came[p], (moves[p, q][1], p, q)]
                reached.append(q)
                if excess[q] < 0:
                    return came[q]
    return []


def _off(counts: Sequence[int], shares: Sequence[int]) -> list[int]:
    """How far each part's count is above its share, in units of one over the sum of shares."""
    whole, size = sum(shares), sum(counts)
    return [count * whole - size * share for count, share in zip(counts, shares, strict=True)]


class _Margins:
    """How far cells and the values of factors are above their shares, kept while units move."""

    def __init__(self, table: Table, shares: Sequence[int], order: Sequence[Key]) -> None:
        import numpy as np

        self.table, self.order, self.whole = table, order, sum(shares)
        self.cells = np.array([_off(table[key], shares) for key in order], np.int64)
        self.values: list[Array] = []
        """For each factor, the number of each cell's value."""
        self.off: list[Array] = []
        """For each factor, values by parts."""
        self.least: list[Array] = []
        """For each factor and value, how far off it may not be."""
        for place in range(len(order[0])):
            values = sorted({key[place] for key in order})
            codes = np.array([values.index(key[place]) for key in order])
            off = np.zeros((len(values), len(shares)), np.int64)
            np.add.at(off, codes, self.cells)
            met = Counter(value for *_, value in {key[: place + 1] for key in order})
            self.values.append(codes)
            self.off.append(off)
            self.least.append(np.array([met[value] for value in values]) * self.whole)

    def best(self, p: int, q: int) -> tuple[int, int, int, int, int] | None:
        """The exchange of p and q that gains most: its loss, the parts, giver and taker."""
        import numpy as np

        givers, given, fit_giver = self._movable(p, q)
        takers, taken, fit_taker = self._movable(q, p)
        if not len(givers) or not len(takers):
            return None
        loss = np.zeros((len(givers), len(takers)), np.int64)
        fit = np.ones(loss.shape, bool)
        for codes, give, take, ok, fine in zip(
            self.values, given, taken, fit_giver, fit_taker, strict=True
        ):
            differ = codes[givers][:, None] != codes[takers][None, :]
            loss += np.where(differ, give[:, None] + take[None, :], 0)
            fit &= ~differ | (ok[:, None] & fine[None, :])
        loss[~fit] = 0
        place = int(loss.argmin())
        giver, taker = divmod(place, len(takers))
        least = int(loss.flat[place])
        return (least, p, q, int(givers[giver]), int(takers[taker])) if least < 0 else None

    def _movable(self, p: int, q: int) -> tuple[Array, list[Array], list[Array]]:
        """The cells that may give one from p to q, what it loses by factor, and whether it fits."""
        import numpy as np

        cells = np.flatnonzero((self.cells[:, p] > 0) & (self.cells[:, q] < 0))
        losses = [
            self.whole - off[codes, p] + off[codes, q]
            for off, codes in zip(self.off, self.values, strict=True)
        ]
        kept = cells[np.argsort(sum(losses)[cells], kind="stable")[:PARTNERS]]
        fits = [
            (np.abs(off[codes, p] - self.whole) < least[codes])
            & (np.abs(off[codes, q] + self.whole) < least[codes])
            for off, codes, least in zip(self.off, self.values, self.least, strict=True)
        ]
        return kept, [loss[kept] for loss in losses], [fit[kept] for fit in fits]

    def move(self, cell: int, p: int, q: int) -> None:
        counts = self.table[self.order[cell]]
        counts[p], counts[q] = counts[p] - 1, counts[q] + 1
        for part, change in ((p, -self.whole), (q, self.whole)):
            self.cells[cell, part] += change
            for off, codes in zip(self.off, self.values, strict=True):
                off[codes[cell], part] += change
