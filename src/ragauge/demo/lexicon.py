"""What the documents teach of words: which are rare, which are names, how they are spelled."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ragauge.demo import grammar
from ragauge.demo.chunks import Chunk, sentence_spans
from ragauge.demo.words import FORMS, folded, is_stop, kin, kins, surface_words

MENDED = 6
"""Letters an unknown word has at least before it may be taken for a slip of the pen."""
ALIKE, JOINED = 5, 6
"""Letters a word has at least to meet its other endings, and to be looked for in a longer one."""
PART = 4
"""Letters that each of two words has at least, to be found in a word joined from them."""
KEPT = 4096

Name = frozenset[str]
"""The words of a document's name, in whatever order."""
_EXPLAINED = re.compile(r"[,:;(].*", re.DOTALL)
"""What stands in a title after the name."""


class Lexicon:
    """The words of a set of chunks, as `kin` gives them."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        counts = Counter(word for chunk in chunks for word in set(kins(context(chunk))))
        self._idf = {word: _idf(len(chunks), count) for word, count in counts.items()}
        self._unknown = _idf(len(chunks), 0)
        self._words = tuple(sorted(word for word in counts if word.isalpha()))
        self._names = _names(chunks)
        self._spellings = _spellings(chunks) | FORMS | grammar.KNOWN
        self._whole = _whole_names({chunk.title for chunk in chunks})
        self.titles = tuple(sorted({folded(chunk.title) for chunk in chunks}))
        self.parts = lru_cache(KEPT)(self._parts)
        self.mended = lru_cache(KEPT)(self._mended)
        self.joined = lru_cache(KEPT)(self._joined)
        self.alike = lru_cache(KEPT)(self._alike)

    def idf(self, word: str) -> float:
        """How much a word tells: the rarer, the more; a word no document has tells most."""
        return self._idf.get(word, self._unknown)

    def is_name(self, word: str) -> bool:
        """Whether the documents write the word, and never small inside a sentence."""
        return folded(word) in self._names

    def named(self, sequence: Sequence[str]) -> frozenset[Name]:
        """The names of documents that stand whole in a sequence of words.

        A name that is part of a longer one is not meant: Rijksmuseum Boerhaave is no Rijksmuseum.
        """
        found: set[Name] = set()
        begin = 0
        for place, word in enumerate(sequence):
            for name in self._whole.get(word, ()) if place >= begin else ():
                if tuple(sequence[place : place + len(name)]) == name:
                    found.add(frozenset(name))
                    begin = place + len(name)
                    break
        return frozenset(found)

    def _mended(self, word: str) -> str:
        """The folded word; of a slip of the pen, the known word it stands for.

        Known words that are one slip away have to mean the same, or the word stays as it is.
        """
        plain = folded(word)
        if plain in self._spellings or len(plain) < MENDED or not plain.isalpha():
            return plain
        from rapidfuzz.distance import OSA

        near = [
            known
            for known in self._spellings
            if known[0] == plain[0] and OSA.distance(plain, known, score_cutoff=1) <= 1
        ]
        alike = len({kin(known) for known in near}) == 1
        return min(near, key=lambda known: (known in grammar.KNOWN, known)) if alike else plain

    def titled(self, words: Iterable[str]) -> frozenset[str]:
        """The titles that hold all of these words, as `kin` gives them."""
        return frozenset(title for title in self.titles if {*words} <= {*kins(title)})

    def place_of(self, adjective: str) -> str | None:
        """The place that a Dutch adjective is made from, such as Leiden of `leidse`."""
        root = adjective.removesuffix("se")
        known = (root + ending for ending in ("", "en", "ge") if root + ending in self._names)
        return next(known, None) if root != adjective and len(root) >= PART else None

    def _parts(self, word: str) -> tuple[str, ...]:
        """The two known words that an unknown one is joined from, as in Dutch; else itself."""
        if word in self._spellings or not word.isalpha():
            return (word,)
        for at in range(PART, len(word) - PART + 1):
            first, rest = word[:at], word[at:]
            if rest in self._spellings and {first, first.removesuffix("s")} & self._spellings:
                return (first if first in self._spellings else first.removesuffix("s"), rest)
        return (word,)

    def _joined(self, word: str) -> frozenset[str]:
        """The longer words that begin or end with it, as Dutch joins words into one."""
        if len(word) < JOINED or not word.isalpha():
            return frozenset()
        return frozenset(
            known
            for known in self._words
            if len(known) > len(word) + 2 and (known.startswith(word) or known.endswith(word))
        )

    def _alike(self, word: str) -> frozenset[str]:
        """The words that begin the same and hardly end otherwise, and those it is joined into."""
        if len(word) < ALIKE or not word.isalpha():
            return frozenset()
        near = (known for known in self._words if abs(len(known) - len(word)) <= 2)
        forms = (known for known in near if known.startswith(word) or word.startswith(known))
        return self.joined(word) | {known for known in forms if len(known) >= ALIKE}


def named_in(title: str) -> str:
    """The name in a title, without what explains it.

    >>> named_in("The National Archives (United States)"), named_in("Rijksmuseum: onderzoek")
    ('The National Archives', 'Rijksmuseum')
    """
    return _EXPLAINED.sub("", title).strip()


def whole_name(title: str) -> tuple[str, ...]:
    """The words of the name in a title, without an article before them.

    >>> whole_name("The National Archives (United States)"), whole_name("Rijksmuseum: onderzoek")
    (('national', 'archif'), ('rijksmuseum',))
    """
    words = surface_words(named_in(title))
    article = words[:1] and folded(words[0]) in grammar.ARTICLES
    return tuple(map(kin, words[1:] if article else words))


def _whole_names(titles: Iterable[str]) -> dict[str, list[tuple[str, ...]]]:
    """The names by their first word, the longest first."""
    names: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
    for name in sorted(set(map(whole_name, titles)) - {()}, key=lambda name: (-len(name), name)):
        names[name[0]].append(name)
    return dict(names)


def context(chunk: Chunk) -> str:
    """A chunk with what its place says of it: the title and file name, the section, the text."""
    return f"{heading(chunk)}\n{chunk.text}"


def heading(chunk: Chunk) -> str:
    return f"{title(chunk)}\n{chunk.section_id.replace('-', ' ')}"


def title(chunk: Chunk) -> str:
    """The title, and the file's name, which often holds a short form of it."""
    return f"{chunk.title}\n{chunk.doc_id.replace('-', ' ')}"


def _idf(chunks: int, count: int) -> float:
    return math.log(1 + (chunks - count + 0.5) / (count + 0.5))


def _spellings(chunks: Iterable[Chunk]) -> frozenset[str]:
    return frozenset(folded(word) for chunk in chunks for word in surface_words(context(chunk)))


def _names(chunks: Iterable[Chunk]) -> frozenset[str]:
    capital: set[str] = set()
    small: set[str] = set()
    for chunk in chunks:
        capital |= {folded(word) for word in surface_words(chunk.title) if word[0].isupper()}
        for start, end in sentence_spans(chunk.text):
            for word in surface_words(chunk.text[start:end])[1:]:
                (capital if word[0].isupper() else small).add(folded(word))
    return frozenset(word for word in capital - small if not is_stop(word) and word[0].isalpha())
