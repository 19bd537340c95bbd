"""Finding words in a text, exactly or approximately, and naming the differences."""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import partial

from msgspec import Struct

from ragauge.citations.offsets import Place
from ragauge.text.sized_lru import SizedLRU

KEPT_CHARS = 1 << 24
"""Characters of the documents whose plain forms are cached."""
LEFT_OUT = "words left out at an ellipsis"

_PIECE = re.compile(r"\S{1,256}")
"""A word; longer ones are cut, so that every place is found quickly."""
_ELLIPSIS = re.compile(r"[\[(]? ?(?:…|\.{3,}) ?[\])]?")
_QUOTATION_MARKS = "\"'“”„‟″‘’‚‛′´`«»‹›「」『』 "
_PLAIN_SIGNS = str.maketrans(
    {
        **dict.fromkeys('"“”„‟«»″‘’‚‛‹›′´`', "'"),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        "…": "...",
    }
)
_INVISIBLE_REMOVED = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))


class Fold(Struct, frozen=True):
    """A difference that does not change the wording: its name, and the text without it."""

    name: str
    of: Callable[[str], str]


def _line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _blanks(text: str) -> str:
    return " ".join(text.split())


def _unquoted(text: str) -> str:
    return text.strip(_QUOTATION_MARKS)


FOLDS = (
    Fold("line ends (CRLF or LF)", _line_ends),
    Fold("Unicode form (NFC)", partial(unicodedata.normalize, "NFC")),
    Fold(
        "unseen characters",
        lambda text: text if text.isascii() else text.translate(_INVISIBLE_REMOVED),
    ),
    Fold("white space", _blanks),
    Fold("typographic signs", lambda text: text.translate(_PLAIN_SIGNS)),
    Fold("quotation marks around it", _unquoted),
    Fold("upper and lower case", str.lower),
    Fold("Unicode form (NFKC)", partial(unicodedata.normalize, "NFKC")),
)
"""From the slightest to the widest: a wider one is named only where no slighter one will do."""

_OF_LETTERS = tuple(fold for fold in FOLDS if fold.of not in (_line_ends, _blanks, _unquoted))


def differences(words: str, text: str, *, within: bool = False) -> tuple[str, ...] | None:
    """What makes the words another text, where the wording is the same; None where it is not.

    With `within` the text need only hold them, and what a quote leaves out at an ellipsis is
    named too.

    >>> differences("Café 'Noir'", "Cafe\u0301 ‘Noir’")
    ('Unicode form (NFC)', 'typographic signs')
    >>> differences("It opened … in 1885", "It opened to the public in 1885.", within=True)
    ('words left out at an ellipsis',)
    """
    needed: Sequence[Fold] = FOLDS
    if not _same(words, text, needed, within):
        return (LEFT_OUT,) if within and _elided(words, text) else None
    for fold in reversed(FOLDS):
        others = tuple(kept for kept in needed if kept is not fold)
        if _same(words, text, others, within):
            needed = others
    return tuple(fold.name for fold in needed)


def nearest_exact(text: str, words: str, near: int) -> int | None:
    """Where the words stand in a text, nearest to a place; of two as near, the earlier.

    >>> nearest_exact("one two one", "one", 4), nearest_exact("one two one", "one", 5)
    (0, 8)
    """
    found = around(text, words, near)
    return min(found, key=lambda at: abs(at - near), default=None)


def around(text: str, words: str, at: int) -> list[int]:
    """Where the words stand last before a place and first from it on."""
    # The last is searched for in the text turned round, as only a forward search is linear.
    head = text[: max(at - 1, 0) + len(words)] if at else ""
    turned = head[::-1].find(words[::-1])
    before = len(head) - turned - len(words) if turned >= 0 else -1
    return [found for found in (before, text.find(words, at)) if found >= 0]


def fuzzy_match(text: str, words: str, near: int) -> Place | None:
    """Where a text has the same wording nearest to a place, whatever its signs and blanks."""
    plain = _PLAIN.get(text)
    if plain is None:
        plain = _Plain(text)
        _PLAIN.keep(text, plain, chars=len(text))
    return plain.nearest_exact(words, near)


class _Plain:
    """A text without its typography: its words in plain letters, and where each of them stands."""

    def __init__(self, text: str) -> None:
        self._source = text
        self._starts, self._ends, self._plain_starts = array("q"), array("q"), array("q")
        pieces: list[str] = []
        length = over = 0
        for found in _PIECE.finditer(text):
            piece = _letters(found[0])
            if piece:
                blank = " " if pieces and found.start() > over else ""
                self._starts.append(found.start())
                self._ends.append(found.end())
                self._plain_starts.append(length + len(blank))
                pieces.append(blank + piece)
                length += len(pieces[-1])
            over = found.end()
        self._text = "".join(pieces)

    def nearest_exact(self, words: str, near: int) -> Place | None:
        sought, word = _plain_words(_unquoted(words)), bisect_left(self._starts, near)
        begins = self._plain_starts[word] if word < len(self._starts) else len(self._text)
        at = nearest_exact(self._text, sought, begins) if sought else None
        if at is None:
            return None
        place = Place(self._start(at), self._end(at + len(sought)))
        # A match that begins or ends within what one character stands for has no place.
        return place if _plain_words(self._source[place.start : place.end]) == sought else None

    def _start(self, at: int) -> int:
        word = bisect_right(self._plain_starts, at) - 1
        source, ahead = self._word(word), at - self._plain_starts[word]
        points = range(1, len(source) + 1)
        return self._starts[word] + bisect_right(
            points, ahead, key=lambda point: len(_letters(source[:point]))
        )

    def _end(self, at: int) -> int:
        word = bisect_left(self._plain_starts, at) - 1
        source, ahead = self._word(word), at - self._plain_starts[word]
        end = bisect_left(
            range(len(source)), ahead, key=lambda point: len(_letters(source[:point]))
        )
        while end < len(source) and unicodedata.combining(source[end]):
            end += 1
        return self._starts[word] + end

    def _word(self, word: int) -> str:
        return self._source[self._starts[word] : self._ends[word]]


_PLAIN: SizedLRU[str, _Plain] = SizedLRU(KEPT_CHARS)


def _plain_words(text: str) -> str:
    return " ".join(piece for piece in map(_letters, text.split()) if piece)


def _letters(word: str) -> str:
    for fold in _OF_LETTERS:
        word = fold.of(word)
    return word


def _same(words: str, text: str, folds: Sequence[Fold], within: bool) -> bool:
    for fold in folds:
        words, text = fold.of(words), fold.of(text)
    return bool(words) and (words in text if within else words == text)


def _elided(words: str, text: str) -> bool:
    """Whether the parts between ellipses stand in the text one after the other."""
    between = _ELLIPSIS.split(_blanks(words))
    parts = [part for part in map(_plain_words, map(_unquoted, between)) if part]
    if not parts or len(between) == 1:
        return False
    held, at = _plain_words(text), 0
    for part in parts:
        found = held.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return True
