"""Where the sentences of a folded answer begin and end."""

from __future__ import annotations

import re
from collections.abc import Iterator

_END = re.compile(r"[.!?;\n](?:[\"')\]]*\s+|(?<=\n)|(?<=[\u3040-\u30ff\u4e00-\u9fff][.!?;]))")
_LETTERS = re.compile(r"[^\W_]")


def spans(text: str, lead: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Sentences, roughly, without the marks and the empty words they begin with.

    An abbreviation ends one too many, which does the rules no harm; splitting them as a reader
    would (`text/sentences.py`) takes some twenty times as long.
    """
    start = 0
    for mark in _END.finditer(text):
        end = mark.start() + 1
        if _LETTERS.search(text, start, end):
            yield past(lead, text, start, end), end
            start = mark.end()
    if _LETTERS.search(text, start):
        yield past(lead, text, start, len(text)), len(text)


def past(lead: re.Pattern[str], text: str, start: int, end: int) -> int:
    """Where a sentence begins after its marks, and after words that say nothing."""
    while start < end and not text[start].isalnum():
        start += 1
    for _ in range(3):
        match = lead.match(text, start, end)
        if match is None or match.end() == start:
            break
        start = match.end()
    return start
