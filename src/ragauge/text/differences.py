"""Two texts compared word by word: what one has and the other has not."""

from __future__ import annotations

import difflib
import re

from ragauge.text.visible import cut, flat

LONGEST = 1_500  # characters of a text that is compared with another on a page: a longer one is cut

# A Chinese, Japanese or Korean character is a word of its own.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+|\s+|.")

MOST_MARKED = 0.6  # of a text: where more of it differs, marks tell nothing, and it is shown plain
MOST_WORK = 10_000_000
"""Pairs of characters that are looked at for one page: a fifth of a second of comparing or so."""

Marked = list[tuple[str, bool]]
"""A text in pieces, each with whether it differs from what it is compared with."""


def differences(text: str, other: str) -> Marked:
    """The text in pieces, word by word; a piece that the other text does not have is marked.

    >>> differences("in the year 1800", "in 1808")
    [('in ', False), ('the year 1800', True)]
    """
    ours, theirs = _WORD.findall(text), _WORD.findall(other)
    matcher = difflib.SequenceMatcher(None, ours, theirs, autojunk=False)
    opcodes = [(kind != "equal", "".join(ours[a:b])) for kind, a, b, *_ in matcher.get_opcodes()]
    pieces = [(differs, piece) for differs, piece in opcodes if piece]
    merged: Marked = []
    for place, (differs, piece) in enumerate(pieces):
        # Differing pieces with only a space between them are one.
        between = piece.isspace() and 0 < place < len(pieces) - 1
        if merged and merged[-1][1] and (differs or between):
            merged[-1] = (merged[-1][0] + piece, True)
        else:
            merged.append((piece, differs))
    return merged


class Differing:
    """Marks what one text has and the other has not.

    Past its work, and where nearly all differs, texts come back unmarked.
    """

    def __init__(self, most: int = MOST_WORK) -> None:
        self._left, self._known = most, dict[tuple[str, str], tuple[Marked, bool]]()
        self.unmarked = 0
        """Texts that were not compared."""

    def __call__(self, text: str, other: str) -> Marked:
        """The text in pieces, each with whether it differs.

        >>> Differing()("in 1808", "in 1885")
        [('in ', False), ('1808', True)]
        >>> Differing(most=10)("in 1808", "in 1885")
        [('in 1808', False)]
        """
        return self._compared(text, other)[0]

    def wholly(self, text: str, other: str) -> bool:
        """Whether nearly all of a text differs, so that it comes back unmarked.

        >>> Differing().wholly("not in context", "It opened in 1885."), Differing().wholly("a", "a")
        (True, False)
        """
        return self._compared(text, other)[1]

    def _compared(self, text: str, other: str) -> tuple[Marked, bool]:
        pair = ours, theirs = cut(flat(text), LONGEST), cut(flat(other), LONGEST)
        if pair in self._known:
            return self._known[pair]
        found: Marked = [(ours, False)] if ours else []
        wholly = False
        if ours != theirs:
            self._left -= len(ours) * len(theirs)
            if self._left < 0:
                self.unmarked += 1
            else:
                marked = differences(ours, theirs)
                different = sum(len(piece) for piece, differs in marked if differs)
                wholly = different > MOST_MARKED * len(ours)
                found = found if wholly else marked
        self._known[pair] = found, wholly
        return found, wholly
