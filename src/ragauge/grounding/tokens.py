"""The words of a text for finding support: their stems and kinds."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple, TypeVar

from ragauge.text.agreement import NEGATIONS
from ragauge.text.canonical import UNSPACED, composed
from ragauge.text.stems import stem
from ragauge.text.stop_words import Language, stop_words
from ragauge.text.word_lists import read_toml, word_set
from ragauge.text.words import MARKS, UNSEEN

Value = TypeVar("Value")

STOP, LIGHT, PLAIN, NAME, NUMBER = range(5)
WEIGHTS = (0.0, 0.35, 1.0, 1.7, 2.0)
"""How much it matters that the contexts have a word of each kind."""

_ASCII = re.compile(r"[0-9]+(?:[.,:][0-9]+)*|[A-Za-z]+(?:'[a-z]{1,2}\b)?")
_LETTERS = rf"[^\W\d_{UNSPACED}]"
_JOINED = f"[{MARKS}{UNSEEN}]"
_WORD = re.compile(
    rf"[0-9]+(?:[.,:][0-9]+)*|{_LETTERS}+(?:{_JOINED}+{_LETTERS}*)*(?:['’][a-z]{{1,2}}\b)?"
    rf"|(?=[{UNSPACED}])\w{_JOINED}*|[^\W_{UNSPACED}]+"
)
"""Numbers, words with their accents, and single characters of scripts without spaces. Joined
ones such as "10pm" and "1990s" are a number and a word."""
_UNSEEN = re.compile(f"[{UNSEEN}]+")
_MOST = 1 << 16
"""The most words that are cached with their stems."""
_STARTERS = frozenset('.!?:\n"“„«•*-–(>#')
"""After one of these a capital letter means nothing."""
_ZEROS = re.compile(r"(?<=\d)[.:]0+$")
LIGHT_WORDS = word_set(read_toml(__package__, "light_words.toml")["words"])


class Tokens(NamedTuple):
    """The words of a text in order, as columns."""

    stems: list[str]
    kinds: list[int]
    starts: list[int]
    ends: list[int]


class _Word(NamedTuple):
    stem: str
    kind: int
    """Inside a sentence."""
    first: int
    """At the start of one, where a capital letter does not mean a name."""


def tokens(text: str, language: Language | None) -> Tokens:
    """The words of a text with their places.

    >>> found = tokens("It cost Ruys 1,200 guilders.", "en")
    >>> list(zip(found.stems, found.kinds))
    [('it', 0), ('cost', 2), ('ruy', 3), ('1200', 4), ('guilder', 2)]
    """
    pattern = _ASCII if text.isascii() else _WORD
    places = [match.span() for match in pattern.finditer(text)]
    known = _words_of(language)
    reads = [known[text[start:end]] for start, end in places]
    head = len(text) - len(text.lstrip())
    kinds = [
        read.first if read.kind == NAME and (at[0] == head or _opens(text, at[0])) else read.kind
        for read, at in zip(reads, places, strict=True)
    ]
    starts, ends = [start for start, _ in places], [end for _, end in places]
    return Tokens([read.stem for read in reads], kinds, starts, ends)


def stems_of(text: str, language: Language | None) -> list[str]:
    """Only the stems, which is all that a context needs: ten times as fast."""
    pattern = _ASCII if text.isascii() else _WORD
    return list(map(_stems(language).__getitem__, pattern.findall(text)))


def is_denial(stem: str) -> bool:
    """Whether a word is a negation."""
    return stem in NEGATIONS or stem.endswith("n't")


class _Cache(dict[str, Value]):
    """A cache by word that is emptied when it grows large.

    Faster than `lru_cache`, and it is used for every word.
    """

    def __init__(self, make: Callable[[str], Value]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, written: str) -> Value:
        if len(self) >= _MOST:
            self.clear()
        self[written] = value = self._make(written)
        return value


@cache
def _words_of(language: Language | None) -> _Cache[_Word]:
    return _Cache(lambda written: _read_word(written, language))


@cache
def _stems(language: Language | None) -> _Cache[str]:
    reads = _words_of(language)
    return _Cache(lambda written: reads[written].stem)


def _opens(text: str, start: int) -> bool:
    """Whether a sentence, a quote or a list entry starts here."""
    before = text[start - 1]
    if before == " ":
        before = text[start - 2]
    return before in _STARTERS


def _read_word(written: str, language: Language | None) -> _Word:
    """The stem and the kind of a word by itself."""
    if written[0].isdigit():  # without what does not matter: 1,200 and 11:00 and 4.0
        return _Word(_ZEROS.sub("", written.replace(",", "")), NUMBER, NUMBER)
    word = written.casefold()
    if not written.isascii():
        word = composed(_UNSEEN.sub("", word)).replace("’", "'")
    if is_denial(word):
        return _Word(word, PLAIN, PLAIN)
    base = word.partition("'")[0]
    if base in stop_words(language) or (len(base) == 1 and base.isascii()):
        return _Word(base, STOP, STOP)
    plain = LIGHT if base in LIGHT_WORDS else PLAIN
    kind = NAME if written[0].isupper() else plain
    return _Word(stem(base, language or "en"), kind, plain)
