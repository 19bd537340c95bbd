"""`ws`: blanks that mean nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragauge.text.jitters.protected import KEPT, masked
from ragauge.text.jitters.sentences import Edit, edited

_LEFT = rf"[\w{KEPT})\]]"
_RIGHT = rf"[\w{KEPT}(\[]"
_LETTER = r"[^\W\d_]"
_COMMA_OR_COLON = re.compile(rf"(?<={_LEFT})[ \t]*(?:(,)[ \t]*|(:)[ \t]+)(?={_RIGHT})")
_FULL_WIDTH = re.compile(rf"(?<={_LEFT})[，：][ \t]*(?={_RIGHT})")
_LAST_MARK = re.compile(rf"(?<={_LEFT})[ \t\u00a0]*([?？])(?=\s*\Z)")
_GAP = re.compile(rf"(?<={_LETTER})[ ]+(?={_LETTER})")
_END = re.compile(r"(?<=\S)[ ]*\Z")


def ws(text: str, language: str) -> str:
    """The text with other blanks: around commas and colons, before the last question mark, and
    two where the first two words meet of which neither is a name.

    At the end, where the text has no such place. Lines and what they begin with stay, and so
    does the comma of `C,D`. French sets a blank before `:` and `?`, so there it goes.

    >>> ws("Where is it kept: in Delft, or not?", "en")
    'Where  is it kept : in Delft , or not ?'
    """
    painted = masked(text, language)
    return edited(text, _spaced(text, painted, language) or _ended(painted))


def _spaced(text: str, painted: str, language: str) -> list[Edit]:
    blank = "" if language == "fr" else " "
    edits = [
        (*found.span(), " , " if found[1] else f"{blank}: ")
        for found in _COMMA_OR_COLON.finditer(painted)
        if not _joins(text, painted, *found.span())
    ]
    edits += [(*found.span(), f"{found[0][0]} ") for found in _FULL_WIDTH.finditer(painted)]
    edits += [(*found.span(), blank + found[1]) for found in _LAST_MARK.finditer(painted)]
    gap = _GAP.search(painted)
    return sorted([*edits, (*gap.span(), "  ")] if gap else edits)


def _joins(text: str, painted: str, start: int, end: int) -> bool:
    """Whether a comma with no blank beside it stands in an id or between names: `C,D`."""
    beside = (start - 1, end)
    return end - start == 1 and all(
        painted[at] == KEPT or text[at].isupper() or text[at].isdecimal() for at in beside
    )


def _ended(painted: str) -> Iterator[Edit]:
    for end in _END.finditer(painted):
        yield *end.span(), " "
