"""Texts next to each other with their differences marked, as far as a page has time for it."""

from __future__ import annotations

from ragauge.reports.foreign import cut, flat
from ragauge.reports.page_view import LONGEST, marked_beside
from ragauge.reports.stability.runs import Marked

MOST_MARKED = 0.6
"""Of a text: where more of it differs, marks tell nothing, and it is shown plain."""
MOST_WORK = 10_000_000
"""Pairs of characters that are looked at for one page: a fifth of a second of comparing or so."""


class Differing:
    """Marks what one text has and the other has not.

    Past its work, and where nearly all differs, texts come back unmarked.
    """

    def __init__(self, most: int = MOST_WORK) -> None:
        self._left, self._known = most, dict[tuple[str, str], Marked]()
        self.unmarked = 0
        """Texts that were not compared."""
        self._wholly = set[tuple[str, str]]()

    def __call__(self, text: str, other: str) -> Marked:
        """The text in pieces, each with whether it differs.

        >>> Differing()("in 1808", "in 1885")
        [('in ', False), ('1808', True)]
        >>> Differing(most=10)("in 1808", "in 1885")
        [('in 1808', False)]
        """
        ours, theirs = _beside(text, other)
        if ours == theirs:
            return [(ours, False)] if ours else []
        if (ours, theirs) not in self._known:
            self._known[ours, theirs] = self._compared(ours, theirs)
        return self._known[ours, theirs]

    def wholly(self, text: str, other: str) -> bool:
        """Whether nearly all of a text differs, so that it comes back unmarked.

        >>> Differing().wholly("not in context", "It opened in 1885."), Differing().wholly("a", "a")
        (True, False)
        """
        self(text, other)
        return _beside(text, other) in self._wholly

    def _compared(self, ours: str, theirs: str) -> Marked:
        self._left -= len(ours) * len(theirs)
        if self._left < 0:
            self.unmarked += 1
            return [(ours, False)]
        found = marked_beside(ours, theirs)
        if sum(len(piece) for piece, differs in found if differs) > MOST_MARKED * len(ours):
            self._wholly.add((ours, theirs))
            return [(ours, False)]
        return found


def _beside(text: str, other: str) -> tuple[str, str]:
    return cut(flat(text), LONGEST), cut(flat(other), LONGEST)
