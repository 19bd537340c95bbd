"""ROUGE: what an answer and a reference have in common, in words, pairs of words and order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import count, pairwise
from typing import NamedTuple

from ragauge.text.overlap import Overlap, common, overlap
from ragauge.text.rouge_tokens import TOKENIZERS, Tokenizer

_NO_SUCH_WORD = 0
"""The number of every word of an answer that the reference does not have."""


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


def rouge_many(
    reference: str,
    answers: Iterable[str],
    tokenizer: Tokenizer = "unicode",
    *,
    use_stemmer: bool = False,
) -> list[Rouge]:
    """The scores of several answers against one reference, which is read once.

    >>> [scores.rouge1.recall for scores in rouge_many("in 1800", ["In 1800.", "in May", ""])]
    [1.0, 0.5, 0.0]
    """
    read = RougeReference(reference, tokenizer, use_stemmer=use_stemmer)
    return [read.scores(answer) for answer in answers]


class RougeReference:
    """A reference made ready for answers: its words numbered, words and pairs counted."""

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
        numbers = self._read(answer)
        in_order = longest_common(self._numbers, numbers)
        return Rouge(*self._counts(numbers), overlap(in_order, len(numbers), len(self._numbers)))

    def counts(self, answer: str) -> tuple[Overlap, Overlap]:
        """ROUGE-1 and ROUGE-2 alone, whose time grows with the texts and not with their product."""
        return self._counts(self._read(answer))

    def _read(self, answer: str) -> list[int]:
        number = self._number
        tokens = self._tokenize(answer, self._use_stemmer)
        return [number.get(token, _NO_SUCH_WORD) for token in tokens]

    def _counts(self, numbers: list[int]) -> tuple[Overlap, Overlap]:
        in_answer, in_reference = len(numbers), len(self._numbers)
        return (
            overlap(common(self._words, numbers), in_answer, in_reference),
            overlap(common(self._pairs, pairwise(numbers)), in_answer - 1, in_reference - 1),
        )


def longest_common(one: Sequence[int], other: Sequence[int]) -> int:
    """The length of the longest sequence of numbers that both have, gaps allowed.

    >>> longest_common([1, 2, 3, 4], [1, 3, 9, 4])
    3
    """
    from rapidfuzz.distance import LCSseq

    return LCSseq.similarity(one, other)
