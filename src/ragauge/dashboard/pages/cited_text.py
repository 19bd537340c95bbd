"""Foreign text in pieces: what is marked in it, and the way each character gets into a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from ragauge.reports.foreign import readable

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
