"""Hashed character n-grams: an embedder that is always there, with no model behind it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING
from zlib import crc32

from ragauge.text.canonical import canonical

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VERSION = "v1"
DIMENSION = 1024
SHORTEST, LONGEST = 3, 5
WORDS_KEPT = 65_536
"""Words whose n-grams are remembered: a corpus repeats most of them."""
_SIGN = 1 << 31


class NgramEmbedder:
    """A text as the n-grams of its words: close where the spelling is, whatever the meaning.

    Each n-gram's hash gives a place and a sign, so that two n-grams that share a place cancel
    out on average; a repeated one counts 1 + ln(times).

    >>> library, libraries, museum = NgramEmbedder().embed(["The library", "libraries", "museum"])
    >>> bool(library @ libraries > 0.4 > 0.1 > library @ museum)
    True
    """

    def __init__(self, dimension: int = DIMENSION) -> None:
        self._dimension = dimension

    @property
    def id(self) -> str:
        return f"ngram:{VERSION}:{self._dimension}"

    @property
    def dimension(self) -> int:
        return self._dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text, each of length one; a text without a letter or digit is all zeros."""
        import numpy as np

        rows = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            places, weights = _weighted(text, self._dimension)
            if places:
                sums = np.bincount(places, weights, self._dimension).astype(np.float64)
                row[:] = _of_length_one(sums)
        return rows


def _weighted(text: str, dimension: int) -> tuple[list[int], list[float]]:
    """The place of each n-gram of the text, and its signed weight."""
    counts = Counter(gram for word in canonical(text).split() for gram in _grams(word))
    places = [gram % dimension for gram in counts]
    weights = [
        (1 + math.log(times)) * (1 if gram & _SIGN else -1) for gram, times in counts.items()
    ]
    return places, weights


@lru_cache(WORDS_KEPT)
def _grams(word: str) -> tuple[int, ...]:
    """The hashes of the n-grams of a word that stands between blanks; the shortest word has one."""
    padded = f" {word} "
    return tuple(
        crc32(padded[start : start + size].encode("utf-8", "surrogatepass"))
        for size in range(SHORTEST, LONGEST + 1)
        for start in range(len(padded) - size + 1)
    )


def _of_length_one(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    length = math.sqrt(math.fsum(value * value for value in sums.tolist() if value))
    return sums / length if length else sums
