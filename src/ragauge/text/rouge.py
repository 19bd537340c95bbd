"""ROUGE: what an answer and a reference have in common, in words, pairs of words and order.

With its two tokenisers, Unicode words and those of the script ROUGE-1.5.5, and the Porter stemmer
in the variant that ROUGE is commonly computed with.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import count, pairwise
from typing import Literal, NamedTuple

from ragauge.text.overlap import Overlap, count_common, overlap
from ragauge.text.words import words

Tokenizer = Literal["unicode", "rouge155"]

_NO_SUCH_WORD = 0
"""The number of every word of an answer that the reference does not have."""
_LETTERS_AND_DIGITS = string.ascii_lowercase + string.digits
_PLAIN = re.compile("[a-z0-9]+")
_ASCII = bytes(code if chr(code) in _LETTERS_AND_DIGITS else 32 for code in range(128)) + bytes(128)
"""A space for everything except lower-case letters and digits."""
_STEMMED_FROM = 4
"""Shorter words are left as they are, as in the script."""


class Rouge(NamedTuple):
    """ROUGE-1, ROUGE-2 and ROUGE-L of an answer."""

    rouge1: Overlap
    rouge2: Overlap
    rougeL: Overlap


def rouge(
    reference: str, answer: str, tokenizer: Tokenizer = "unicode", *, use_stemmer: bool = False
) -> Rouge:
    """Precision, recall and F of the common words, pairs of words and longest common sequence.

    A text without a word has nothing in common with any, and one of a single word has no pair.
    With `tokenizer="rouge155"` the numbers are those of rouge-score to the last bit.

    >>> rouge("The museum opened in 1800.", "It opened in 1800").rougeL
    Overlap(precision=0.75, recall=0.6, f=0.6666666666666665)
    >>> rouge("Ελλάς", "Ελλάς").rouge1.f, rouge("Ελλάς", "Ελλάς", "rouge155").rouge1.f
    (1.0, 0.0)
    """
    return RougeReference(reference, tokenizer, use_stemmer=use_stemmer).scores(answer)


class RougeReference:
    """A reference prepared for comparison: its words numbered, words and pairs counted."""

    def __init__(
        self, text: str, tokenizer: Tokenizer = "unicode", *, use_stemmer: bool = False
    ) -> None:
        self._tokenize, self._use_stemmer = TOKENIZERS[tokenizer], use_stemmer
        tokens = self._tokenize(text, use_stemmer)
        self._number = dict(zip(dict.fromkeys(tokens), count(_NO_SUCH_WORD + 1), strict=False))
        self._numbers = [self._number[token] for token in tokens]
        self._words, self._pairs = Counter(self._numbers), Counter(pairwise(self._numbers))

    def scores(self, answer: str) -> Rouge:
        """ROUGE-1, ROUGE-2 and ROUGE-L of an answer."""
        numbers = self._numbers_of(answer)
        in_order = longest_common(self._numbers, numbers)
        return Rouge(*self._counts(numbers), overlap(in_order, len(numbers), len(self._numbers)))

    def counts(self, answer: str) -> tuple[Overlap, Overlap]:
        """ROUGE-1 and ROUGE-2 alone, whose time grows with the texts and not with their product."""
        return self._counts(self._numbers_of(answer))

    def _numbers_of(self, answer: str) -> list[int]:
        number = self._number
        tokens = self._tokenize(answer, self._use_stemmer)
        return [number.get(token, _NO_SUCH_WORD) for token in tokens]

    def _counts(self, numbers: list[int]) -> tuple[Overlap, Overlap]:
        in_answer, in_reference = len(numbers), len(self._numbers)
        return (
            overlap(count_common(self._words, numbers), in_answer, in_reference),
            overlap(count_common(self._pairs, pairwise(numbers)), in_answer - 1, in_reference - 1),
        )


def longest_common(one: Sequence[int], other: Sequence[int]) -> int:
    """The length of the longest sequence of numbers that both have, gaps allowed.

    >>> longest_common([1, 2, 3, 4], [1, 3, 9, 4])
    3
    """
    from rapidfuzz.distance import LCSseq

    return LCSseq.similarity(one, other)


def rouge155_tokens(text: str, use_stemmer: bool = False) -> list[str]:
    """The runs of the letters a to z and of digits, in lower case; all other letters separate them.

    For comparison with published figures: exactly the tokens of rouge-score. It ignores Greek and
    Chinese, and reads "Curaçao" as two words.

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
    """The words of a text in any script; the stemmer changes those of English letters.

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


_KEPT = "sky news inning outing canning howe proceed exceed succeed"
_OWN_STEMS = {
    **{word: word for word in _KEPT.split()},
    **{"skies": "sky", "dying": "die", "lying": "lie", "tying": "tie"},
    **{"innings": "inning", "outings": "outing", "cannings": "canning"},
}
"""Words with a stem of their own."""


def _suffixes(written: str) -> dict[str, str]:
    return dict(pair.split(":") for pair in written.split())


_STEP_2 = _suffixes(
    "ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble entli:ent eli:e ousli:ous "
    "ization:ize ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous aliti:al "
    "iviti:ive biliti:ble fulli:ful"
)
_STEP_3 = _suffixes("icate:ic ative: alize:al iciti:ic ical:ic ful: ness:")
_ENDINGS = "al ance ence er ic able ible ant ement ment ent ou ism ate iti ous ive ize"
_STEP_4 = dict.fromkeys(_ENDINGS.split(), "")
_SHAPE = str.maketrans("aeiou" + "bcdfghjklmnpqrstvwxz0123456789", "v" * 5 + "c" * 30)


@lru_cache(maxsize=1 << 16)
def porter_stem(word: str) -> str:
    """The stem of a lower-case word of ASCII letters and digits.

    Porter's algorithm of 1980 with the later changes of NLTK, as in rouge-score: "flies" gives
    "fli", "enjoy" stays, a few words have stems of their own.

    >>> [porter_stem(word) for word in ("relational", "hopping", "skies", "enjoyed")]
    ['relat', 'hop', 'sky', 'enjoy']
    """
    if len(word) <= 2 or word in _OWN_STEMS:
        return _OWN_STEMS.get(word, word)
    word = _y_to_i(_past_and_gerund(_plural(word)))
    word = _replaced(_double_suffix(word), _STEP_3, 1)
    return _last_letters(_without_suffix(word))


def _plural(word: str) -> str:
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past_and_gerund(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for suffix in ("ed", "ing"):
        stem = word.removesuffix(suffix)
        if stem != word and "v" in _shape(stem):
            return _respelled(stem)
    return word


def _respelled(stem: str) -> str:
    """A word without its -ed or -ing, as it would be spelled."""
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    shape = _shape(stem)
    if len(stem) > 1 and stem[-1] == stem[-2] and shape[-1] == "c":
        return stem if stem[-1] in "lsz" else stem[:-1]
    return stem + "e" if shape.count("vc") == 1 and _ends_short(stem) else stem


def _y_to_i(word: str) -> str:
    after_consonant = len(word) > 2 and word[-1] == "y" and _shape(word[:-1])[-1] == "c"
    return word[:-1] + "i" if after_consonant else word


def _double_suffix(word: str) -> str:
    """The word with its double suffix made single: -ational becomes -ate."""
    if word.endswith("alli") and _measure(word[:-4]):
        return _double_suffix(word[:-2])
    if word.endswith("logi") and _measure(word[:-3]):
        return word[:-1]
    return _replaced(word, _STEP_2, 1)


def _without_suffix(word: str) -> str:
    if word.endswith("ion"):
        stem = word[:-3]
        return stem if stem.endswith(("s", "t")) and _measure(stem) > 1 else word
    return _replaced(word, _STEP_4, 2)


def _last_letters(word: str) -> str:
    if word.endswith("e"):
        stem = word[:-1]
        measure = _measure(stem)
        if measure > 1 or (measure == 1 and not _ends_short(stem)):
            word = stem
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _replaced(word: str, suffixes: Mapping[str, str], least: int) -> str:
    """The word with its longest known suffix replaced, if the rest measures enough."""
    for size in range(min(7, len(word)), 1, -1):
        suffix = word[-size:]
        if suffix in suffixes:
            stem = word[:-size]
            return stem + suffixes[suffix] if _measure(stem) >= least else word
    return word


def _measure(stem: str) -> int:
    """How often a consonant follows a vowel: Porter's m."""
    return _shape(stem).count("vc")


def _ends_short(stem: str) -> bool:
    """Whether a short syllable ends it, as in "hop" and "up": Porter's *o."""
    shape = _shape(stem)
    return shape == "vc" or (shape.endswith("cvc") and stem[-1] not in "wxy")


def _shape(stem: str) -> str:
    """The stem in c and v; a y is a vowel after a consonant."""
    shape = stem.translate(_SHAPE)
    if "y" not in shape:
        return shape
    shape_with_y = ""
    for letter in shape:
        shape_with_y += letter if letter != "y" else "v" if shape_with_y.endswith("c") else "c"
    return shape_with_y
