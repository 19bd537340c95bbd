"""The citations of an answer: its markers, and the list at its end."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from ragauge.text.citations import list_spans, split_ids, take_apart

_BRACKETED = re.compile(r"\[([^\[\]\n]{1,200})\](?!\()|【([^【】\n]{1,200})】")
_RANGE = re.compile(r"(?<![\w#–-])(\d{1,3})\s*[–-]\s*(\d{1,3})(?![\w#–-])")
_NUMERAL = re.compile(r"\d{1,3}")
_AFTER_NUMBER = re.compile("[†:].*")
"""The text after the number in 【3†source】."""
LONGEST_RANGE = 20


class Marker(NamedTuple):
    """A marker, its place, and the names in it."""

    start: int
    end: int
    names: tuple[str, ...]


class Cited(NamedTuple):
    """An answer with spaces in place of its citations, so that places do not change, and these."""

    plain: str
    markers: list[Marker]
    listed: tuple[str, ...]
    """The names in its list, including those that markers name as well."""


def cited_in(answer: str, known: Collection[str], *, numbered: bool = True) -> Cited:
    """The markers and lists of an answer whose contexts have the known names.

    If contexts are numbered, any number of up to three digits in brackets is a marker; other words
    are one only if all of them are names, because "[sic]" cites nothing.

    >>> cited_in("It opened in 1808 [2]. It moved [p1#3]. So [they] say.", ["p1#3"])[1]
    [Marker(start=18, end=21, names=('2',)), Marker(start=32, end=38, names=('p1#3',))]
    """
    names = frozenset(known)
    spans = list_spans(answer)
    plain = _blank_out(answer, spans)
    markers = [
        Marker(*match.span(), found)
        for match in _BRACKETED.finditer(plain)
        if (found := _names(match, names, numbered))
    ]
    listed = (take_apart(answer).citations or ()) if spans else ()
    return Cited(_blank_out(plain, [(one.start, one.end) for one in markers]), markers, listed)


def _names(match: re.Match[str], known: frozenset[str], numbered: bool) -> tuple[str, ...]:
    """The names in a marker; empty if it is not one."""
    written = match[1] if match[1] is not None else _AFTER_NUMBER.sub("", match[2])
    if written in known:
        return (written,)
    found = split_ids(_expand_ranges(written))
    cites = all(name in known or (numbered and _NUMERAL.fullmatch(name)) for name in found)
    return tuple(dict.fromkeys(found)) if cites else ()


def _expand_ranges(written: str) -> str:
    """The text of a marker with its ranges expanded: `2-4` is 2, 3, 4."""

    def expanded(match: re.Match[str]) -> str:
        first, last = int(match[1]), int(match[2])
        if first < last <= first + LONGEST_RANGE:
            return ",".join(map(str, range(first, last + 1)))
        return match[0]

    return _RANGE.sub(expanded, written)


def _blank_out(text: str, spans: Sequence[tuple[int, int]]) -> str:
    pieces, at = [], 0
    for start, end in sorted(spans):
        pieces += [text[at:start], " " * (end - max(start, at))]
        at = max(at, end)
    return "".join(pieces) + text[at:]
