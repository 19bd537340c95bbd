"""Offsets as their writers count them, and the code points they stand for."""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

from msgspec import Struct

from ragauge.contracts.citation import Offsets, Unit
from ragauge.text.sized_lru import SizedLRU
from ragauge.text.visible import one_line

CharsIn = Literal["code-points", "utf-16", "bytes"]

KEPT_CHARS = 1 << 24
"""Characters of the documents whose measures are remembered."""
BLOCK = 512
"""Characters between two marks on the measure of a text."""
SHOWN = 80

_CODECS = {"utf-16": ("utf-16-le", 2), "bytes": ("utf-8", 1)}
_NAMES = {"code-points": "characters", "utf-16": "UTF-16 units", "bytes": "bytes"}
_HALVED = {"UTF-16 units": "a surrogate pair", "bytes": "a character"}
_NOT_BLANK = re.compile(r"\S+")
_WORD_OR_SIGN = re.compile(r"\w+|[^\w\s]")


class Tokenizer(Protocol):
    """Named, pinned and deterministic."""

    @property
    def id(self) -> str:
        """Name and version; another id means other tokens."""

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        """Where each token begins and ends, in code points and in order."""


class OffsetReading(Struct, frozen=True):
    """What the user says offsets count: none of it can be told from the numbers."""

    chars_in: CharsIn = "code-points"
    """What the unit `char` is: Python's, JavaScript's and Java's, or Go's and Rust's."""
    tokenizer: Tokenizer | None = None
    """What the unit `token` is; None is not known, and is not guessed."""


class Place(NamedTuple):
    """A stretch of a text, half-open; in code points wherever nothing else is said."""

    start: int
    end: int


class Unresolved(Struct, frozen=True):
    """Why offsets lead to no place."""

    kind: Literal["unmeasured", "empty", "beyond", "inside"]
    reason: str
    near: int = 0
    """The code point at which they would begin, as far as that can be told."""


class Whitespace(Struct, frozen=True):
    """Tokens are what stands between blanks.

    >>> Whitespace().spans("Opened 1885.")
    [(0, 6), (7, 12)]
    """

    id: str = "whitespace"

    def spans(self, text: str) -> list[tuple[int, int]]:
        return [found.span() for found in _NOT_BLANK.finditer(text)]


class Words(Struct, frozen=True):
    """Tokens are words, of letters, digits, `_` and their marks, and each other sign by itself.

    Of a script without blanks between words, a run of letters is one.

    >>> Words().spans("Cafe\\u0301s, 1885")
    [(0, 6), (6, 7), (8, 12)]
    """

    id: str = "words:v1"

    def spans(self, text: str) -> list[tuple[int, int]]:
        found = [match.span() for match in _WORD_OR_SIGN.finditer(text)]
        return found if text.isascii() else _with_marks(text, found)


TOKENIZERS: dict[str, Tokenizer] = {"whitespace": Whitespace(), "words": Words()}


class Ruler(Protocol):
    """A text measured in one unit; offsets are from 0 to its length."""

    unit: str
    length: int

    def begins(self, offset: int) -> int | None:
        """The code point at which a span that starts there begins; None inside a character."""

    def ends(self, offset: int) -> int | None:
        """The code point at which a span with that end is over; None inside a character."""

    def measured(self, place: Place) -> Place:
        """A place in the ruler's unit: the least of it that holds the place."""


def resolve(offsets: Offsets, text: str, reading: OffsetReading) -> Place | Unresolved:
    """The code points that the offsets stand for in a text, or why there are none.

    >>> resolve(Offsets(3, 5), "🏛 ok", OffsetReading("utf-16"))
    Place(start=2, end=4)
    >>> resolve(Offsets(1, 5), "🏛 ok", OffsetReading("utf-16")).reason
    'start 1 is inside a surrogate pair'
    """
    ruler = ruler_of(text, offsets.unit, reading)
    if isinstance(ruler, Unresolved):
        return ruler
    start, end = offsets.start, offsets.end
    if start >= end:
        return Unresolved("empty", f"start {start} is not before end {end}")
    if end > ruler.length:
        begins = ruler.begins(start) if start <= ruler.length else None
        reason = f"the document ends at {ruler.length} {ruler.unit}"
        return Unresolved("beyond", reason, len(text) if begins is None else begins)
    first, last = ruler.begins(start), ruler.ends(end)
    if first is None:
        holds = next(at for back in (1, 2, 3) if (at := ruler.begins(start - back)) is not None)
        return Unresolved("inside", f"start {start} is inside {_HALVED[ruler.unit]}", holds)
    if last is None:
        return Unresolved("inside", f"end {end} is inside {_HALVED[ruler.unit]}", first)
    return Place(first, last)


def ruler_of(text: str, unit: Unit, reading: OffsetReading) -> Ruler | Unresolved:
    """The text measured in that unit, as the reading has it; measures are remembered for a while.

    In an ASCII text, and in most others in UTF-16, every character is one unit: there is nothing
    to measure.
    """
    if unit == "token":
        return _token_ruler(text, reading.tokenizer)
    kind = reading.chars_in
    if kind == "code-points" or text.isascii():
        return _Characters(text, _NAMES[kind])
    key = (kind, text)
    ruler = _RULERS.get(key)
    if ruler is None:
        ruler = _Encoded(text, kind)
        _RULERS.keep(key, ruler, chars=len(text))
    return ruler


def _token_ruler(text: str, tokenizer: Tokenizer | None) -> Ruler | Unresolved:
    if tokenizer is None:
        return Unresolved("unmeasured", "offsets in tokens, and no tokenizer is declared")
    key = (f"token:{tokenizer.id}", text)
    ruler = _RULERS.get(key)
    if ruler is None:
        try:
            ruler = _Tokens(text, tokenizer)
        except Exception as error:  # of a user's own tokenizer: foreign code
            fact = f"tokenizer {tokenizer.id} failed: {type(error).__name__}: {error}"
            return Unresolved("unmeasured", one_line(fact, SHOWN))
        _RULERS.keep(key, ruler, chars=len(text))
    return ruler


class _Characters:
    """A text in which every code point is one unit."""

    def __init__(self, text: str, unit: str) -> None:
        self.unit, self.length = unit, len(text)

    def begins(self, offset: int) -> int:
        return offset

    ends = begins

    def measured(self, place: Place) -> Place:
        return place


class _Encoded:
    """A text in UTF-16 units or in bytes, with a mark at every block of characters."""

    def __init__(self, text: str, kind: Literal["utf-16", "bytes"]) -> None:
        self._text, self.unit = text, _NAMES[kind]
        self._codec, self._size = _CODECS[kind]
        self._marks = array("q")
        self.length = 0
        for begin in range(0, len(text), BLOCK):
            self._marks.append(self.length)
            self.length += self._units(text[begin : begin + BLOCK])
        self._even = self.length == len(text)

    def begins(self, offset: int) -> int | None:
        if self._even:
            return offset
        block = bisect_right(self._marks, offset) - 1
        begin, rest = block * BLOCK, offset - self._marks[block]
        piece = self._text[begin : begin + BLOCK]
        ahead = bisect_left(range(len(piece)), rest, key=lambda point: self._units(piece[:point]))
        return begin + ahead if self._units(piece[:ahead]) == rest else None

    ends = begins

    def measured(self, place: Place) -> Place:
        return Place(self._before(place.start), self._before(place.end))

    def _before(self, point: int) -> int:
        block = min(point // BLOCK, len(self._marks) - 1)
        return self._marks[block] + self._units(self._text[block * BLOCK : point])

    def _units(self, text: str) -> int:
        return len(text.encode(self._codec, "surrogatepass")) // self._size


class _Tokens:
    """A text in tokens."""

    unit = "tokens"

    def __init__(self, text: str, tokenizer: Tokenizer) -> None:
        spans = tokenizer.spans(text)
        self._starts = array("q", (start for start, _ in spans))
        self._ends = array("q", (end for _, end in spans))
        self._text_ends, self.length = len(text), len(spans)

    def begins(self, offset: int) -> int:
        return self._starts[offset] if offset < self.length else self._text_ends

    def ends(self, offset: int) -> int:
        return self._ends[offset - 1] if offset else 0

    def measured(self, place: Place) -> Place:
        first = bisect_right(self._ends, place.start)
        return Place(first, max(first, bisect_left(self._starts, place.end)))


_RULERS: SizedLRU[tuple[str, str], Ruler] = SizedLRU(KEPT_CHARS)


def _with_marks(text: str, found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans with accents and vowel signs joined to the words they belong to."""
    joined: list[tuple[int, int]] = []
    for start, end in found:
        meets = joined and joined[-1][1] == start
        if meets and _in_word(text[start - 1]) and _in_word(text[start]):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_" or unicodedata.category(character)[0] == "M"
