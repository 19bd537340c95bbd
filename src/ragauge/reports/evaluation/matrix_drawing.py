"""A confusion matrix as shapes for an SVG: where each cell stands, its shade and its words."""

from __future__ import annotations

from msgspec import Struct

from ragauge.reports import numbers
from ragauge.reports.evaluation.labels import MEANINGS, Matrix
from ragauge.reports.foreign import cut

CELL = 30
DIGIT = 8
"""The width of a figure in a cell, about; a cell grows with its count."""
CHARACTER = 7.0
"""The width of a character of a head, about."""
LEVEL = 3
"""Characters of a label that fit over a column; longer ones stand upright."""
LONGEST = 18
FAINTEST = 0.14
"""The shade of a single item: what is there at all shows."""
DARK = 0.55
"""From this share on the count is written in the color of the paper."""


class Cell(Struct, frozen=True):
    x: int
    text_x: float
    count: str
    kind: str
    """right, wrong or none."""
    opacity: str
    dark: bool
    title: str


class Line(Struct, frozen=True):
    """A gold label with the predictions for its items."""

    y: int
    label: str
    name: str
    total: str
    cells: tuple[Cell, ...]


class Head(Struct, frozen=True):
    x: float
    label: str
    name: str
    upright: bool


class Drawing(Struct, frozen=True):
    title: str
    words: str
    cell: int
    width: int
    height: int
    head_height: int
    heads: tuple[Head, ...]
    lines: tuple[Line, ...]
    totals_x: int


def drawn(matrix: Matrix) -> Drawing:
    """Every label as a row and as a column; the shade is the share of the row."""
    most = max((times for row in matrix.counts for times in row), default=0)
    cell = max(CELL, DIGIT * len(numbers.count(most)) + 8)
    longest = max(min(len(label), LONGEST) for label in matrix.labels)
    across = cell * len(matrix.labels)
    totals = DIGIT * max(len(numbers.count(total)) for total in matrix.totals) + 16
    return Drawing(
        title=matrix.title,
        words=_words(matrix),
        cell=cell,
        width=across + totals,
        height=CELL * len(matrix.labels),
        head_height=round(CHARACTER * longest) + 14 if longest > LEVEL else 24,
        heads=tuple(
            Head(cell * place + cell / 2, cut(label, LONGEST), label, len(label) > LEVEL)
            for place, label in enumerate(matrix.labels)
        ),
        lines=tuple(_line(matrix, row, cell) for row in range(len(matrix.labels))),
        totals_x=across + 10,
    )


def _words(matrix: Matrix) -> str:
    items = sum(matrix.totals)
    right = sum(matrix.counts[place][place] for place in range(len(matrix.labels)))
    of = f"{numbers.count(right)} of {numbers.counted(items, 'item')}"
    return f"{matrix.title} of {numbers.counted(len(matrix.labels), 'label')}: {of} right"


def _line(matrix: Matrix, row: int, cell: int) -> Line:
    label = matrix.labels[row]
    return Line(
        y=CELL * row,
        label=label,
        name=f"{label}: {MEANINGS[label]}" if label in MEANINGS else label,
        total=numbers.count(matrix.totals[row]),
        cells=tuple(_cell(matrix, row, column, cell) for column in range(len(matrix.labels))),
    )


def _cell(matrix: Matrix, row: int, column: int, cell: int) -> Cell:
    times, share = matrix.counts[row][column], matrix.share(row, column)
    gold, predicted = matrix.labels[row], matrix.labels[column]
    told = f"{numbers.count(times)}, {numbers.share(times, matrix.totals[row])} of the row"
    return Cell(
        x=cell * column,
        text_x=cell * column + cell / 2,
        count=numbers.count(times) if times else "",
        kind="none" if not times else "right" if row == column else "wrong",
        opacity=f"{FAINTEST + (1 - FAINTEST) * share:.2f}" if times else "1",
        dark=share >= DARK,
        title=f"gold {gold}, predicted {predicted}: {told}",
    )
