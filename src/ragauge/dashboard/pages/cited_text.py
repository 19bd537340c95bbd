"""Foreign text in pieces: what is marked in it, and the way each character gets into a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from ragauge.reports.foreign import cut, flat, readable
from ragauge.reports.page_view import LONGEST, marked_beside
from ragauge.reports.stability.runs import Marked

if TYPE_CHECKING:
    from markupsafe import Markup


class Stretch(NamedTuple):
    """A part of a text, half-open, in characters."""

    start: int
    end: int

    def holds(self, piece: Stretch) -> bool:
        return self.start <= piece.start and piece.end <= self.end


def parted(whole: Stretch, marks: Iterable[Stretch]) -> list[Stretch]:
    """The whole in pieces, so that each mark begins and ends with one of them.

    >>> parted(Stretch(0, 9), [Stretch(2, 5), Stretch(4, 20)])
    [Stretch(start=0, end=2), Stretch(start=2, end=4), Stretch(start=4, end=5), Stretch(start=5, end=9)]
    """  # noqa: E501  # what a doctest prints
    inside = {at for mark in marks for at in mark if whole.start < at < whole.end}
    bounds = [whole.start, *sorted(inside), whole.end]
    return [Stretch(*pair) for pair in pairwise(bounds) if pair[0] < pair[1]]


def spans_of(pieces: Iterable[tuple[str, bool]]) -> list[Stretch]:
    """Where the marked pieces of a text stand in it.

    >>> spans_of([("Built in ", False), ("1834", True)])
    [Stretch(start=9, end=13)]
    """
    found, at = [], 0
    for text, marked in pieces:
        if marked:
            found.append(Stretch(at, at + len(text)))
        at += len(text)
    return found


def lines_of(text: str, window: Stretch) -> list[Stretch]:
    """The lines of a part of a text, each with what ends it; none is empty."""
    found, start = [], window.start
    while start < window.end:
        at = text.find("\n", start, window.end)
        end = window.end if at < 0 else at + 1
        found.append(Stretch(start, end))
        start = end
    return found


def letter_for_letter(text: str) -> Markup:
    """The text as a page takes it without losing a character: CRLF stays CRLF.

    A browser reads a bare CR as the end of a line, so that it is written as a reference. Other
    unseen characters are spelled out, as everywhere.
    """
    from markupsafe import Markup, escape

    parts: Sequence[Markup] = [escape(readable(part)) for part in text.split("\r\n")]
    return Markup("&#13;\n").join(parts)


def web_address(url: object) -> str | None:
    """The address where it is one that a browser may be sent to; None for all else.

    >>> web_address("https://example.org/a"), web_address("javascript:alert(1)"), web_address(7)
    ('https://example.org/a', None, None)
    """
    if not isinstance(url, str):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    plain = url.isprintable() and not any(character.isspace() for character in url)
    return url if plain and parts.scheme in ("http", "https") and parts.netloc else None


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
