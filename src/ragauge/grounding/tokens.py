"""The words of a text as support is looked for: stems, and what kind of word each is."""

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

Made = TypeVar("Made")

STOP, LIGHT, PLAIN, NAME, NUMBER = range(5)
WEIGHTS = (0.0, 0.35, 1.0, 1.7, 2.0)
"""How much it matters that a word of each kind stands in the contexts."""

_ASCII = re.compile(r"[0-9]+(?:[.,:][0-9]+)*|[A-Za-z]+(?:'[a-z]{1,2}\b)?")
_LETTERS = rf"[^\W\d_{UNSPACED}]"
_JOINED = f"[{MARKS}{UNSEEN}]"
_WORD = re.compile(
    rf"[0-9]+(?:[.,:][0-9]+)*|{_LETTERS}+(?:{_JOINED}+{_LETTERS}*)*(?:['’][a-z]{{1,2}}\b)?"
    rf"|(?=[{UNSPACED}])\w{_JOINED}*|[^\W_{UNSPACED}]+"
)
"""Numbers, words with their accents, and single characters of writing without blanks. What is
written in one, as "10pm" and "1990s", is a number and a word."""
_UNSEEN = re.compile(f"[{UNSEEN}]+")
_MOST = 1 << 16
"""Words that are kept with their stems."""
_STARTERS = frozenset('.!?:\n"“„«•*-–(>#')
"""After one of these a capital letter says nothing."""
_ZEROS = re.compile(r"(?<=\d)[.:]0+$")
LIGHT_WORDS = word_set(read_toml(__package__, "light_words.toml")["words"])


class Tokens(NamedTuple):
    """The words of a text in order, as columns."""

    stems: list[str]
    kinds: list[int]
    starts: list[int]
    ends: list[int]


class _Read(NamedTuple):
    stem: str
    kind: int
    """Inside a sentence."""
    first: int
    """At the head of one, where a capital letter makes no name."""


def tokens(text: str, language: Language | None) -> Tokens:
    """The words of a text with their places.

    >>> found = tokens("It cost Ruys 1,200 guilders.", "en")
    >>> list(zip(found.stems, found.kinds))
    [('it', 0), ('cost', 2), ('ruy', 3), ('1200', 4), ('guilder', 2)]
    """
    pattern = _ASCII if text.isascii() else _WORD
    places = [match.span() for match in pattern.finditer(text)]
    known = _reads(language)
    reads = [known[text[start:end]] for start, end in places]
    head = len(text) - len(text.lstrip())
    kinds = [
        read.first if read.kind == NAME and (at[0] == head or _opens(text, at[0])) else read.kind
        for read, at in zip(reads, places, strict=True)
    ]
    starts, ends = [start for start, _ in places], [end for _, end in places]
    return Tokens([read.stem for read in reads], kinds, starts, ends)


def stems_of(text: str, language: Language | None) -> list[str]:
    """The stems alone, which is all that is asked of a context: ten times as quick."""
    pattern = _ASCII if text.isascii() else _WORD
    return list(map(_stems(language).__getitem__, pattern.findall(text)))


def is_denial(stem: str) -> bool:
    """Whether a word denies."""
    return stem in NEGATIONS or stem.endswith("n't")


class _Kept(dict[str, Made]):
    """What was made of words, by how they are written; emptied when it grows large.

    Quicker than `lru_cache`, and it is used for every word.
    """

    def __init__(self, make: Callable[[str], Made]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, written: str) -> Made:
        if len(self) >= _MOST:
            self.clear()
        self[written] = made = self._make(written)
        return made


@cache
def _reads(language: Language | None) -> _Kept[_Read]:
    return _Kept(lambda written: _read(written, language))


@cache
def _stems(language: Language | None) -> _Kept[str]:
    reads = _reads(language)
    return _Kept(lambda written: reads[written].stem)


def _opens(text: str, start: int) -> bool:
    """Whether a sentence, a quote or a list entry starts here."""
    before = text[start - 1]
    if before == " ":
        before = text[start - 2]
    return before in _STARTERS


def _read(written: str, language: Language | None) -> _Read:
    """What a word is, by itself."""
    if written[0].isdigit():  # without what changes nothing: 1,200 and 11:00 and 4.0
        return _Read(_ZEROS.sub("", written.replace(",", "")), NUMBER, NUMBER)
    word = written.casefold()
    if not written.isascii():
        word = composed(_UNSEEN.sub("", word)).replace("’", "'")
    if is_denial(word):
        return _Read(word, PLAIN, PLAIN)
    base = word.partition("'")[0]
    if base in stop_words(language) or (len(base) == 1 and base.isascii()):
        return _Read(base, STOP, STOP)
    plain = LIGHT if base in LIGHT_WORDS else PLAIN
    kind = NAME if written[0].isupper() else plain
    return _Read(stem(base, language or "en"), kind, plain)
