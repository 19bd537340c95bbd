"""Numbers that count nothing: those of a list and those of a citation."""

from __future__ import annotations

import re

from ragauge.text.quantities.dates import month_of
from ragauge.text.quantities.measures import AFTER, unit_after

_CITATION = re.compile(r"\[\^?[0-9]{1,3}(?: ?[,;–-] ?[0-9]{1,3})*+\]")
_AFTER_MARKER = frozenset({"", " ", "\n", "\t", "*"})
_INLINE = re.compile(
    r"\((?P<bracketed>[0-9]{1,2})\)(?=\s)"
    r"|(?<![^\s(*:；，。])(?<![0-9]:)(?P<dotted>[0-9]{1,2})"
    r"(?:\.(?=[\s*]+\S|[^\W\d_])|、(?=\s*[^\W\d_]))"
)
_FIRST = ("(1)", "1.", "1、")
_OPENS_LIST = re.compile(
    r"(?:^|[:;,.!?(\n—–；，。-]|\b(?:are|includes?|including|follows|following|namely|steps|options))"
    r"[\s*]*$",
    re.IGNORECASE,
)
"""What stands before the first marker of a list in running text."""
_TAKES_NUMBER = re.compile(
    r"\b(?:in|of|to|at|by|from|than|and|or|with|for|is|was|were|number|no|room|page|chapter|part|"
    r"version|figure|table|type|level|grade|phase|day|week|op|im|um|van|von|de)\s*$",
    re.IGNORECASE,
)
"""Words before a number that ends a sentence: there it is no marker."""
_APART = 1_000
"""Characters between two markers of one list."""
_FAR = 40
"""A bracket opened so many signs before may still be open."""


def inline_markers(text: str) -> list[tuple[int, int]]:
    """Where the markers of lists in running text stand: (1) … (2) …, and 1. … 2. … after a colon.

    A list counts from 1, and to 2 at least. A number at the end of a sentence is none.

    >>> text = "Ranked by: 1. Low 2. High. It opened in 2. Later (1) and (2) followed."
    >>> [text[start:end] for start, end in inline_markers(text)]
    ['1.', '2.', '(1)', '(2)']
    """
    found: list[tuple[int, int]] = []
    runs: dict[str, list[tuple[int, int]]] = {"bracketed": [], "dotted": []}
    for match in _INLINE.finditer(text):
        style = match.lastgroup or ""
        number, run = int(match[style]), runs[style]
        before = text[max(0, match.start() - _FAR) : match.start()]
        if style == "dotted" and _is_ordinal(text, match.end()):
            continue
        if number == 1 and (style == "bracketed" or _OPENS_LIST.search(before)):
            found += run if len(run) > 1 else []
            runs[style] = [match.span()]
        elif (
            run
            and number == len(run) + 1
            and match.start() - run[-1][1] <= _APART
            and (style == "bracketed" or not _TAKES_NUMBER.search(before))
        ):
            run.append(match.span())
    return sorted([*found, *(span for run in runs.values() if len(run) > 1 for span in run)])


def without_inline_markers(text: str) -> str:
    """The text with blanks for the markers of lists in running text, so that places stay."""
    if not any(first in text for first in _FIRST):
        return text
    pieces, at = [], 0
    for start, end in inline_markers(text):
        pieces += [text[at:start], " " * (end - start)]
        at = end
    return "".join(pieces) + text[at:]


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
