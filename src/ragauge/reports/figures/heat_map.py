"""The heat map of a sweep: a row for each question, a letter for each run, or for several merged.

It is drawn as characters for a terminal and Markdown, with columns and headings laid out to fit,
and as a table for pages, where the browser does that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, groupby
from textwrap import wrap
from typing import TYPE_CHECKING

from msgspec import Struct

from ragauge.contracts.run import Variation, exact
from ragauge.contracts.stability import CORRECT, SKIPPED, Stability, right_of
from ragauge.reports import phrasing
from ragauge.reports.document import Inline, Links, Span, Tone, listed, spans
from ragauge.text.visible import cut, shown

if TYPE_CHECKING:
    from markupsafe import Markup

LETTERS: dict[str, tuple[str, Tone, bool, str]] = {
    "+": ("right", "good", False, "correct"),
    "c": ("claim", "warm", True, "claim incorrect"),
    "h": ("cited", "plain", True, "citations incorrect"),
    "x": ("both", "bad", True, "claim and citations incorrect"),
    "r": ("refused", "soft", True, "refused, though answerable"),
    "a": ("answered", "bad", True, "answered, though unanswerable"),
    "k": ("echo", "plain", True, "constraints not repeated"),
    "!": ("failed", "strong", True, "failed"),
    "?": ("missing", "strong", True, "missing"),
    "=": ("saved", "dim", False, "not needed for the verdict"),
    ".": ("none", "dim", False, "not planned, or the same prompt as another run"),
}
"""For each letter: its class on a page, its tone in a terminal, whether its cell is filled there,
and what it means."""
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
LONGEST_LABEL, LONGEST_ID, LONGEST_NOTE = 12, 80, 200
GAP = 2  # characters between a question and its row
COLUMNS_DRAWN = 120  # on a page: with more it would be slow to scroll


class Axis(Struct, frozen=True):
    """The columns that are drawn: each is one run of a question, or several merged."""

    factors: tuple[str, ...]  # what varies from column to column, the outermost first
    merged: tuple[str, ...]  # what varies inside a column
    columns: Mapping[tuple[str, ...], Sequence[int]]
    """By a label for each factor: the places in the report's columns that a column covers."""

    def row(self, cells: str) -> list[str]:
        """A letter for each column: the run's own, or one for the merged runs."""
        return [merged([cells[place] for place in places]) for places in self.columns.values()]

    def groups(self, depth: int) -> list[tuple[str, int]]:
        """The groups of columns that share their first labels: the last of these, and the size."""
        found = groupby(self.columns, key=lambda key: key[:depth])
        return [
            (shown("".join(key[-1:]))[:LONGEST_LABEL], len(list(alike))) for key, alike in found
        ]


def varying(columns: Sequence[Variation]) -> tuple[str, ...]:
    """The factors with more than one value, the outermost first."""
    return tuple(one for one in OUTERMOST_FIRST if len({getattr(c, one) for c in columns}) > 1)


def fit_axis(columns: Sequence[Variation], fits: Callable[[Axis], bool]) -> Axis:
    """A column for each run where that fits; otherwise factors are merged, the innermost first.

    Where that would leave too few columns, the innermost factor that is left is divided into
    ranges of neighbouring levels. A range is named after its first and last level.
    """
    factors = varying(columns)
    levels = [tuple(level(getattr(one, factor)) for factor in factors) for one in columns]

    def axis(kept: int, length: int = 1) -> Axis:
        inner = list(dict.fromkeys(one[kept - 1] for one in levels)) if kept else []
        stretches = [inner[start : start + length] for start in range(0, len(inner), length)]
        names = {
            one: "–".join(dict.fromkeys((inside[0], inside[-1])))
            for inside in stretches
            for one in inside
        }
        found: dict[tuple[str, ...], list[int]] = {}
        for place, one in enumerate(levels):
            key = (*one[: kept - 1], names[one[kept - 1]]) if kept else ()
            found.setdefault(key, []).append(place)
        return Axis(factors[:kept], factors[kept - (length > 1) :], found)

    complete = map(axis, range(len(factors), -1, -1))
    best = next(filter(fits, complete), axis(0))
    if not best.merged or len(best.columns) >= FEWEST:
        return best
    stretched = (axis(len(best.factors) + 1, length) for length in range(2, len(columns)))
    return next(filter(fits, stretched), best)


def level(value: object) -> str:
    """
    >>> level(0.0), level(0.2), level(0.1 + 0.2), level(12345678), level("ws")
    ('0', '0.2', '0.30000000000000004', '12345678', 'ws')
    """
    return exact(value) if isinstance(value, float) else str(value)


def merged(letters: Sequence[str]) -> str:
    """One letter for several runs: + if all are correct, else the tenths, or how they fail.

    >>> merged("+++"), merged("++c"), merged("rrc"), merged("..="), merged("+.")
    ('+', '6', 'r', '.', '+')
    """
    finished = [letter for letter in letters if letter not in SKIPPED]
    fraction = finished.count(CORRECT) / len(finished) if finished else 0
    if 0 < fraction < 1:
        return str(max(1, int(fraction * 10)))
    return min(Counter(finished or letters).items(), key=lambda pair: (-pair[1], pair[0]))[0]


def cell_meaning(cell: str) -> str:
    return LETTERS[cell][3] if cell in LETTERS else cell


def cell_class(cell: str) -> str:
    """The class of a letter on a page; the fewer of its runs are correct, the fuller its colour."""
    return LETTERS[cell][0] if cell in LETTERS else f"some n{cell}"


def verdict_name(verdict: str) -> str:
    return verdict.replace("_", " ")


class HeatRow(Struct, frozen=True):
    """A question in the heat map."""

    qid: str
    verdict: Stability
    cells: str  # a letter for each run
    anchor: str = ""  # where the page has the question, where it has no page of its own

    @property
    def correct(self) -> str:
        return phrasing.n_of(*right_of(self.cells))


def column_starts(axis: Axis, width: int) -> list[int]:
    """Where columns of a width begin, in characters, and where the last one ends.

    Each group is wide enough for its name.
    """
    gap, outer = int(width > 1), range(len(axis.factors) - 1, 0, -1)
    widths = [width + gap] * len(axis.columns)
    for depth in outer:
        end = 0
        for label, times in axis.groups(depth):
            start, end = end, end + times
            widths[end - 1] += max(1, len(label) + 1 - sum(widths[start:end]))
    *places, end = accumulate(widths, initial=0)
    return [*places, end - len(outer) - gap]


class HeatMap(Struct, frozen=True):
    """Questions over the runs of a sweep, in their order."""

    columns: Sequence[Variation]
    rows: Sequence[HeatRow]
    total: int  # of questions: only some may be drawn

    def lines(self, width: int) -> list[Inline]:
        """As characters, no line wider than the width."""
        from rich.cells import cell_len
        from rich.text import Text

        longest = max(cell_len(shown(row.qid)) for row in self.rows)
        names = min(max(longest, *map(len, OUTERMOST_FIRST)), width // 5)
        room = width - names - GAP
        # Every run is shown before groups of runs, and headings of single columns if they fit.
        axis = fit_axis(self.columns, lambda axis: column_starts(axis, 1)[-1] <= room)
        room -= GAP + max(map(len, ("correct", *(row.correct for row in self.rows))))
        heads = [axis.groups(depth) for depth in range(1, len(axis.factors) + 1)]
        widest = max([1, *(len(label) for labels in heads[-1:] for label, _ in labels)])
        *places, end = column_starts(axis, widest)
        if end > room:
            heads = heads[:-1] if widest > 1 else heads
            *places, end = column_starts(axis, 1)

        def letter(one: str) -> Span:
            _, tone, filled, _ = LETTERS.get(one, ("", "warm", True, ""))
            return Span(one, tone, marked=filled)

        def line(name: Span, pieces: Iterable[tuple[int, Span]], correct: str) -> list[Span]:
            first = Text(name.text)
            first.truncate(names, overflow="ellipsis", pad=True)
            spans_drawn, at = [Span(first.plain, name.tone)], -GAP
            last = [(end + GAP, Span(correct, "dim"))] if end <= room else []
            for place, span in (*pieces, *last):
                spans_drawn += [Span(" " * max(0, place - at)), span]
                at = max(at, place) + cell_len(span.text)
            return spans_drawn

        found: list[Inline] = []
        for factor, labels in zip(axis.factors, heads, strict=False):
            firsts = accumulate((times for _, times in labels), initial=0)
            headings = [
                (places[at], Span(label, "dim"))
                for (label, _), at in zip(labels, firsts, strict=False)
            ]
            correct = "correct" if labels is heads[-1] else ""
            found.append(line(Span(factor, "dim"), headings, correct))
        for verdict, rows in self._by_verdict():
            found.append([Span(verdict_name(verdict), VERDICT_TONES[verdict])])
            for row in rows:
                pieces = zip(places, map(letter, axis.row(row.cells)), strict=True)
                found.append(line(Span(shown(row.qid)), pieces, row.correct))
        found.append("")
        for note in self._notes(axis, len(heads)):
            found += [[Span(part, "dim")] for part in wrap(note, width)]
        at = 0  # The letters with their meanings, as many on a line as fit.
        for one, meaning in self._legend(axis):
            meant = [letter(one), Span(f" {meaning}")]
            wide = GAP + sum(len(span.text) for span in meant)
            if at and at + wide <= width:
                found[-1] = [*spans(found[-1]), Span(" " * GAP), *meant]
                at += wide
            else:
                found.append(meant)
                at = wide - GAP
        return found

    def html(self, links: Links) -> Markup:
        """As a table for a page, with its legend."""
        from markupsafe import Markup

        from ragauge.reports.templating import report_templates

        axis = fit_axis(self.columns, lambda axis: len(axis.columns) <= COLUMNS_DRAWN)
        heads = [(one, axis.groups(depth)) for depth, one in enumerate(axis.factors, 1)]
        kinds = Counter(verdict_name(row.verdict) for row in self.rows)
        verdicts = (f"{phrasing.count(times)} {name}" for name, times in kinds.items())
        template = report_templates().get_template("heat_map.html")
        return Markup(  # escaped as made
            template.render(
                about=f"Heat map of {phrasing.pluralize(len(self.rows), 'question')} by "
                f"{phrasing.pluralize(len(self.columns), 'run')}: {listed(*verdicts)}",
                notes=[*self._notes(axis, len(heads)), "Point at a cell to see its run."],
                legend=[(*one, cell_class(one[0])) for one in self._legend(axis)],
                groups=[times for _, times in axis.groups(len(heads) - 1)],
                heads=heads or [("", [("runs", 1)])],
                verdicts=[
                    (name, verdict_name(name), [(row, self._cells(row, axis)) for row in rows])
                    for name, rows in self._by_verdict()
                ],
                links=links,
            )
        )

    def _by_verdict(self) -> Iterator[tuple[Stability, Iterator[HeatRow]]]:
        return groupby(self.rows, key=lambda row: row.verdict)

    def _cells(self, row: HeatRow, axis: Axis) -> Iterator[tuple[str, str, str]]:
        """For each cell its class, its letter, and its title."""
        name = cut(row.qid, LONGEST_ID)
        for (key, places), letter in zip(axis.columns.items(), axis.row(row.cells), strict=True):
            if len(places) == 1:
                title = f"{name}#{self.columns[places[0]]}: {cell_meaning(letter)}"
            else:
                levels = (f"{factor} {one}" for factor, one in zip(axis.factors, key, strict=True))
                correct = right_of([row.cells[place] for place in places])
                title = f"{', '.join((name, *levels))}: {phrasing.n_of(*correct)} correct"
            yield cell_class(letter), letter, title

    def _notes(self, axis: Axis, heads: int) -> Iterator[str]:
        """What the headings do not say about the columns, and how many questions are drawn."""
        if heads < len(axis.factors):
            labels = " ".join(dict.fromkeys(shown(key[-1]) for key in axis.columns))
            yield f"within a group: {axis.factors[-1]} {cut(labels, LONGEST_NOTE)}"
        if axis.merged:
            sizes = {len(places) for places in axis.columns.values()}
            most = f"{'up to ' if len(sizes) > 1 else ''}{phrasing.pluralize(max(sizes), 'run')}"
            tenths = "+ all correct, 1 to 9 the tenths that are, a letter if none is"
            yield f"a cell is {most} ({' × '.join(axis.merged)}): {tenths}"
        if len(self.rows) < self.total:
            yield f"{phrasing.n_of(len(self.rows), self.total)} questions are shown"

    def _legend(self, axis: Axis) -> list[tuple[str, str]]:
        drawn = {letter for row in self.rows for letter in axis.row(row.cells)}
        return [(letter, meaning) for letter, (*_, meaning) in LETTERS.items() if letter in drawn]
