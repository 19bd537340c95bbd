"""A confusion matrix: counts with shades, as characters and as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from msgspec import Struct
from rich.cells import cell_len

from ragauge.contracts.labels import MISSING, OTHER
from ragauge.reports import numbers
from ragauge.reports.document import Figure, Span, Tone, Words
from ragauge.reports.foreign import cut, readable, shown
from ragauge.reports.terminal import GAP

if TYPE_CHECKING:
    from markupsafe import Markup

SHADES = "░▒▓█"
LONGEST_NAME, SHORTEST_NAME = 18, 6
NARROW = 2
"""Columns of a cell that is a shade alone; its head is written downwards."""
UPRIGHT = 4
"""Characters of a head that is written downwards."""
REMARK = "rows are gold, columns predicted; the shade is the fraction of the row"
NO_ROOM = "the matrix needs a wider terminal; --report FILE.html draws it"
MEANINGS = {OTHER: "not in the label set", MISSING: "nothing was predicted"}
CELL, DIGIT, CHARACTER = 30, 8, 7.0
"""Of the SVG: the side of a cell, and the widths of a digit and of a letter, about."""
LEVEL = 3
"""Characters of a label that fit above a column; longer ones are turned."""
FAINTEST, DARK = 0.14, 0.55
"""The shade of a single item, and from which fraction on its count is in the color of the paper."""


class Matrix(Struct, frozen=True, kw_only=True):
    """Counts by gold label (rows) and predicted label (columns)."""

    title: str
    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    @property
    def totals(self) -> list[int]:
        return [sum(row) for row in self.counts]

    def fraction(self, row: int, column: int) -> float:
        """Of the items with the row's gold label, those with the column's prediction."""
        total = sum(self.counts[row])
        return self.counts[row][column] / total if total else 0.0

    def seen(self) -> Matrix:
        """Without the labels that are neither in gold nor predicted."""
        kept = [
            place
            for place in range(len(self.labels))
            if any(self.counts[place]) or any(row[place] for row in self.counts)
        ]
        return Matrix(
            title=self.title,
            labels=tuple(self.labels[place] for place in kept),
            counts=tuple(tuple(self.counts[row][column] for column in kept) for row in kept),
        )


def figure(matrix: Matrix) -> Figure:
    """The matrix; characters leave out the labels that do not occur."""
    return Figure(
        title=matrix.title,
        remark=REMARK,
        drawn=lambda width: _in_words(matrix, width),
        svg=lambda links: svg(matrix),
        part="confusion",
    )


def _in_words(matrix: Matrix, width: int) -> list[Words]:
    made = lines(matrix.seen(), width)
    if not made:
        return [[Span(line, "dim")] for line in wrap(NO_ROOM, width)]
    left_out = len(matrix.labels) - len(matrix.seen().labels)
    if left_out:
        unseen = f"{numbers.counted(left_out, 'label')} neither in gold nor predicted"
        made += [[Span(line, "dim")] for line in wrap(unseen, width)]
    return made


def lines(matrix: Matrix, width: int) -> list[Words]:
    """The matrix with as much as fits: counts with shades, or shades alone; else nothing."""
    if not matrix.labels:
        return []
    digits = max(len(str(times)) for row in matrix.counts for times in row)
    totals = GAP + max(len(numbers.count(total)) for total in matrix.totals)
    for cell, with_counts in ((digits + 1, True), (NARROW, False)):
        heads, numbered = _heads(matrix.labels, cell if with_counts else UPRIGHT)
        room = width - GAP - (cell + with_counts) * len(heads) - totals
        if not heads or room < (SHORTEST_NAME if not numbered else SHORTEST_NAME + 3):
            continue
        names = _names(matrix.labels, numbered, min(room, LONGEST_NAME))
        gap, margin = " " * with_counts, " " * (cell_len(names[0]) + GAP)
        high = 1 if with_counts else max(map(len, heads))
        above = (
            [heads]
            if with_counts
            else [[one.rjust(high)[at] for one in heads] for at in range(high)]
        )
        made: list[Words] = []
        for place, line in enumerate(above, 1):
            text = margin + "".join(" " * (cell - cell_len(one)) + one + gap for one in line)
            made.append([Span(text + ("n".rjust(totals) if place == high else ""), "dim")])
        for row, name in enumerate(names):
            cells = [
                _cell(matrix, row, column, cell, with_counts, gap) for column in range(len(heads))
            ]
            total = Span(numbers.count(matrix.totals[row]).rjust(totals), "dim")
            made.append([Span(name + " " * GAP), *cells, total])
        return made
    return []


def _cell(matrix: Matrix, row: int, column: int, width: int, with_counts: bool, gap: str) -> Span:
    times, fraction = matrix.counts[row][column], matrix.fraction(row, column)
    if not times:
        return Span("·".rjust(width - with_counts) + " " * with_counts + gap, "dim")
    shade = SHADES[min(len(SHADES) - 1, int(fraction * len(SHADES)))]
    tone: Tone = "good" if row == column else "bad" if fraction >= 0.1 else "warm"
    return Span((f"{times}{shade}".rjust(width) if with_counts else shade * width) + gap, tone)


def _heads(labels: Sequence[str], room: int) -> tuple[list[str], bool]:
    """A head for each column: its label, cut, or its number where cut labels are alike."""
    fitting = [_fitting(shown(label), room) for label in labels]
    if len(set(fitting)) == len(fitting) and all(fitting):
        return fitting, False
    if len(str(len(labels))) > room:
        return [], True
    return [str(place) for place in range(1, len(labels) + 1)], True


def _names(labels: Sequence[str], numbered: bool, room: int) -> list[str]:
    """The labels, all as wide as the widest, with their numbers where columns have them."""
    digits = len(str(len(labels)))
    names = [
        f"{place:>{digits}} {_fitting(shown(label), room - digits - 1)}"
        if numbered
        else _fitting(shown(label), room)
        for place, label in enumerate(labels, 1)
    ]
    widest = max(map(cell_len, names))
    return [name + " " * (widest - cell_len(name)) for name in names]


def _fitting(text: str, cells: int) -> str:
    """The beginning of a text that is no wider, with an ellipsis where there is room for one."""
    if cell_len(text) <= cells:
        return text
    text = text[:cells]  # a character takes a column at least, except for combining marks
    ellipsis = "…" if cells > UPRIGHT else ""
    while text and cell_len(text + ellipsis) > cells:
        text = text[:-1]
    return text + ellipsis


def svg(matrix: Matrix) -> Markup:
    """Every label as a row and as a column, in a frame that scrolls under its heads."""
    from markupsafe import Markup

    most = max((times for row in matrix.counts for times in row), default=0)
    cell = max(CELL, DIGIT * len(numbers.count(most)) + 8)
    across = cell * len(matrix.labels)
    longest = max(min(len(label), LONGEST_NAME) for label in matrix.labels)
    high = round(CHARACTER * longest) + 14 if longest > LEVEL else 24
    wide = across + DIGIT * max(len(numbers.count(total)) for total in matrix.totals) + 16
    turned = Markup(' transform="translate({} {}) rotate(-90)"')
    heads, rows, labels = [], [], []
    for place, label in enumerate(matrix.labels):
        middle = cell * place + cell / 2
        at = (
            turned.format(middle + 4, high - 6)
            if len(label) > LEVEL
            else Markup(' class="centred" x="{}" y="{}"').format(middle, high - 7)
        )
        name = readable(label)
        head = Markup("<text{}>{}<title>{}</title></text>")
        heads.append(head.format(at, readable(cut(label, LONGEST_NAME)), name))
        title = f"{name}: {MEANINGS[label]}" if label in MEANINGS else name
        labels.append(Markup('<span title="{}"><bdi>{}</bdi></span>').format(title, name))
        cells = [_drawn(matrix, place, column, cell) for column in range(len(matrix.labels))]
        total = Markup('<text class="right" x="{}" y="19">{}</text>').format(
            across + 10, numbers.count(matrix.totals[place])
        )
        group = Markup('<g transform="translate(0 {})">{}{}</g>\n')
        rows.append(group.format(CELL * place, Markup("").join(cells), total))
    correct = sum(matrix.counts[place][place] for place in range(len(matrix.labels)))
    of = f"{numbers.count(correct)} of {numbers.counted(sum(matrix.totals), 'item')} correct"
    words = f"{matrix.title} of {numbers.counted(len(matrix.labels), 'label')}: {of}"
    return Markup(
        '<div class="map" tabindex="0" role="group" aria-label="{}, scrollable">\n'
        '<div class="grid">\n'
        '<div class="corner"><span>predicted →</span><span>gold ↓</span></div>\n'
        '<svg class="heads" width="{}" height="{}" aria-hidden="true">{}'
        '<text x="{}" y="{}">n</text></svg>\n'
        '<div class="labels">{}</div>\n'
        '<svg class="cells" width="{}" height="{}" role="img" aria-label="{}">\n{}</svg>\n'
        "</div>\n</div>\n"
    ).format(
        matrix.title,
        wide,
        high,
        Markup("").join(heads),
        across + 10,
        high - 7,
        Markup("").join(labels),
        wide,
        CELL * len(matrix.labels),
        words,
        Markup("").join(rows),
    )


def _drawn(matrix: Matrix, row: int, column: int, cell: int) -> Markup:
    from markupsafe import Markup

    times, fraction = matrix.counts[row][column], matrix.fraction(row, column)
    pair = f"gold {readable(matrix.labels[row])}, predicted {readable(matrix.labels[column])}"
    of_row = f"{numbers.share(times, matrix.totals[row])} of the row"
    made = Markup(
        '<rect class="x-{}" x="{}" width="{}" height="29" fill-opacity="{}">'
        "<title>{}</title></rect>"
    ).format(
        "none" if not times else "right" if row == column else "wrong",
        cell * column,
        cell - 1,
        f"{FAINTEST + (1 - FAINTEST) * fraction:.2f}" if times else "1",
        f"{pair}: {numbers.count(times)}, {of_row}",
    )
    if times:
        text = Markup('<text class="{}" x="{}" y="19">{}</text>')
        shade = "dark" if fraction >= DARK else "light"
        made += text.format(shade, cell * column + cell / 2, numbers.count(times))
    return made
