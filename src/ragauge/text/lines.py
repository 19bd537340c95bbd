"""Lines: which of them a sentence may run across, and which stand alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ragauge.text.canonical import UNSPACED
from ragauge.text.stop_words import STOP_WORDS

_NUMERAL = "[0-9]{1,3}(?:\\.[0-9]{1,3}){0,4}"
_MONTH = "(?:jan|feb|mrt|mär|maart|apr|mai|mei|jun|jul|aug|sep|okt|oct|nov|dez|dec|jahrh|jh)"
"""After these, as in "am 12. Mai", the number is none of a list."""
_MARKER = re.compile(
    rf"""(?:>\s{{0,3}}){{0,4}}
    (?:\#{{1,6}}\s+)?
    (?:(?:[-*+•◦‣▪●○■–—]|[①-⑳])\s+
      |[*_]{{0,3}}(?:\(?{_NUMERAL}[.)）]|{_NUMERAL}、|（?[一二三四五六七八九十]{{1,3}}[、）])
        (?:\s+(?!{_MONTH})|(?=(?-i:[^\W\d_a-z])))
      |\(?[a-z]\)\s+
      |\(?[ivx]{{1,5}}[.)]\s+(?!\w\.)
    )?""",
    re.VERBOSE | re.IGNORECASE,
)
"""What may stand at the head of a line before its text: quotation, heading, list marker."""
_PAIR = re.compile(r"[*_]{0,3}[^\W_][^:：.!?|]{0,40}(?::[*_]{0,3}\s|：)\s*\S")
"""`Opening hours: 9 to 5`, as records and forms are written."""
_RULE = re.compile(r"[-=*_~`+|:\s]{3,}")
_LAST_WORD = re.compile(r"[^\W\d_]{1,12}$")
_UNSPACED = re.compile(f"[{UNSPACED}]")

_ENDS = frozenset(".!?…。！？:：;；|")
_CLOSERS = "\"'”’»)]}*_`」』）】》"
_LONG = 60
"""A line of this many characters was broken by its width, so the sentence may go on."""
_LONG_UNSPACED = 30
_RUNS_ON = STOP_WORDS["en"] | STOP_WORDS["nl"] | STOP_WORDS["de"] | STOP_WORDS["fr"]


class Block(NamedTuple):
    """A stretch of text in which sentences run on, and where its text starts after a marker."""

    start: int
    text_start: int
    end: int
    is_row: bool
    """Whether it is a row of a table, which is one sentence whatever stands in it."""


class _Line(NamedTuple):
    start: int
    end: int
    text: str
    marker: int
    """The length of the heading or list marker; 0 where the line has none."""
    is_row: bool
    is_pair: bool


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a text in order: paragraphs, list entries, headings, rows."""
    first: _Line | None = None
    last: _Line | None = None
    for line in _lines(text):
        if first is not None and last is not None and (line is None or not _goes_on(last, line)):
            yield _block(first, last)
            first = None
        if line is not None and first is None:
            first = line
        last = line
    if first is not None and last is not None:
        yield _block(first, last)


def _block(first: _Line, last: _Line) -> Block:
    return Block(first.start, first.start + first.marker, last.end, first.is_row)


def _lines(text: str) -> Iterator[_Line | None]:
    """Each line of the text without its margins; None for a blank one."""
    at = 0
    for written in text.splitlines(keepends=True):
        line = written.strip()
        if line:
            start = at + len(written) - len(written.lstrip())
            yield _line(start, line)
        else:
            yield None
        at += len(written)


def _line(start: int, line: str) -> _Line:
    is_row = line[0] == "|" or line.count("|") > 1 or _RULE.fullmatch(line) is not None
    match = None if is_row else _MARKER.match(line)
    marker = match.end() if match else 0
    is_pair = not marker and len(line) < _LONG and _PAIR.match(line) is not None
    return _Line(start, start + len(line), line, marker, is_row, is_pair or "\t" in line)


def _goes_on(line: _Line, after: _Line) -> bool:
    """Whether a sentence may run from one line into the line after it."""
    if line.marker or line.is_row or line.is_pair or after.marker or after.is_row or after.is_pair:
        return False
    if _opened(after.text).islower():
        return line.text[-1] not in ":："
    ending = line.text.rstrip(_CLOSERS)[-1:]
    if ending in _ENDS:
        # The sentence ends here: the next may well stand in the same paragraph, and does no harm.
        return False
    if ending == "," or ending == "，" or ending == "、":
        return True
    word = _LAST_WORD.search(line.text)
    if word and word[0] in _RUNS_ON:
        return True
    wide = _LONG_UNSPACED if _UNSPACED.match(ending) else _LONG
    return len(line.text) >= wide


def _opened(text: str) -> str:
    """The first character that is no quote, bracket or emphasis."""
    return text.lstrip("\"'“”‘’«»„([{*_`¿¡「『（【《")[:1]
