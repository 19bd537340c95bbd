"""A terminal page on which text without blanks is broken as its readers expect.

Between two wide characters a line may end anywhere, but it never begins with a comma nor ends with
an opening bracket. A library that breaks at blanks alone leaves half of such a line empty.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from ragauge.reports.terminal import GAP, MARGIN, Page, widths

_NEVER_FIRST = frozenset("，。；：！？、）》」』】”’…％,.;:!?)]}%")
_NEVER_LAST = frozenset("（《「『【“‘([{")


class WidePage(Page):
    """A page whose paragraphs may be in Chinese."""

    def wrapped(self, text: Text, width: int) -> list[Text]:
        lines = list(text.divide(breaks(text.plain, width)))
        for line in lines:
            line.rstrip()
        return lines

    def fits(self, rows: Sequence[Sequence[Text]]) -> bool:
        """Whether a table of these rows can be read without cutting a cell."""
        return MARGIN + sum(widths(rows)) + GAP * (len(rows[0]) - 1) <= self.width

    def titled_table(
        self,
        rows: Sequence[Sequence[Text]],
        right: Collection[int],
        notes: Sequence[Text],
        comma: str,
    ) -> None:
        """A table below its heads, with a note for each row; as words where it does not fit."""
        if self.fits(rows):
            self.table(rows, right, [Text(), *notes])
            return
        heads, *rest = rows
        for row, note in zip(rest, notes, strict=True):
            self.paragraph(row[0])
            pairs = zip(heads[1:], row[1:], strict=True)
            facts = [Text.assemble(title, " ", cell) for title, cell in pairs if cell]
            self.paragraph(Text(comma).join(facts), 2 * MARGIN)
            if note:
                self.paragraph(note, 2 * MARGIN)


def breaks(text: str, width: int) -> Iterator[int]:
    """Where new lines begin, for lines of at most a width in columns.

    >>> list(breaks("one two three", 8)), list(breaks("检索未命中，因此", 10))
    ([8], [4])
    """
    start, cells, chance = 0, 0, 0
    for place, char in enumerate(text):
        if place > start and _may_part(text[place - 1], char):
            chance = place
        wide = cell_len(char)
        while cells + wide > width and place > start and char != " ":
            start = chance if chance > start else place
            yield start
            cells = cell_len(text[start:place])
        cells += wide


def _may_part(before: str, after: str) -> bool:
    if before == " " or after == " ":
        return after != " "
    if after in _NEVER_FIRST or before in _NEVER_LAST:
        return False
    return cell_len(before) == 2 or cell_len(after) == 2
