"""Stop words in five languages: words that hold a sentence together and mean little alone."""

from __future__ import annotations

from typing import Literal

from ragauge.text.word_lists import read_toml, word_set

Language = Literal["en", "nl", "de", "fr", "zh"]

_FILE = read_toml(__package__, "stop_words.toml")
STOP_WORDS = {language: word_set(text.casefold()) for language, text in _FILE["stop_words"].items()}
"""In the form of `words`: case-folded, so with "ss" for "ß". Pieces of contractions (s, re, qu)
are included."""
_SAFE = frozenset().union(*STOP_WORDS.values()) - word_set(_FILE["meaningful_elsewhere"])


def stop_words(language: Language | None) -> frozenset[str]:
    """The stop words of a language; for None, those of all five that are stop words in each.

    >>> "war" in stop_words("de"), "war" in stop_words(None), "und" in stop_words(None)
    (True, False, True)
    """
    return _SAFE if language is None else STOP_WORDS[language]
