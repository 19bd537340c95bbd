"""The heat map of a sweep: a row for each question, a letter for each run, or for several merged.

One layout places columns and headings; it is drawn as characters for a terminal and Markdown, and
as SVG for pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from math import ceil
from textwrap import wrap
from typing import TYPE_CHECKING

from msgspec import Struct

from ragauge.contracts.run import Variation
from ragauge.contracts.stability import CELLS, Stability
from ragauge.reports import numbers
from ragauge.reports.document import Links, Span, Tone, Words
from ragauge.reports.foreign import cut, shown

if TYPE_CHECKING:
    from markupsafe import Markup

RIGHT = "+"
SKIPPED = frozenset("=.")
"""Columns in which a question has no run of its own: neither right nor wrong."""
LETTERS: dict[str, tuple[str, Tone, bool]] = {
    "+": ("right", "good", False),
    "c": ("claim", "warm", True),
    "h": ("cited", "plain", True),
    "x": ("both", "bad", True),
    "r": ("refused", "soft", True),
    "a": ("answered", "bad", True),
    "k": ("echo", "plain", True),
    "!": ("failed", "strong", True),
    "?": ("missing", "strong", True),
    "=": ("saved", "dim", False),
    ".": ("none", "dim", False),
}
"""Each letter's class on a page, its tone in a terminal, and whether its cell is filled there."""
SOME: tuple[str, Tone, bool] = ("some", "warm", True)
"""How tenths are drawn."""
VERDICT_TONES: dict[Stability, Tone] = {
    "stable_pass": "good",
    "flaky": "warm",
    "stable_fail": "bad",
    "incomplete": "soft",
    "not_evaluated": "dim",
}

OUTERMOST_FIRST = Variation.__struct_fields__
FEWEST = 4
"""Columns that merging complete factors may leave; where it leaves fewer, neighbours are merged."""
LONGEST_LABEL, LONGEST_ID = 12, 80
GAP = 2
"""Characters between a question and its row."""
COLUMNS_DRAWN, STRETCHES_DRAWN = 120, 60
"""On a page: with more columns it would be slow to scroll. Where so many runs of one factor are
merged, neighbour with neighbour, there are about so many columns."""
LABELS_NAMED = 24
"""In a note, of columns too narrow for headings; of more, the first and the last."""
ROW, HEAD, GAPS = 22, 18, (1, 6, 14)
"""On a page: the height of rows and headings, and the gaps between columns of a group, between
groups, and between groups of groups."""
CHARACTER = 6.8
"""The approximate width of a character in the headings of a page."""
LEAST_RIGHT = 12
"""Characters that the column of right runs has room for at the least."""


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

    def groups(self, level: int) -> list[tuple[str, int]]:
        """The headings of a level: each label and its first column."""
        return [
            (key[level], place)
            for place, key in enumerate(self.keys)
            if not place or key[: level + 1] != self.keys[place - 1][: level + 1]
        ]

    def row(self, cells: str) -> str:
        """A letter for each column: the run's own, or one for the merged runs."""
        return "".join(merged([cells[place] for place in places]) for places in self.members)

    def words(self) -> str:
        """What a cell is that holds several runs; nothing where each is one run."""
        if not self.merged:
            return ""
        sizes = {len(places) for places in self.members}
        most = "" if len(sizes) == 1 else "up to "
        runs = numbers.counted(max(sizes), "run")
        inside = " × ".join(self.merged)
        tenths = "+ all right, 1 to 9 the tenths that are, a letter if none is"
        return f"a cell is {most}{runs} ({inside}): {tenths}"


def varying(columns: Sequence[Variation]) -> tuple[str, ...]:
    """The factors with more than one value, the outermost first."""
    return tuple(
        factor
        for factor in OUTERMOST_FIRST
        if len({getattr(column, factor) for column in columns}) > 1
    )


def axes(columns: Sequence[Variation]) -> Iterator[Axis]:
    """Every way to draw the columns, from one per run to one for all; innermost merged first."""
    factors = varying(columns)
    for kept in range(len(factors), -1, -1):
        found: dict[tuple[str, ...], list[int]] = {}
        for place, column in enumerate(columns):
            key = tuple(label(factor, getattr(column, factor)) for factor in factors[:kept])
            found.setdefault(key, []).append(place)
        members = tuple(tuple(places) for places in found.values())
        yield Axis(factors[:kept], factors[kept:], tuple(found), members)


def fitting(columns: Sequence[Variation], most: int, stretches: int) -> Axis:
    """The columns apart where there are at most `most`; otherwise the fewest factors merged.

    Where that would leave next to nothing to see, the innermost factor that is left is cut into
    stretches of neighbouring levels: about `stretches` columns.
    """
    one = finer = next(axes(columns))
    for one in axes(columns):
        if len(one.keys) <= most:
            break
        finer = one
    return _stretched(finer, stretches) if one.merged and len(one.keys) < FEWEST else one


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
    merging = (axis.factors[-1], *axis.merged)
    return Axis(axis.factors, merging, tuple(found), tuple(found.values()), stretches=True)


def label(factor: str, value: object) -> str:
    """
    >>> label("temperature", 0.2), label("paraphrase", 0), label("seed", 7)
    ('t0.2', 'p0', '7')
    """
    return {"temperature": "t", "paraphrase": "p"}.get(factor, "") + level(value)


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
    fraction = counted.count(RIGHT) / len(counted) if counted else 0
    if 0 < fraction < 1:
        return str(max(1, int(fraction * 10)))
    return min(Counter(counted or letters).items(), key=lambda pair: (-pair[1], pair[0]))[0]


def right_of(cells: str) -> tuple[int, int]:
    """How many runs are right, of how many.

    >>> right_of("++c=.")
    (2, 3)
    """
    return cells.count(RIGHT), sum(letter not in SKIPPED for letter in cells)


def outcome(cell: str) -> str:
    """
    >>> outcome("c"), outcome("7")
    ('claim wrong', '7 tenths right')
    """
    return CELLS.get(cell) or f"{cell} tenths right"


def class_of(cell: str) -> str:
    """How a letter is drawn on a page."""
    return LETTERS.get(cell, SOME)[0]


def verdict_name(verdict: str) -> str:
    return verdict.replace("_", " ")


class Layout(Struct, frozen=True):
    """Where columns and their headings are, in characters or in pixels."""

    axis: Axis
    step: float
    """The width of a column."""
    places: Sequence[float]
    end: float
    heads: Sequence[tuple[str, Sequence[tuple[float, str]], bool]]
    """For each line of headings the factor, labels with their places, and whether the places are
    the middles of single columns."""


def laid_out(
    axis: Axis,
    step: float,
    gaps: Sequence[float],
    character: float = 1,
    *,
    labelled: bool = True,
    padded: bool = False,
) -> Layout:
    """Columns of a width side by side.

    `labelled` names single columns, and `padded` makes each group wide enough for its name.
    """
    innermost = len(axis.factors) - 1
    places, starts, end = [0.0], [0.0] * max(innermost, 0), step

    def past_labels(key: Sequence[str], first: int) -> float:
        wide = (min(len(one), LONGEST_LABEL) * character for one in key[first:innermost])
        known = (start + width for start, width in zip(starts[first:], wide, strict=True))
        return max([end, *known]) if padded else end

    for before, key in pairwise(axis.keys):
        changed = next(level for level, one in enumerate(key) if one != before[level])
        end = past_labels(before, changed) + gaps[min(innermost - changed, 2)]
        starts[changed:] = [end] * (innermost - changed)
        places.append(end)
        end += step
    end = past_labels(axis.keys[-1], 0)
    heads = []
    for level, factor in enumerate(axis.factors[: None if labelled else -1]):
        groups = [(shown(text), places[first]) for text, first in axis.groups(level)]
        gap = gaps[min(innermost - level, 2)]
        after = [start - gap for _, start in groups[1:]]
        rooms = zip(groups, [*after, end], strict=True)
        fitted = [
            (start, text[: max(1, int((stop - start) / character))])
            for (text, start), stop in rooms
        ]
        heads.append((factor, fitted, level == innermost))
    return Layout(axis, step, places, end, heads)


class HeatRow(Struct, frozen=True):
    """A question in the heat map."""

    qid: str
    rank: int
    """Its place among all questions, the worst first, and its address on a page."""
    verdict: Stability
    cells: str
    """A letter for each run."""
    factor: str = ""
    """What makes its outcome change, where that is known."""


class HeatMap(Struct, frozen=True, kw_only=True):
    """Questions over the runs of a sweep, in their order."""

    columns: Sequence[Variation]
    rows: Sequence[HeatRow]
    about: str = ""
    """The picture in a sentence, for a reader who cannot see it."""
    rest: str = ""
    """What is said about questions that are not drawn."""

    def lines(self, width: int) -> list[Words]:
        """As characters, no line wider than the width."""
        from rich.cells import cell_len
        from rich.text import Text

        if not self.rows or not self.columns:
            return []
        longest = max(cell_len(shown(row.qid)) for row in self.rows)
        names = min(max(longest, *map(len, OUTERMOST_FIRST)), width // 5)
        layout, counts = self._in_room(width - names - GAP)
        end = int(layout.end)

        def line(name: Span, pieces: Iterable[tuple[float, Span]]) -> list[Span]:
            first = Text(name.text)
            first.truncate(names, overflow="ellipsis", pad=True)
            made, at = [Span(first.plain, name.tone)], names
            for place, span in pieces:
                made.append(Span(" " * max(0, names + GAP + int(place) - at)))
                at = max(at, names + GAP + int(place)) + cell_len(span.text)
                made.append(span)
            return made

        found: list[Words] = []
        for factor, labels, _ in layout.heads:
            pieces = [(place, Span(text, "dim")) for place, text in labels]
            if counts and factor == layout.heads[-1][0]:
                pieces.append((end, Span("  right", "dim")))
            found.append(line(Span(factor, "dim"), pieces))
        for verdict, alike in groupby(self.rows, key=lambda row: row.verdict):
            found.append([Span(verdict_name(verdict), VERDICT_TONES[verdict])])
            for row in alike:
                letters = zip(layout.places, layout.axis.row(row.cells), strict=True)
                pieces = [(place, _letter(letter)) for place, letter in letters]
                right = "  {} of {}".format(*right_of(row.cells))
                pieces += [(end, Span(right, "dim"))] if counts else []
                found.append(line(Span(shown(row.qid)), pieces))
        found.append("")
        for words in (*self._notes(layout), self.rest):
            found += [[Span(part, "dim")] for part in wrap(words, width)]
        return found + self._legend(layout, width)

    def svg(self, links: Links) -> Markup:
        """As a picture for a page, with its legend and the same letters in a table."""
        from markupsafe import Markup

        from ragauge.reports.templating import own

        layout = self._on_page()
        counts = [numbers.n_of(*right_of(row.cells)) for row in self.rows]
        right = layout.end + GAPS[2]
        flips = right + CHARACTER * max(LEAST_RIGHT, *(len(text) + 2 for text in counts))
        longest = max(len(row.factor) for row in self.rows)
        template = own().get_template("heat_map.html")
        return Markup(  # escaped as made
            template.render(
                map=self,
                layout=layout,
                lines=[
                    one
                    for verdict, alike in groupby(self.rows, key=lambda row: row.verdict)
                    for one in (verdict, *alike)
                ],
                notes=[*self._notes(layout), self.rest, "Point at a cell to see its run."],
                outcomes=[(one, class_of(one), meaning) for one, meaning in self._seen(layout)],
                groups=dict.fromkeys(key[:-1] for key in layout.axis.keys),
                right=right,
                flips=flips if longest else None,
                width=int(flips + CHARACTER * (longest + 2 if longest else 0)),
                row_height=ROW,
                head_height=HEAD,
                right_of=lambda row: numbers.n_of(*right_of(row.cells)),
                verdict_name=verdict_name,
                to=lambda row: (
                    links.to(("question", row.qid)) or links.to(("here", f"question-{row.rank}"))
                ),
            )
        )

    def cells(self, row: HeatRow, layout: Layout) -> Iterator[tuple[float, str, float | None, str]]:
        """For each cell its place, its class, the fraction that is wrong if merged, its title."""
        axis, name = layout.axis, cut(row.qid, LONGEST_ID)
        drawn = zip(layout.places, axis.row(row.cells), axis.members, axis.keys, strict=True)
        for x, letter, members, key in drawn:
            wrong = None if letter in LETTERS else 1 - int(letter) / 10
            title = f"{name}#{self.columns[members[0]]}"
            if len(members) == 1:
                title = f"{title}: {outcome(letter)}"
            else:
                several = f"{title} and {len(members) - 1} like it"
                if axis.stretches:
                    levels = zip(axis.factors, key, strict=True)
                    several = ", ".join((name, *(f"{factor} {one}" for factor, one in levels)))
                right = right_of("".join(row.cells[place] for place in members))
                title = f"{several}: {numbers.n_of(*right)} right"
            yield x, class_of(letter), wrong, title

    def letters(self, row: HeatRow, layout: Layout) -> dict[str, list[tuple[float, str]]]:
        """The letters of a row with their places, by their class."""
        found: dict[str, list[tuple[float, str]]] = {}
        for x, letter in zip(layout.places, layout.axis.row(row.cells), strict=True):
            found.setdefault(class_of(letter), []).append((x + layout.step / 2, letter))
        return found

    def grouped(self, row: HeatRow, layout: Layout) -> list[str]:
        """The letters of a row group by group."""
        found: dict[tuple[str, ...], list[str]] = {}
        for key, letter in zip(layout.axis.keys, layout.axis.row(row.cells), strict=True):
            found.setdefault(key[:-1], []).append(letter)
        return [" ".join(letters) for letters in found.values()]

    def _in_room(self, room: int) -> tuple[Layout, bool]:
        """The layout that shows most, every run before groups of runs; whether counts fit, too."""
        counts = len(f"  {len(self.columns)} of {len(self.columns)}")
        for axis in axes(self.columns):
            widest = max([1, *(min(len(key[-1]), LONGEST_LABEL) for key in axis.keys if key)])
            for labelled, padded in ((True, True), (False, True), (False, False)):
                step = widest if labelled else 1
                gaps = (int(step > 1), 1, 2)
                layout = laid_out(axis, step, gaps, labelled=labelled, padded=padded)
                if layout.end <= room:
                    return layout, layout.end + counts <= room
        return layout, False

    def _on_page(self) -> Layout:
        """Wide columns where there are few, so that headings fit; never too small for a letter."""
        axis = fitting(self.columns, COLUMNS_DRAWN, STRETCHES_DRAWN)
        columns = len(axis.keys)
        step = 44 if columns <= 12 else 26 if columns <= 24 else 16
        longest = max(len(key[-1]) if key else 0 for key in axis.keys)
        narrow = longest * CHARACTER > step + 2
        layout = laid_out(axis, step, GAPS, CHARACTER, labelled=not narrow)
        if not narrow or not axis.stretches:
            return layout
        # A stretch that is named stands for those that follow it, up to the next name.
        apart = ceil((longest + 1) * CHARACTER / step)
        named = range(0, max(1, columns - apart + 1), apart)
        labels = [(layout.places[place], axis.keys[place][-1]) for place in named]
        heads = (*layout.heads, (axis.factors[-1], labels, False))
        return Layout(axis, step, layout.places, layout.end, heads)

    def _notes(self, layout: Layout) -> Iterator[str]:
        """What the headings do not say about the columns."""
        axis = layout.axis
        for level, factor in enumerate(axis.factors[len(layout.heads) :], len(layout.heads)):
            labels = list(dict.fromkeys(shown(key[level]) for key in axis.keys))
            if len(labels) > LABELS_NAMED:
                labels = [*labels[:2], "…", labels[-1]]
            yield f"within a group: {factor} {' '.join(labels)}"
        yield axis.words()

    def _seen(self, layout: Layout) -> list[tuple[str, str]]:
        seen = {letter for row in self.rows for letter in layout.axis.row(row.cells)}
        return [(letter, meaning) for letter, meaning in CELLS.items() if letter in seen]

    def _legend(self, layout: Layout, width: int) -> list[Words]:
        """The letters with their meanings, as many on a line as fit."""
        found: list[list[Span]] = [[]]
        at = 0
        for letter, meaning in self._seen(layout):
            said = len(letter) + 1 + len(meaning)
            if at and at + GAP + said > width:
                found.append([])
                at = 0
            found[-1] += [Span(" " * GAP if at else ""), _letter(letter), Span(f" {meaning}")]
            at += said + (GAP if at else 0)
        return list(found)


def _letter(letter: str) -> Span:
    _, tone, filled = LETTERS.get(letter, SOME)
    return Span(letter, tone, marked=filled)
