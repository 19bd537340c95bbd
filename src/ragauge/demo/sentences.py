"""Where sentences stand in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_END = re.compile(r"""[.!?…]+["'”’»)\]]*(?=\s)|\n[ \t\r]*\n""")
_INITIAL = re.compile(r"(?:^|[\s(])(?:\w\.)*\w\Z")
_SHORTENED = re.compile(
    r"\b(?:dr|mr|mrs|ms|st|prof|sir|no|nr|vol|fig|ca|c|circa|resp|jr|sr|vs|e\.g|i\.e|bijv|o\.a"
    r"|m\.b\.t|d\.w\.z|enz|ir|drs|ing|jhr|blz|p|pp)\Z",
    re.IGNORECASE,
)
_REGNAL = re.compile(r"\b[^\W\d_]\w{3,} [IVX]\Z")
_LOOK_BACK = 16


class Span(NamedTuple):
    """A stretch of text: half-open, in code points."""

    start: int
    end: int


def sentence_spans(text: str, within: Span | None = None) -> Iterator[Span]:
    """The sentences of a text, or of a stretch of it, without the blanks around them.

    A stop after an initial or an abbreviation ends nothing, nor does one before a small letter.

    >>> text = "A pyramid by I. M. Pei. It opened in 1989."
    >>> [text[start:end] for start, end in sentence_spans(text)]
    ['A pyramid by I. M. Pei.', 'It opened in 1989.']
    """
    begin, end = within or Span(0, len(text))
    for match in _END.finditer(text, begin, end):
        if _ends(text, match, end):
            yield from _filled(text, begin, match.end())
            begin = match.end()
    yield from _filled(text, begin, end)


def _ends(text: str, match: re.Match[str], end: int) -> bool:
    if match[0][0] == "\n":
        return True
    after = text[match.end() : end].lstrip()[:1]
    if after.islower():
        return False
    before = text[max(0, match.start() - _LOOK_BACK) : match.start()]
    return match[0][0] != "." or not _goes_on(before)


def _goes_on(before: str) -> bool:
    """Whether the stop after this text belongs to an initial or an abbreviation.

    >>> _goes_on("designed by I"), _goes_on("to meet Dr"), _goes_on("of King Francis I")
    (True, True, False)
    """
    regnal = _REGNAL.search(before)
    if regnal and regnal[0][0].isupper():
        return False
    return bool(_INITIAL.search(before) or _SHORTENED.search(before))


def _filled(text: str, begin: int, end: int) -> Iterator[Span]:
    inside = text[begin:end]
    if inside.strip():
        start = begin + len(inside) - len(inside.lstrip())
        yield Span(start, begin + len(inside.rstrip()))
