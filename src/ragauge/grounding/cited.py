"""Citation support: which of the contexts that a sentence cites supports it, and which would.

As lexical groundedness it compares words and numbers, and no more: a context that says the same
in other words counts as one that does not support.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

from ragauge.contracts.answers import (
    AnswerKind,
    CitationSupport,
    CitedChunk,
    CitingSentence,
    Context,
    Evidence,
)
from ragauge.grounding.alignment import align
from ragauge.grounding.features import ByPlace, Sentence, read_answer
from ragauge.grounding.groundedness import (
    NO_ANSWER,
    NO_CLAIM,
    NO_CONTEXT,
    evidence_of,
    kind_of,
    rounded,
)
from ragauge.grounding.markers import Marker, cited_in
from ragauge.grounding.model import Model, shipped
from ragauge.grounding.passages import INNER_CAPITAL, PREFIX, Passages, token_ranges
from ragauge.grounding.records import Slip, record_of, slips
from ragauge.grounding.tokens import LIGHT
from ragauge.quantities import quantities, unsupported
from ragauge.refusals.predicate import free_refusal

SUPPORTED = 0.5
"""The score from which a sentence counts as supported: people are as likely to say so as not."""
PART = 0.1
"""A context that raises the score of the others by this much supports a part of the sentence."""
MOST_TOGETHER = 50
"""Contexts cited for one sentence; with more, each supports it alone or not at all."""
NO_CITATION = "the answer cites nothing"
MOST_NEAR, LEAST_NEAR = 20_000, 3
"""The most pairs of a sentence and a context to compare for an answer; and the fewest contexts for
a sentence, however long the answer is."""
MOST_READ = 10_000_000
"""Characters that are read again for combinations of contexts: of the answer, for what records
deny, and of the contexts, for several together. The rest is left out."""
_ASKS = ("?", "？")

Target = int | str
"""What is cited: a context by its place, or a name that no context has."""
Chunks = tuple[int, ...]
"""Places of contexts, in ascending order."""


class Stretch(NamedTuple):
    """A sentence: where it is, and its first and past-last token."""

    start: int
    end: int
    first: int
    last: int


class Support(NamedTuple):
    """How far some contexts support a sentence, and the best place in them."""

    score: float
    evidence: Evidence | None


def citation_support(
    answer: str,
    contexts: Sequence[Context | str] | Passages,
    cited: Sequence[str] | None = None,
    question: str | None = None,
    *,
    kind: AnswerKind | None = None,
    numbered: bool = True,
    model: Model | None = None,
) -> CitationSupport:
    """What each sentence of an answer cites, and which of these citations support it.

    A sentence cites by markers such as [2] or [p1#2]. What the complete answer cites, in a list
    of its own or as `cited`, counts for every sentence without a marker, unless a marker names it.
    With `numbered` off, numbers in brackets are not places of contexts.

    >>> found = citation_support(
    ...     "It opened in 1808 [1]. Cuypers designed it [1].",
    ...     ["The museum opened in 1808.", "Cuypers designed the museum."],
    ... )
    >>> [(one.supported, one.elsewhere and one.elsewhere.chunk) for one in found.sentences]
    [(True, None), (False, '2')]
    """
    passages = contexts if isinstance(contexts, Passages) else Passages(contexts, question)
    ids = {chunk.id: place for place, chunk in enumerate(passages.chunks)}
    names = passages.numbered if numbered else ids
    known = cited_in(answer, names, numbered=numbered)
    marked = {name for one in known.markers for name in one.names}
    listed = [name for name in dict.fromkeys(cited or known.listed) if name not in marked]
    supporter = Supporter(known.plain, passages, kind, model)
    found = _Citations(answer, supporter, names, known.markers, listed)
    reason = None
    if not answer.strip():
        reason = NO_ANSWER
    elif not passages.lines:
        reason = NO_CONTEXT
    elif not any(one.claims for one in found.sentences):
        reason = NO_CLAIM
    elif not marked and not listed:
        reason = NO_CITATION
    return CitationSupport(
        sentences=() if reason in (NO_ANSWER, NO_CONTEXT) else found.sentences,
        listed=found.listed,
        threshold=SUPPORTED,
        model=(model or shipped()).id,
        reason=reason,
    )


class _Citations:
    """The citations of one answer, compared with its sentences."""

    def __init__(
        self,
        answer: str,
        supporter: Supporter,
        names: Mapping[str, int],
        markers: Sequence[Marker],
        listed: Sequence[str],
    ) -> None:
        self._answer, self._supporter, self._names = answer, supporter, names
        self._list = self._targets(listed)
        self._in_list = frozenset(self._list)
        stretches = supporter.stretches
        own: list[list[Marker]] = [[] for _ in stretches]
        starts = [one.start for one in stretches]
        for marker in markers if stretches else ():
            # One between two sentences belongs to the one before it on its line, else to the next.
            place = bisect_right(starts, marker.start) - 1
            if place < 0 or "\n" in answer[stretches[place].end : marker.start]:
                place = min(place + 1, len(stretches) - 1)
            own[place].append(marker)
        self.sentences = tuple(map(self._sentence, stretches, own))
        self.listed = self._answer_citations()

    def _targets(self, names: Iterable[str]) -> list[Target]:
        """The contexts with these names, each once."""
        return list(dict.fromkeys(self._names.get(name, name) for name in names))

    def _sentence(self, one: Stretch, markers: Sequence[Marker]) -> CitingSentence:
        start = min([one.start, *(marker.start for marker in markers)])
        end = max([one.end, *(marker.end for marker in markers)])
        marked = self._targets(name for marker in markers for name in marker.names)
        text, cited = self._answer[start:end], marked
        if not marked:  # the complete list, or in a very long answer the contexts near the sentence
            few = len(self._list) * len(self._supporter.stretches) <= MOST_NEAR
            near = () if few else self._supporter.near(one)
            cited = self._list if few else [chunk for chunk in near if chunk in self._in_list]
        # A sentence that only says what the contexts do not contain has no source.
        claims = self._supporter.claims(one) and (
            bool(marked) or free_refusal(text).verdict != "refusal"
        )
        score = self._together(one, cited) if claims else None
        supported = score is not None and score >= SUPPORTED
        return CitingSentence(
            text=text,
            start=start,
            end=end,
            claims=claims,
            cited=tuple(self._cited(one, target, cited, claims) for target in cited),
            marked=bool(marked),
            score=score,
            supported=supported,
            elsewhere=self._elsewhere(one, cited) if claims and not supported else None,
        )

    def _together(self, one: Stretch, cited: Sequence[Target]) -> float | None:
        """The score of a sentence against all cited contexts: at least that of each one."""
        chunks = tuple(sorted(target for target in cited if isinstance(target, int)))
        each = [self._supporter.support(one, (chunk,)).score for chunk in chunks]
        if len(chunks) > 1 and self._supporter.can_join(chunks):
            each.append(self._supporter.support(one, chunks).score)
        return max(each, default=None)

    def _cited(
        self, one: Stretch, target: Target, cited: Sequence[Target], claims: bool
    ) -> CitedChunk:
        """One citation of a sentence.

        It supports the sentence alone, or as a part without which the others do so much less.
        """
        if isinstance(target, str) or not claims:
            return CitedChunk(chunk=self._id(target), score=None, supports=False)
        alone = self._supporter.support(one, (target,))
        supports = alone.score >= SUPPORTED
        if not supports and len(cited) <= MOST_TOGETHER:
            together = self._together(one, cited) or 0.0
            rest = self._together(one, [other for other in cited if other != target]) or 0.0
            supports = together >= SUPPORTED and (rest < SUPPORTED or together - rest >= PART)
        return self._chunk(target, alone, supports)

    def _answer_citations(self) -> tuple[CitedChunk, ...]:
        """The citations of the complete answer, each with the sentence that it supports best."""
        best: dict[str, CitedChunk] = {}
        for one in self.sentences:
            if one.claims and not one.marked:
                for chunk in one.cited:
                    known = best.setdefault(chunk.chunk, chunk)
                    if _rank(chunk) > _rank(known):
                        best[chunk.chunk] = chunk
        ids = map(self._id, self._list)
        return tuple(best.get(id) or CitedChunk(chunk=id, score=None, supports=False) for id in ids)

    def _elsewhere(self, one: Stretch, cited: Sequence[Target]) -> CitedChunk | None:
        """The context that supports a sentence best and is not cited for it."""
        others = [chunk for chunk in self._supporter.near(one) if chunk not in cited]
        found = [(chunk, self._supporter.support(one, (chunk,))) for chunk in others]
        chunk, best = max(
            found, key=lambda each: (each[1].score, -each[0]), default=(0, Support(0.0, None))
        )
        return self._chunk(chunk, best, supports=True) if best.score >= SUPPORTED else None

    def _chunk(self, chunk: int, found: Support, supports: bool) -> CitedChunk:
        return CitedChunk(
            chunk=self._id(chunk), score=found.score, supports=supports, evidence=found.evidence
        )

    def _id(self, target: Target) -> str:
        return target if isinstance(target, str) else self._supporter.id_of(target)


def _rank(chunk: CitedChunk) -> tuple[bool, float]:
    return chunk.supports, chunk.score or 0.0


class Supporter:
    """Finds what supports the sentences of a text; reads the text and its contexts once."""

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
        self._aligned = {one.start: one.aligned for one in read.sentences}
        self._allowance = passages.allowance(read.tokens)
        starts = read.tokens.starts
        self._quantities = ByPlace(
            [
                (number.start, number)
                for number in quantities(text)  # except in an opening line, which claims nothing
                if bisect_left(starts, number.start) < bisect_left(starts, number.end)
            ]
        )
        self._parts: dict[Chunks, tuple[Passages, ByPlace[Slip]]] = {}
        self._joined = 0
        self._found: dict[tuple[int, Chunks], Support] = {}

    def id_of(self, chunk: int) -> str:
        return self._passages.chunks[chunk].id

    def claims(self, one: Stretch) -> bool:
        """Whether a sentence states something: more than connecting words."""
        has_content = any(kind > LIGHT for kind in self._tokens.kinds[one.first : one.last])
        return has_content and not self._text[one.start : one.end].rstrip().endswith(_ASKS)

    def near(self, one: Stretch) -> list[int]:
        """The contexts that have any word of a sentence, those with most of it first."""
        found = self._aligned.get(one.start)
        fractions = found.by_chunk if found else {}
        most = max(LEAST_NEAR, MOST_NEAR // len(self.stretches))
        return sorted(fractions, key=lambda chunk: (-fractions[chunk], chunk))[:most]

    def can_join(self, chunks: Chunks) -> bool:
        """Whether several contexts may still be combined."""
        if chunks in self._parts:
            return True
        size = sum(len(self._passages.chunks[chunk].text) for chunk in chunks)
        self._joined += size
        return self._joined <= MOST_READ

    def support(self, one: Stretch, chunks: Chunks) -> Support:
        """How far the chosen contexts support a sentence, without the others."""
        key = one.first, chunks
        if key not in self._found:
            self._found[key] = self._support(one, chunks)
        return self._found[key]

    def _support(self, one: Stretch, chunks: Chunks) -> Support:
        if chunks not in self._parts:
            part = excerpt(self._passages, chunks)
            few = len(self._text) * (len(self._parts) + 1) <= MOST_READ
            denied = slips(part.record, self._text) if part.record and few else []
            self._parts[chunks] = part, ByPlace([(slip.start, slip) for slip in denied])
        part, faults = self._parts[chunks]
        words, own = self._tokens, slice(one.first, one.last)
        found = align(part, words.stems[own], words.kinds[own], allowance=self._allowance)
        if found is None or not part.lines:
            return Support(0.0, None)
        numbers = self._quantities.within(one.start, one.end)
        sentence = Sentence(
            *one,
            aligned=found,
            numbers=unsupported(numbers, part.supply) if numbers else [],
            cited=(),
            slips=faults.within(one.start, one.end),
        )
        odds = self._coefficients.sentence_odds([sentence])[0]
        return Support(rounded(odds), evidence_of(found.window, part))


def excerpt(every: Passages, kept: Sequence[int]) -> Passages:
    """The chosen contexts, equal to `Passages` of them alone in the language of all.

    Their words are not read again: only their index is rebuilt, which takes a tenth of the time.
    The parts of names such as OutdoorSeating are not indexed by chunk, so contexts with such a
    name are read again.
    """
    chunks = [every.chunks[chunk] for chunk in kept]
    if any(INNER_CAPITAL.search(chunk.text) for chunk in chunks):
        return Passages(chunks, every.question, every.language)
    part = Passages((), every.question, every.language)
    part.chunks, part.language = chunks, every.language
    for place, chunk in enumerate(kept):
        first, past = (
            bisect_left(every.lines, at, key=attrgetter("chunk")) for at in (chunk, chunk + 1)
        )
        for line in every.lines[first:past]:
            for stem in dict.fromkeys(line.stems):
                part.where.setdefault(stem, []).append(len(part.lines))
            part.lines.append(line._replace(chunk=place))
            part.bigrams.update(pairwise(line.stems))
    part.prefixes = {stem[:PREFIX] for stem in part.where if len(stem) >= PREFIX}
    if every.record is not None:
        part.record = record_of([chunk.text for chunk in chunks])
    return part
