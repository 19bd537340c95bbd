"""A confusion matrix as lines of text: counts with shades, shades alone where room is short."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from ragauge.reports import numbers
from ragauge.reports.evaluation.labels import Matrix
from ragauge.reports.foreign import shown
from ragauge.reports.terminal import GAP, MARGIN, Page, note

SHADES = "░▒▓█"
LONGEST_NAME = 18
SHORTEST_NAME = 6
NARROW = 2
"""Columns of a cell that is a shade alone; its head stands upright."""
UPRIGHT = 4
"""Characters of an upright head."""
LEGEND = f"rows are gold, columns predicted; the shade is the share of the row: {SHADES}"
NO_ROOM = "the matrix needs a wider terminal; --report FILE.html draws it"


def told(page: Page, matrix: Matrix) -> None:
    """The matrix with its legend; where it does not fit in any way, that is said."""
    seen = matrix.seen()
    page.section(matrix.title)
    drawn = lines(seen, page.width)
    if not drawn:
        page.paragraph(note(NO_ROOM))
        return
    for line in drawn:
        page.line(line)
    page.paragraph(note(LEGEND))
    left_out = len(matrix.labels) - len(seen.labels)
    if left_out:
        more = numbers.counted(left_out, "label")
        page.paragraph(note(f"{more} neither in gold nor predicted"))


def lines(matrix: Matrix, width: int) -> list[Text]:
    """The matrix in the way that tells most in the width; nothing where no way fits."""
    if not matrix.labels:
        return []
    digits = max(len(str(times)) for row in matrix.counts for times in row)
    for cell, with_counts in ((digits + 1, True), (NARROW, False)):
        heads, numbered = _heads(matrix.labels, cell if with_counts else UPRIGHT)
        step = cell + with_counts
        room = width - MARGIN - GAP - step * len(heads) - _totals(matrix)
        if heads and room >= (SHORTEST_NAME if not numbered else SHORTEST_NAME + 3):
            names = _names(matrix.labels, numbered, min(room, LONGEST_NAME))
            return _drawn(matrix, heads, names, cell, with_counts)
    return []


def _totals(matrix: Matrix) -> int:
    return GAP + max(len(numbers.count(total)) for total in matrix.totals)


def _heads(labels: Sequence[str], room: int) -> tuple[list[str], bool]:
    """A head for each column: its label, cut, or its number where cut labels are alike."""
    cut = [_fitting(shown(label), room) for label in labels]
    if len(set(cut)) == len(cut) and all(cut):
        return cut, False
    if len(str(len(labels))) > room:
        return [], True
    return [str(place) for place in range(1, len(labels) + 1)], True


def _names(labels: Sequence[str], numbered: bool, room: int) -> list[str]:
    if not numbered:
        return _padded([_fitting(shown(label), room) for label in labels])
    digits = len(str(len(labels)))
    names = [
        f"{place:>{digits}} {_fitting(shown(label), room - digits - 1)}"
        for place, label in enumerate(labels, 1)
    ]
    return _padded(names)


def _padded(names: Sequence[str]) -> list[str]:
    widest = max(map(cell_len, names))
    return [name + " " * (widest - cell_len(name)) for name in names]


def _fitting(text: str, cells: int) -> str:
    """The beginning of a text that is no wider, with an ellipsis where there is room for one."""
    if cell_len(text) <= cells:
        return text
    text = text[:cells]  # a character is a column at least, but for marks that are none
    ellipsis = "…" if cells > UPRIGHT else ""
    while text and cell_len(text + ellipsis) > cells:
        text = text[:-1]
    return text + ellipsis


def _drawn(
    matrix: Matrix, heads: Sequence[str], names: Sequence[str], cell: int, with_counts: bool
) -> list[Text]:
    gap = " " if with_counts else ""
    beside = " " * (MARGIN + cell_len(names[0]) + GAP)
    drawn = [
        Text(beside + "".join(_right(part, cell) + gap for part in line), "dim")
        for line in ([heads] if with_counts else _upright(heads))
    ]
    drawn[-1].append("n".rjust(_totals(matrix)))
    for row, name in enumerate(names):
        line = Text(" " * MARGIN + name + " " * GAP)
        for column in range(len(heads)):
            line.append_text(_cell(matrix, row, column, cell, with_counts)).append(gap)
        counted = numbers.count(matrix.totals[row])
        drawn.append(line.append(counted.rjust(_totals(matrix)), "dim"))
    return drawn


def _upright(heads: Sequence[str]) -> list[list[str]]:
    """The heads on lines of one character each, all ending on the last line."""
    high = max(map(len, heads))
    return [[title.rjust(high)[line] for title in heads] for line in range(high)]


def _right(text: str, cells: int) -> str:
    return " " * (cells - cell_len(text)) + text


def _cell(matrix: Matrix, row: int, column: int, cell: int, with_counts: bool) -> Text:
    times, share = matrix.counts[row][column], matrix.share(row, column)
    if not times:
        return Text("·".rjust(cell - with_counts) + " " * with_counts, "dim")
    shade = SHADES[min(len(SHADES) - 1, int(share * len(SHADES)))]
    drawn = f"{times}{shade}".rjust(cell) if with_counts else shade * cell
    return Text(drawn, _style(share, right=row == column))


def _style(share: float, *, right: bool) -> str:
    if right:
        return "green"
    return "bold red" if share >= 0.25 else "red" if share >= 0.1 else "yellow"
