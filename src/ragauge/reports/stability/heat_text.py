"""The heat map as lines of text: a letter a run, or a letter for several where room is short."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from textwrap import wrap

from msgspec import Struct
from rich.cells import cell_len
from rich.text import Text

from ragauge.contracts.stability import Stability, StabilityReport
from ragauge.reports import numbers
from ragauge.reports.foreign import shown
from ragauge.reports.stability import story
from ragauge.reports.stability.heat import Axis, axes, merged_words, right_of
from ragauge.reports.terminal import GAP, MARGIN

ROWS_SHOWN = 30
LONGEST_LABEL = 12

STYLES = {
    "+": "green",
    "c": "black on yellow",
    "h": "black on cyan",
    "x": "bold white on red",
    "r": "white on magenta",
    "a": "bold white on red",
    "k": "white on blue",
    "!": "reverse bold",
    "?": "reverse",
    "=": "dim",
    ".": "dim",
}
SOME_RIGHT = "black on yellow"
VERDICT_STYLES: dict[Stability, str] = {
    "stable_pass": "green",
    "flaky": "yellow",
    "stable_fail": "bold red",
    "incomplete": "magenta",
    "not_evaluated": "dim",
}


class Layout(Struct, frozen=True):
    """Where the letters of a row stand, and the headings above them."""

    axis: Axis
    places: tuple[int, ...]
    heads: tuple[tuple[str, tuple[tuple[int, str], ...]], ...]
    """For each line of headings the factor, and labels with their places."""
    width: int
    counts: bool
    """Whether there is room behind a row for how many of its runs are right."""


def lines(report: StabilityReport, width: int, qids: Sequence[str] | None = None) -> Iterator[Text]:
    """The heat map with its legend, no line wider than the width; of these questions, if told."""
    rows, rest = _rows(report) if qids is None else (list(qids), "")
    names = max(cell_len(shown(qid)) for qid in rows)
    factors = max(map(len, ("", *report.columns[0].__struct_fields__)))
    beside = min(max(names, factors), width // 5)
    layout = _fitting(report, width - MARGIN - beside - GAP)
    yield from _heads(layout, beside)
    for verdict, alike in groupby(rows, key=lambda qid: report.details[qid].verdict):
        yield Text(" " * MARGIN + story.verdict_name(verdict), VERDICT_STYLES[verdict])
        for qid in alike:
            yield _row(qid, report.cells[qid], layout, beside)
    if rest:
        yield Text(" " * MARGIN + rest, "dim")
    yield from _legend(layout, [layout.axis.row(report.cells[qid]) for qid in rows], width)


def _rows(report: StabilityReport) -> tuple[list[str], str]:
    """The questions that are drawn, and what is said of the others."""
    everyone = story.ranked(report)
    if len(everyone) <= ROWS_SHOWN:
        return everyone, ""
    bad = story.unstable(report)
    drawn = story.some_unstable(report, ROWS_SHOWN) or everyone[:ROWS_SHOWN]
    hidden = len(bad) - len(drawn) if bad else 0
    stable = len(everyone) - max(len(bad), len(drawn))
    parts = [
        hidden and f"{numbers.count(hidden)} more that are not stable",
        stable and f"{numbers.count(stable)} that are",
    ]
    return drawn, f"and {' and '.join(part for part in parts if part)}"


def _fitting(report: StabilityReport, room: int) -> Layout:
    """The layout that tells most in the room: every run, then groups of runs."""
    counts = len(f"  {len(report.columns)} of {len(report.columns)}")
    layouts = (
        _layout(axis, labelled=labelled, padded=padded, counts=counted)
        for axis in axes(report.columns)
        for labelled, padded in ((True, True), (False, True), (False, False))
        for counted in (True, False)
    )
    for layout in layouts:
        if layout.width + (counts if layout.counts else 0) <= room:
            return layout
    return layout


def _layout(axis: Axis, *, labelled: bool, padded: bool, counts: bool) -> Layout:
    """Columns side by side; `labelled` gives each its own label, `padded` each group its own."""
    innermost = len(axis.factors) - 1
    labels = [key[-1] if key else "" for key in axis.keys]
    step = max(1, *(min(len(label), LONGEST_LABEL) for label in labels)) if labelled else 1
    places, starts, end = [0], [0] * max(innermost, 0), step
    for before, key in pairwise(axis.keys):
        changed = next(level for level, label in enumerate(key) if label != before[level])
        for level in range(changed, innermost):
            if padded:
                end = max(end, starts[level] + min(len(before[level]), LONGEST_LABEL))
        if changed == innermost:
            end += step > 1
        else:
            end += 1 if changed == innermost - 1 else 2
            starts[changed:] = [end] * (innermost - changed)
        places.append(end)
        end += step
    levels = range(innermost + 1 if labelled else innermost)
    if padded:
        last = axis.keys[-1]
        end = max([end, *(starts[n] + min(len(last[n]), LONGEST_LABEL) for n in range(innermost))])
    heads = tuple((axis.factors[level], _labels(axis, level, places, end)) for level in levels)
    return Layout(axis, tuple(places), heads, end, counts)


def _labels(axis: Axis, level: int, places: Sequence[int], end: int) -> tuple[tuple[int, str], ...]:
    """The labels of a level at their places, each cut where the next one stands."""
    found = axis.groups(level)
    starts = [places[start] for _, start, _ in found]
    rooms = [after - start for start, after in zip(starts, [*starts[1:], end + 1], strict=True)]
    single = level == len(axis.factors) - 1
    return tuple(
        (start, shown(label)[: max(1, room - (0 if single and room == 1 else 1))])
        for (label, _, _), start, room in zip(found, starts, rooms, strict=True)
    )


def _heads(layout: Layout, beside: int) -> Iterator[Text]:
    for factor, labels in layout.heads:
        line = Text(" " * MARGIN + factor[:beside].ljust(beside) + " " * GAP, "dim")
        for place, label in labels:
            line.pad_right(MARGIN + beside + GAP + place - line.cell_len)
            line.append(label)
        if layout.counts and factor == layout.heads[-1][0]:
            line.pad_right(MARGIN + beside + GAP + layout.width - line.cell_len)
            line.append("  right")
        yield line


def _row(qid: str, cells: str, layout: Layout, beside: int) -> Text:
    name = Text(shown(qid))
    name.truncate(beside, overflow="ellipsis")
    name.align("left", beside)
    line = Text(" " * MARGIN) + name + Text(" " * GAP)
    start = line.cell_len
    for place, letter in zip(layout.places, layout.axis.row(cells), strict=True):
        line.pad_right(start + place - line.cell_len)
        line.append(letter, STYLES.get(letter, SOME_RIGHT))
    if layout.counts:
        right, of = right_of(cells)
        line.pad_right(start + layout.width - line.cell_len)
        line.append(f"  {right} of {of}", "dim")
    return line


def _legend(layout: Layout, rows: Sequence[str], width: int) -> Iterator[Text]:
    yield Text()
    for words in _columns_words(layout):
        for line in wrap(words, width - MARGIN):
            yield Text(" " * MARGIN + line, "dim")
    yield from _letters(rows, width)


def _columns_words(layout: Layout) -> Iterator[str]:
    """What the headings leave unsaid of the columns."""
    axis = layout.axis
    told = {factor for factor, _ in layout.heads}
    for level, factor in enumerate(axis.factors):
        if factor not in told:
            labels = dict.fromkeys(shown(key[level]) for key in axis.keys)
            yield f"within a group: {factor} {' '.join(labels)}"
    if axis.merged:
        yield merged_words(axis)


def _letters(rows: Sequence[str], width: int) -> Iterator[Text]:
    """The letters with their meanings, as many on a line as fit."""
    line = Text()
    for letter, meaning in story.legend(rows):
        told = Text.assemble(" " * MARGIN, (letter, STYLES[letter]), f" {meaning}")
        if line and line.cell_len + told.cell_len > width:
            yield line
            line = Text()
        line.append_text(told)
    yield line
