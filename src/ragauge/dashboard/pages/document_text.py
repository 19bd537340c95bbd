"""The text of a document as a page shows it: a part of it, line by line, with spans marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from ragauge.citations.offsets import Place
from ragauge.dashboard.pages.cited_text import Stretch, letter_for_letter, lines_of, parted

if TYPE_CHECKING:
    from markupsafe import Markup

AROUND = 20_000
"""Characters before and after the span that are shown with it."""
LONGEST = 60_000
"""Characters of a part, however long the span is."""
TO_LINE = 2_000
"""How far a part reaches back to begin with a line."""


class LinePiece(Struct, frozen=True):
    """A piece of a line."""

    text: Markup
    kind: str
    """`cited`, `other` for what is cited besides, or nothing."""
    is_first: bool
    """The span begins here."""


class Line(Struct, frozen=True):
    """A line of the document; it may be the end of one, where a part begins amid it."""

    number: int
    is_heading: bool
    pieces: tuple[LinePiece, ...]


class Opened(Struct, frozen=True, kw_only=True):
    """A part of a document."""

    lines: tuple[Line, ...]
    window: Stretch
    length: int
    earlier: int | None
    """Where the part before begins; None where there is none."""
    later: int | None
    shows_span: bool
    """Whether all of the span is in this part."""

    @property
    def is_whole(self) -> bool:
        return self.window == (0, self.length)


def opened(
    text: str, place: Place | None, others: Sequence[Place], begin: int | None = None
) -> Opened:
    """The part around the span, or that begins where the reader wants it."""
    window = _window(text, place, begin)
    span = Stretch(*place) if place else None
    softly = [Stretch(*one) for one in others]
    first = text.count("\n", 0, window.start) + 1
    lines = lines_of(text, window)
    return Opened(
        lines=tuple(
            _line(text, line, number, span, softly) for number, line in enumerate(lines, first)
        ),
        window=window,
        length=len(text),
        earlier=max(0, window.start - LONGEST) if window.start else None,
        later=window.end if window.end < len(text) else None,
        shows_span=span is not None and window.holds(span),
    )


def _window(text: str, place: Place | None, begin: int | None) -> Stretch:
    if begin is not None:
        start = min(begin, len(text))
        return Stretch(start, min(len(text), start + LONGEST))
    if place is None:
        return Stretch(0, min(len(text), 2 * AROUND))
    start = max(0, place.start - AROUND)
    if start:
        start = text.rfind("\n", max(0, start - TO_LINE), start) + 1 or start
    return Stretch(start, min(len(text), place.end + AROUND, start + LONGEST))


def _line(
    text: str, line: Stretch, number: int, span: Stretch | None, softly: Sequence[Stretch]
) -> Line:
    marks = [
        one for one in (span, *softly) if one and one.start < line.end and line.start < one.end
    ]
    kinds = [(piece, _kind(piece, span, softly)) for piece in parted(line, marks)]
    pieces = tuple(
        LinePiece(
            letter_for_letter(text[piece.start : piece.end]),
            kind,
            span is not None and piece.start == span.start,
        )
        for piece, kind in _joined(kinds)
    )
    return Line(number, text.startswith("#", line.start), pieces)


def _kind(piece: Stretch, span: Stretch | None, softly: Sequence[Stretch]) -> str:
    if span and span.holds(piece):
        return "cited"
    return "other" if any(one.holds(piece) for one in softly) else ""


def _joined(pieces: Sequence[tuple[Stretch, str]]) -> list[tuple[Stretch, str]]:
    """Pieces of one kind that follow each other as one: a span is one mark, whatever crosses it."""
    joined: list[tuple[Stretch, str]] = []
    for piece, kind in pieces:
        if joined and joined[-1][1] == kind:
            joined[-1] = Stretch(joined[-1][0].start, piece.end), kind
        else:
            joined.append((piece, kind))
    return joined
