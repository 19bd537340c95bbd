"""Offsets as a framework gives them, held against the text before anybody rests on them."""

from __future__ import annotations

from typing import Any

from ragauge.citations.adapters.plain_values import whole

Span = tuple[Any, Any]


def starting_at(start: Any, text: str | None) -> Span | None:
    """The span of a text of which only the start is told: it ends where the text does."""
    if start is None:
        return None
    first = whole(start)
    return start, None if first is None or text is None else first + len(text)


def checked_offsets(
    span: Span | None, text: str | None, document: str | None, notes: list[str]
) -> dict[str, Any] | None:
    """The offsets at which the text is known to stand; None, with a note, where it is not.

    With the document, offsets that are wrong or absent are replaced by the text's true place,
    if there is one only. Without it, the offsets must at least be as long as the text.

    >>> notes = []
    >>> checked_offsets((0, 4), "1885", "Opened 1885.", notes)
    {'start': 7, 'end': 11, 'unit': 'char'}
    >>> notes
    ['offsets: the text is not at 0–4; it stands at 7–11, moved by +7']
    """
    if not text:
        if span is not None:
            notes.append("offsets: there is no text to hold them against; left out")
        return None
    claimed = _claimed(span, notes)
    place = (
        _as_long(claimed, text, notes)
        if document is None
        else _standing(claimed, text, document, notes)
    )
    return None if place is None else {"start": place[0], "end": place[1], "unit": "char"}


def _claimed(span: Span | None, notes: list[str]) -> tuple[int, int] | None:
    if span is None:
        return None
    start, end = whole(span[0]), whole(span[1])
    if start is not None and end is not None:
        return start, end
    notes.append("offsets: what is given is no start and end, from 0; not used")
    return None


def _as_long(
    claimed: tuple[int, int] | None, text: str, notes: list[str]
) -> tuple[int, int] | None:
    if claimed is None or claimed[1] - claimed[0] == len(text):
        return claimed
    length = claimed[1] - claimed[0]
    notes.append(f"offsets: {_shown(*claimed)} is {length} long, the text {len(text)}; left out")
    return None


def _standing(
    claimed: tuple[int, int] | None, text: str, document: str, notes: list[str]
) -> tuple[int, int] | None:
    """Where the text stands: as claimed, else at the only place there is."""
    found = document.find(text)
    if found < 0:
        notes.append("offsets: the text does not stand in the document; left out")
        return None
    alone = document.find(text, found + 1) < 0
    if claimed is not None and _stands(claimed, text, document):
        if not alone:
            notes.append(f"offsets: {_shown(*claimed)} is one of several places with this text")
        return claimed
    wrong = f"the text is not at {_shown(*claimed)}" if claimed else "the text comes without"
    if not alone:
        notes.append(f"offsets: {wrong}, and it stands in several places; left out")
        return None
    place = found, found + len(text)
    moved = f", moved by {found - claimed[0]:+d}" if claimed and found != claimed[0] else ""
    notes.append(f"offsets: {wrong}; it stands at {_shown(*place)}{moved}")
    return place


def _stands(claimed: tuple[int, int], text: str, document: str) -> bool:
    # A slice alone would let an end beyond the document pass.
    return claimed[1] - claimed[0] == len(text) and document.startswith(text, claimed[0])


def _shown(start: int, end: int) -> str:
    return f"{start}–{end}"
