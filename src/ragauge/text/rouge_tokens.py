"""The two tokenisers of ROUGE: Unicode words, and those of the script ROUGE-1.5.5."""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from typing import Literal

from ragauge.text.porter import porter_stem
from ragauge.text.words import words

Tokenizer = Literal["unicode", "rouge155"]

_LETTERS_AND_DIGITS = string.ascii_lowercase + string.digits
_PLAIN = re.compile("[a-z0-9]+")
_ASCII = bytes(code if chr(code) in _LETTERS_AND_DIGITS else 32 for code in range(128)) + bytes(128)
"""A blank for all that is no lower-case letter or digit."""
_STEMMED_FROM = 4
"""Shorter words are left as they are, as in the script."""


def rouge155_tokens(text: str, use_stemmer: bool = False) -> list[str]:
    """The runs of the letters a to z and of digits, in lower case; every other letter parts them.

    For comparison with published figures, made by rouge-score: the same tokens one by one. It
    cannot see Greek or Chinese, and takes "Curaçao" for two words.

    >>> rouge155_tokens("The museums of Curaçao", use_stemmer=True)
    ['the', 'museum', 'of', 'cura', 'ao']
    """
    lowered = text.lower()
    if lowered.isascii():
        found = lowered.encode().translate(_ASCII).decode().split()
    else:
        found = _PLAIN.findall(lowered)
    return _stemmed(found) if use_stemmer else found


def unicode_tokens(text: str, use_stemmer: bool = False) -> list[str]:
    """The words of a text in any script; the stemmer takes those of English letters.

    >>> unicode_tokens("De coördinatie, 夜巡")
    ['de', 'coördinatie', '夜', '巡']
    """
    return _stemmed(words(text)) if use_stemmer else words(text)


TOKENIZERS: dict[Tokenizer, Callable[[str, bool], list[str]]] = {
    "unicode": unicode_tokens,
    "rouge155": rouge155_tokens,
}


def _stemmed(found: list[str]) -> list[str]:
    return [
        porter_stem(word) if len(word) >= _STEMMED_FROM and word.isascii() else word
        for word in found
    ]
