"""Numbers that count nothing: those of a list and those of a citation."""

from __future__ import annotations

import re

from ragauge.text.quantities.dates import month_of
from ragauge.text.quantities.measures import AFTER, unit_after

_CITATION = re.compile(r"\[\^?[0-9]{1,3}(?: ?[,;–-] ?[0-9]{1,3})*+\]")
_AFTER_MARKER = frozenset({"", " ", "\n", "\t", "*"})
_FAR = 40
"""A bracket opened so many signs before may still be open."""


def marker_end(text: str, start: int, end: int, before: str) -> int:
    """Where the citation or list marker at these digits ends; 0 where there is none.

    >>> marker_end("as said [1, 2].", 9, 10, "["), marker_end("1. Tea", 0, 1, " ")
    (14, 2)
    >>> marker_end("3. Mai", 0, 1, " "), marker_end("in 5.", 3, 4, " ")
    (0, 0)
    """
    if before == "[" or (before == "^" and text[max(0, start - 2)] == "["):
        match = _CITATION.match(text, start - 1 - (before == "^"))
        return match.end() if match else 0
    if end - start > 2:
        return 0
    follower = text[end : end + 1]
    if follower not in (".", ")", ":") or text[end + 1 : end + 2] not in _AFTER_MARKER:
        return 0
    if _at_head(text, start):
        return 0 if follower == "." and _is_ordinal(text, end + 1) else end + 1
    loose = follower == ")" and before == " " and "(" not in text[max(0, start - _FAR) : start]
    return end + 1 if loose else 0


def _at_head(text: str, start: int) -> bool:
    """Whether nothing but bullets and brackets stands before it on its line."""
    head = text[max(0, start - 8) : start]
    _, newline, line = head.rpartition("\n")
    return (bool(newline) or len(head) == start) and not line.strip(" \t(*#>-•[")


def _is_ordinal(text: str, place: int) -> bool:
    """Whether a German month or century follows: 3. Mai, 20. Jahrhundert; May may be a verb."""
    name = AFTER.match(text, place)
    if name is None:
        return False
    if name[2] in ("May", "March"):
        return False
    return month_of(name[2]) is not None or unit_after(text, place)[0] == "century"
