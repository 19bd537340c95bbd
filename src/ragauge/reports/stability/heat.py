"""The heat map of question × run: its columns, apart or merged, and the letters of a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from ragauge.contracts.run import Variation
from ragauge.reports import numbers

RIGHT = "+"
SKIPPED = frozenset("=.")
"""Columns in which a question has no run of its own: they are neither right nor wrong."""

FEWEST = 4
"""Columns that merging whole factors may leave; where it leaves fewer, neighbours are merged."""

OUTERMOST_FIRST = Variation.__struct_fields__


class Axis(Struct, frozen=True):
    """The columns that are drawn: each holds one run of a question, or several merged."""

    factors: tuple[str, ...]
    """What varies from column to column, the outermost first."""
    merged: tuple[str, ...]
    """What varies inside a column."""
    keys: tuple[tuple[str, ...], ...]
    """A column's label for each factor."""
    members: tuple[tuple[int, ...], ...]
    """The places in the report's columns that a column holds."""
    stretches: bool = False
    """Whether a column is a stretch of neighbouring levels of the innermost factor."""

    def groups(self, level: int) -> list[tuple[str, int, int]]:
        """The headings of a level: a label, its first column, and the column after its last."""
        found: list[tuple[str, int, int]] = []
        for place, key in enumerate(self.keys):
            if place and key[: level + 1] == self.keys[place - 1][: level + 1]:
                label, start, _ = found.pop()
                found.append((label, start, place + 1))
            else:
                found.append((key[level], place, place + 1))
        return found

    def row(self, cells: str) -> str:
        """One letter a column: the run's own, or what the merged ones come to."""
        return "".join(merged([cells[place] for place in places]) for places in self.members)


def varying(columns: Sequence[Variation]) -> tuple[str, ...]:
    """The factors with more than one value, the outermost first."""
    return tuple(
        factor
        for factor in OUTERMOST_FIRST
        if len({getattr(column, factor) for column in columns}) > 1
    )


def axis(columns: Sequence[Variation], kept: int | None = None) -> Axis:
    """The columns with so many of the varying factors kept apart, the innermost merged first."""
    factors = varying(columns)
    kept = len(factors) if kept is None else kept
    found: dict[tuple[str, ...], list[int]] = {}
    for place, column in enumerate(columns):
        key = tuple(label(factor, getattr(column, factor)) for factor in factors[:kept])
        found.setdefault(key, []).append(place)
    return Axis(
        factors[:kept],
        factors[kept:],
        tuple(found),
        tuple(tuple(places) for places in found.values()),
    )


def axes(columns: Sequence[Variation]) -> Iterator[Axis]:
    """Every way to draw the columns, from one a run to one for all."""
    for kept in range(len(varying(columns)), -1, -1):
        yield axis(columns, kept)


def fitting(columns: Sequence[Variation], most: int, stretches: int) -> Axis:
    """The columns apart where there are at most so many; else the fewest factors merged.

    Where that would leave next to nothing to see, the innermost factor that is left is cut into
    stretches of neighbouring levels: about so many columns.
    """
    finer = axis(columns)
    for one in axes(columns):
        if len(one.keys) <= most:
            few = one.merged and len(one.keys) < FEWEST
            return _stretched(finer, stretches) if few else one
        finer = one
    return finer


def _stretched(axis: Axis, most: int) -> Axis:
    """The axis with neighbouring levels of its innermost factor merged; no stretch leaves a group.

    A stretch is called by its first and last level.
    """
    groups: dict[tuple[str, ...], list[int]] = {}
    for place, key in enumerate(axis.keys):
        groups.setdefault(key[:-1], []).append(place)
    found: dict[tuple[str, ...], tuple[int, ...]] = {}
    for outer, places in groups.items():
        length = -(-len(places) * len(groups) // most)
        for start in range(0, len(places), length):
            inside = places[start : start + length]
            ends = dict.fromkeys(axis.keys[place][-1] for place in (inside[0], inside[-1]))
            members = (member for place in inside for member in axis.members[place])
            found[*outer, "–".join(ends)] = tuple(members)
    return Axis(
        axis.factors,
        (axis.factors[-1], *axis.merged),
        tuple(found),
        tuple(found.values()),
        stretches=True,
    )


def label(factor: str, value: object) -> str:
    """
    >>> label("temperature", 0.2), label("paraphrase", 0), label("seed", 7)
    ('t0.2', 'p0', '7')
    """
    match factor:
        case "temperature":
            return f"t{level(value)}"
        case "paraphrase":
            return f"p{value}"
        case _:
            return str(value)


def level(value: object) -> str:
    """A factor's value, as short as it can be without looking like another.

    >>> level(0.0), level(0.2), level(0.1 + 0.2), level(12345678), level("ws")
    ('0', '0.2', '0.30000000000000004', '12345678', 'ws')
    """
    if not isinstance(value, float):
        return str(value)
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def merged(letters: Sequence[str]) -> str:
    """One letter for several runs: + where all are right, the tenths that are, or how they fail.

    >>> merged("+++"), merged("++c"), merged("rrc"), merged("..="), merged("+.")
    ('+', '6', 'r', '.', '+')
    """
    counted = [letter for letter in letters if letter not in SKIPPED]
    if not counted or len(set(counted)) == 1:
        return _commonest(counted or letters)
    share = counted.count(RIGHT) / len(counted)
    return str(max(1, int(share * 10))) if share else _commonest(counted)


def _commonest(letters: Sequence[str]) -> str:
    return min(Counter(letters).items(), key=lambda pair: (-pair[1], pair[0]))[0]


def merged_words(axis: Axis) -> str:
    """What a cell is that holds several runs."""
    sizes = {len(places) for places in axis.members}
    most = "" if len(sizes) == 1 else "up to "
    runs = numbers.counted(max(sizes), "run")
    inside = " × ".join(axis.merged)
    tenths = "+ all right, 1 to 9 the tenths that are, a letter if none is"
    return f"a cell is {most}{runs} ({inside}): {tenths}"


def right_of(cells: str) -> tuple[int, int]:
    """How many runs are right, of how many.

    >>> right_of("++c=.")
    (2, 3)
    """
    return cells.count(RIGHT), sum(letter not in SKIPPED for letter in cells)
