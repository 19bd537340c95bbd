"""Sums: what a metric found, added up by unit."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, field

from ragauge.contracts.metric import Absent, Metric, NotApplicable, Pattern, Row, pattern_facts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


class Rows(Struct):
    """A metric's rows, one per unit, packed so that they cross processes quickly."""

    width: int
    counts: array[int] = field(default_factory=lambda: array("q"))
    absent: list[Absent | None] = field(default_factory=list)
    """None where the unit was scored."""

    def append(self, row: Row | Absent) -> None:
        if isinstance(row, Absent):
            self.counts.extend([0] * self.width)
            self.absent.append(row)
        else:
            self.counts.extend(row.counts)
            self.absent.append(None)

    def each(self) -> Iterator[Row | Absent]:
        for place, why in enumerate(self.absent):
            at = place * self.width
            yield why or Row(tuple(self.counts[at : at + self.width]))

    def sums(self, metric: Metric) -> Sums:
        """The rows as sums of one unit each."""
        return Sums(
            metric,
            np.frombuffer(self.counts, dtype=np.int64).reshape(len(self.absent), self.width),
            np.array([why is None for why in self.absent], dtype=np.int64),
            np.array([not isinstance(why, NotApplicable) for why in self.absent], dtype=np.int64),
            Counter(why for why in self.absent if why),
        )


class Kinds(Struct, frozen=True):
    """The sums of each kind of unit, and the kind of each unit, where many units are alike."""

    sums: Ints
    """(kinds, columns)"""
    scored: Ints
    """(kinds,)"""
    of: Ints
    """(units,): the kind of each unit"""

    def times(self, mask: NDArray[np.bool_] | None = None) -> Ints:
        """(kinds,): how many units, or units in the mask, are of each kind."""
        return np.bincount(self.of if mask is None else self.of[mask], minlength=len(self.scored))


class Sums(Struct):
    """A metric's column sums by unit, and how many measurements each unit has: exact, mergeable.

    A unit is what is paired and resampled: a question, document, item, mention or query. Sums of
    the same units can be added in any order with exactly the same result, so sums are all that is
    passed between processes, machines and time windows.
    """

    metric: Metric
    sums: Ints
    """(units, columns)"""
    scored: Ints
    """(units,): measurements that have a value"""
    units: Ints
    """(units,): measurements that should have a value, scored or not"""
    absent: Mapping[Absent, int]
    """How many measurements have no value, by reason, including those that are not applicable."""
    reach: int = 0
    """An upper bound of a column's total; beyond 64 bits the sums are Python integers."""
    kinds: Kinds | None = None
    """Which units are alike, if that is known: then values are computed once per kind."""

    @classmethod
    def zero(cls, metric: Metric, units: int) -> Sums:
        none = np.zeros(units, dtype=np.int64)
        return cls(metric, np.zeros((units, len(metric.columns)), np.int64), none, none.copy(), {})

    @classmethod
    def of(cls, metric: Metric, rows: Iterable[Row | Absent]) -> Sums:
        """The sums of a metric that was measured once for each unit."""
        packed = Rows(len(metric.columns))
        for row in rows:
            packed.append(row)
        return packed.sums(metric)

    def __add__(self, other: Sums) -> Sums:
        """The sums of both, which have the same units in the same order."""
        total = Sums.zero(self.metric, len(self.units))
        for part in (self, other):
            total.add(part, np.arange(len(part.units)))
        return total

    def add(self, other: Sums, at: Ints) -> None:
        """Add sums in place, those of the other's n-th unit to the unit `at[n]`."""
        if not len(at):
            return
        self.kinds = None
        self._make_room(int(at.max()) + 1)
        counts = other.sums
        self.reach += max(other.reach, int(np.abs(counts.astype(np.float64)).max()) * len(at))
        if self.reach >= 1 << 62:
            self.sums, counts = self.sums.astype(object), counts.astype(object)
        for column in range(counts.shape[1]):  # quicker than rows at a time
            np.add.at(self.sums[:, column], at, counts[:, column])
        np.add.at(self.scored, at, other.scored)
        np.add.at(self.units, at, other.units)
        # `+` of counters would drop a reason with the count 0, which is kept for its text.
        self.absent = Counter(self.absent)
        self.absent.update(other.absent)

    def first(self, units: int) -> Sums:
        """Only the first units: the arrays may have room for more."""
        self._make_room(units)
        return Sums(
            self.metric,
            self.sums[:units],
            self.scored[:units],
            self.units[:units],
            self.absent,
            self.reach,
        )

    def by_group(self, groups: Sequence[str], mask: NDArray[np.bool_] | None = None) -> Sums:
        """The sums of each group of units, sorted by name; only of units in the mask.

        Resampling them resamples groups, which is necessary if the units of a group depend on each
        other: about one source, or in one conversation.
        """
        kept = np.flatnonzero(np.ones(len(groups), dtype=bool) if mask is None else mask)
        names = np.array([groups[place] for place in kept.tolist()], dtype=object)
        known, group = np.unique(names, return_inverse=True) if len(names) else (names, kept)
        units = Sums(self.metric, self.sums[kept], self.scored[kept], self.units[kept], self.absent)
        total = Sums.zero(self.metric, len(known))
        total.add(units, group)
        total.absent = self.absent
        return total

    def total(self) -> tuple[int, ...]:
        """The sums of all units."""
        return tuple(int(column) for column in self.sums.sum(axis=0))

    def values(self) -> NDArray[np.float64]:
        """The metric's value for each unit, NaN where it is absent."""
        found = self.kinds or self
        values = np.full(len(found.scored), np.nan)
        present = found.scored > 0
        values[present] = self.metric.finish(found.sums[present])
        return values if self.kinds is None else values[self.kinds.of]

    def _make_room(self, units: int) -> None:
        more = units - len(self.units)
        if more > 0:
            # Doubling the room: unannounced units come one by one.
            room = max(more, len(self.units))
            self.sums = np.pad(self.sums, ((0, room), (0, 0)))
            self.scored = np.pad(self.scored, (0, room))
            self.units = np.pad(self.units, (0, room))


class Groups(Struct, frozen=True):
    """Counts of units by question and pattern: all that the built-in metrics need."""

    questions: int
    question: Ints
    pattern: Ints
    count: Ints
    patterns: Sequence[Pattern]


def sums_of(metric: Metric, groups: Groups) -> Sums:
    """The sums of a metric that reads patterns: `measure` is called once for each of them."""
    rows = [metric(pattern_facts(pattern)) for pattern in groups.patterns]
    each, pattern, count = Sums.of(metric, rows), groups.pattern, groups.count
    sizes = np.bincount(pattern, weights=count, minlength=len(rows)).astype(np.int64).tolist()
    absent: Counter[Absent] = Counter()
    for row, times in zip(rows, sizes, strict=True):
        if isinstance(row, Absent) and times:
            absent[row] += times
    counted_sums = Sums(
        metric,
        each.sums[pattern] * count[:, None],
        each.scored[pattern] * count,
        each.units[pattern] * count,
        absent,
    )
    total = Sums.zero(metric, groups.questions)
    total.add(counted_sums, groups.question)
    return total
