"""Sentences of a painted text, and edits made at places of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

Edit = tuple[int, int, str]
"""Where it begins and ends, and what comes there instead."""

_SENTENCE = re.compile(r"[^.?!。！？\n]+[.?!。！？]*")
_FIRST = re.compile(r"\W*?(?=[\w\ufffc])")
LONGEST = 1000
"""A longer sentence is no question: rules leave it alone, and so take linear time on any text."""


def sentences(painted: str) -> Iterator[tuple[int, int]]:
    """The spans of the sentences that rules look at, from their first word on."""
    for match in _SENTENCE.finditer(painted):
        start, end = match.span()
        if end - start <= LONGEST and (first := _FIRST.match(painted, start, end)):
            yield first.end(), end


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text with edits made; they are in order and apart from each other."""
    parts, at = [], 0
    for start, end, new in edits:
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


def capitals_of(old: str, new: str) -> str:
    """The new words with the capitals of the old.

    >>> capitals_of("Explain", "describe"), capitals_of("LIST", "enumerate")
    ('Describe', 'ENUMERATE')
    """
    if old.isupper() and len(old) > 1:
        return new.upper()
    return raised(new) if old[:1].isupper() else new


def raised(text: str) -> str:
    return text[:1].upper() + text[1:]


def lowered(text: str) -> str:
    return text[:1].lower() + text[1:]
