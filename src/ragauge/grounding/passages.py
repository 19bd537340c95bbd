"""Contexts prepared for finding support: analysed once, used for many answers."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from ragauge.contracts.answers import Context
from ragauge.grounding.records import Record, record_of
from ragauge.grounding.tokens import Tokens, stems_of, tokens
from ragauge.quantities import Supply, quantities, supply
from ragauge.text.language import language_of
from ragauge.text.sentences import sentences
from ragauge.text.stop_words import Language

PREFIX = 5
"""Words that share this many initial letters are probably related."""
MAX_WORDS = 2_000
"""The most words of a sentence that are aligned with the contexts at once."""
LONGEST_LINE = 500
"""Words of a line of a context; a longer sentence, as in a text without stops, is split."""
ENOUGH = 100_000
"""Places in the contexts that have a word of the answer. Up to this number all of them are
compared, dozens of times what an ordinary answer needs; above it, only the likeliest."""
MIN_PLACES = 4
"""Places that are always read for each word, however long the answer is."""
LONGEST_PART = 24
"""The most letters of the first of two words that can also be written as one."""
_LABEL = re.compile(r"\s*\[(\d{1,3})\]\s*")
INNER_CAPITAL = re.compile(r"[a-z](?=[A-Z])")
_WHOLE_WORD = re.compile(r"\b[A-Za-z]++\b")
_READ_FOR_LANGUAGE = 600


class Line(NamedTuple):
    """A sentence of a context."""

    chunk: int
    start: int
    end: int
    stems: list[str]


class Passages:
    """Contexts, the question they were retrieved for, and an index of their words."""

    def __init__(
        self,
        contexts: Sequence[Context | str],
        question: str | None = None,
        language: Language | None = None,
    ) -> None:
        self.chunks = [
            one if isinstance(one, Context) else Context(str(place), one)
            for place, one in enumerate(contexts, 1)
        ]
        texts = [chunk.text for chunk in self.chunks]
        sample = " ".join(text[:_READ_FOR_LANGUAGE] for text in texts)[:_READ_FOR_LANGUAGE]
        self.language = language or language_of(sample)
        self.lines: list[Line] = []
        self._read: dict[int, tuple[Tokens, str]] = {}
        self.where: defaultdict[str, list[int]] = defaultdict(list)
        """The lines of each stem."""
        self.parts: dict[int, list[str]] = {}
        """The parts of names such as OutdoorSeating in each line."""
        self.bigrams: set[tuple[str, str]] = set()
        for place, text in enumerate(texts):
            self._add(place, text)
        self.where.default_factory = None  # from here on, a lookup adds no word
        self.prefixes = {stem[:PREFIX] for stem in self.where if len(stem) >= PREFIX}
        self.record: Record | None = record_of(texts)
        self.question = question or ""

    @cached_property
    def in_question(self) -> frozenset[str]:
        """The stems of the question."""
        return frozenset(stems_of(self.question, self.language))

    @cached_property
    def supply(self) -> Supply:
        """The numbers, dates and identifiers of the contexts."""
        if self.record is not None:
            return self.record.times
        return supply(found for chunk in self.chunks for found in quantities(chunk.text))

    @cached_property
    def numbered(self) -> dict[str, int]:
        """Chunks by the names in citation markers: their id, their label, their place."""
        names = {str(place): place - 1 for place in range(1, len(self.chunks) + 1)}
        names |= {chunk.id: place for place, chunk in enumerate(self.chunks)}
        labels = [(place, _LABEL.match(chunk.text)) for place, chunk in enumerate(self.chunks)]
        return names | {match[1]: place for place, match in labels if match}

    def read_line(self, place: int) -> tuple[Tokens, str]:
        """The words of a line with their kinds, and its text; computed once."""
        if place not in self._read:
            line = self.lines[place]
            line_text = self.chunks[line.chunk].text[line.start : line.end]
            self._read[place] = (tokens(line_text, self.language), line_text)
        return self._read[place]

    def support(self, stem: str) -> float:
        """1 for a word that is in a context, 0.6 for a related word, else 0."""
        if stem in self.where:
            return 1.0
        if len(stem) < PREFIX or stem[0].isdigit():
            return 0.0
        if self._is_two_words(stem):
            return 1.0
        return 0.6 if stem[:PREFIX] in self.prefixes else 0.0

    def _is_two_words(self, stem: str) -> bool:
        """Whether two adjacent words form the word: "take out" supports "takeout"."""
        where, bigrams = self.where, self.bigrams
        for at in range(2, min(len(stem) - 1, LONGEST_PART)):
            if stem[:at] in where and (stem[:at], stem[at:]) in bigrams:
                return True
        return False

    def allowance(self, answer: Tokens, enough: int = ENOUGH) -> int | None:
        """Places to read for each word of an answer; None if all of them can be."""
        where = self.where
        content = [stem for stem, kind in zip(answer.stems, answer.kinds, strict=True) if kind]
        if sum(len(where[stem]) for stem in content if stem in where) <= enough:
            return None
        return max(MIN_PLACES, enough // len(content))

    def _add(self, chunk: int, text: str) -> None:
        where, has_parts = self.where, INNER_CAPITAL.search(text) is not None
        for start, end in sentences(text):
            stems = stems_of(text[start:end], self.language)
            self.bigrams.update(pairwise(stems))
            for line in self._lines(chunk, text, start, end, stems):
                place = len(self.lines)
                self.lines.append(line)
                parts = self._parts(text[line.start : line.end]) if has_parts else []
                if parts:
                    self.parts[place] = parts
                for stem in {*line.stems, *parts}:
                    where[stem].append(place)

    def _lines(
        self, chunk: int, text: str, start: int, end: int, stems: list[str]
    ) -> Iterator[Line]:
        """The line of a sentence; several if it is too long, none if it has no word."""
        if len(stems) <= LONGEST_LINE:
            if stems:
                yield Line(chunk, start, end, stems)
            return
        found = tokens(text[start:end], self.language)
        inner = range(LONGEST_LINE, len(stems), LONGEST_LINE)
        cuts = [start, *(start + found.starts[at] for at in inner), end]
        for place, (first, last) in enumerate(pairwise(cuts)):
            own = stems[LONGEST_LINE * place : LONGEST_LINE * (place + 1)]
            yield Line(chunk, first, last, own)

    def _parts(self, line: str) -> list[str]:
        """The parts of names such as OutdoorSeating, as separate words."""
        found: list[str] = []
        for line_text in filter(INNER_CAPITAL.search, _WHOLE_WORD.findall(line)):
            parts = stems_of(INNER_CAPITAL.sub(r"\g<0> ", line_text), self.language)
            self.bigrams.update(pairwise(parts))
            found += parts
        return found


def token_ranges(text: str, found: Tokens) -> list[tuple[int, int, int, int]]:
    """For each sentence with a word: its place, and its first and past-last token.

    One of more than MAX_WORDS is split, so that work grows linearly with the text.
    """
    ranges = []
    first, starts = 0, found.starts
    for start, end in sentences(text):
        past, at = bisect_left(starts, end, first), start
        while past - first > MAX_WORDS:
            cut = first + MAX_WORDS
            ranges.append((at, found.ends[cut - 1], first, cut))
            first, at = cut, starts[cut]
        if past > first:
            ranges.append((at, end, first, past))
            first = past
    return ranges
