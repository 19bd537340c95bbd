"""Two texts side by side in a terminal, fact beside fact, with what differs standing out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.text import Text

from ragauge.reports.differences import Marked, differences
from ragauge.reports.terminal import MARGIN, Page, words

NARROWEST = 70
"""On a page of less than this width one stands below the other."""
Facts = Sequence[tuple[str, str]]
"""Labels and foreign texts; an empty text is not shown."""


def beside(page: Page, left: Facts, right: Facts, below: int = 2 * MARGIN) -> None:
    """Two lists of the same facts in two columns; where there is no room, below each other.

    `below` is how far they are indented then.
    """
    marked = [_marked(mine, theirs) for mine, theirs in zip(left, right, strict=True)]
    if page.width < NARROWEST:
        for side in (0, 1):
            _listed(page, (pair[side] for pair in marked), below)
        return
    room = (page.width - 2 * MARGIN - len(" │ ")) // 2
    for mine, theirs in marked:
        if mine or theirs:
            _columns(page, page.wrapped(mine, room), page.wrapped(theirs, room), room)


def alone(page: Page, facts: Facts, indent: int) -> None:
    """Facts with nothing to compare them with."""
    texts = ((label, words(text).plain) for label, text in facts)
    _listed(page, (_fact(label, [(text, False)] if text else []) for label, text in texts), indent)


def _listed(page: Page, facts: Iterable[Text], indent: int) -> None:
    for fact in facts:
        if fact:
            page.paragraph(fact, indent)


def _columns(page: Page, left: Sequence[Text], right: Sequence[Text], room: int) -> None:
    for place in range(max(len(left), len(right))):
        cell = left[place] if place < len(left) else Text()
        cell.align("left", room)
        other = right[place] if place < len(right) else Text()
        page.line(Text(" " * 2 * MARGIN) + cell + Text(" │ ", "dim") + other)


def _marked(mine: tuple[str, str], theirs: tuple[str, str]) -> tuple[Text, Text]:
    marks = differences(words(mine[1]).plain, words(theirs[1]).plain)
    return _fact(mine[0], marks[0]), _fact(theirs[0], marks[1])


def _fact(label: str, pieces: Marked) -> Text:
    if not pieces:
        return Text()
    fact = Text.assemble((f"{label}: ", "dim"))
    for piece, differs in pieces:
        fact.append(piece, "bold" if differs else "")
    return fact
