"""The words of a text as support is looked for: stems, and what kind of word each is."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import NamedTuple

from ragauge.text.agreement import NEGATIONS
from ragauge.text.canonical import UNSPACED
from ragauge.text.grounding.light_words import LIGHT_WORDS
from ragauge.text.stems import stem
from ragauge.text.stop_words import Language, stop_words

STOP, LIGHT, PLAIN, NAME, NUMBER = range(5)
WEIGHTS = (0.0, 0.35, 1.0, 1.7, 2.0)
"""How much it matters that a word of each kind stands in the contexts."""

_ASCII = re.compile(r"[0-9]+(?:[.,:][0-9]+)*(?![A-Za-z])|[A-Za-z]+(?:'[a-z]{1,2}\b)?|[A-Za-z0-9]+")
_WORD = re.compile(
    rf"[0-9]+(?:[.,:][0-9]+)*(?![^\W_])|[^\W\d_{UNSPACED}]+(?:['’][a-z]{{1,2}}\b)?"
    rf"|[{UNSPACED}]|[^\W_{UNSPACED}]+"
)
_MOST = 1 << 16
"""Words that are kept with their stems."""
_STARTERS = frozenset('.!?:\n"“„«•*-–(>#')
"""After one of these a capital letter says nothing."""
_ZEROS = re.compile(r"(?<=\d)[.:]0+$")
_LACKING = """
    without lack lacks lacking unable nothing nobody nowhere hardly zonder ohne sans 无 無
"""
_DENYING = NEGATIONS | frozenset(_LACKING.split())


class Tokens(NamedTuple):
    """The words of a text in order, as columns."""

    stems: list[str]
    kinds: list[int]
    starts: list[int]
    ends: list[int]
    denials: list[int]
    """Places in the list of the words that deny."""


class _Read(NamedTuple):
    stem: str
    kind: int
    """Inside a sentence."""
    first: int
    """At the head of one, where a capital letter makes no name."""
    denies: bool


def tokens(text: str, language: Language | None) -> Tokens:
    """The words of a text with their places.

    >>> found = tokens("It cost Ruys 1,200 guilders.", "en")
    >>> list(zip(found.stems, found.kinds))
    [('it', 0), ('cost', 2), ('ruy', 3), ('1200', 4), ('guilder', 2)]
    """
    stems, kinds, starts, ends, denials = [], [], [], [], []
    pattern = _ASCII if text.isascii() else _WORD
    for match in pattern.finditer(text):
        start, end = match.span()
        read = _read(match[0], language)
        stems.append(read.stem)
        kind = read.kind
        if kind == NAME and (start == 0 or _opens(text, start)):
            kind = read.first
        kinds.append(kind)
        starts.append(start)
        ends.append(end)
        if read.denies:
            denials.append(len(stems) - 1)
    return Tokens(stems, kinds, starts, ends, denials)


def stems_of(text: str, language: Language | None) -> list[str]:
    """The stems alone, which is all that is asked of a context: ten times as quick."""
    pattern = _ASCII if text.isascii() else _WORD
    return list(map(_stems(language).__getitem__, pattern.findall(text)))


def denies(stems: list[str]) -> bool:
    """Whether one of the words denies."""
    return not _DENYING.isdisjoint(stems) or any(stem.endswith("n't") for stem in stems)


class _Stems(dict[str, str]):
    """Stems by the word as it is written, kept as words are met; emptied when it grows large."""

    def __init__(self, language: Language | None) -> None:
        super().__init__()
        self._language = language

    def __missing__(self, written: str) -> str:
        if len(self) >= _MOST:
            self.clear()
        self[written] = stem = _read(written, self._language).stem
        return stem


@cache
def _stems(language: Language | None) -> _Stems:
    return _Stems(language)


def _opens(text: str, start: int) -> bool:
    """Whether a sentence, a quote or a list entry starts here."""
    before = text[start - 1]
    if before == " " and start > 1:
        before = text[start - 2]
    return before in _STARTERS


@lru_cache(_MOST)
def _read(written: str, language: Language | None) -> _Read:
    """What a word is, by itself."""
    if written[0].isdigit():
        return _Read(_number(written), NUMBER, NUMBER, False)
    word = unicodedata.normalize("NFC", written).casefold().replace("’", "'")
    if word in _DENYING or word.endswith("n't"):
        return _Read(word, PLAIN, PLAIN, True)
    base = word.partition("'")[0]
    if base in stop_words(language) or (len(base) == 1 and base.isascii()):
        return _Read(base, STOP, STOP, False)
    plain = LIGHT if base in LIGHT_WORDS else PLAIN
    kind = NAME if written[0].isupper() else plain
    return _Read(stem(base, language or "en"), kind, plain, False)


def _number(written: str) -> str:
    """A number without what changes nothing: `1,200` and `11:00` and `4.0`."""
    return _ZEROS.sub("", written.replace(",", ""))
