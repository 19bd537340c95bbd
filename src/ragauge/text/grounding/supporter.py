"""The sentences of one text, each held against any of the contexts, as if there were no others."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

from ragauge.contracts.answers import AnswerKind, Evidence
from ragauge.text.grounding.alignment import Aligned, align
from ragauge.text.grounding.features import Placed, Sentence, probability, read_answer
from ragauge.text.grounding.kinds import kind_of
from ragauge.text.grounding.model import Model, shipped
from ragauge.text.grounding.passages import INNER_CAPITAL, PREFIX, Line, Passages, token_ranges
from ragauge.text.grounding.records import Slip, record_of, slips
from ragauge.text.grounding.tokens import LIGHT
from ragauge.text.quantities import Quantity, quantities, unsupported

DIGITS = 6
MOST_NEAR, LEAST_NEAR = 20_000, 3
"""Pairs of a sentence and a context that may support it, for an answer; and contexts, for a
sentence however long the answer is."""
MOST_READ = 10_000_000
"""Characters that are read again for choices of contexts: of the answer, for what records deny,
and of the contexts, for several taken together. What goes beyond is left out."""
_ASKS = ("?", "？")

Chunks = tuple[int, ...]
"""Places of contexts, rising."""


class Stretch(NamedTuple):
    """A sentence: where it stands, and its first and past-last token."""

    start: int
    end: int
    first: int
    last: int


class Support(NamedTuple):
    """How far some contexts support a sentence, and where in them it stands best."""

    score: float
    evidence: Evidence | None


class Supporter:
    """Reads a text once, and its contexts once, for every question of what supports what."""

    def __init__(
        self,
        text: str,
        passages: Passages,
        kind: AnswerKind | None = None,
        model: Model | None = None,
    ) -> None:
        chosen = model or shipped()
        self._text, self._passages = text, passages
        self._coefficients = chosen.kinds[kind or kind_of(text, passages)]
        read = read_answer(text, passages)
        self._tokens = read.tokens
        self.stretches = [Stretch(*found) for found in token_ranges(text, read.tokens)]
        self._whole = {one.start: one.aligned for one in read.sentences}
        self._allowance = passages.allowance(read.tokens)
        self._quantities = Placed([(number.start, number) for number in self._numbers()])
        self._parts: dict[Chunks, tuple[Passages, Placed[Slip]]] = {}
        self._joined = 0
        self._found: dict[tuple[int, Chunks], Support] = {}

    def id_of(self, chunk: int) -> str:
        return self._passages.chunks[chunk].id

    def claims(self, one: Stretch) -> bool:
        """Whether a sentence states something: more than words that only tie others together."""
        telling = any(kind > LIGHT for kind in self._tokens.kinds[one.first : one.last])
        return telling and not self._text[one.start : one.end].rstrip().endswith(_ASKS)

    def near(self, one: Stretch) -> list[int]:
        """The contexts that have any word of a sentence, those that have most of it first."""
        found = self._whole.get(one.start)
        shares = found.by_chunk if found else {}
        most = max(LEAST_NEAR, MOST_NEAR // len(self.stretches))
        return sorted(shares, key=lambda chunk: (-shares[chunk], chunk))[:most]

    def few(self, listed: int) -> bool:
        """Whether every sentence can be held against so many contexts."""
        return listed * len(self.stretches) <= MOST_NEAR

    def can_join(self, chunks: Chunks) -> bool:
        """Whether several contexts may still be taken together."""
        if chunks in self._parts:
            return True
        size = sum(len(self._passages.chunks[chunk].text) for chunk in chunks)
        self._joined += size
        return self._joined <= MOST_READ

    def support(self, one: Stretch, chunks: Chunks) -> Support:
        """How far the chosen contexts support a sentence, the others left aside."""
        key = one.first, chunks
        if key not in self._found:
            self._found[key] = self._support(one, chunks)
        return self._found[key]

    def _support(self, one: Stretch, chunks: Chunks) -> Support:
        part, faults = self._part(chunks)
        found = self._aligned(one, part)
        if found is None or not part.lines:
            return Support(0.0, None)
        own = self._quantities.within(one.start, one.end)
        sentence = Sentence(
            *one,
            aligned=found,
            numbers=unsupported(own, part.supply) if own else [],
            cited=(),
            slips=faults.within(one.start, one.end),
        )
        odds = self._coefficients.sentence_odds([sentence])[0]
        return Support(round(probability(odds), DIGITS), _evidence(found, part))

    def _part(self, chunks: Chunks) -> tuple[Passages, Placed[Slip]]:
        if chunks not in self._parts:
            part = excerpt(self._passages, chunks)
            few = len(self._text) * (len(self._parts) + 1) <= MOST_READ
            faults = slips(part.record, self._text) if part.record and few else []
            self._parts[chunks] = part, Placed([(slip.start, slip) for slip in faults])
        return self._parts[chunks]

    def _aligned(self, one: Stretch, part: Passages) -> Aligned | None:
        words, own = self._tokens, slice(one.first, one.last)
        return align(part, words.stems[own], words.kinds[own], allowance=self._allowance)

    def _numbers(self) -> list[Quantity]:
        """The quantities of the words that were read: those of an opening line claim nothing."""
        starts = self._tokens.starts
        return [
            one
            for one in quantities(self._text)
            if bisect_left(starts, one.start) < bisect_left(starts, one.end)
        ]


def _evidence(found: Aligned, part: Passages) -> Evidence | None:
    if found.window is None:
        return None
    lines = part.lines[found.window.first : found.window.last]
    return Evidence(part.chunks[found.window.chunk].id, lines[0].start, lines[-1].end)


def excerpt(whole: Passages, kept: Sequence[int]) -> Passages:
    """The chosen contexts, equal to `Passages` of them alone in the language of the whole.

    Their words are not read again: only what stands where in them is put together anew, which
    takes a tenth of the time. Names such as OutdoorSeating leave no trace of their chunk, so that
    contexts with such a name are read again.
    """
    chunks = [whole.chunks[chunk] for chunk in kept]
    if any(INNER_CAPITAL.search(chunk.text) for chunk in chunks):
        return Passages(chunks, whole.question, whole.language)
    part = Passages((), whole.question, whole.language)
    part.chunks, part.language = chunks, whole.language
    for place, chunk in enumerate(kept):
        for line in _lines_of(whole, chunk):
            _add(part, line._replace(chunk=place))
    part.prefixes = {stem[:PREFIX] for stem in part.where if len(stem) >= PREFIX}
    if whole.record is not None:
        part.record = record_of([chunk.text for chunk in chunks])
    return part


def _lines_of(whole: Passages, chunk: int) -> list[Line]:
    """The lines of a context; those of all stand in the contexts' order."""
    first, past = (
        bisect_left(whole.lines, place, key=attrgetter("chunk")) for place in (chunk, chunk + 1)
    )
    return whole.lines[first:past]


def _add(part: Passages, line: Line) -> None:
    place = len(part.lines)
    part.lines.append(line)
    for stem in dict.fromkeys(line.stems):
        part.where.setdefault(stem, []).append(place)
    part.bigrams.update(pairwise(line.stems))
