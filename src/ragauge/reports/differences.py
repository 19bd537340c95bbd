"""Two texts compared word by word, with what differs marked."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from ragauge.reports.document import Span
from ragauge.reports.foreign import cut, flat

LONGEST = 1_500
"""Characters of a text that is compared with another on a page: a longer one is cut."""

# A Chinese, Japanese or Korean character is a word of its own.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+|\s+|.")

MOST_MARKED = 0.6
"""Of a text: where more of it differs, marks tell nothing, and it is shown plain."""
MOST_WORK = 10_000_000
"""Pairs of characters that are looked at for one page: a fifth of a second of comparing or so."""

Marked = list[tuple[str, bool]]
"""A text in pieces, each with whether it differs from what it is compared with."""


def differences(one: str, other: str) -> tuple[Marked, Marked]:
    """Two texts in pieces, word by word; a piece that the other text does not have is marked.

    >>> differences("in the year 1800", "in 1808")[0]
    [('in ', False), ('the year 1800', True)]
    """
    ours, theirs = _WORD.findall(one), _WORD.findall(other)
    left: Marked = []
    right: Marked = []
    matcher = difflib.SequenceMatcher(None, ours, theirs, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        for marked, piece in ((left, "".join(ours[a:b])), (right, "".join(theirs[c:d]))):
            if piece:
                marked.append((piece, kind != "equal"))
    return _joined(left), _joined(right)


def _joined(marked: Marked) -> Marked:
    """Differing pieces with only a space between them, joined."""
    joined: Marked = []
    for place, (piece, differs) in enumerate(marked):
        between = piece.isspace() and 0 < place < len(marked) - 1
        if joined and joined[-1][1] and (differs or between):
            joined[-1] = (joined[-1][0] + piece, True)
        else:
            joined.append((piece, differs))
    return joined


def marked_spans(text: str, other: str, most: int = LONGEST) -> list[Span]:
    """The text for a document; a piece that the other text does not have is marked."""
    return spans(differences(cut(flat(text), most), cut(flat(other), most))[0])


def spans(marked: Iterable[tuple[str, bool]], between: str = "") -> list[Span]:
    """Somebody else's pieces for a document, marked where they differ."""
    found: list[Span] = []
    for piece, differs in marked:
        found += [Span(between)] if found and between else []
        found.append(Span(piece, foreign=True, marked=differs))
    return found


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
        found = differences(ours, theirs)[0]
        if sum(len(piece) for piece, differs in found if differs) > MOST_MARKED * len(ours):
            self._wholly.add((ours, theirs))
            return [(ours, False)]
        return found


def _beside(text: str, other: str) -> tuple[str, str]:
    return cut(flat(text), LONGEST), cut(flat(other), LONGEST)
