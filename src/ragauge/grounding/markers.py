"""What the sentences of an answer cite: its markers, and the list it may end with."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from ragauge.text.citations import list_spans, split_ids, take_apart

_BRACKETED = re.compile(r"\[([^\[\]\n]{1,200})\](?!\()|【([^【】\n]{1,200})】")
_RANGE = re.compile(r"(?<![\w#–-])(\d{1,3})\s*[–-]\s*(\d{1,3})(?![\w#–-])")
_NUMERAL = re.compile(r"\d{1,3}")
_BEHIND = re.compile("[†:].*")
"""What may follow the number in 【3†source】."""
LONGEST_RANGE = 20


class Marker(NamedTuple):
    """A marker, where it stands, and the names in it."""

    start: int
    end: int
    names: tuple[str, ...]


class Cited(NamedTuple):
    """An answer with blanks for all that only cites, so that places stay, and what that was."""

    plain: str
    markers: list[Marker]
    listed: tuple[str, ...]
    """What its list names; what a marker names as well stands there, too."""


def cited_in(answer: str, known: Collection[str], *, numbered: bool = True) -> Cited:
    """The markers and lists of an answer whose contexts can be called by the known names.

    Where contexts are numbered, a number of up to three digits in brackets is a marker whatever
    it names; other words are one only where all of them are names, for "[sic]" cites nothing.

    >>> cited_in("It opened in 1808 [2]. It moved [p1#3]. So [they] say.", ["p1#3"])[1]
    [Marker(start=18, end=21, names=('2',)), Marker(start=32, end=38, names=('p1#3',))]
    """
    names = frozenset(known)
    spans = list_spans(answer)
    plain = _blanked(answer, spans)
    markers = [
        Marker(*match.span(), found)
        for match in _BRACKETED.finditer(plain)
        if (found := _names(match, names, numbered))
    ]
    listed = (take_apart(answer).citations or ()) if spans else ()
    return Cited(_blanked(plain, [(one.start, one.end) for one in markers]), markers, listed)


def _names(match: re.Match[str], known: frozenset[str], numbered: bool) -> tuple[str, ...]:
    """The names in a marker; none where it is none."""
    written = match[1] if match[1] is not None else _BEHIND.sub("", match[2])
    if written in known:
        return (written,)
    found = split_ids(_spelled_out(written))
    cites = all(name in known or (numbered and _NUMERAL.fullmatch(name)) for name in found)
    return tuple(dict.fromkeys(found)) if cites else ()


def _spelled_out(written: str) -> str:
    """A marker with its ranges written out: `2-4` is 2, 3, 4."""

    def each(match: re.Match[str]) -> str:
        first, last = int(match[1]), int(match[2])
        if first < last <= first + LONGEST_RANGE:
            return ",".join(map(str, range(first, last + 1)))
        return match[0]

    return _RANGE.sub(each, written)


def _blanked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    pieces, at = [], 0
    for start, end in sorted(spans):
        pieces += [text[at:start], " " * (end - max(start, at))]
        at = max(at, end)
    return "".join(pieces) + text[at:]
