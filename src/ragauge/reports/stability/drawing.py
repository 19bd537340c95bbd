"""The heat map as shapes for an SVG: where each cell stands, and what it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from math import ceil

from ragauge.contracts.run import Variation
from ragauge.contracts.stability import StabilityReport
from ragauge.reports import numbers
from ragauge.reports.foreign import cut
from ragauge.reports.stability import story
from ragauge.reports.stability.heat import Axis, fitting, merged_words, right_of
from ragauge.reports.stability.heat_shapes import Asked, Cell, Drawing, Heading, Row
from ragauge.reports.stability.runs import outcome

COLUMNS_DRAWN = 120
"""With more, and with as many rows as a page shows, it would be slow to scroll."""
STRETCHES_DRAWN = 60
"""Where so many runs of one factor are merged, neighbour with neighbour."""
LABELS_TOLD = 24
"""In a note, of columns too narrow for headings; of more, the first and the last."""
LONGEST_ID = 80

ROW = 22
HEAD = 18
GAPS = (1, 6, 14)
"""Between columns of a group, between groups, and between groups of groups."""
CHARACTER = 6.8
"""The width of one, about, in the headings."""

LEAST_RIGHT = 12
"""Characters that the column of right runs has room for at the least."""

CLASSES = {
    "+": "right",
    "c": "claim",
    "h": "cited",
    "x": "both",
    "r": "refused",
    "a": "answered",
    "k": "echo",
    "!": "failed",
    "?": "missing",
    "=": "saved",
    ".": "none",
}


def draw(report: StabilityReport, drawn: Mapping[str, int]) -> Drawing:
    """These questions of a report, by rank, over its runs."""
    rows = [
        Asked(qid, rank, report.details[qid].verdict, report.cells[qid])
        for qid, rank in drawn.items()
    ]
    hidden = len(report.details) - len(drawn) + story.left_out(report)
    return draw_rows(report.columns, rows, _hidden_words(len(drawn), hidden) if hidden else "")


def draw_rows(columns: Sequence[Variation], asked: Sequence[Asked], about: str = "") -> Drawing:
    """The questions over the runs, in their order; over groups of runs where there are many."""
    axis = fitting(columns, COLUMNS_DRAWN, STRETCHES_DRAWN)
    cell_width = _cell_width(len(axis.keys))
    places = _places(axis, cell_width)
    headings, factors = _headings(axis, places, cell_width)
    rows = _rows(columns, asked, axis, places, cell_width)
    right = places[-1] + cell_width + GAPS[2]
    end = right + CHARACTER * max([LEAST_RIGHT, *(len(row.right) + 2 for row in rows)])
    longest = max((len(one.factor) for one in asked), default=0)
    return Drawing(
        columns=len(axis.keys),
        cell_width=cell_width,
        right=right,
        flips=end if longest else None,
        width=int(end + CHARACTER * (longest + 2 if longest else 0)),
        height=ROW * len(rows),
        head_height=HEAD * max(1, len(factors)) + 4,
        factors=factors,
        headings=headings,
        rows=rows,
        legend=tuple(
            (key, CLASSES[key], words)
            for key, words in story.legend([axis.row(one.cells) for one in asked])
        ),
        notes=tuple(filter(None, (*_notes(axis, len(factors)), about))),
        table_heads=tuple(" ".join(group) for group in _groups(axis)),
        table=tuple(_table_row(one, axis) for one in asked),
    )


def _cell_width(columns: int) -> int:
    """Wide where there are few, so that headings fit; never too small for a letter."""
    return 44 if columns <= 12 else 26 if columns <= 24 else 16


def _places(axis: Axis, cell_width: int) -> list[float]:
    places = [0.0]
    for before, key in pairwise(axis.keys):
        changed = next(level for level, label in enumerate(key) if label != before[level])
        outward = len(key) - 1 - changed
        places.append(places[-1] + cell_width + GAPS[min(outward, 2)])
    return places


def _headings(
    axis: Axis, places: Sequence[float], cell_width: int
) -> tuple[tuple[Heading, ...], tuple[tuple[float, str], ...]]:
    """The labels over the columns, a line a factor; single columns only where theirs fit."""
    found: list[Heading] = []
    factors: list[tuple[float, str]] = []
    for level, factor in enumerate(axis.factors):
        groups = axis.groups(level)
        innermost = level == len(axis.factors) - 1
        longest = max(len(label) for label, _, _ in groups)
        too_narrow = innermost and longest * CHARACTER > cell_width + 2
        if too_narrow and not axis.stretches:
            continue
        y = HEAD * (len(factors) + 1) - 5
        factors.append((y, factor))
        if too_narrow:
            # A stretch that is named tells those that follow it, up to the next name.
            apart = ceil((longest + 1) * CHARACTER / cell_width)
            found += [Heading(places[n], y, groups[n][0], False) for n in _named(groups, apart)]
            continue
        for label, start, stop in groups:
            room = places[stop - 1] + cell_width - places[start]
            x = places[start] + (room / 2 if innermost else 0)
            found.append(Heading(x, y, cut(label, max(2, int(room / CHARACTER))), innermost))
    return tuple(found), tuple(factors)


def _named(groups: Sequence[tuple[str, int, int]], apart: int) -> list[int]:
    """Which groups of one column each are named, so that no name runs into the next."""
    return list(range(0, max(1, len(groups) - apart + 1), apart))


def _rows(
    columns: Sequence[Variation],
    asked: Sequence[Asked],
    axis: Axis,
    places: Sequence[float],
    cell_width: int,
) -> tuple[Row, ...]:
    rows: list[Row] = []
    for verdict, alike in groupby(asked, key=lambda one: one.verdict):
        rows.append(Row(ROW * len(rows), verdict))
        for one in alike:
            row = Row(
                y=ROW * len(rows),
                verdict=verdict,
                qid=one.qid,
                rank=one.rank,
                cells=_cells(columns, one, axis, places),
                letters=_letters(axis.row(one.cells), [x + cell_width / 2 for x in places]),
                right=numbers.n_of(*right_of(one.cells)),
                factor=one.factor,
            )
            rows.append(row)
    return tuple(rows)


def _letters(letters: str, middles: Sequence[float]) -> tuple[tuple[str, str, str], ...]:
    found: dict[str, tuple[list[str], list[str]]] = {}
    for middle, letter in zip(middles, letters, strict=True):
        where, same = found.setdefault(CLASSES.get(letter, "some"), ([], []))
        where.append(f"{middle:g}")
        same.append(letter)
    return tuple((kind, " ".join(where), "".join(same)) for kind, (where, same) in found.items())


def _cells(
    columns: Sequence[Variation], one: Asked, axis: Axis, places: Sequence[float]
) -> tuple[Cell, ...]:
    drawn = zip(places, axis.row(one.cells), axis.members, axis.keys, strict=True)
    return tuple(
        Cell(
            x=x,
            kind=CLASSES.get(letter, "some"),
            wrong=None if letter in CLASSES else 1 - int(letter) / 10,
            title=_title(columns, one, members, letter, _stretch(axis, key)),
        )
        for x, letter, members, key in drawn
    )


def _stretch(axis: Axis, key: Sequence[str]) -> str:
    """What a column of neighbouring levels is called: `jitter ws, seed 0–33`; else empty."""
    if not axis.stretches:
        return ""
    return ", ".join(f"{factor} {label}" for factor, label in zip(axis.factors, key, strict=True))


def _title(
    columns: Sequence[Variation], one: Asked, members: Sequence[int], letter: str, stretch: str
) -> str:
    """The run and what it came to; of several, how many are right."""
    name = cut(one.qid, LONGEST_ID)
    if len(members) == 1:
        return f"{name}#{columns[members[0]]}: {outcome(letter)}"
    right, of = right_of("".join(one.cells[place] for place in members))
    told = f"{numbers.n_of(right, of)} right"
    if stretch:
        return f"{name}, {stretch}: {told}"
    return f"{name}#{columns[members[0]]} and {len(members) - 1} like it: {told}"


def _groups(axis: Axis) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(key[:-1] for key in axis.keys))


def _table_row(one: Asked, axis: Axis) -> tuple[str, str, tuple[str, ...]]:
    letters: dict[tuple[str, ...], list[str]] = {}
    for key, letter in zip(axis.keys, axis.row(one.cells), strict=True):
        letters.setdefault(key[:-1], []).append(letter)
    verdict = story.verdict_name(one.verdict)
    return one.qid, verdict, tuple(" ".join(group) for group in letters.values())


def _notes(axis: Axis, lines: int) -> list[str]:
    notes = []
    if axis.factors and lines < len(axis.factors):
        labels = list(dict.fromkeys(key[-1] for key in axis.keys))
        if len(labels) > LABELS_TOLD:
            labels = [*labels[:2], "…", labels[-1]]
        notes.append(f"within a group: {axis.factors[-1]} {' '.join(labels)}")
    if axis.merged:
        notes.append(merged_words(axis))
    return notes


def _hidden_words(drawn: int, hidden: int) -> str:
    shown = f"{numbers.count(drawn)} of {numbers.count(drawn + hidden)} questions are shown"
    return f"{shown}, the worst of each verdict"
